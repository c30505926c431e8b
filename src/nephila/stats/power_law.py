"""A power law fitted to whole numbers, by maximum likelihood (Clauset, Shalizi and Newman 2009, for discrete values).

P(x) = x^-a / zeta(a, m) for x >= m, with Hurwitz' zeta. For a given m the exponent a maximises the likelihood

    -n ln zeta(a, m) - a sum(ln x)        over the n values of at least m;

m itself is the value at which the fitted law is nearest to the values: the largest difference of the two distribution
functions (Kolmogorov and Smirnov) is least. The error of a is that of the likelihood's curvature. A fit says which law
is the best of its family, not that the values follow one: the distance tells how far they are from it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import zeta

_EXPONENTS: Final = (1.01, 8.0)
_FEWEST: Final = 50
"""Values of a tail: fewer say nothing about a law."""
_FEWEST_DISTINCT: Final = 5
_MOST_STARTS: Final = 60
_STEP: Final = 1e-3


@dataclass(frozen=True, slots=True)
class PowerLaw:
    """A law from `least` on, with its exponent, the exponent's standard error, and the distance of Kolmogorov."""

    least: int
    values: int
    exponent: float
    error: float
    distance: float

    def mean_count(self, first: int, last: int) -> float:
        """How many values the law expects at each whole number from `first` to `last`, on average."""
        whole = zeta(self.exponent, self.least)
        return float(self.values * (zeta(self.exponent, first) - zeta(self.exponent, last + 1)) / whole) / (
            last - first + 1
        )


def fit(histogram: Sequence[tuple[int, int]]) -> PowerLaw | None:
    """The law of values that occur so often, given as (value, count); None where there are too few."""
    if not histogram:
        return None
    ordered = np.array(sorted(histogram), dtype=np.int64)
    values, counts = ordered[:, 0], ordered[:, 1]
    behind = counts[::-1].cumsum()[::-1]
    distinct = np.arange(len(values), 0, -1)
    starts = np.flatnonzero((behind >= _FEWEST) & (distinct >= _FEWEST_DISTINCT) & (values > 0))
    if not len(starts):
        return None
    if len(starts) > _MOST_STARTS:  # by equal steps of their logarithm: the first of them matter most
        wanted = np.geomspace(values[starts[0]], values[starts[-1]], _MOST_STARTS)
        starts = np.unique(starts[np.searchsorted(values[starts], wanted)])
    fits = [_fit_from(values[start:], counts[start:]) for start in starts]
    return min(fits, key=lambda law: law.distance)


def _fit_from(values: NDArray[np.int64], counts: NDArray[np.int64]) -> PowerLaw:
    least, number = int(values[0]), int(counts.sum())
    logarithms = float((counts * np.log(values)).sum())

    def unlikelihood(exponent: float) -> float:
        return number * math.log(zeta(exponent, least)) + exponent * logarithms

    exponent = float(minimize_scalar(unlikelihood, bounds=_EXPONENTS, method="bounded").x)
    near = max(exponent, _EXPONENTS[0] + 2 * _STEP)
    bend = (unlikelihood(near + _STEP) - 2 * unlikelihood(near) + unlikelihood(near - _STEP)) / _STEP**2
    expected = 1 - zeta(exponent, values + 1.0) / zeta(exponent, least)
    distance = float(np.abs(expected - counts.cumsum() / number).max())
    return PowerLaw(least, number, exponent, 1 / math.sqrt(bend) if bend > 0 else math.inf, distance)
