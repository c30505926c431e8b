"""The index policy: visit the page whose visit is worth most now (2.1: the stationary form of the periodic optimum).

A page of importance μ that changes λ times a day and was visited τ days ago has the index

    μ · V(λ, τ),   V = (1 − e^(−λτ)(1 + λτ)) / λ = ∫₀^τ λ s e^(−λs) ds

With pages visited whenever their index reaches one common price, each has the interval that the optimum for periodic
visits gives it (Cho & Garcia-Molina). Pages that change too often to be kept fresh are left out: V stays below 1/λ.
The rate is not known but distributed as Gamma(a, b) (`rates`), and V's expectation has a closed form:

    E V = b/(1 − a) · (q^(a−1) − 1) − τ q^a,   q = b/(b + τ);   for a = 1 the first part is b·ln(1 + τ/b)

so a page that was seldom visited is tried for what it may be, not for what it is likeliest to be.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nephila.refresh.columns import Columns, Floats
from nephila.refresh.policies.policy import Terms, about_rate, since_last


def index_value(rate: Floats, waited: Floats) -> Floats:
    """V for known rates; its limit for small λτ is λτ²/2."""
    x = rate * waited
    small = x < 1e-4
    safe = np.where(small, 1.0, rate)
    value: Floats = np.where(small, x * waited / 2, -(np.expm1(-x) + x * np.exp(-x)) / safe)
    return value


def expected_value(shape: Floats, rate: Floats, waited: Floats) -> Floats:
    """V's expectation where the change rate is Gamma(shape, rate)."""
    grown = np.log1p(waited / rate)
    power = 1.0 - shape
    near_one = np.abs(power) < 1e-6
    safe = np.where(near_one, 1.0, power)
    bought = rate * np.where(near_one, grown, np.expm1(np.clip(safe * grown, -700, 700)) / safe)
    value: Floats = np.maximum(bought - waited * np.exp(-shape * grown), 0.0)
    return value


@dataclass(frozen=True, slots=True)
class Index:
    """With rates as the pages' own visits tell them, and a prior for those that have few."""

    def terms(self, columns: Columns, budget_per_day: float) -> Terms:
        return ()

    def settle(self, columns: Columns, terms: Terms) -> None:
        return None

    def scores(self, columns: Columns, now_day: float, settled: Floats | None) -> Floats:
        waited = since_last(columns, now_day)
        result: Floats = columns.weight * expected_value(columns.shape, columns.rate, waited)
        return result

    def explain(self, columns: Columns, settled: Floats | None) -> str:
        return about_rate(float(columns.mean_rate[0]))
