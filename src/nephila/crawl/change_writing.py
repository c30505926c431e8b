"""The change log in a slot's database: one row per page that was visited again, written with its visit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, assert_never

from nephila.crawl.group import Seen, Visited
from nephila.crawl.revisiting import GONE
from nephila.store.change_log import ChangeLog, begin, missed, pack_recent, saw, unanswered, unpack_recent

_COLUMNS: Final = (
    "first_at, last_at, changed_at, visits, changed_visits, changes, changed_days, unchanged_days, missing, "
    "changed_on, asked_at, recent"
)


def read_log(writer: Any, site: int, key: int, fetched_at: float | None) -> ChangeLog:
    """The log of a page; it begins with the visit before this one where there is none yet."""
    row = writer.execute(f"SELECT {_COLUMNS} FROM changes WHERE site = ? AND hash = ?", (site, key)).fetchone()  # noqa: S608
    if row is None:
        return begin(fetched_at or 0.0)
    figures: tuple[Any, ...] = row[:-1]
    return replace(ChangeLog(*figures), recent=unpack_recent(row[-1]))


def write_log(writer: Any, site: int, key: int, log: ChangeLog) -> None:
    values = (
        log.first_at, log.last_at, log.changed_at, log.visits, log.changed_visits, log.changes, log.changed_days,
        log.unchanged_days, log.missing, log.changed_on, log.asked_at,
        pack_recent(log.recent),
    )  # fmt: skip
    marks = ", ".join("?" * (2 + len(values)))
    sql = f"INSERT OR REPLACE INTO changes (site, hash, {_COLUMNS}) VALUES ({marks})"  # noqa: S608
    writer.execute(sql, (site, key, *values))


def log_visit(writer: Any, visit: Visited, fetched_at: float | None) -> None:
    """What a further visit adds to the page's log; `fetched_at` is when it was last answered before."""
    assert visit.seen is not None and visit.kept is not None
    log = read_log(writer, visit.site, visit.hash, fetched_at)
    at = visit.fetched.started_at
    match visit.seen:
        case Seen.OLDER:
            return  # the log counts on from the newest visit
        case Seen.UNTOLD:
            log = unanswered(log, at)
        case Seen.MISSING | Seen.GONE:
            log = missed(log, at)
        case Seen.AS_IT_WAS:
            log = saw(log, at, visit.kept.body_bytes, 0, changed=False)
        case Seen.CHANGED:
            size = len(visit.fetched.payload)
            log = saw(log, at, size, size - visit.kept.body_bytes, changed=True)
        case _:
            assert_never(visit.seen)
    write_log(writer, visit.site, visit.hash, log)


def change_of(visit: Visited) -> tuple[bool | None, int | None]:
    """S4-3's Boolean and Compare_Size of a visit."""
    if visit.kept is None or visit.seen not in (Seen.AS_IT_WAS, Seen.CHANGED):
        return None, None
    changed = visit.seen is Seen.CHANGED
    return changed, len(visit.fetched.payload) - visit.kept.body_bytes if changed else 0


def keep_content(writer: Any, visit: Visited) -> None:
    """The row of a page whose content stays as it was: only what this visit tells is new."""
    fetched, key = visit.fetched, (visit.site, visit.hash)
    common = (visit.todo, visit.outcome.value, visit.reason, visit.tries, round(fetched.total_ms))
    sql = """UPDATE pages SET todo = ?, outcome = ?, reason = ?, tries = ?, elapsed_ms = ?, revisit = ?
             WHERE site = ? AND hash = ?"""
    writer.execute(sql, (*common, visit.todo, *key))
    if visit.seen is Seen.AS_IT_WAS:
        writer.execute(
            """UPDATE pages SET fetched_at = ?, etag = coalesce(?, etag), modified = coalesce(?, modified)
               WHERE site = ? AND hash = ?""",
            (fetched.started_at, fetched.header("etag"), fetched.header("last-modified"), *key),
        )
    elif visit.seen is Seen.GONE:
        writer.execute(
            "UPDATE pages SET code = ?, flags = trim(replace(flags, ?, '') || ' ' || ?) WHERE site = ? AND hash = ?",
            (fetched.status, GONE, GONE, *key),
        )
