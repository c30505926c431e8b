"""`nephila demo`: the whole circle, in one command."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nephila.cli.options import Common, common_options
from nephila.cli.output import emit, emit_json

if TYPE_CHECKING:
    from nephila.jobs.demo import Step


@click.command()
@common_options
def command(common: Common) -> int:
    """Run the whole circle on a small web that this machine serves to itself; no internet is needed.

    The lab's web is served on 127.0.0.0/8, collected, compared with its truth, URL by URL, converted to tables,
    ranked, indexed, described, and shown: at the end the web pages are served and their address is printed, until
    Ctrl-C. With CI=1 in the environment, or --json, it does not stay: all pages are visited by itself, and it ends.

    The folder is ./demo unless -C names another one; an earlier demo there is replaced. Exit code 0 only if every
    step brought its output.
    """
    from nephila.jobs.demo import demo

    directory = common.directory if common.directory != Path("crawl") else Path("demo")
    if not common.quiet and not common.as_json:
        emit("Nephila's demo: a small web in a box, with delays of 0 because it is our own.")

    def done(step: Step) -> None:
        if not common.quiet and not common.as_json:
            emit(f"  {step.name:<8} {step.result:<60} {step.seconds:5.1f} s")

    report = demo(directory, common.engine, common.agents or os.cpu_count() or 1, done)
    if common.as_json:
        emit_json(report)
    elif report.ok:
        emit(
            f"Done in {report.seconds} s. Look around:\n"
            f"  nephila status -C {directory}/crawl\n"
            f"  nephila why URL -C {directory}/crawl      with a URL of {directory}/crawl/seeds.out\n"
            f"  nephila rank --why URL -C {directory}/crawl\n"
            f"  nephila search 검색 -C {directory}/crawl\n"
            f"  nephila stats -C {directory}/crawl --no-sql\n"
            f"  ls {directory}/crawl/tables {directory}/crawl/archive"
        )
    else:
        emit("What was collected is not what the lab's truth says.")
    if report.ok and not common.as_json and os.environ.get("CI", "") in ("", "0", "false"):
        _stay(directory / "crawl", common)
    return 0 if report.ok else 1


def _stay(folder: Path, common: Common) -> None:
    """Serve the pages until Ctrl-C; on any free port where the usual one is taken."""
    from dataclasses import replace

    from nephila.config.layers import lay, read_file
    from nephila.errors import NephilaError
    from nephila.jobs.serve import open_server
    from nephila.store.folder import CrawlFolder

    config = lay([read_file(folder / "nephila.toml"), *common.layers()]).config
    try:
        listening = open_server(CrawlFolder.open(folder), config, None)
    except NephilaError:
        listening = open_server(CrawlFolder.open(folder), replace(config, serve=replace(config.serve, port=0)), None)
    emit(f"\n{listening.url}      the web pages; Ctrl-C ends them")
    listening.run()
