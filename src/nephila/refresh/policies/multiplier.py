"""One number for all pages: the price λ at which the visits that every page wants come to the budget."""

from __future__ import annotations

from collections.abc import Callable

from nephila.refresh.columns import Floats


def rates_within(wanted: Callable[[float], Floats], budget_per_day: float) -> Floats:
    """Visits per day whose sum is the budget; `wanted` falls as the price rises (bisection over 120 halvings)."""
    low, high = 1e-18, 1e18
    for _ in range(120):
        middle = (low * high) ** 0.5
        if float(wanted(middle).sum()) > budget_per_day:
            low = middle
        else:
            high = middle
    return wanted(high)
