"""How often a page changes, from visits that only tell whether it changed since the one before (2.1).

Changes come as a Poisson process of rate λ, so an interval of t days brings at least one with probability 1 − e^(−λt).

    naive                  λ = X / T                                      blind to what happened between two visits
    Cho & Garcia-Molina    λ = −ln((n − X + 0.5) / (n + 0.5)) / I         n visits every I days, X of them with a change
    maximum likelihood     Σ over changed t/(e^(λt) − 1) = Σ over unchanged t      for visits at any times
    empirical Bayes        λ ~ Gamma(shape, rate) before any visit; then the same likelihood times that prior

The last one is what plans are made of: it needs no history to begin with and forgets its prior as history grows. The
posterior is written as a Gamma distribution again: mode and curvature in ln λ are those of the true one. `fit_prior`
finds the prior that makes the pages' own histories likeliest, by expectation and maximisation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from nephila.refresh.columns import Columns, Flags, Floats, Whole

_STEPS: Final = 30
_LEAST: Final = 1e-9
MOST_PER_DAY: Final = 24.0 * 60


def naive(changes: Floats, days: Floats) -> Floats:
    """Changes seen per day watched; never more than one per visit, so too small where pages change often."""
    return changes / np.maximum(days, _LEAST)


def cho_garcia_molina(visits: Floats, changes: Floats, interval_days: Floats) -> Floats:
    """For regular visits, with half a pseudo-visit so that a page that always changed has a finite rate."""
    result: Floats = -np.log((visits - changes + 0.5) / (visits + 0.5)) / interval_days
    return result


def likeliest(changed_days: Sequence[float], unchanged_days: Sequence[float]) -> float:
    """The rate of one page that makes its intervals likeliest, smoothed by half a mean interval of each kind."""
    intervals = [*changed_days, *unchanged_days]
    if not intervals:
        raise ValueError("a page that was visited once has no interval")
    mean = sum(intervals) / len(intervals)
    length = np.array([*changed_days, mean])
    count = np.array([*[1.0] * len(changed_days), 0.5])
    still = sum(unchanged_days) + 0.5 * mean
    low, high = np.log(_LEAST), np.log(MOST_PER_DAY)
    for _ in range(100):  # the difference falls with the rate, so halving finds where it is nothing
        middle = (low + high) / 2
        rate = np.exp(middle)
        if float((count * length / np.expm1(np.minimum(rate * length, 700))).sum()) > still:
            low = middle
        else:
            high = middle
    return float(np.exp((low + high) / 2))


def posterior(
    shape: Floats, rate: Floats, changes: Floats, changed_days: Floats, still: Floats
) -> tuple[Floats, Floats]:
    """The Gamma distribution of λ after `changes` intervals with a change, `changed_days` long in all, and `still`.

    Changed intervals count with their mean length I, so that three sums per page are enough. In ln λ the posterior is
    highest where shape + X·r = λ·(rate + still), with r = y/(e^y − 1) and y = λ·I. The left side less the right is
    convex and falls, so Newton's steps from the left of the zero never leave it: r ≥ 1 − y/2 gives the start.
    """
    length = changed_days / np.maximum(changes, _LEAST)
    whole = rate + still
    mode = np.maximum(shape / whole, (shape + changes) / (whole + changed_days / 2))
    for _ in range(_STEPS):
        ratio, bend = _ratio(mode * length)
        over = shape + changes * ratio - mode * whole
        step = over / (whole + changes * bend / mode)
        mode = mode + step
        if np.all(step <= 1e-7 * mode):
            break
    mode = np.clip(mode, _LEAST, MOST_PER_DAY)
    new_shape = np.maximum(mode * whole + changes * _ratio(mode * length)[1], _LEAST)  # minus the second derivative
    return new_shape, new_shape / mode


def _ratio(y: Floats) -> tuple[Floats, Floats]:
    """r = y/(e^y − 1) and −y·dr/dy = r·(r + y − 1), whose limit y/2 is exact enough below 10^-4."""
    y = np.clip(y, 1e-12, 700)
    ratio = y / np.expm1(y)
    return ratio, np.where(y < 1e-4, y / 2, ratio * (ratio + y - 1))


def learn(columns: Columns, which: Whole | Flags | slice) -> None:
    """Renew the posterior of some pages, in place."""
    before = (columns.prior_shape, columns.prior_rate, columns.changes, columns.changed_days, columns.unchanged_days)
    shape, rate, changes, changed_days, still = (column[which].astype(float) for column in before)
    columns.shape[which], columns.rate[which] = posterior(shape, rate, changes, changed_days, still)


def fit_prior(
    changes: Floats, changed_days: Floats, still: Floats, start: tuple[float, float], rounds: int = 30
) -> tuple[float, float]:
    """(shape, rate) of the Gamma distribution that these pages' rates seem to be drawn from (empirical Bayes)."""
    from scipy.special import digamma, polygamma

    shape, rate = start
    if len(changes) < 10:
        return start
    for _ in range(rounds):
        ones = np.ones(len(changes))
        shapes, rates = posterior(shape * ones, rate * ones, changes, changed_days, still)
        mean, mean_log = float((shapes / rates).mean()), float((digamma(shapes) - np.log(rates)).mean())
        gap = np.log(mean) - mean_log
        if gap <= 0:
            break
        new = (3 - gap + np.sqrt((gap - 3) ** 2 + 24 * gap)) / (12 * gap)  # Minka's start, then Newton
        for _ in range(8):
            new = 1 / (
                1 / new
                + (mean_log - np.log(mean) + np.log(new) - digamma(new)) / (new**2 * (1 / new - polygamma(1, new)))
            )
        new = float(np.clip(new, 0.01, 50.0))
        moved = abs(new - shape) / shape
        shape, rate = new, new / mean
        if moved < 1e-3:
            break
    return shape, rate
