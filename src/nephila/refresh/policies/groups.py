"""S4's dynamic interval: two groups of pages by their changes within a week, weekdays and one hour for all (S4-4..10).

    mean     changes per page within the week; more than it: group 1, else group 2 (S4-6)
    X        mean of group 1 less the mean of all (S4-7)
    hour     the full hour after the latest time of day at which any page changed (S4-5)
    group 1  is collected on the weekdays on which it changed, at that hour (S4-8)
    group 2  is logged for one more week; if it stays below the mean it is collected every two weeks (S4-10)

The pseudo-code that used X is lost with the paper's Fig. 4. Two readings give the paper's result (S4-9): `weekdays`,
all its weekdays for a page with at least mean + X changes and round(mean) of them for one between; `counts`, as many
visits as changes.

`week_plan` is the paper's own computation on a log; `Groups` the same as a policy at a fixed budget, the most overdue
first. The paper finds its log by asking every page every hour; here only what visits saw is known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal

import numpy as np

from nephila.refresh.columns import Columns, Floats, Whole
from nephila.refresh.policies.policy import Terms, about

Reading = Literal["weekdays", "counts"]
WEEKDAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
WEEK_DAYS: Final = 7
SECOND_GROUP_DAYS: Final = 14.0
HOUR: Final = 16
"""S4-5's hour of its example, where the log has no times of day."""


@dataclass(frozen=True, slots=True)
class Update:
    """A row of S4's Table 2: a URL and when it was changed (UTC seconds)."""

    url: str
    at: float


@dataclass(frozen=True, slots=True)
class PlannedPage:
    url: str
    group: int
    updates: int
    weekdays: tuple[str, ...]  # of group 1
    hour: int
    visits_per_week: float


@dataclass(frozen=True, slots=True)
class WeekPlan:
    mean: float
    x: float
    hour: int
    pages: tuple[PlannedPage, ...]


def week_plan(urls: Sequence[str], updates: Sequence[Update], reading: Reading = "weekdays") -> WeekPlan:
    """The paper's plan from the log of one week (two, for pages of group 2)."""
    days: dict[str, list[int]] = {url: [] for url in urls}
    latest = 0.0
    for update in updates:
        moment = datetime.fromtimestamp(update.at, UTC)
        days[update.url].append(moment.weekday())
        latest = max(latest, moment.hour + moment.minute / 60 + moment.second / 3600)
    hour = math.ceil(latest) % 24
    mean = len(updates) / len(urls) if urls else 0.0
    first = [len(found) for found in days.values() if len(found) > mean]
    x = sum(first) / len(first) - mean if first else 0.0
    pages = tuple(_planned(url, found, mean, x, hour, reading) for url, found in days.items())
    return WeekPlan(mean, x, hour, pages)


def _planned(url: str, found: list[int], mean: float, x: float, hour: int, reading: Reading) -> PlannedPage:
    count = len(found)
    if count <= mean:
        return PlannedPage(url, 2, count, (), hour, WEEK_DAYS / SECOND_GROUP_DAYS)
    weekdays = sorted(set(found))
    if reading == "weekdays" and count < mean + x:
        weekdays = weekdays[: max(1, round(mean))]
    return PlannedPage(url, 1, count, tuple(WEEKDAYS[day] for day in weekdays), hour, float(len(weekdays)))


@dataclass(frozen=True, slots=True)
class Groups:
    """Due, with score 0, at the next of the page's weekdays and the hour; group 2 two weeks after its last visit."""

    reading: Reading = "weekdays"
    hour: int = HOUR

    def terms(self, columns: Columns, budget_per_day: float) -> Terms:
        """The mean of all pages, and X."""
        counts = np.bitwise_count(columns.changed_on & 0x7F).astype(float)
        mean = float(counts.mean()) if len(columns) else 0.0
        in_first = counts > mean
        return mean, float(counts[in_first].mean()) - mean if in_first.any() else 0.0

    def settle(self, columns: Columns, terms: Terms) -> Floats:
        """How many days after its last visit each page is due."""
        mean, x = terms
        seen = columns.changed_on & 0x7F
        counts = np.bitwise_count(seen).astype(float)
        in_first = counts > mean
        if self.reading == "weekdays":
            few = in_first & (counts < mean + x)
            seen = np.where(few, _first_bits(seen, max(1, round(mean))), seen)
        wait = _until_weekday(seen, columns.today, columns.last_day, self.hour)
        return np.where(in_first, wait, SECOND_GROUP_DAYS)

    def scores(self, columns: Columns, now_day: float, settled: Floats | None) -> Floats:
        assert settled is not None
        result: Floats = now_day - columns.last_day - settled
        return result

    def explain(self, columns: Columns, settled: Floats | None) -> str:
        """The group, and when."""
        days = _weekdays(int(columns.changed_on[0]) & 0x7F, columns.today)
        if settled is None or float(settled[0]) >= SECOND_GROUP_DAYS or not days:
            return f"group 2, below the mean: every {about(SECOND_GROUP_DAYS)}"
        return f"group 1: {', '.join(days)} at {self.hour}:00"


def _weekdays(seen: int, today: int) -> list[str]:
    """The weekdays of the last week on which a change was seen; 1970 began on a Thursday."""
    return [WEEKDAYS[day] for day in sorted({(today - back + 3) % 7 for back in range(7) if seen >> back & 1})]


def _first_bits(seen: Whole, count: int) -> Whole:
    """The lowest `count` bits that are set: the latest days."""
    kept = np.zeros_like(seen)
    left = seen.copy()
    for _ in range(count):
        lowest = left & (~left + 1)
        kept |= lowest
        left &= ~lowest
    return kept


def _until_weekday(seen: Whole, today: int, last_day: Floats, hour: int) -> Floats:
    """Days from the last visit to the next moment at `hour` on one of the weekdays in `seen`."""
    best = np.full(len(seen), SECOND_GROUP_DAYS)
    begun = np.floor(last_day).astype(np.int64)
    for ahead in range(WEEK_DAYS, -1, -1):
        day = begun + ahead
        back = np.mod(today - day, WEEK_DAYS).astype(np.uint16)  # the same weekday within the last week
        moment = day + hour / 24
        hit = (np.right_shift(seen, back) & 1).astype(bool) & (moment > last_day)
        best = np.where(hit, moment - last_day, best)
    return best
