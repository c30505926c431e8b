"""The coordinator's part of a policy: a new plan at each hour change, when many sites have come (S2-12), and when
servers that the plan had counted on have failed or slowed down (S2-17).

Who plans is given from outside (`Planner`; no room imports another): it reads what the folder knows of open sites and
of their hours, and says in which order they take places. The plan goes to the agents that hold the sites. It is
advice: an agent without one collects in the order in which sites came, and no site needs a plan to be collected.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from math import inf
from typing import Final, Protocol

from nephila.clock import Clock
from nephila.crawl.messages import Serve
from nephila.records import HourPlan

HOUR_S: Final = 3_600.0
LOOK_EVERY_S: Final = 0.5
FIRST_WITHIN_S: Final = 3.0
"""Real seconds that the first plan waits for names to be looked up."""

NEW_SITES: Final = 0.1
"""A share of sites that the plan does not know makes a new one within the hour."""

NOTED_WITHIN_S: Final = 600.0
"""Simulated seconds from a surprise to the plan that reckons with it: agents have noted it by then, and others too."""

PLANNED_SITES: Final = 100_000
"""Sites that are handed out ahead of their turn, so that there is something to choose from."""


class Planner(Protocol):
    """Makes an hour's plan; called in a thread."""

    def plan(self, now: float, agents: Sequence[tuple[int, ...]], places: int) -> HourPlan:
        """`agents` are the slots of each, `places` the sites that one of them collects at once."""
        ...


class Hourly:
    """Asks for plans in time and sends them out."""

    def __init__(
        self, planner: Planner, clock: Clock, places: int, *,
        agents: Callable[[], list[tuple[int, ...]]], open_sites: Callable[[], int], all_found: Callable[[], bool],
        surprises: Callable[[], int], send: Callable[[Serve], Awaitable[None]],
    ) -> None:  # fmt: skip
        self._planner = planner
        self._clock = clock
        self._places = places
        self._agents = agents
        self._open_sites = open_sites
        self._all_found = all_found
        self._surprises = surprises
        self._send = send
        self._parts: dict[int, Serve] = {}
        self.plans = 0

    async def run(self) -> None:
        waited_s = 0.0
        while waited_s < FIRST_WITHIN_S and not self._all_found():
            await asyncio.sleep(LOOK_EVERY_S / 10)
            waited_s += LOOK_EVERY_S / 10
        hour, known, surprises, replan_at = -1, 0, 0, inf
        while True:
            now = self._clock.now()
            count, surprised = self._open_sites(), self._surprises()
            if surprised > surprises:
                surprises, replan_at = surprised, min(replan_at, now + NOTED_WITHIN_S)
            if int(now // HOUR_S) != hour or count > known * (1 + NEW_SITES) or now >= replan_at:
                hour, known, replan_at = int(now // HOUR_S), max(count, 1), inf
                await self._plan(now)
            left_s = (HOUR_S - self._clock.now() % HOUR_S) / self._clock.rate
            await asyncio.sleep(min(LOOK_EVERY_S, max(left_s, 0.001)))

    async def came_up(self, slot: int) -> None:
        """An agent has opened a slot: it needs the plan that others have already."""
        part = self._parts.get(slot)
        if part is not None:
            await self._send(part)

    async def _plan(self, now: float) -> None:
        agents = self._agents()
        plan = await asyncio.to_thread(self._planner.plan, now, agents, self._places)
        self._parts = parts(plan, [slot for slots in agents for slot in slots])
        self.plans += 1
        for part in self._parts.values():
            await self._send(part)


def parts(plan: HourPlan, slots: Sequence[int]) -> dict[int, Serve]:
    """Each slot's part of a plan; an empty one too, for it ends the waiting."""
    rows: dict[int, list[tuple[int, int, float, bool, float]]] = {slot: [] for slot in slots}
    for rank, turn in enumerate(plan.turns):
        if turn.slot in rows:
            rows[turn.slot].append((rank, turn.site, turn.quota_s, turn.stays, turn.expected_s))
    empty: tuple[tuple[()], ...] = ((), (), (), (), ())
    return {
        slot: Serve(slot, plan.hour, *(tuple(zip(*some, strict=True)) if some else empty))
        for slot, some in rows.items()
    }
