"""What crawl left behind, read as rows: its databases are opened for reading only, each slot in one snapshot.

The SQL here is convert's own view of `state/*.db`; it works while a crawl runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from nephila.store.database import database_errors, open_reader
from nephila.store.folder import CrawlFolder

REQUESTED: Final = "EXISTS (SELECT 1 FROM visits v WHERE v.site = p.site AND v.hash = p.hash AND v.role = 'page')"


@dataclass(frozen=True, slots=True)
class SiteRow:
    """A site as the coordinator knows it."""

    site: int
    url: str
    state: str
    slot: int | None
    address: str
    outcome: str
    alias_of: int | None
    given: int
    found_at: float


@dataclass(frozen=True, slots=True)
class CrawledPage:
    """A page that was requested, as its slot knows it; the record at `body_file` holds its content."""

    site: int
    hash: int
    path: str
    depth: int
    todo: int
    """1: it is to be requested"""
    outcome: str
    reason: str
    code: int | None
    redirect_to: str
    mime: str
    checksum: bytes | None
    body_bytes: int | None
    wire_bytes: int | None
    last_modified: str
    fetched_at: float | None
    elapsed_ms: int | None
    link_kinds: str
    flags: str
    archive_file: str | None
    archive_offset: int | None
    body_file: str | None
    body_offset: int | None

    @property
    def has_content(self) -> bool:
        return self.code is not None and 200 <= self.code < 300


@dataclass(frozen=True, slots=True)
class UnfetchedUrl:
    url: str
    depth: int | None
    outcome: str
    reason: str
    referrer: str
    found_at: float


@dataclass(frozen=True, slots=True)
class SeedRow:
    """A seed as the coordinator knows it; `outcome` and `reason` are its site's."""

    site: int
    hash: int
    slot: int | None
    url: str
    given: int
    outcome: str
    reason: str
    referrer: str
    found_at: float


@dataclass(frozen=True, slots=True)
class SiteRobots:
    """What a site's robots.txt has come to, as its slot keeps it (crawl's RobotsRow)."""

    standing: str
    text: bytes
    """holds this robot's group alone"""

    @property
    def disallows(self) -> int:
        return sum(line.startswith(b"Disallow: ") for line in self.text.splitlines())

    @property
    def crawl_delay_s(self) -> float | None:
        found = (line[len(_DELAY) :] for line in self.text.splitlines() if line.startswith(_DELAY))
        return next((float(delay) for delay in found), None)


_DELAY: Final = b"Crawl-delay: "

_PAGE: Final = """
SELECT p.site, p.hash, p.path, p.depth, p.todo, p.outcome, p.reason, p.code, p.redirect_to, p.mime, p.checksum,
       p.body_bytes, p.wire_bytes, p.modified, p.fetched_at, p.elapsed_ms, p.link_kinds, p.flags, p.archive_file,
       p.archive_offset, c.archive_file, c.archive_offset
FROM pages p LEFT JOIN contents c ON c.site = p.site AND c.checksum = p.checksum
WHERE p.site = ? AND p.hash = ?
"""


