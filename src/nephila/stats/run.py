"""The front door: a converted crawl goes in, its statistics come out as sections."""

from __future__ import annotations

import time
from dataclasses import dataclass

from nephila.config.sections import Stats
from nephila.engine import Engine
from nephila.stats.section import Section
from nephila.stats.tables import Tell, ask, open_tables
from nephila.store.folder import CrawlFolder
from nephila.store.tables.manifest import read_manifest


@dataclass(frozen=True, slots=True)
class StatsReport:
    """Every table, and how long counting took."""

    seconds: float
    folder: str
    tables: tuple[Section, ...]


def run(config: Stats, folder: CrawlFolder, engine: Engine, tell: Tell | None = None) -> StatsReport:
    """Count; nothing of the crawl is changed, and a crawl may run beside it."""
    started = time.monotonic()
    described = newest(folder)
    with open_tables(config, described, engine.workers) as duck:
        tables = ask(duck, config, tell or _silence)
    return StatsReport(round(time.monotonic() - started, 3), str(described.path), tables)


def newest(folder: CrawlFolder) -> CrawlFolder:
    """The folder whose tables are counted: its own, or, in a change study, which has none, its last batch's."""
    if read_manifest(folder) is None:
        for path in sorted((folder.path / "batches").glob("[0-9]*"), reverse=True):
            if CrawlFolder.is_crawl(path) and read_manifest(CrawlFolder(path)) is not None:
                return CrawlFolder.open(path)
    return folder


def _silence(what: str, done: int, of: int) -> None: ...
