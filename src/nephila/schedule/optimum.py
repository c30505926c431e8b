"""The quickest schedule there is: a linear program over the hours to come (CHECKLIST 3; Lawler & Labetoulle 1978).

For hours k = 0 … K of length l_k (the first may be a rest, the last one is to be found) and variables x_sk, the time
that site s has a place in hour k:

    minimise   l_K
    subject to Σ_k R_sk x_sk ≥ V_s     everything is collected
               Σ_s x_sk ≤ m l_k        m places
               x_sk ≤ l_k              one place per site at a time

K is the smallest for which it can be done; then the sum of the lengths is the optimum among all schedules that may
interrupt a site, exactly, because times that keep these rules can be laid out inside each hour (`wrap_around`).
The solver is HiGHS, through scipy.

Bounds that need no solver: all volume at best rates on all places, and each site alone without a pause.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array, csr_array

from nephila.schedule.policy import HOURS, Floats, Ints, Situation

MOST_HOURS: Final = 24 * 14
"""What takes longer than two weeks is planned for two weeks; the next plan sees the rest."""

_SCALE: Final = 1e-9
_FEASIBLE, _INFEASIBLE = 0, 2
_SOONER: Final = 1e-4
"""Weight of doing much in the first hours; it chooses among schedules that are all but equally quick."""


@dataclass(frozen=True, slots=True)
class Quickest:
    """The optimum: how long it takes from now on, and each site's time per hour to come (sites × hours)."""

    hours: float
    times_h: Floats
    lengths_h: Floats


def coming_rates(rates: Floats, hour: int, count: int) -> Floats:
    """The rates of the next `count` hours from `hour` on; days repeat."""
    return rates[:, (hour + np.arange(count)) % HOURS]


def alone_h(rates: Floats, left: Floats, hour: int, length_h: float = 1.0) -> Floats:
    """How long each site takes if it keeps a place without a pause; infinite where it can never be collected."""
    taken = np.zeros(len(left))
    rest = left.astype(np.float64).copy()
    day = rates.sum(axis=1)
    for k in range(MOST_HOURS):
        if not (rest > 0).any():
            return taken
        length = length_h if k == 0 else 1.0
        rate = rates[:, (hour + k) % HOURS]
        needed = np.divide(rest, rate, out=np.full(len(rest), np.inf), where=rate > 0)
        used = np.where(rest > 0, np.minimum(needed, length), 0.0)
        taken += used
        rest = np.where(needed <= length, 0.0, rest - used * rate)
        if k == 0 and (day <= 0).any():
            taken[(day <= 0) & (rest > 0)] = np.inf
            rest[day <= 0] = 0.0
    taken[rest > 0] = np.inf
    return taken


def quick_bound(situation: Situation) -> float:
    """No schedule is shorter: Σ V / best rate / places, and the longest single site."""
    left = situation.left
    best = situation.rates.max(axis=1)
    can = (left > 0) & (best > 0)
    shared = float((left[can] / best[can]).sum()) / situation.places
    single = alone_h(situation.rates[can], left[can], situation.hour, situation.length_h)
    finite = single[np.isfinite(single)]
    return max(shared, float(finite.max()) if len(finite) else 0.0)


def quickest(situation: Situation, *, sooner: bool = False) -> Quickest:
    """Solve it. `sooner` prefers, among schedules that are equally quick to a minute, the one that does more now."""
    rows = np.flatnonzero((situation.left > 0) & (situation.rates.max(axis=1) > 0))
    times = np.zeros((len(situation.left), 1))
    if not len(rows):
        return Quickest(0.0, times, np.zeros(1))
    first = situation.length_h
    bound = quick_bound(situation)
    count = 1 if bound <= first else 1 + math.ceil(bound - first - _SCALE)
    while True:
        solved = _solve(situation, rows, min(count, MOST_HOURS), _SOONER if sooner else 0.0)
        if solved is not None:
            return solved
        if count >= MOST_HOURS:
            return _as_much_as_can_be(situation, rows)
        count += 1


def _solve(situation: Situation, rows: Ints, count: int, sooner: float) -> Quickest | None:
    """The program for `count` hours, the last of free length; None where that is too short."""
    rates = coming_rates(situation.rates[rows], situation.hour, count)
    sites = len(rows)
    cells = sites * count
    lengths = np.ones(count)
    lengths[0] = situation.length_h
    number = np.arange(cells)
    site, hour = number // count, number % count
    last = number[hour == count - 1]
    # Rows: volumes (sites), places (count), the last hour's own bound per site (sites).
    row = np.concatenate(
        [site, sites + hour, [sites + count - 1], sites + count + site[last], sites + count + site[last]]
    )
    column = np.concatenate([number, number, [cells], last, np.full(sites, cells)])
    value = np.concatenate([
        -rates.ravel(), np.ones(cells), [-situation.places], np.ones(sites), -np.ones(sites),
    ])  # fmt: skip
    matrix = csr_array(coo_array((value, (row, column)), shape=(2 * sites + count, cells + 1)))
    capacity = situation.places * lengths
    capacity[-1] = 0.0
    limits = np.concatenate([-situation.left[rows], capacity, np.zeros(sites)])
    upper = np.concatenate([np.tile(lengths, sites), [lengths[-1]]])
    upper[last] = lengths[-1]
    cost = np.concatenate([np.tile(np.arange(count) * sooner / (count * situation.places), sites), [1.0]])
    found = linprog(cost, A_ub=matrix, b_ub=limits, bounds=np.stack([np.zeros(cells + 1), upper], axis=1),
                    method="highs")  # fmt: skip
    if found.status == _INFEASIBLE:
        return None
    if found.status != _FEASIBLE:
        raise ArithmeticError(f"the solver gave up: {found.message}")
    lengths[-1] = found.x[-1]
    times = np.zeros((len(situation.left), count))
    times[rows] = found.x[:-1].reshape(sites, count)
    return Quickest(float(lengths.sum()), times, lengths)


def _as_much_as_can_be(situation: Situation, rows: Ints) -> Quickest:
    """Beyond two weeks: every hour is full anyway; sites take the places in turn of their best hours."""
    count = HOURS
    rates = coming_rates(situation.rates[rows], situation.hour, count)
    share = rates / np.maximum(rates.sum(axis=0), _SCALE)
    times = np.zeros((len(situation.left), count))
    times[rows] = np.minimum(share * situation.places, 1.0)
    lengths = np.ones(count)
    lengths[0] = situation.length_h
    times[:, 0] *= situation.length_h
    return Quickest(math.inf, times, lengths)
