"""Fixed: every page after the same time, as S4 calls static collection; what is longest overdue comes first."""

from __future__ import annotations

from dataclasses import dataclass

from nephila.refresh.columns import Columns, Floats
from nephila.refresh.policies.policy import Terms, about, since_last


@dataclass(frozen=True, slots=True)
class Fixed:
    """Due, with score 0, when the interval has passed."""

    interval_days: float = 7.0

    def terms(self, columns: Columns, budget_per_day: float) -> Terms:
        return ()

    def settle(self, columns: Columns, terms: Terms) -> None:
        return None

    def scores(self, columns: Columns, now_day: float, settled: Floats | None) -> Floats:
        return since_last(columns, now_day) - self.interval_days

    def explain(self, columns: Columns, settled: Floats | None) -> str:
        return f"every page is visited every {about(self.interval_days)}"
