"""Sites, the queue and the errors of a crawl, read from its folder for people who look; works while it runs.

Every question is bounded: it reads rows that are counted already, one site's rows, or the latest few thousand.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from nephila.crawl.robots_state import RobotsRow
from nephila.crawl.totals import read_totals
from nephila.crawl.waiting import waits_for
from nephila.records import Outcome
from nephila.shown import (
    DepthLine,
    ErrorLine,
    Example,
    Queue,
    RobotsShown,
    SiteLine,
    SiteLines,
    SiteShown,
    VisitLine,
)
from nephila.store.control import Control
from nephila.store.database import database_errors, open_reader, read_rows
from nephila.store.folder import CrawlFolder

SITES_PER_PAGE: Final = 50
_EXAMPLES: Final = 4
_LOOKED_THROUGH: Final = 20_000
_VISITS: Final = 40
_WAITING: Final = 20

ORDERS: Final[dict[str, str]] = {
    "largest": "requested DESC, url",
    "slowest": "last_ms DESC, url",
    "waiting": "known - requested DESC, url",
    "name": "url",
}
"""How a list of sites may be ordered; the words are the only part of a request that chooses any SQL."""

_NO_ERRORS: Final = {
    Outcome.OK, Outcome.NOT_MODIFIED, Outcome.REDIRECT, Outcome.WAITING, Outcome.LIMIT, Outcome.ALIAS,
}  # fmt: skip
_LINE: Final = "url, state, outcome, reason, requested, known, received_bytes, last_ms, delay_s, last_at"

Row = tuple[Any, ...]  # as SQLite gives it


def list_sites(folder: CrawlFolder, order: str, containing: str, state: str, page: int) -> SiteLines:
    """One page of the sites, by one of `ORDERS`; `containing` and `state` narrow it where they are not empty."""
    first = (page - 1) * SITES_PER_PAGE
    last = first + SITES_PER_PAGE
    escaped = containing.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    sql = f"""SELECT {_LINE} FROM sites WHERE url LIKE ? ESCAPE '\\' AND (? = '' OR state = ?)
              ORDER BY {ORDERS[order]} LIMIT ?"""  # noqa: S608  # words of our own
    values = (f"%{escaped}%", state, state, last + 1)
    keys: dict[str, Callable[[SiteLine], Any]] = {
        "largest": lambda line: (-line.requested, line.url),
        "slowest": lambda line: (-line.last_ms, line.url),
        "waiting": lambda line: (line.requested - line.known, line.url),
        "name": lambda line: line.url,
    }
    found = sorted((SiteLine(*row) for row in _of_slots(folder, sql, values)), key=keys[order])
    if state in ("", "new", "refused"):
        found += _without_slot(folder, f"%{escaped}%", state, max(0, last + 1 - len(found)))
    return SiteLines(tuple(found[first:last]), page, len(found) > last)


def _without_slot(folder: CrawlFolder, pattern: str, state: str, most: int) -> list[SiteLine]:
    """Sites that no slot has: they wait for their look-up, or have no address."""
    sql = """SELECT url, state, outcome, reason FROM sites
             WHERE slot IS NULL AND url LIKE ? ESCAPE '\\' AND (? = '' OR state = ?) LIMIT ?"""
    rows = _of_coordinator(folder, sql, (pattern, state, state, most))
    return [SiteLine(url, kind, outcome, reason, 0, 0, 0, 0, 0.0, None) for url, kind, outcome, reason in rows]


def read_queue(folder: CrawlFolder) -> Queue:
    """What waits, by depth, and what went wrong, with the latest examples."""
    depths: Counter[int] = Counter()
    for depth, count in _of_slots(folder, "SELECT depth, count(*) FROM pages WHERE todo = 1 GROUP BY depth", ()):
        depths[depth] += count
    counts = {name: count for name, count in read_totals(folder).outcomes.items() if Outcome(name) not in _NO_ERRORS}
    examples = _examples(folder, set(counts))
    errors = tuple(
        ErrorLine(name, count, tuple(examples.get(name, ())[:_EXAMPLES]))
        for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        if count
    )
    return Queue(tuple(DepthLine(depth, depths[depth]) for depth in sorted(depths)), errors)


def _examples(folder: CrawlFolder, wanted: set[str]) -> dict[str, list[Example]]:
    """The latest URLs of each outcome among the latest visits; of what was never asked, any among the last sites."""
    found: defaultdict[str, list[Example]] = defaultdict(list)
    visits = """SELECT latest.outcome, sites.url || path, latest.reason, code, at FROM
                  (SELECT site, path, outcome, reason, code, at FROM visits WHERE role = 'page'
                   ORDER BY visit DESC LIMIT ?) AS latest
                JOIN sites USING (site) WHERE latest.outcome NOT IN ('ok', 'redirect', 'not_modified')"""
    pages = """SELECT latest.outcome, sites.url || path, latest.reason, NULL, NULL FROM
                 (SELECT site, path, outcome, reason FROM pages ORDER BY site DESC LIMIT ?) AS latest
               JOIN sites USING (site) WHERE latest.outcome NOT IN ('ok', 'redirect', 'waiting')"""
    for sql in (visits, pages):
        for outcome, url, reason, code, at in _of_slots(folder, sql, (_LOOKED_THROUGH,)):
            if (
                outcome in wanted
                and len(found[outcome]) < _EXAMPLES
                and all(url != each.url for each in found[outcome])
            ):
                found[outcome].append(Example(url, reason, code, at))
    return found


def show_site(folder: CrawlFolder, url: str, control: Control, now: float) -> SiteShown | None:
    """All that is known of a site; None where the crawl has never heard of it."""
    sql = """SELECT site, state, slot, address, outcome, reason, alias_of, given, found_at, referrer
             FROM sites WHERE url = ?"""
    row = next(_of_coordinator(folder, sql, (url,)), None)
    if row is None:
        return None
    number, state, slot, address, outcome, reason, alias_of, given, found_at, referrer = row
    alias = next(_of_coordinator(folder, "SELECT url FROM sites WHERE site = ?", (alias_of,)), ("",))[0]
    line = SiteLine(url, state, outcome, reason, 0, 0, 0, 0, 0.0, None)
    blank = SiteShown(
        line, address, slot, bool(given), found_at, referrer, alias, 0, 0, 0, 0.0, None, url in control.blocked,
        waits_for(line, None, control, 0.0, now), None, {}, (), (),
    )  # fmt: skip
    path = None if slot is None else folder.agent_database(slot)
    if path is None or not path.exists():
        return blank
    with database_errors(path):
        reader = open_reader(path)
        try:
            return _in_slot(reader, number, blank, control, now)
        finally:
            reader.close()


def _in_slot(reader: Any, number: int, blank: SiteShown, control: Control, now: float) -> SiteShown:
    sql = f"SELECT {_LINE}, robots, failures, sleeps, failed_runs, next_at, first_at FROM sites WHERE site = ?"  # noqa: S608
    row = reader.execute(sql, (number,)).fetchone()
    if row is None:
        return blank
    line = SiteLine(*row[:10])
    robots = None if row[10] is None else _robots(row[10])
    failures, sleeps, failed_runs, next_at, first_at = row[11:]
    outcomes = dict(reader.execute("SELECT outcome, count(*) FROM pages WHERE site = ? GROUP BY outcome", (number,)))
    waiting = reader.execute(
        "SELECT path FROM pages WHERE site = ? AND todo = 1 ORDER BY depth, place LIMIT ?", (number, _WAITING)
    )
    visits = reader.execute(
        """SELECT at, path, role, outcome, reason, code, elapsed_ms, wire_bytes FROM visits
           WHERE site = ? ORDER BY visit DESC LIMIT ?""",
        (number, _VISITS),
    )
    return SiteShown(
        line, blank.address, blank.slot, blank.given, blank.found_at, blank.referrer, blank.alias_of,
        failures, sleeps, failed_runs, next_at, first_at, blank.blocked,
        waits_for(line, robots, control, next_at, now), robots, outcomes,
        tuple(line.url + path for (path,) in waiting),
        tuple(VisitLine(at, line.url + path, *rest) for at, path, *rest in visits),
    )  # fmt: skip


def _robots(kept: bytes) -> RobotsShown:
    row = msgspec.msgpack.decode(kept, type=RobotsRow)
    text = row.text.decode("utf-8", "replace")
    return RobotsShown(row.standing, row.reason, text, row.read_at, row.next_ask_at, row.failures)


def _of_slots(folder: CrawlFolder, sql: str, values: Row) -> Iterator[Row]:
    for _, path in folder.agent_databases():
        yield from read_rows(path, sql, *values)


def _of_coordinator(folder: CrawlFolder, sql: str, values: Row) -> Iterator[Row]:
    if folder.coordinator_database.exists():
        yield from read_rows(folder.coordinator_database, sql, *values)
