"""The hybrid method (S2-7..14): the priority table, and sites that stop before a worse hour.

Step 4 (S2-12): in each hour sites are served in the order of the hour's column, complete ones are skipped.
Step 5 (S2-13): a site that is begun and incomplete at the hour change stops if the hour that begins is busier than
later ones, and goes on later from where it stopped. The paper does not say which later ones. Two readings:

    NEXT   busier than the hour after it
    LATER  busier than the quietest of the hours that remain of the day

A site that stops stands at the end of the hour's column, behind all that do not: it would be taken up again at once
otherwise, and stopping would mean nothing. So it is served in this hour only if a place would be empty without it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import numpy as np

from nephila.schedule.policy import HOURS, Flags, Floats, HourOrder, Situation, incomplete
from nephila.schedule.priority_table import column

WHOLE_H: Final = 0.9
"""With less of an hour left than this its change is over."""


class StepFive(StrEnum):
    """The two readings of "later"."""

    NEXT = "next"
    LATER = "later"


def by_table(situation: Situation, reading: StepFive = StepFive.NEXT) -> HourOrder:
    rows = incomplete(situation)
    order = rows[column(situation.loads[rows], situation.hour)]
    stopped = stops(situation.loads, situation.hour, reading)
    if situation.begun is not None:
        stopped &= situation.begun
    order = np.concatenate([order[~stopped[order]], order[stopped[order]]])
    # Step 5 is taken at the hour change: a plan that is made within the hour takes no place away.
    return HourOrder(order, stays=~stopped if situation.length_h >= WHOLE_H else None)


def by_table_later(situation: Situation) -> HourOrder:
    """The same with the other reading of step 5."""
    return by_table(situation, StepFive.LATER)


def stops(loads: Floats, hour: int, reading: StepFive) -> Flags:
    """Step 5, per site: whether `hour`, which begins, is worse than later. In the day's last hour nothing is later."""
    if reading is StepFive.NEXT:
        worse: Flags = loads[:, hour] > loads[:, (hour + 1) % HOURS]
    elif hour == HOURS - 1:
        worse = np.zeros(len(loads), dtype=np.bool_)
    else:
        worse = loads[:, hour] > loads[:, hour + 1 :].min(axis=1)
    return worse
