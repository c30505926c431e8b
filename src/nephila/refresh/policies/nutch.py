"""Apache Nutch's AdaptiveFetchSchedule: a change makes the interval a fifth shorter, none a fifth longer (2.1).

The interval is kept by whoever records visits (`after_visit`): from one minute to a year. Nothing weighs pages against
each other, so at a fixed budget the most overdue comes first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from nephila.refresh.columns import Columns, Flags, Floats
from nephila.refresh.policies.policy import Terms, about, since_last

SHORTER: Final = 0.2
LONGER: Final = 0.2
LEAST_DAYS: Final = 60 / 86_400
MOST_DAYS: Final = 365.0


def after_visit(interval_days: Floats, changed: Flags) -> Floats:
    """The interval after a visit that found a change, or none."""
    grown = interval_days * np.where(changed, 1 - SHORTER, 1 + LONGER)
    result: Floats = np.clip(grown, LEAST_DAYS, MOST_DAYS)
    return result


@dataclass(frozen=True, slots=True)
class Nutch:
    """Due, with score 0, when the page's own interval has passed."""

    def terms(self, columns: Columns, budget_per_day: float) -> Terms:
        return ()

    def settle(self, columns: Columns, terms: Terms) -> None:
        return None

    def scores(self, columns: Columns, now_day: float, settled: Floats | None) -> Floats:
        result: Floats = since_last(columns, now_day) - columns.interval_days
        return result

    def explain(self, columns: Columns, settled: Floats | None) -> str:
        return f"its interval has come to {about(float(columns.interval_days[0]))}"
