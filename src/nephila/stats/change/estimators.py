"""How often a page really changes, from visits that see at most one change each (2.1, I1-9).

S1's interval, period / changes, is biased three ways: it leaves out pages that did not change, counts at most one
change per gap, and averages 1/X. Under a Poisson process of rate r (per day) a gap of g days shows a change with
probability 1 - exp(-r g), and everything here follows from that:

- `naive`: X / T, for comparison.
- `cho_garcia_molina`: -ln((n - X + 0.5) / (n + 0.5)) / g for n visits at equal gaps; its interval is Clopper and
  Pearson's for the probability, carried over.
- `irregular`: the rate that makes visits at any gaps most likely, Σ_changed g/(exp(r g) - 1) = Σ_unchanged g, with half
  a gap of each kind added (as LambdaLearn does), and the likelihood-ratio interval.

One page's few visits say little. All pages of a group together say how rates are spread: `fit_gamma` (rates are
Gamma distributed), `fit_never` (a share never changes, the others have one rate). Both maximise the probability of all
pages' visits, on a grid of rates; a page is a pattern of gaps, and equal patterns are counted, not repeated.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
CONFIDENCE: Final = 0.95
_LEAST_RATE: Final = 1e-5
_MOST_RATE: Final = 50.0
_STEPS: Final = 160


@dataclass(frozen=True, slots=True)
class Visits:
    """One page's gaps in days: those after which it had changed, and those after which it had not."""

    changed: tuple[float, ...]
    unchanged: tuple[float, ...]

    @property
    def days(self) -> float:
        return sum(self.changed) + sum(self.unchanged)


@dataclass(frozen=True, slots=True)
class RateEstimate:
    """Changes per day with a confidence interval; `high` is infinite where every visit saw a change."""

    per_day: float
    low: float
    high: float


def naive(visits: Visits) -> float:
    """X / T, which is what an interval of period / changes says of one page."""
    return len(visits.changed) / visits.days if visits.days else 0.0


def cho_garcia_molina(visits: int, changed: int, gap_days: float, confidence: float = CONFIDENCE) -> RateEstimate:
    """Equal gaps: nearly unbiased, and finite where every visit saw a change."""
    from scipy.stats import beta

    rate = -math.log((visits - changed + 0.5) / (visits + 0.5)) / gap_days
    tail = (1 - confidence) / 2
    low = float(beta.ppf(tail, changed, visits - changed + 1)) if changed else 0.0
    high = float(beta.ppf(1 - tail, changed + 1, visits - changed)) if changed < visits else 1.0
    return RateEstimate(rate, -math.log1p(-low) / gap_days, -math.log1p(-high) / gap_days if high < 1 else math.inf)


def irregular(visits: Visits, confidence: float = CONFIDENCE) -> RateEstimate:
    """Any gaps: the most likely rate, smoothed, and the rates that are not much less likely."""
    from scipy.optimize import brentq
    from scipy.stats import chi2

    changed, unchanged = np.array(visits.changed), np.array(visits.unchanged)
    gap = visits.days / max(len(changed) + len(unchanged), 1) or 1.0
    smooth_changed, weights = np.append(changed, gap), np.append(np.ones(len(changed)), 0.5)
    waited = float(unchanged.sum()) + 0.5 * gap

    def slope(log_rate: float) -> float:
        rate = math.exp(log_rate)
        return float((weights * smooth_changed / np.expm1(np.minimum(rate * smooth_changed, 700.0))).sum()) - waited

    rate = math.exp(brentq(slope, math.log(1e-9 / gap), math.log(1e3 / gap)))

    def support(value: float) -> float:
        return float(np.log(-np.expm1(-value * changed)).sum() - value * unchanged.sum())

    if not len(changed):
        high = -math.log((1 - confidence) / 2) / max(float(unchanged.sum()), 1e-12)
        return RateEstimate(rate, 0.0, high)
    best = rate if not len(unchanged) else math.exp(
        brentq(lambda x: float((changed / np.expm1(np.minimum(math.exp(x) * changed, 700.0))).sum()) - unchanged.sum(),
               math.log(1e-9 / gap), math.log(1e3 / gap)))  # fmt: skip
    drop = float(chi2.ppf(confidence, 1)) / 2
    top = support(best) if len(unchanged) else 0.0
    low = math.exp(brentq(lambda x: support(math.exp(x)) - (top - drop), math.log(best) - 40, math.log(best)))
    if not len(unchanged):
        return RateEstimate(rate, low, math.inf)
    high = math.exp(brentq(lambda x: support(math.exp(x)) - (top - drop), math.log(best), math.log(best) + 20))
    return RateEstimate(rate, low, high)


