"""What visits taught about one page: a few figures that say how often it changes, however long it is watched.

Every visit but the first closes an interval, in which the page changed or did not. The log of a page keeps the last
intervals one by one (S4-3's Update_Time, Take_Size, Compare_Size, Boolean) and folds all of them into sums, which fade,
because pages change their ways: by half in 30 days, but never by more than an eighth of that with one visit, so that a
page that is seldom visited is not forgotten before it is known; and by up to half at once where a visit finds what
the sums said was unlikely. So the log is bounded per page. Crawl writes it with the visit, in the same
transaction; refresh reads it.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, replace
from typing import Final

DAY_S: Final = 86_400.0
HALF_LIFE_DAYS: Final = 30.0
MEMORY_VISITS: Final = 8
EXPECTED: Final = 0.3
"""What a visit finds was to be expected if its chance was at least this; below, the sums are doubted."""

LEAST_KEPT: Final = 0.5
USUAL_CHANGES: Final = 0.2
USUAL_DAYS: Final = 1.0
"""The rate of a page that nothing is known of is USUAL_CHANGES / USUAL_DAYS; it only serves to doubt by."""

MOST_RECENT: Final = 16
_RECENT: Final = struct.Struct("<dIiB")  # at, size, compared with before, changed


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One visit that closed an interval: S4-3's record without what the page's row says already."""

    at: float  # Update_Time: when the visit was; the change was before
    take_bytes: int  # Take_Size
    compare_bytes: int  # Compare_Size: larger or smaller than at the visit before
    changed: bool  # Boolean


@dataclass(frozen=True, slots=True)
class ChangeLog:
    """The log of one page. `changes`, `changed_days` and `unchanged_days` fade; the counts of all time do not."""

    first_at: float
    last_at: float  # the last visit that told whether it had changed
    changed_at: float | None = None  # the last visit that found a change
    visits: int = 0  # intervals closed
    changed_visits: int = 0
    changes: float = 0.0
    changed_days: float = 0.0  # in intervals with a change
    unchanged_days: float = 0.0
    missing: int = 0  # answers 404 or 410 in a row
    changed_on: int = 0  # bit d: a change was seen d days before the day of `last_at`
    asked_at: float = 0.0  # the last visit, whether it told or not
    recent: tuple[LogEntry, ...] = ()


def begin(at: float) -> ChangeLog:
    """The first visit says nothing about change; it opens the first interval."""
    return ChangeLog(at, at)


def saw(log: ChangeLog, at: float, take_bytes: int, compare_bytes: int, *, changed: bool) -> ChangeLog:
    """The log after a visit that brought the page, or the word that it is as it was."""
    gap_days = max(0.0, at - log.last_at) / DAY_S
    fades = _kept(log, gap_days, changed=changed)
    entry = LogEntry(at, take_bytes, compare_bytes, changed)
    return replace(
        log,
        last_at=max(at, log.last_at),
        asked_at=at,
        changed_at=at if changed else log.changed_at,
        visits=log.visits + 1,
        changed_visits=log.changed_visits + changed,
        changes=log.changes * fades + changed,
        changed_days=log.changed_days * fades + (gap_days if changed else 0.0),
        unchanged_days=log.unchanged_days * fades + (0.0 if changed else gap_days),
        missing=0,
        changed_on=_days_on(log, at, changed=changed),
        recent=(*log.recent, entry)[-MOST_RECENT:],
    )


def _kept(log: ChangeLog, gap_days: float, *, changed: bool) -> float:
    """How much of the sums stays with a visit; `refresh/forgetting.py` is the same for many pages."""
    rate = (USUAL_CHANGES + log.changes) / (USUAL_DAYS + log.unchanged_days + log.changed_days / 2)
    still = math.exp(-rate * gap_days)
    expected = 1 - still if changed else still
    kept: float = 0.5 ** min(gap_days / HALF_LIFE_DAYS, 1 / MEMORY_VISITS)
    return kept * min(1.0, max(LEAST_KEPT, expected / EXPECTED))


def _days_on(log: ChangeLog, at: float, *, changed: bool) -> int:
    passed = max(0, int(at // DAY_S) - int(log.last_at // DAY_S))
    return (log.changed_on << min(passed, 16) | changed) & 0xFFFF


def missed(log: ChangeLog, at: float) -> ChangeLog:
    """The log after an answer that the page is not there; whether it had changed before is not known."""
    return replace(log, missing=log.missing + 1, asked_at=at)


def unanswered(log: ChangeLog, at: float) -> ChangeLog:
    """The log after a visit that told nothing; the page is not asked again at once for that."""
    return replace(log, asked_at=at)


def pack_recent(entries: tuple[LogEntry, ...]) -> bytes:
    return b"".join(
        _RECENT.pack(each.at, min(each.take_bytes, 2**32 - 1), _within(each.compare_bytes), each.changed)
        for each in entries
    )


def unpack_recent(packed: bytes) -> tuple[LogEntry, ...]:
    return tuple(
        LogEntry(at, size, compared, bool(changed)) for at, size, compared, changed in _RECENT.iter_unpack(packed)
    )


def _within(difference: int) -> int:
    return max(-(2**31), min(2**31 - 1, difference))
