"""Uniform: every page equally often, whatever it does. Hard to beat by guesses: the baseline (2.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nephila.refresh.columns import Columns, Floats
from nephila.refresh.policies.policy import Terms, about, since_last


@dataclass(frozen=True, slots=True)
class Uniform:
    """Score 1 when a page's turn has come."""

    def terms(self, columns: Columns, budget_per_day: float) -> Terms:
        return (budget_per_day / max(1, len(columns)),)

    def settle(self, columns: Columns, terms: Terms) -> Floats:
        return np.full(len(columns), terms[0])

    def scores(self, columns: Columns, now_day: float, settled: Floats | None) -> Floats:
        assert settled is not None
        return since_last(columns, now_day) * settled

    def explain(self, columns: Columns, settled: Floats | None) -> str:
        return "every page takes its turn" + (f", every {about(float(1 / settled[0]))}" if settled is not None else "")
