"""LambdaCrawl (Kolobov et al. 2019) for incomplete observation: r = (−λ + √(λ² + 4μλ/price)) / 2.

It minimises the harmonic penalty −Σ μ ln(r/(r + λ)), which grows without bound for a page that is never visited; so no
page is given up, at the cost of some freshness.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nephila.refresh.columns import Columns, Floats
from nephila.refresh.policies.multiplier import rates_within
from nephila.refresh.policies.policy import about, about_rate, since_last


def lambda_rates(weight: Floats, change: Floats, budget_per_day: float) -> Floats:
    """Visits per day of each page."""

    def wanted(price: float) -> Floats:
        # (−λ + √(λ² + 4k))/2 with k = μλ/price, as 2k/(λ + √(λ² + 4k)): no difference of nearly equal numbers.
        share = weight * change / price
        result: Floats = 2 * share / (change + np.sqrt(change**2 + 4 * share) + 1e-300)
        return result

    return rates_within(wanted, budget_per_day)


@dataclass(frozen=True, slots=True)
class LambdaCrawl:
    """Score 1 when the page's interval has passed."""

    def settle(self, columns: Columns, budget_per_day: float) -> Floats:
        return lambda_rates(columns.weight, columns.mean_rate, budget_per_day)

    def scores(self, columns: Columns, now_day: float, settled: Floats | None) -> Floats:
        assert settled is not None
        return since_last(columns, now_day) * settled

    def explain(self, columns: Columns, settled: Floats | None) -> str:
        often = float(settled[0]) if settled is not None else 0.0
        wanted = f"worth a visit every {about(1 / often)}" if often > 1e-9 else "not worth a visit at this budget"
        return f"{about_rate(float(columns.mean_rate[0]))}, {wanted}"
