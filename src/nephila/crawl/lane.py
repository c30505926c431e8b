"""One address: its sites take turns, one request at a time, never sooner than politeness allows (S1-17, S1-18).

A lane is a small task of the agent's loop. Each turn it asks its sites, round robin, what they want to do next
(`site.next_step`), waits until both the site and the address may be asked, and does it. The lane ends when none of its
sites has anything left; the time at which its address may be asked again outlives it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import assert_never

from nephila.crawl.collecting import Collecting
from nephila.crawl.control import BLOCKED_BY_HAND
from nephila.crawl.politeness import Pace
from nephila.crawl.site import (
    Asked,
    AskHome,
    AskPage,
    AskProbe,
    AskRobots,
    AskSample,
    AskSource,
    BecomeAlias,
    Close,
    Ended,
    GiveUp,
    Load,
    Refuse,
    SiteContext,
    Step,
    Suspend,
    Wait,
    next_step,
)
from nephila.crawl.suspending import Suspending
from nephila.records import Outcome


@dataclass(frozen=True, slots=True)
class Turn:
    """A site and what it does in this turn."""

    context: SiteContext
    step: Step


class Lane:
    """All sites of an agent on one address."""

    def __init__(
        self, address: str, pace: Pace, collecting: Collecting, suspending: Suspending, ended: Callable[[Lane], None]
    ) -> None:
        self.address = address
        self.pace = pace
        self.contexts: deque[SiteContext] = deque()
        self.asking = 0  # requests under way
        self._collecting = collecting
        self._suspending = suspending
        self._ended = ended
        self._changed = asyncio.Event()
        self._workers: set[asyncio.Task[None]] = set()
        self.stopping = False

    def add(self, context: SiteContext) -> None:
        self.contexts.append(context)
        self.wake()

    def wake(self) -> None:
        """Something new may be done: a site came, a seed came, credit came, or the crawl goes on after a pause."""
        self._changed.set()

    def start(self) -> None:
        """Begin; as many requests at once as the user allows for own sites, one by default."""
        for _ in range(self._collecting.setup.config.politeness.connections_per_site):
            worker = asyncio.create_task(self._run())
            self._workers.add(worker)
            worker.add_done_callback(self._worker_ended)

    def _worker_ended(self, worker: asyncio.Task[None]) -> None:
        self._workers.discard(worker)
        if not worker.cancelled() and worker.exception() is not None:
            # What it had in hand is nobody's now: its site would look as if it had nothing left.
            self.stopping = True
            self._collecting.fail(worker.exception())
        if not self._workers:
            self._ended(self)

    async def stop(self) -> None:
        """Finish what is on the wire; nothing new is begun."""
        self.stopping = True
        self.wake()
        await asyncio.gather(*self._workers, return_exceptions=True)

    def cancel(self) -> None:
        """Give up what is still on the wire."""
        for worker in self._workers:
            worker.cancel()

    async def _run(self) -> None:
        clock = self._collecting.setup.clock
        while self.contexts and not self.stopping:
            self._changed.clear()
            turn = self._next_turn(clock.monotonic())
            if isinstance(turn, float):
                await self._rest(turn)
                continue
            # With several workers only pages of a site are asked for side by side; everything else is done alone.
            alone = not isinstance(turn.step, AskPage)
            turn.context.busy = turn.context.busy or alone
            try:
                await self._do(turn.context, turn.step)
            finally:
                if alone:
                    turn.context.busy = False
                if len(self._workers) > 1:
                    self.wake()

    async def _do(self, context: SiteContext, step: Step) -> None:
        collecting = self._collecting
        match step:
            case GiveUp(outcome=outcome, reason=reason):
                collecting.give_up(context, outcome, reason)
                self.contexts.remove(context)
            case Ended():
                if await collecting.end(context, alone=len(self.contexts) == 1):
                    self.contexts.remove(context)
            case Suspend():
                if await self._suspending.suspend(context):
                    self.contexts.remove(context)
            case Load():
                await collecting.load(context)
            case Refuse():
                collecting.refuse(context, step)
            case Close():
                collecting.close(context, step)
            case BecomeAlias():
                collecting.become_alias(context, step)
                self.contexts.remove(context)
            case AskRobots() | AskHome() | AskPage() | AskSample() | AskProbe() | AskSource():
                if not collecting.slot_of(context).has_room:
                    await collecting.slot_of(context).room()
                    return  # what is best to do may have changed meanwhile
                self.asking += 1
                try:
                    stays = await collecting.ask(self, context, step)
                finally:
                    self.asking -= 1
                self._suspending.answered(context)
                if not stays:
                    self.contexts.remove(context)
            case Wait():
                raise AssertionError("a site that waits takes no turn")
            case _:
                assert_never(step)

    def _next_turn(self, now: float) -> Turn | float:
        """The next site that has something to do, in rotation; else the moment at which one will have."""
        earliest = float("inf")
        for _ in range(len(self.contexts)):
            context = self.contexts[0]
            self.contexts.rotate(-1)
            step = self._step(context, now)
            if isinstance(step, Asked):
                ready_at = self._collecting.asking.ready_at(self, context, step)
                step = Wait(ready_at) if ready_at > now else step  # another site may be ready before this one
            if not isinstance(step, Wait):
                return Turn(context, step)
            earliest = min(earliest, step.until)
        return earliest

    def _step(self, context: SiteContext, now: float) -> Step:
        setup = self._collecting.setup
        if context.url in self._collecting.blocked and not context.busy:
            return GiveUp(Outcome.DEFERRED_HOST, BLOCKED_BY_HAND)
        if self._collecting.paused or context.busy:
            return Wait(float("inf"))
        if self._suspending.leaves(context, now):
            return Suspend()
        step = next_step(context, now, setup.clock.now(), obey_robots=setup.obeys_robots)
        if isinstance(step, AskPage | Refuse | Ended | Load):
            return self._collecting.before_page(context, step)
        return step

    async def _rest(self, until: float) -> None:
        """Sleep until the moment, or until something changes."""
        clock = self._collecting.setup.clock
        wait_s = (until - clock.monotonic()) / clock.rate
        if wait_s <= 0:
            return
        with suppress(TimeoutError):
            await asyncio.wait_for(self._changed.wait(), None if until == float("inf") else wait_s)
