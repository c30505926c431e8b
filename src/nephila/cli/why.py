"""`nephila why URL`: why this URL was, or was not, fetched."""

from __future__ import annotations

import click

from nephila.cli.options import Common, common_options
from nephila.cli.output import emit, emit_json


@click.command()
@click.argument("url")
@common_options
def command(common: Common, url: str) -> int:
    """Tell the whole story of a URL: who linked to it, what was decided, when and why.

    \b
        nephila why http://www.example.org/a.html -C crawl
    """
    from datetime import UTC, datetime

    from nephila.crawl.why import why
    from nephila.store.folder import CrawlFolder

    folder = CrawlFolder.open(common.directory)
    story = why(folder, common.configuration().config, url)
    if common.as_json:
        emit_json(story)
        return 0
    lines = [
        story.url,
        f"  {story.outcome}" + (f": {story.reason}" if story.reason else "") + f"  (S1: {story.network_state})",
    ]
    for event in story.events:
        at = datetime.fromtimestamp(event.at, UTC).strftime("%Y-%m-%d %H:%M:%S") if event.at is not None else "now"
        lines.append(f"  {at:<19}  {event.what}")
    emit("\n".join(lines))
    return 0
