"""What a page will do next, from what it did: how many of the visits to come will find a change, with an interval.

Rates of pages drift and bunch, which a Poisson process does not. So the past of a page is believed only in part: its
visits count with a weight between 0 and 1 (`trust`), which is chosen on the past itself, as the one under which the
later part of all pages' pasts was most likely after the earlier part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from nephila.stats.change.estimators import (
    Floats,
    GammaFit,
    Visits,
    fit_gamma,
    gamma_weights,
    likelihoods,
    rate_grid,
)

TRUSTS: Final = (1.0, 0.7, 0.5, 0.35, 0.25, 0.15, 0.1, 0.05)


@dataclass(frozen=True, slots=True)
class Foretold:
    """Of the visits to come: how many are expected to find a change, and between how many with the confidence asked."""

    expected: float
    low: int
    high: int


def posterior(prior: GammaFit, visits: Visits, trust: float = 1.0) -> Floats:
    """How likely each rate of the grid is, given a group's distribution and a page's own visits."""
    weights = gamma_weights(prior.shape, prior.rate_days) * np.maximum(likelihoods([visits])[0], 1e-300) ** trust
    made: Floats = weights / weights.sum()
    return made


def foretell(prior: GammaFit, past: Visits, gaps: Sequence[float], confidence: float, trust: float = 1.0) -> Foretold:
    """The number of changes that visits at these gaps will find."""
    chances = changes_ahead(posterior(prior, past, trust), gaps)
    reached = np.cumsum(chances)
    tail = (1 - confidence) / 2
    low = int(np.searchsorted(reached, tail))
    high = int(np.searchsorted(reached, 1 - tail))
    return Foretold(float(chances @ np.arange(len(chances))), low, min(high, len(gaps)))


def changes_ahead(weights: Floats, gaps: Sequence[float]) -> Floats:
    """The probability of 0 .. n changes found at n gaps, over all rates."""
    rates, _ = rate_grid()
    ways = np.zeros((len(rates), len(gaps) + 1))
    ways[:, 0] = 1.0
    for number, gap in enumerate(gaps):
        found = -np.expm1(-rates * gap)[:, None]
        ways[:, 1 : number + 2] = ways[:, 1 : number + 2] * (1 - found) + ways[:, : number + 1] * found
        ways[:, 0] *= 1 - found[:, 0]
    made: Floats = weights @ ways
    return made


def choose_trust(histories: Sequence[tuple[Visits, Visits]]) -> float:
    """The weight of the past under which what came later was most likely: (earlier, later) of many pages."""
    prior = group_prior([earlier for earlier, _ in histories])
    weights = gamma_weights(prior.shape, prior.rate_days)
    before = np.log(np.maximum(likelihoods([earlier for earlier, _ in histories]), 1e-300))
    after = likelihoods([later for _, later in histories])

    def support(trust: float) -> float:
        believed = np.exp(trust * (before - before.max(axis=1, keepdims=True))) * weights
        believed /= believed.sum(axis=1, keepdims=True)
        return float(np.log(np.maximum((believed * after).sum(axis=1), 1e-300)).sum())

    return max(TRUSTS, key=support)


def group_prior(pasts: Sequence[Visits]) -> GammaFit:
    """The distribution of rates of pages that belong together."""
    return fit_gamma(likelihoods(pasts), np.ones(len(pasts)))
