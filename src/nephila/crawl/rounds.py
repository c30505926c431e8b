"""A round of refresh: a plan that is handed over once, and how many new pages may be asked for beside it.

The plan lies in DIR/plan/ (`store/plan.py`). The coordinator posts it to the slots as parcels like any other, and notes
in the same transaction how far it has come; a round that is killed goes on with what was not posted or not visited yet.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

ROUND_IS_OVER: Final = "the round has asked for as many new pages as it may"


@dataclass(frozen=True, slots=True)
class Round:
    """`plan` is the number of the plan; `new_pages` may be requested for the first time, over all slots."""

    plan: int
    new_pages: int

    def share(self, place: int, slots: int) -> int:
        """New pages for the slot at a place among all slots; the shares of all come to `new_pages`."""
        return self.new_pages // slots + (place < self.new_pages % slots)


@dataclass(slots=True)
class RoundCredit:
    """What is left of an agent's shares, by slot."""

    left: dict[int, int] = field(default_factory=dict)

    def may_ask(self, slot: int) -> bool:
        return self.left.get(slot, 0) > 0

    def asked(self, slot: int) -> None:
        self.left[slot] = self.left.get(slot, 0) - 1