class SlotReader:
    """One slot's database in one snapshot; the archive up to what the snapshot has committed."""

    def __init__(self, slot: int, path: Path) -> None:
        self.slot = slot
        self._path = path
        self._db: Any = open_reader(path)
        self._db.execute("BEGIN")
        with database_errors(path):
            self.last_visit: int = next(self._db.execute("SELECT coalesce(max(visit), 0) FROM visits"))[0]

    def close(self) -> None:
        self._db.close()

    def visited_since(self, visit: int) -> list[tuple[int, int]]:
        """Pages requested after a visit, by their first request after it."""
        sql = """SELECT site, hash FROM visits WHERE visit > ? AND role = 'page'
                 GROUP BY site, hash ORDER BY min(visit)"""
        return [(int(site), int(key)) for site, key in self._rows(sql, visit)]

    def page(self, site: int, key: int) -> CrawledPage:
        with database_errors(self._path):
            row = self._db.execute(_PAGE, (site, key)).fetchone()
        values: list[Any] = [
            value if value is not None or place not in _TEXTS else "" for place, value in enumerate(row)
        ]
        return CrawledPage(*values)

    def was_read(self, page: CrawledPage, converted_visit: int) -> bool:
        """Whether the record that holds a page's content was there at an earlier conversion, which read it then."""
        if page.archive_file is None or converted_visit == 0:
            return False
        sql = """SELECT min(visit) FROM visits WHERE site = ? AND hash = ? AND role = 'page' AND archive_file = ?
                 AND archive_offset = ?"""
        values = (page.site, page.hash, page.archive_file, page.archive_offset)
        with database_errors(self._path):
            visit = self._db.execute(sql, values).fetchone()[0]
        return visit is not None and visit <= converted_visit

    def last_outcome(self, site: int, key: int) -> str:
        sql = "SELECT outcome FROM visits WHERE site = ? AND hash = ? AND role = 'page' ORDER BY visit DESC LIMIT 1"
        with database_errors(self._path):
            return str(self._db.execute(sql, (site, key)).fetchone()[0])

    def visits(self, first: int, last: int) -> Iterator[tuple[Any, ...]]:
        """In order; the last figure is the checksum of the content that the visit found or confirmed."""
        sql = """SELECT visit, site, hash, path, role, at, outcome, reason, code, checksum, wire_bytes, body_bytes,
                 connect_ms, header_ms, elapsed_ms, address, http, tls, server, archive_file, archive_offset,
                 changed, compare_bytes, etag, modified,
                 CASE WHEN outcome = 'not_modified' THEN (
                     SELECT checksum FROM visits o WHERE o.site = v.site AND o.hash = v.hash AND o.visit < v.visit
                     AND o.role = 'page' AND o.checksum IS NOT NULL ORDER BY o.visit DESC LIMIT 1) ELSE checksum END
                 FROM visits v WHERE visit BETWEEN ? AND ? ORDER BY visit"""
        return self._rows(sql, first, last)

    def knows(self, site: int, key: int) -> bool:
        with database_errors(self._path):
            return (
                self._db.execute("SELECT 1 FROM pages WHERE site = ? AND hash = ?", (site, key)).fetchone() is not None
            )

    def visit_numbers(self, first: int, last: int) -> set[int]:
        """The visits that are known in a range."""
        return {int(row[0]) for row in self._rows("SELECT visit FROM visits WHERE visit BETWEEN ? AND ?", first, last)}

    def visit_places(self) -> Iterator[tuple[int, str, int]]:
        """Where the record of each visit lies: visit, file, offset."""
        return self._rows("SELECT visit, archive_file, archive_offset FROM visits WHERE archive_file IS NOT NULL")

    def places(self) -> Iterator[tuple[int, int, str, int]]:
        """Where the record of each page lies: site, hash, file, offset."""
        return self._rows("SELECT site, hash, archive_file, archive_offset FROM pages WHERE archive_file IS NOT NULL")

    def standing_of(self, site: int, key: int) -> tuple[str, str] | None:
        """Outcome and reason of a page, requested or not."""
        with database_errors(self._path):
            row = self._db.execute(
                "SELECT outcome, reason FROM pages WHERE site = ? AND hash = ?", (site, key)
            ).fetchone()
        return None if row is None else (str(row[0]), str(row[1]))

    def party_s(self) -> dict[tuple[int, int], float]:
        """The seconds that parties took, by the key of their seed (S1-12)."""
        sql = "SELECT site, hash, party_s FROM seeds WHERE party_s IS NOT NULL"
        return {(int(site), int(key)): float(seconds) for site, key, seconds in self._rows(sql)}

    def robots(self) -> Iterator[tuple[int, SiteRobots]]:
        """Sites whose robots.txt was asked for, and what it says."""
        for site, kept in self._rows("SELECT site, robots FROM sites WHERE robots IS NOT NULL"):
            yield int(site), msgspec.msgpack.decode(kept, type=SiteRobots)

    @property
    def archive_end(self) -> tuple[str, int]:
        """The file that is being written, and how far it is committed."""
        file, offset = next(self._rows("SELECT archive_file, archive_offset FROM slot"), ("", 0))
        return str(file), int(offset)

    def unfetched(self) -> Iterator[tuple[int, str, int, str, str, str, float]]:
        """Pages of its sites that were never requested: site, path, depth, outcome, reason, referrer, found_at."""
        sql = f"""SELECT site, path, depth, outcome, reason, referrer, found_at
                  FROM pages p WHERE NOT {REQUESTED}"""  # noqa: S608
        return self._rows(sql)

    def outside(self) -> Iterator[UnfetchedUrl]:
        rows = self._rows("SELECT url, NULL, outcome, reason, referrer, found_at FROM outside")
        return (UnfetchedUrl(*row) for row in rows)

    def _rows(self, sql: str, *values: object) -> Iterator[Any]:
        with database_errors(self._path):
            yield from self._db.execute(sql, values)


_TEXTS: Final = frozenset({8, 9, 13, 16, 17})  # redirect_to, mime, last_modified, link_kinds, flags: '' for NULL


@contextmanager
def open_slots(folder: CrawlFolder) -> Iterator[list[SlotReader]]:
    """Readers of all slots, in order."""
    readers: list[SlotReader] = []
    try:
        for slot in folder.slots():
            path = folder.agent_database(slot)
            if path.exists():
                readers.append(SlotReader(slot, path))
        yield readers
    finally:
        for reader in readers:
            reader.close()


def read_sites(folder: CrawlFolder) -> list[SiteRow]:
    """Every site known, in the order of the coordinator's numbers."""
    sql = "SELECT site, url, state, slot, address, outcome, alias_of, given, found_at FROM sites ORDER BY site"
    return [SiteRow(*row) for row in _coordinator(folder, sql)]


def read_refused(folder: CrawlFolder) -> Iterator[UnfetchedUrl]:
    """URLs that the coordinator refused."""
    for row in _coordinator(folder, "SELECT url, NULL, outcome, reason, referrer, found_at FROM outside"):
        yield UnfetchedUrl(*row)


def read_seeds(folder: CrawlFolder) -> Iterator[SeedRow]:
    """Every seed, and what is to be said of it where no slot knows it yet."""
    sql = """SELECT site, hash, slot, sites.url || path, seeds.given,
                    CASE WHEN state = 'alias' THEN state WHEN outcome = '' THEN 'waiting' ELSE outcome END,
                    sites.reason, seeds.referrer, seeds.found_at
             FROM seeds JOIN sites USING (site)"""
    for row in _coordinator(folder, sql):
        yield SeedRow(*row)


def _coordinator(folder: CrawlFolder, sql: str) -> Iterator[Any]:
    path = folder.coordinator_database
    with database_errors(path):
        reader = open_reader(path)
        try:
            yield from reader.execute(sql)
        finally:
            reader.close()
