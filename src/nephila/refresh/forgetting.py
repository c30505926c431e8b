"""What many pages' sums become with a visit: `store/change_log.py`'s rule for one page, for arrays.

Used where histories are played through: in simulations, and where changes of text are counted. Both rules are held to
each other by a test.
"""

from __future__ import annotations

import numpy as np

from nephila.refresh.columns import Flags, Floats
from nephila.store.change_log import (
    EXPECTED,
    HALF_LIFE_DAYS,
    LEAST_KEPT,
    MEMORY_VISITS,
    USUAL_CHANGES,
    USUAL_DAYS,
)

Sums = tuple[Floats, Floats, Floats]
"""changes, changed_days, unchanged_days"""


def with_visit(sums: Sums, gap_days: Floats, changed: Flags) -> Sums:
    """The sums after a visit that closed intervals of so many days."""
    changes, changed_days, unchanged_days = sums
    rate = (USUAL_CHANGES + changes) / (USUAL_DAYS + unchanged_days + changed_days / 2)
    still = np.exp(-rate * gap_days)
    expected = np.where(changed, 1 - still, still)
    kept = 0.5 ** np.minimum(gap_days / HALF_LIFE_DAYS, 1 / MEMORY_VISITS)
    kept = kept * np.clip(expected / EXPECTED, LEAST_KEPT, 1.0)
    return (
        changes * kept + changed,
        changed_days * kept + np.where(changed, gap_days, 0.0),
        unchanged_days * kept + np.where(changed, 0.0, gap_days),
    )
