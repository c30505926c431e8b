"""`nephila status`: a crawl seen from another terminal."""

from __future__ import annotations

import time

import click

from nephila.cli.options import Common, common_options
from nephila.cli.output import emit, emit_json


@click.command()
@common_options
def command(common: Common) -> int:
    """Tell what a crawl has done and is doing; it may be running, stopped or killed.

    \b
        nephila status -C crawl
        watch nephila status -C crawl
    """
    from nephila.cli.crawl_view import as_text, one_line
    from nephila.cli.refresh_view import watch_as_text
    from nephila.crawl.status import read_status
    from nephila.errors import NephilaError
    from nephila.store.folder import CrawlFolder
    from nephila.store.plan import read_watch

    folder = CrawlFolder.open(common.directory)
    status = read_status(folder, time.time())
    if status is None:
        raise NephilaError(
            f"the crawl in {common.directory} has not begun yet; `nephila crawl -C {common.directory}` begins it."
        )
    if common.as_json:
        emit_json(status)
    elif status.running:
        emit("Running.\n" + one_line(status.report))
    else:
        emit(as_text(status.report, common.directory))
    if not common.as_json and (note := read_watch(folder)) is not None:
        emit(watch_as_text(note, folder.in_use()))
    return 0
