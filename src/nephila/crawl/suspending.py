"""Sites that give their place to another before they are complete, and go on later from where they stopped (S2-13).

When: at an hour change, if the plan says so; when the quota of the hour is used up; when the site fails or answers far
slower than usual at this hour (S2-17). Only if somebody waits for the place who stands before it in the line.

How: everything it brought is on disk first; then its context is dropped. How long it and its address are to be left
alone stays known, and so do its failures and its sleep: stopping and going on is no way around politeness (J-2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from nephila.crawl.collecting import Collecting
from nephila.crawl.outcome import Health
from nephila.crawl.site import SiteContext
from nephila.crawl.turns import SLEEPS_LONG_S, SLOW_IN_A_ROW, Turns, is_slow
from nephila.records import Outcome

ENOUGH_CONTENTS: Final = 4
"""A site stays until it has so many different pages, the home page and samples: most smaller ones are complete then."""


@dataclass(frozen=True, slots=True)
class LeftOff:
    """What a context knew that its row on disk does not."""

    asleep_until: float
    health: Health
    busy_in_a_row: int
    seed_outcome: Outcome | None


class Suspending:
    """Decides who leaves, and remembers what must outlive it."""

    def __init__(self, collecting: Collecting, turns: Turns) -> None:
        self._collecting = collecting
        self._clock = collecting.setup.clock
        self._turns = turns
        self._left_off: dict[int, LeftOff] = {}
        self.count = 0
        self.surprises = 0

    def took_place(self, context: SiteContext) -> None:
        """A site came into memory, or a new hour began for one that is there."""
        left_off = self._left_off.pop(context.number, None)
        if left_off is not None:
            context.asleep_until = max(context.asleep_until, left_off.asleep_until)
            context.health, context.busy_in_a_row = left_off.health, left_off.busy_in_a_row
            context.seed_outcome = left_off.seed_outcome
        self._begin_quota(context)

    def hour_changed(self) -> None:
        """A new plan came: sites that it does not let stay leave when their request has ended."""
        for context in self._collecting.contexts.values():
            context.leaving = not self._turns.turn(context.number).stays
            self._begin_quota(context)

    def _begin_quota(self, context: SiteContext) -> None:
        had = self._turns.has_had(context.number)
        quota_s = float("inf") if had else self._turns.turn(context.number).quota_s
        context.place_until = self._clock.monotonic() + quota_s if quota_s > 0 else float("inf")
        context.slow_in_a_row = 0

    def leaves(self, context: SiteContext, now: float) -> bool:
        """Whether the site gives its place back now; without a plan nobody does."""
        if not self._turns.has_plan:
            return False
        if context.in_flight or context.held_home is not None or not self._is_known(context, now):
            return False
        surprising = context.slow_in_a_row >= SLOW_IN_A_ROW or context.asleep_until > now + SLEEPS_LONG_S
        if surprising and not self._turns.has_had(context.number):
            self.surprises += 1
        if surprising or now >= context.place_until:
            self._turns.used_up(context.number)
        elif not context.leaving:
            return False
        return self._turns.somebody_before(context.number)

    def _is_known(self, context: SiteContext, now: float) -> bool:
        """Whether it was compared with its neighbours, and has pages that those to come can be compared with (S0-9)."""
        comparing = self._collecting.comparing[context.slot]
        if context.compared and (comparing.rule != "content" or len(context.contents) >= ENOUGH_CONTENTS):
            return True
        return context.asleep_until > now and comparing.is_alone(context)

    def answered(self, context: SiteContext) -> None:
        """One answer more: is it as quick as this hour usually is?"""
        latency_s = context.last_ms / 1000 * self._clock.rate
        expected_s = self._turns.turn(context.number).expected_s
        slow = is_slow(latency_s, expected_s, self._collecting.setup.config.schedule.slower)
        context.slow_in_a_row = context.slow_in_a_row + 1 if slow else 0

    async def suspend(self, context: SiteContext) -> bool:
        """Put the site back on disk; False when something came in the meantime that keeps it."""
        slot = self._collecting.slot_of(context)
        await slot.flush()
        if context.in_flight or context.held_home is not None or context.number not in self._collecting.contexts:
            return False
        self._left_off[context.number] = LeftOff(
            context.asleep_until, context.health, context.busy_in_a_row, context.seed_outcome
        )
        self._collecting.put_back(context)
        self.count += 1
        return True
