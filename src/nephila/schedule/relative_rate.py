"""The relative-rate index: a site is served when now is good *for it* (CHECKLIST 3, "stronger policy to ship").

    index(s) = rate of s now / mean of its best 8 of the 24 hours to come

Two sites of equal load now are told apart by what they would lose by waiting; a busy site in its quietest hour comes
before a quiet one that is equally quiet all day. It costs one sort, needs no solver, and the plan falls back on it.
A site under way stops when its index is below that of what waits by more than `CALM`, so that noise moves nobody.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from nephila.schedule.policy import HOURS, Floats, HourOrder, Situation, incomplete

BEST_HOURS: Final = 8
CALM: Final = 0.05


def relative_rate(rates: Floats, hour: int) -> Floats:
    """The index per site; a site that can never be collected has 0."""
    best = np.partition(rates, HOURS - BEST_HOURS, axis=1)[:, HOURS - BEST_HOURS :].mean(axis=1)
    index: Floats = np.divide(rates[:, hour], best, out=np.zeros(len(rates)), where=best > 0)
    return index


def by_index(situation: Situation) -> HourOrder:
    rows = incomplete(situation)
    index = relative_rate(situation.rates, situation.hour)
    order = rows[np.argsort(-index[rows], kind="stable")]
    served = order[: situation.places]
    bar = index[served].min() - CALM if len(served) else 0.0
    return HourOrder(order, stays=index >= bar)
