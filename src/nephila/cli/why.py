"""`nephila why URL`: why this URL was, or was not, fetched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from nephila.cli.options import Common, common_options
from nephila.cli.output import emit, emit_json

if TYPE_CHECKING:
    from nephila.config.sections import Config
    from nephila.crawl.why import Event
    from nephila.shown import DuePage
    from nephila.store.folder import CrawlFolder


@dataclass(frozen=True, slots=True)
class Why:
    """The story of a URL, and when it is due again."""

    url: str
    outcome: str
    network_state: str
    reason: str
    events: tuple[Event, ...]
    due: DuePage | None


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
    from nephila.store.plan import read_plan

    folder, config = CrawlFolder.open(common.directory), common.configuration().config
    story = why(folder, config, url)
    due = _due(config, folder, url) if read_plan(folder) is not None else None
    if common.as_json:
        emit_json(Why(story.url, story.outcome, story.network_state, story.reason, story.events, due))
        return 0
    lines = [
        story.url,
        f"  {story.outcome}" + (f": {story.reason}" if story.reason else "") + f"  (S1: {story.network_state})",
    ]
    for event in story.events:
        at = datetime.fromtimestamp(event.at, UTC).strftime("%Y-%m-%d %H:%M:%S") if event.at is not None else "now"
        lines.append(f"  {at:<19}  {event.what}")
    if due is not None:
        lines.append(f"  {'refresh':<19}  {due.sentence}")
    emit("\n".join(lines))
    return 0


def _due(config: Config, folder: CrawlFolder, url: str) -> DuePage | None:
    """When the page is due again, by the figures of the last round's plan."""
    from nephila.jobs.refresh import when

    return when(config, folder, url)
