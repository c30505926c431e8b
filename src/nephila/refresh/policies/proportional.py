"""Proportional: twice the changes, twice the visits. Plausible, and worse than uniform (Cho & Garcia-Molina 2003).

It spends its visits on pages that have changed again before anybody looks.
"""

from __future__ import annotations

from dataclasses import dataclass

from nephila.refresh.columns import Columns, Floats
from nephila.refresh.policies.policy import Terms, about_rate, since_last


@dataclass(frozen=True, slots=True)
class Proportional:
    """Visits per day in proportion to the estimated changes per day."""

    def terms(self, columns: Columns, budget_per_day: float) -> Terms:
        return (budget_per_day / max(float(columns.mean_rate.sum()), 1e-12),)

    def settle(self, columns: Columns, terms: Terms) -> Floats:
        return terms[0] * columns.mean_rate

    def scores(self, columns: Columns, now_day: float, settled: Floats | None) -> Floats:
        assert settled is not None
        return since_last(columns, now_day) * settled

    def explain(self, columns: Columns, settled: Floats | None) -> str:
        return f"{about_rate(float(columns.mean_rate[0]))}, and is visited in proportion"
