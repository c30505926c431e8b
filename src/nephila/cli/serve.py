"""`nephila serve`: the crawl in a browser."""

from __future__ import annotations

import click

from nephila.cli.options import Common, common_options
from nephila.cli.output import emit, emit_json


@click.command()
@click.option(
    "--host", help="The address to listen on; 127.0.0.1 by default. Any other than a loopback one has a token."
)
@click.option("--port", type=click.IntRange(0, 65535), help="The port; 8470 by default, 0 for any that is free.")
@click.option("--token", envvar="NEPHILA_TOKEN", help="The token that browsers must give; also from NEPHILA_TOKEN.")
@common_options
def command(common: Common, host: str | None, port: int | None, token: str | None) -> int:
    """Show a running or finished crawl in the browser: live figures, sites, search, ranks, statistics.

    \b
        nephila serve -C crawl
        nephila serve -C crawl --port 0 --json      prints {"url": …} and serves
        NEPHILA_TOKEN=secret nephila serve --host 0.0.0.0

    It only reads the folder, so that a crawl may start, run and end beside it; Pause, Resume and Block are small files
    in DIR/control/, which the crawl reads. Everything the pages need comes with Nephila; no internet is needed.

    On 127.0.0.1, the default, whoever can use this machine can look. On any other address a token is asked for: yours,
    or one that is made and printed. There is no TLS: put a proxy in front, or better, use ssh -L 8470:localhost:8470.

    JSON is under /api/ (described in /api/openapi.json), figures for Prometheus are at /metrics. Ctrl-C stops it.
    """
    from dataclasses import replace

    from nephila.errors import UsageError
    from nephila.jobs.serve import open_server
    from nephila.store.folder import CrawlFolder

    folder = CrawlFolder.open(common.directory)
    config = common.configuration().config
    given = replace(
        config.serve,
        host=config.serve.host if host is None else host,
        port=config.serve.port if port is None else port,
    )
    if token is not None and len(token) < 8:
        raise UsageError("a token of fewer than 8 characters protects nobody; give a longer one, or none.")
    listening = open_server(folder, replace(config, serve=given), token)
    if common.as_json:
        emit_json({"url": listening.url, "host": listening.host, "port": listening.port})
    else:
        emit(f"{listening.url}\nShows {common.directory}; Ctrl-C stops it.")
    listening.run()
    return 0
