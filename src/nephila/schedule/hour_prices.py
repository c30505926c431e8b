"""The same program for very many sites: prices of the hours instead of times of the sites.

The program of `optimum` couples sites only through the places of each hour. So each hour has a price, the dual value of
a place in it, and given the prices each site decides alone: it takes its hours in the order of price / rate, each as
long as it lasts, until it is collected. Prices that fill no hour beyond its places are those of the optimum.

They are found on a sample of the sites, by the solver, over the fewest hours that hold the sample's work; then they are
corrected on all sites: an hour that too many want becomes dearer, one that too few want cheaper. The cost is a few
small programs and a few passes over the table.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array, csr_array

from nephila.schedule.optimum import coming_rates, quick_bound
from nephila.schedule.policy import HOURS, Floats, Ints, Situation

SAMPLE: Final = 300
ROUNDS: Final = 16
_STEP: Final = 0.05
_FULL: Final = 1.03
"""Hours this full are left as they are; what does not fit in one is part of the next plan."""

_LIKING: Final = 0.03
_DEAR: Final = 100.0
_UNDONE: Final = 1e-6
_TINY: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Priced:
    """Prices of the hours to come, and how long each site (of `rows`) wants a place in each."""

    prices: Floats
    times_h: Floats
    overfull: float  # the fullest hour's demand over its places; at most 1 when all fits


@dataclass(frozen=True, slots=True)
class _Work:
    """What is to be done: rates in the hours to come, volumes, and the hours' lengths."""

    rates: Floats
    left: Floats
    lengths: Floats
    liking: Floats  # sites × hours, near 1: sites that are alike must not all want the same hour

    def shorter(self, count: int) -> _Work:
        return _Work(self.rates[:, :count], self.left, self.lengths[:count], self.liking[:, :count])

    def of(self, rows: Ints) -> _Work:
        return _Work(self.rates[rows], self.left[rows], self.lengths, self.liking[rows])

    def least_h(self) -> float:
        """Time on places at best rates."""
        return float((self.left / self.rates.max(axis=1).clip(_TINY)).sum())


def priced(situation: Situation, rows: Ints, chance: np.random.Generator) -> Priced:
    """Prices for the incomplete sites `rows`, over as many hours as their work takes, a day at most."""
    lengths = np.ones(HOURS)
    lengths[0] = situation.length_h
    bound = quick_bound(situation)
    most = float(lengths.sum())
    left = situation.left[rows]
    if bound > most:  # more than a day's work: plan the share of it that a day can do
        left = left * (most / bound)
    liking = chance.uniform(1 - _LIKING, 1 + _LIKING, (len(rows), HOURS))
    day = _Work(coming_rates(situation.rates[rows], situation.hour, HOURS), left, lengths, liking)
    sample = day.of(chance.choice(len(rows), min(SAMPLE, len(rows)), replace=False))
    places = situation.places * sample.least_h() / max(day.least_h(), _TINY)
    count = min(HOURS, max(1, math.ceil(bound - situation.length_h) + 1))
    while True:
        prices, undone = _sample_prices(sample.shorter(count), places)
        if undone <= _UNDONE or count == HOURS:
            break
        count = min(HOURS, count + 1)
    return _corrected(day.shorter(count), prices, situation.places)


def _corrected(work: _Work, prices: Floats, places: int) -> Priced:
    capacity = places * work.lengths
    best = Priced(prices, *_demanded(work, prices, capacity))
    tried = best
    for number in range(ROUNDS):
        if best.overfull <= _FULL:
            break
        full = tried.times_h.sum(axis=0) / capacity
        prices = prices * np.clip(full, 0.5, 2.0) ** (_STEP / (1 + number / 4))
        tried = Priced(prices, *_demanded(work, prices, capacity))
        best = tried if tried.overfull < best.overfull else best
    return best


def _demanded(work: _Work, prices: Floats, capacity: Floats) -> tuple[Floats, float]:
    times = demand(work.rates, work.left, work.lengths, prices * work.liking)
    return times, float((times.sum(axis=0) / capacity).max())


def _sample_prices(work: _Work, places: float) -> tuple[Floats, float]:
    """Least time on places in all: an hour's price is 1, and what a place more in it would save; and what is undone.

    What fits into no hour is paid for dearly, so that there is always a solution.
    """
    sites, count = work.rates.shape
    cells = sites * count
    number, beyond = np.arange(cells), np.arange(sites)
    row = np.concatenate([number // count, sites + number % count, beyond])
    column = np.concatenate([number, number, cells + beyond])
    value = np.concatenate([-work.rates.ravel(), np.ones(cells), -np.ones(sites)])
    matrix = csr_array(coo_array((value, (row, column)), shape=(sites + count, cells + sites)))
    cost = np.concatenate([np.ones(cells), _DEAR / work.rates.max(axis=1).clip(_TINY)])
    limits = np.concatenate([-work.left, places * work.lengths])
    upper = np.concatenate([np.tile(work.lengths, sites), np.full(sites, np.inf)])
    bounds = np.stack([np.zeros(len(cost)), upper], axis=1)
    found = linprog(cost, A_ub=matrix, b_ub=limits, bounds=bounds, method="highs")
    if found.status != 0:
        raise ArithmeticError(f"the solver gave up: {found.message}")
    undone = float(found.x[cells:].sum() / max(work.left.sum(), _TINY))
    return 1.0 - np.asarray(found.ineqlin.marginals[sites:]), undone


def demand(rates: Floats, left: Floats, lengths: Floats, prices: Floats) -> Floats:
    """How long each site takes of each hour: the cheapest per volume first, each no longer than it lasts."""
    order = np.argsort(prices / np.maximum(rates, _TINY), axis=1)
    ranked_rates = np.take_along_axis(rates, order, axis=1)
    most = ranked_rates * lengths[order]
    before = np.cumsum(most, axis=1) - most
    taken = np.clip(left[:, None] - before, 0.0, most)
    times = np.divide(taken, ranked_rates, out=np.zeros_like(taken), where=ranked_rates > 0)
    result = np.empty_like(times)
    np.put_along_axis(result, order, times, axis=1)
    return result
