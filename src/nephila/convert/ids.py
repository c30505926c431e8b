"""Ids that never change: `state/convert.db`, written by convert alone (S0-17, S0-18, S0-20's IDDic and PageIDDic).

Each conversion appends one dense block of page ids, divided by the slots' counts of new pages: slot i with n_i new
pages gets the n_i ids behind those of the slots before it. Within a slot the order is that of the first request. Ids
are durable before anything is written that names them, so a conversion that is killed and run again gives the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nephila.store.database import Schema, database_errors, open_writer, transaction
from nephila.urls import host_of, registrable_domain

_FIRST: Final = """
CREATE TABLE pages (                    -- S0-20: PageIDDic, by the crawl's own key
    site INTEGER NOT NULL, hash INTEGER NOT NULL, page_id INTEGER NOT NULL, PRIMARY KEY (site, hash)
) STRICT, WITHOUT ROWID;
CREATE TABLE sites (                    -- S0-20: IDDic
    site INTEGER PRIMARY KEY, site_id INTEGER NOT NULL, domain_id INTEGER NOT NULL
) STRICT;
CREATE TABLE domains (domain TEXT PRIMARY KEY, domain_id INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE slots (slot INTEGER PRIMARY KEY, visit INTEGER NOT NULL) STRICT;  -- visits converted so far
CREATE TABLE unsettled (                -- pages whose row may change without a visit
    slot INTEGER NOT NULL, site INTEGER NOT NULL, hash INTEGER NOT NULL, PRIMARY KEY (slot, site, hash)
) STRICT, WITHOUT ROWID;
CREATE TABLE progress (one INTEGER PRIMARY KEY CHECK (one = 1), conversions INTEGER NOT NULL, pages INTEGER NOT NULL,
    settings TEXT NOT NULL) STRICT;
INSERT INTO progress VALUES (1, 0, 0, '');
"""

CONVERT_SCHEMA: Final = Schema("convert", (_FIRST,))

PageKey = tuple[int, int]
"""The coordinator's number of a site, and the hash of a path."""


@dataclass(frozen=True, slots=True)
class SiteIds:
    site_id: int
    domain_id: int


@dataclass(frozen=True, slots=True)
class Block:
    """The ids that one slot got in this conversion: [first, first + count)."""

    slot: int
    first: int
    count: int


class IdStore:
    """The only writer of `state/convert.db`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._db = open_writer(path, CONVERT_SCHEMA)

    def close(self) -> None:
        self._db.close()

    @property
    def conversions(self) -> int:
        return int(next(self._db.execute("SELECT conversions FROM progress"))[0])

    @property
    def pages(self) -> int:
        """How many page ids are given; they are 0 to this, without a gap."""
        return int(next(self._db.execute("SELECT pages FROM progress"))[0])

    @property
    def settings(self) -> str:
        """The settings of the last conversion, as far as rows depend on them."""
        return str(next(self._db.execute("SELECT settings FROM progress"))[0])

    def converted_visit(self, slot: int) -> int:
        row = self._db.execute("SELECT visit FROM slots WHERE slot = ?", (slot,)).fetchone()
        return int(row[0]) if row else 0

    def unsettled(self, slot: int) -> list[PageKey]:
        sql = "SELECT site, hash FROM unsettled WHERE slot = ? ORDER BY site, hash"
        return [(int(site), int(key)) for site, key in self._db.execute(sql, (slot,))]

    def page_id(self, site: int, key: int) -> int | None:
        row = self._db.execute("SELECT page_id FROM pages WHERE site = ? AND hash = ?", (site, key)).fetchone()
        return None if row is None else int(row[0])

    def give_page_ids(self, by_slot: Iterable[tuple[int, Sequence[PageKey]]]) -> list[Block]:
        """Ids for the pages that have none, slot by slot, in the order given (S0-18)."""
        blocks = []
        with transaction(self._db):
            next_id = self.pages
            for slot, keys in by_slot:
                first = next_id
                for site, key in keys:
                    if self.page_id(site, key) is None:
                        self._db.execute("INSERT INTO pages VALUES (?, ?, ?)", (site, key, next_id))
                        next_id += 1
                blocks.append(Block(slot, first, next_id - first))
            self._db.execute("UPDATE progress SET pages = ?", (next_id,))
        return blocks

    def give_site_ids(self, sites: Iterable[tuple[int, str]]) -> dict[int, SiteIds]:
        """The ids of all sites, given as number and URL in the order of their numbers; new ones are appended."""
        known = {int(row[0]): SiteIds(int(row[1]), int(row[2])) for row in self._db.execute("SELECT * FROM sites")}
        domains = {str(row[0]): int(row[1]) for row in self._db.execute("SELECT * FROM domains")}
        with transaction(self._db):
            for site, url in sites:
                if site in known:
                    continue
                domain = registrable_domain(host_of(url))
                if domain not in domains:
                    domains[domain] = len(domains)
                    self._db.execute("INSERT INTO domains VALUES (?, ?)", (domain, domains[domain]))
                known[site] = SiteIds(len(known), domains[domain])
                self._db.execute("INSERT INTO sites VALUES (?, ?, ?)", (site, known[site].site_id, domains[domain]))
        return known

    def domains(self) -> Iterator[tuple[int, str]]:
        with database_errors(self._path):
            yield from self._db.execute("SELECT domain_id, domain FROM domains ORDER BY domain_id")

    def finish(
        self, visits: dict[int, int], unsettled: Iterable[tuple[int, int, int]], settings: str, *, counts: bool
    ) -> None:
        """The conversion is published: the next one begins behind these visits. One that found nothing new is none."""
        with transaction(self._db):
            self._db.executemany("INSERT OR REPLACE INTO slots VALUES (?, ?)", visits.items())
            self._db.execute("DELETE FROM unsettled")
            self._db.executemany("INSERT OR IGNORE INTO unsettled VALUES (?, ?, ?)", unsettled)
            self._db.execute("UPDATE progress SET conversions = conversions + ?, settings = ?", (counts, settings))
