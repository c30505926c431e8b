"""Sorting (S2-5): in each hour the sites with the lowest load of that hour come first.

Its weakness is known (S2-5, S2-6): a site whose quietest hour is still busier than others is pushed back, perhaps into
its worst hour, so that the volume per hour falls with time and in the end below random's.
"""

from __future__ import annotations

import numpy as np

from nephila.schedule.policy import HourOrder, Situation, incomplete


def by_load(situation: Situation) -> HourOrder:
    rows = incomplete(situation)
    return HourOrder(rows[np.argsort(situation.loads[rows, situation.hour], kind="stable")])
