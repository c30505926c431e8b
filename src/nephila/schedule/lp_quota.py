"""LP-quota with a rolling horizon: each hour the optimum of what is left is solved anew, and its first hour is done.

The solution says how long each site has a place in this hour (`optimum`; `hour_prices` where there are very many
sites). That is its quota; when it is used up the place goes to the next. Sites are not split inside an hour, so the
longest quotas begin first. Whoever has no quota in this hour waits behind those who have, by the relative-rate index,
and is served only when a place would be empty otherwise. What was planned wrongly, or came slower than believed, is
part of what is left in the next hour.

Where the solver fails the relative-rate index decides alone.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from nephila.schedule.hour_prices import priced
from nephila.schedule.optimum import quickest
from nephila.schedule.policy import Floats, HourOrder, Situation, incomplete
from nephila.schedule.relative_rate import by_index, relative_rate

MANY_SITES: Final = 1_000
"""More sites than this are planned by prices: the program would take longer than its gain is worth."""

LEAST_H: Final = 1 / 60
"""A quota below a minute is none: what a site costs to begin and to stop would eat it up."""


def by_quota(situation: Situation) -> HourOrder:
    rows = incomplete(situation)
    if len(rows) <= situation.places:
        return HourOrder(rows)  # there is a place for everybody
    try:
        quota = _quota(situation)
    except ArithmeticError:
        return by_index(situation)
    wanted = quota > LEAST_H
    index = relative_rate(situation.rates, situation.hour)
    key = np.where(wanted, -quota - 1.0, -index / 2)  # quotas first, the longest first; then by the index
    return HourOrder(rows[np.argsort(key[rows], kind="stable")], quota, wanted)


def _quota(situation: Situation) -> Floats:
    """Time on a place in this hour, per site."""
    rows = incomplete(situation)
    if len(rows) <= MANY_SITES:
        return quickest(situation, sooner=True).times_h[:, 0]
    quota = np.zeros(len(situation.left))
    quota[rows] = priced(situation, rows, np.random.default_rng(0)).times_h[:, 0]
    return quota
