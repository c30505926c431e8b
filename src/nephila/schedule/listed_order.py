"""Random (S2-4): sites in the order in which the list was written; loads are not looked at.

The order is random because lists are: nothing in it speaks of hours. What is under way stays under way.
"""

from __future__ import annotations

from nephila.schedule.policy import HourOrder, Situation, incomplete


def as_listed(situation: Situation) -> HourOrder:
    return HourOrder(incomplete(situation))
