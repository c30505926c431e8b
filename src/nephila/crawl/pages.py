"""Every page of a crawl folder as its state has it, read slot by slot; works while the crawl runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from nephila.records import Outcome
from nephila.store.database import read_rows
from nephila.store.folder import CrawlFolder


@dataclass(frozen=True, slots=True)
class KnownPage:
    """One URL and what has become of it."""

    url: str
    slot: int | None  # None: no slot has its site
    depth: int
    outcome: Outcome
    reason: str
    checksum: bytes | None
    archive_file: str | None
    archive_offset: int | None


def _without_address(folder: CrawlFolder) -> Iterator[KnownPage]:
    """Seeds of sites that no slot has, because their names have no address: the site's outcome is theirs."""
    sql = """SELECT sites.url || path, outcome, reason FROM seeds JOIN sites USING (site)
             WHERE state = 'done' AND slot IS NULL"""
    if not folder.coordinator_database.exists():
        return
    for url, outcome, reason in read_rows(folder.coordinator_database, sql):
        yield KnownPage(url, None, 0, Outcome(outcome), reason, None, None, None)


def read_pages(folder: CrawlFolder) -> Iterator[KnownPage]:
    """All URLs ever known of the sites of this crawl, in no particular order."""
    yield from _without_address(folder)
    sql = """SELECT sites.url || path, depth, pages.outcome, pages.reason, checksum, archive_file, archive_offset
             FROM pages JOIN sites USING (site)"""
    for slot, path in folder.agent_databases():
        for url, depth, outcome, reason, checksum, file, offset in read_rows(path, sql):
            yield KnownPage(url, slot, depth, Outcome(outcome), reason, checksum, file, offset)
