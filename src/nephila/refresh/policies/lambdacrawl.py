"""LambdaCrawl (Kolobov et al. 2019) for incomplete observation: r = (−λ + √(λ² + 4μλ/price)) / 2.

It minimises the harmonic penalty −Σ μ ln(r/(r + λ)), which grows without bound for a page that is never visited; so no
page is given up, at the cost of some freshness.
"""

from __future__ import annotations

import numpy as np

from nephila.refresh.columns import Floats
from nephila.refresh.policies.multiplier import Paced


def lambda_rates(weight: Floats, change: Floats, price: float) -> Floats:
    """Visits per day of each page at a price."""
    # (−λ + √(λ² + 4k))/2 with k = μλ/price, as 2k/(λ + √(λ² + 4k)): no difference of nearly equal numbers.
    share = weight * change / price
    rates: Floats = 2 * share / (change + np.sqrt(change**2 + 4 * share) + 1e-300)
    return rates


def lambdacrawl() -> Paced:
    return Paced(lambda_rates)