def rate_grid() -> tuple[Floats, Floats]:
    """Rates from one in 270 years to fifty a day, and the borders between them."""
    borders = np.exp(np.linspace(math.log(_LEAST_RATE), math.log(_MOST_RATE), _STEPS + 1))
    return np.sqrt(borders[1:] * borders[:-1]), borders


def likelihoods(patterns: Sequence[Visits]) -> Floats:
    """The probability of each pattern (first axis) at each rate of the grid."""
    rates, _ = rate_grid()
    table = np.zeros((len(patterns), len(rates)))
    for place, visits in enumerate(patterns):
        for gap in visits.changed:
            table[place] += np.log(-np.expm1(-rates * gap))
        table[place] -= rates * sum(visits.unchanged)
    return np.exp(table)


@dataclass(frozen=True, slots=True)
class GammaFit:
    """Rates as Gamma(shape, rate_days): mean shape / rate_days changes per day."""

    shape: float
    rate_days: float
    pages: float

    @property
    def mean_per_day(self) -> float:
        return self.shape / self.rate_days


@dataclass(frozen=True, slots=True)
class NeverFit:
    """A share of pages never changes; the others change `per_day`."""

    never: float
    per_day: float
    pages: float


def gamma_weights(shape: float, rate_days: float) -> Floats:
    """How much of a Gamma distribution lies at each rate of the grid."""
    from scipy.special import gammainc

    _, borders = rate_grid()
    reached = gammainc(shape, borders * rate_days)
    reached[0], reached[-1] = 0.0, 1.0  # what lies beyond the grid counts as its ends
    weights: Floats = np.diff(reached)
    return weights


def fit_gamma(table: Floats, counts: Floats, start: tuple[float, float] = (0.3, 1.0)) -> GammaFit:
    """The Gamma distribution under which `counts` pages of each pattern are most likely."""
    from scipy.optimize import minimize

    used = counts > 0
    table, counts = table[used], counts[used]

    def loss(x: Floats) -> float:
        shape, rate_days = np.exp(np.clip(x, -9, 9))
        chance = table @ gamma_weights(float(shape), float(rate_days))
        return -float(counts @ np.log(np.maximum(chance, 1e-300)))

    found = minimize(loss, np.log(start), method="Nelder-Mead", options={"xatol": 1e-3, "fatol": 1e-4, "maxiter": 200})
    shape, rate_days = np.exp(np.clip(found.x, -9, 9))
    return GammaFit(float(shape), float(rate_days), float(counts.sum()))


def fit_never(table: Floats, counts: Floats, unchanged: Floats, rounds: int = 60) -> NeverFit:
    """By expectation and maximisation; `unchanged` is 1 for patterns without a change."""
    rates, _ = rate_grid()
    used = counts > 0
    table, counts, unchanged = table[used], counts[used], unchanged[used]
    total = float(counts.sum())
    if not total:
        return NeverFit(0.0, 0.0, 0.0)
    never, place = 0.3, int(np.searchsorted(rates, 0.2))
    for _ in range(rounds):
        chance = never * unchanged + (1 - never) * table[:, place]
        dead = never * unchanged / np.maximum(chance, 1e-300)
        never = float(counts @ dead) / total
        alive = counts * (1 - dead)
        place = int(np.argmax(alive @ np.log(np.maximum(table, 1e-300))))
    return NeverFit(never, float(rates[place]), total)
