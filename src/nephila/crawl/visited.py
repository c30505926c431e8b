"""What a round's visits found, counted from the slots' own rows."""

from __future__ import annotations

from dataclasses import dataclass, fields

from nephila.store.database import database_errors, open_reader
from nephila.store.folder import CrawlFolder


@dataclass(frozen=True, slots=True)
class VisitsOfRound:
    """Visits of pages that were visited before; each page once, by its last visit."""

    visited: int = 0
    changed: int = 0
    unchanged: int = 0
    not_modified: int = 0
    missing: int = 0
    gone: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True)
class RequestsOfRound:
    """All requests by what they were for; together they are what a round cost."""

    revisits: int = 0
    new_pages: int = 0
    further_tries: int = 0
    robots: int = 0
    samples: int = 0  # to compare sites with each other


_COUNT = """
WITH last AS (SELECT site, hash, max(visit) AS visit FROM visits WHERE visit > ? AND role = 'page' GROUP BY site, hash)
SELECT count(*), coalesce(sum(changed = 1), 0), coalesce(sum(changed = 0), 0),
       coalesce(sum(v.outcome = 'not_modified'), 0), coalesce(sum(changed IS NULL AND v.code IN (404, 410)), 0),
       coalesce(sum(instr(' ' || p.flags || ' ', ' gone ') > 0), 0),
       coalesce(sum(changed IS NULL AND (v.code IS NULL OR v.code NOT IN (404, 410))), 0)
FROM last JOIN visits v USING (visit) JOIN pages p ON p.site = last.site AND p.hash = last.hash
WHERE EXISTS (SELECT 1 FROM visits o
              WHERE o.site = last.site AND o.hash = last.hash AND o.visit <= ? AND o.role = 'page')
"""


_REQUESTS = """
WITH asked AS (
    SELECT role, count(*) AS times, EXISTS (
        SELECT 1 FROM visits o WHERE o.site = v.site AND o.hash = v.hash AND o.visit <= ? AND o.role = 'page') AS before
    FROM visits v WHERE visit > ? GROUP BY role, site, hash)
SELECT coalesce(sum(role = 'page' AND before), 0), coalesce(sum(role = 'page' AND NOT before), 0),
       coalesce(sum(CASE WHEN role = 'page' THEN times - 1 END), 0),
       coalesce(sum(CASE WHEN role = 'robots' THEN times END), 0),
       coalesce(sum(CASE WHEN role NOT IN ('page', 'robots') THEN times END), 0)
FROM asked
"""


def requests_since(folder: CrawlFolder, before: dict[int, int]) -> RequestsOfRound:
    """Requests since then, by what they were for."""
    sums = [0] * len(fields(RequestsOfRound))
    for slot in _slots(folder):
        since = before.get(slot, 0)
        sums = [total + value for total, value in zip(sums, _ask(folder, slot, _REQUESTS, (since, since)), strict=True)]
    return RequestsOfRound(*sums)


def last_visits(folder: CrawlFolder) -> dict[int, int]:
    """The last visit of each slot."""
    return {slot: _ask(folder, slot, "SELECT coalesce(max(visit), 0) FROM visits", ())[0] for slot in _slots(folder)}


def visits_since(folder: CrawlFolder, before: dict[int, int]) -> VisitsOfRound:
    """Pages visited again since then."""
    sums = [0] * len(fields(VisitsOfRound))
    for slot in _slots(folder):
        since = before.get(slot, 0)
        sums = [total + value for total, value in zip(sums, _ask(folder, slot, _COUNT, (since, since)), strict=True)]
    return VisitsOfRound(*sums)


def url_of(folder: CrawlFolder, slot: int, site: int, key: int) -> str:
    """The URL of a page; empty where it is not known."""
    path = folder.agent_database(slot)
    sql = "SELECT url || path FROM pages JOIN sites USING (site) WHERE site = ? AND hash = ?"
    with database_errors(path):
        reader = open_reader(path)
        try:
            row = reader.execute(sql, (site, key)).fetchone()
        finally:
            reader.close()
    return "" if row is None else str(row[0])


def slot_of(folder: CrawlFolder, site: str) -> tuple[int, int] | None:
    """The coordinator's number of a site, and its slot; None where it has none."""
    path = folder.coordinator_database
    if not path.exists():
        return None
    with database_errors(path):
        reader = open_reader(path)
        try:
            row = reader.execute("SELECT site, slot FROM sites WHERE url = ?", (site,)).fetchone()
        finally:
            reader.close()
    return None if row is None or row[1] is None else (int(row[0]), int(row[1]))


def _slots(folder: CrawlFolder) -> list[int]:
    return [slot for slot in folder.slots() if folder.agent_database(slot).exists()]


def _ask(folder: CrawlFolder, slot: int, sql: str, values: tuple[int, ...]) -> tuple[int, ...]:
    path = folder.agent_database(slot)
    with database_errors(path):
        reader = open_reader(path)
        try:
            return tuple(int(value) for value in next(reader.execute(sql, values)))
        finally:
            reader.close()
