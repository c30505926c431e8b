"""Azar et al. 2018: visits at random times, with rates that are optimal for them: r = max(0, √(μλ/price) − λ).

As a deterministic schedule (every 1/r days) it comes to 99 % of the optimum in their experiments. What changes too
often for its importance is given up; that loses little freshness and is unkind to what users look for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nephila.refresh.columns import Columns, Floats
from nephila.refresh.policies.multiplier import rates_within
from nephila.refresh.policies.policy import about, about_rate, since_last


def azar_rates(weight: Floats, change: Floats, budget_per_day: float) -> Floats:
    """Visits per day of each page."""
    return rates_within(lambda price: np.maximum(np.sqrt(weight * change / price) - change, 0.0), budget_per_day)


@dataclass(frozen=True, slots=True)
class Azar:
    """Score 1 when the page's interval has passed."""

    def settle(self, columns: Columns, budget_per_day: float) -> Floats:
        return azar_rates(columns.weight, columns.mean_rate, budget_per_day)

    def scores(self, columns: Columns, now_day: float, settled: Floats | None) -> Floats:
        assert settled is not None
        return since_last(columns, now_day) * settled

    def explain(self, columns: Columns, settled: Floats | None) -> str:
        often = float(settled[0]) if settled is not None else 0.0
        wanted = f"worth a visit every {about(1 / often)}" if often > 1e-9 else "not worth a visit at this budget"
        return f"{about_rate(float(columns.mean_rate[0]))}, {wanted}"
