"""One number for all pages: the price λ at which the visits that every page wants come to the budget.

Policies that settle visits per day in this way (`azar`, `lambdacrawl`) are `Paced` by them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from nephila.refresh.columns import Columns, Floats
from nephila.refresh.policies.policy import Terms, about, about_rate, since_last

Wanted = Callable[[Floats, Floats, float], Floats]
"""Visits per day from weight, change rate and price; they fall as the price rises."""


def price_within(wanted: Wanted, weight: Floats, change: Floats, budget_per_day: float) -> float:
    """The price at which the visits per day come to the budget (bisection over 120 halvings)."""
    low, high = 1e-18, 1e18
    for _ in range(120):
        middle = (low * high) ** 0.5
        if float(wanted(weight, change, middle).sum()) > budget_per_day:
            low = middle
        else:
            high = middle
    return high


@dataclass(frozen=True, slots=True)
class Paced:
    """Score 1 when the page's interval has passed."""

    wanted: Wanted

    def terms(self, columns: Columns, budget_per_day: float) -> Terms:
        return (price_within(self.wanted, columns.weight, columns.mean_rate, budget_per_day),)

    def settle(self, columns: Columns, terms: Terms) -> Floats:
        return self.wanted(columns.weight, columns.mean_rate, terms[0])

    def scores(self, columns: Columns, now_day: float, settled: Floats | None) -> Floats:
        assert settled is not None
        return since_last(columns, now_day) * settled

    def explain(self, columns: Columns, settled: Floats | None) -> str:
        often = float(settled[0]) if settled is not None else 0.0
        wanted = f"worth a visit every {about(1 / often)}" if often > 1e-9 else "not worth a visit at this budget"
        return f"{about_rate(float(columns.mean_rate[0]))}, {wanted}"
