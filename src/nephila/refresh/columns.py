"""What refresh knows of many pages at once: one array per figure, so that ten million pages are planned in a minute.

All times are days since 1970 and all rates are per day. The figures are those of `store/change_log.py`, for
every page one; `shape` and `rate` are the Gamma distribution of a page's change rate after its own visits (`rates`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
Whole = NDArray[np.integer[Any]]
Flags = NDArray[np.bool_]

START_INTERVAL_DAYS: Final = 7.0
"""Nutch's first interval here; its own default is 30 days, of which a short study would see nothing."""


@dataclass(slots=True)
class Columns:
    """Rows of all pages, by column; `changed_on` has bit d set where a change was seen d days before `today`."""

    weight: Floats
    last_day: Floats
    changes: Floats
    changed_days: Floats
    unchanged_days: Floats
    prior_shape: Floats
    prior_rate: Floats
    shape: Floats
    rate: Floats
    interval_days: Floats
    changed_on: Whole = field(default_factory=lambda: np.zeros(0, np.uint16))
    today: int = 0
    reseen: Flags = field(default_factory=lambda: np.zeros(0, bool))  # visited at least twice

    @classmethod
    def new(cls, weight: Floats, last_day: Floats, prior_shape: Floats, prior_rate: Floats) -> Self:
        """Pages that were visited once and never again."""
        count = len(weight)
        return cls(
            weight=weight,
            last_day=last_day,
            changes=np.zeros(count),
            changed_days=np.zeros(count),
            unchanged_days=np.zeros(count),
            prior_shape=prior_shape,
            prior_rate=prior_rate,
            shape=prior_shape.copy(),
            rate=prior_rate.copy(),
            interval_days=np.full(count, START_INTERVAL_DAYS),
            changed_on=np.zeros(count, np.uint16),
            today=int(last_day.max()) if count else 0,
            reseen=np.zeros(count, bool),
        )

    def __len__(self) -> int:
        return len(self.weight)

    @property
    def mean_rate(self) -> Floats:
        """Expected changes per day."""
        return self.shape / self.rate

    def turn_to(self, today: int) -> None:
        """Let the days of `changed_on` pass."""
        passed = today - self.today
        if passed > 0:
            self.changed_on = np.left_shift(self.changed_on, passed) if passed < 16 else np.zeros_like(self.changed_on)
            self.today = today

    def some(self, which: Whole | Flags | slice) -> Self:
        """The rows of some pages, as columns of their own."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return type(self)(**{name: value if name == "today" else value[which] for name, value in values.items()})
