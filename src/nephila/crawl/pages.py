"""Every page of a crawl folder as its state has it, read slot by slot; works while the crawl runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from nephila.records import Outcome
from nephila.store.database import database_errors, open_reader
from nephila.store.folder import CrawlFolder


@dataclass(frozen=True, slots=True)
class KnownPage:
    """One URL and what has become of it."""

    url: str
    slot: int
    depth: int
    outcome: Outcome
    reason: str
    checksum: bytes | None
    archive_file: str | None
    archive_offset: int | None


def read_pages(folder: CrawlFolder) -> Iterator[KnownPage]:
    """All URLs ever known of the sites of this crawl, in no particular order."""
    sql = """SELECT sites.url || path, depth, pages.outcome, pages.reason, checksum, archive_file, archive_offset
             FROM pages JOIN sites USING (site)"""
    for slot in folder.slots():
        path = folder.agent_database(slot)
        if not path.exists():
            continue
        with database_errors(path):
            reader = open_reader(path)
            try:
                for url, depth, outcome, reason, checksum, file, offset in reader.execute(sql):
                    yield KnownPage(url, slot, depth, Outcome(outcome), reason, checksum, file, offset)
            finally:
                reader.close()
