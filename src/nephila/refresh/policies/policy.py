"""What a policy must be able to say."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from nephila.refresh.columns import Columns, Floats

_HORIZON_DAYS = 3650.0

Terms = tuple[float, ...]
"""A few figures of a whole crawl, so that one page can be told about without a look at all of them."""


class Policy(Protocol):
    """Pure: the same columns at the same moment give the same scores."""

    def terms(self, columns: Columns, budget_per_day: float) -> Terms:
        """What must be solved over all pages before scores can be given; empty where each page is looked at alone."""
        ...

    def settle(self, columns: Columns, terms: Terms) -> Floats | None:
        """What the terms mean for each of some pages; None where there are none."""
        ...

    def scores(self, columns: Columns, now_day: float, settled: Floats | None) -> Floats:
        """One per page; higher is sooner, and it never falls while a page waits."""
        ...

    def explain(self, columns: Columns, settled: Floats | None) -> str:
        """Why the only page in `columns` is visited when it is, as the beginning of a sentence."""
        ...


def since_last(columns: Columns, now_day: float) -> Floats:
    """Days since each page's last visit."""
    waited: Floats = np.maximum(now_day - columns.last_day, 0.0)
    return waited


def due_days(policy: Policy, columns: Columns, settled: Floats | None, price: float, now_day: float) -> Floats:
    """The day on which each page's score reaches the price; infinite where it does not within ten years."""
    low = columns.last_day.astype(float)
    high = np.full(len(columns), max(now_day, float(low.max(initial=0.0))) + _HORIZON_DAYS)
    never = _scores_at(policy, columns, high, settled) < price
    for _ in range(40):
        middle = (low + high) / 2
        reached = _scores_at(policy, columns, middle, settled) >= price
        low, high = np.where(reached, low, middle), np.where(reached, middle, high)
    return np.where(never, np.inf, high)


def _scores_at(policy: Policy, columns: Columns, days: Floats, settled: Floats | None) -> Floats:
    """Scores of each page at a moment of its own: every score depends on the time since the last visit alone."""
    moved = columns.some(np.arange(len(columns)))
    moved.last_day = columns.last_day - days
    return policy.scores(moved, 0.0, settled)


def about(days: float) -> str:
    """A length of time as people say it."""
    for unit, length in (("year", 365.25), ("week", 7.0), ("day", 1.0), ("hour", 1 / 24), ("minute", 1 / 1440)):
        if days >= 1.95 * length or (unit in ("day", "minute") and days >= 0.95 * length):
            count = days / length
            return f"{count:.0f} {unit}s" if count >= 1.5 else f"{count:.0f} {unit}"
    return "less than a minute"


def about_rate(per_day: float) -> str:
    """How often a page changes, as people say it."""
    if per_day < 1 / 3650:
        return "has not changed yet and is not expected to"
    return f"changes about every {about(1 / per_day)}"
