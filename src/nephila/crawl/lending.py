"""Addresses lent for one request: a robots.txt may redirect to a site of another slot (RFC 9309 2.3.1.2).

An address belongs to one slot, and only the agent of that slot knows when it may be asked. Whoever must ask it once
borrows it through the coordinator; the owner keeps it free until the answer has come, or could no longer come. Nothing
of this is kept on disk: after a restart every address counts as answered just now.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Final, Protocol

from nephila.crawl.fetcher import Fetched
from nephila.crawl.messages import Borrow, GaveBack, Lend, Lent, ToCoordinator
from nephila.crawl.politeness import Answered, Pace, address_delay_after, after_answer
from nephila.crawl.setup import Setup

FREE_WITHIN_S: Final = 10.0
"""An address is not waited for longer, so that no two that want each other's wait for good."""

ANSWER_WITHIN_S: Final = FREE_WITHIN_S + 5.0
LOOK_EVERY_S: Final = 0.05
MOST_KEPT: Final = 10_000
"""Addresses that were lent, after which those that may be asked again are forgotten."""


class OnLane(Protocol):
    """What others need to know of a lane."""

    address: str
    pace: Pace
    asking: int

    def wake(self) -> None: ...


class Lending:
    """What one agent borrows and lends."""

    def __init__(self, setup: Setup, tell: Callable[[ToCoordinator], None]) -> None:
        self._setup = setup
        self._tell = tell
        self._wanted: dict[int, asyncio.Future[bool]] = {}
        self._last = 0
        self._waiting: set[asyncio.Task[None]] = set()
        self.lanes: Mapping[str, OnLane] = {}
        self.paces: dict[str, Pace] = {}  # of addresses that were lent, until they may be asked again

    # The borrower

    async def borrow(self, address: str) -> int | None:
        """The number under which the address is ours for one request; None when it cannot be had now."""
        self._last += 1
        number = self._last
        lent = self._wanted[number] = asyncio.get_running_loop().create_future()
        self._tell(Borrow(number, address))
        try:
            async with asyncio.timeout(ANSWER_WITHIN_S):
                return number if await lent else None
        except TimeoutError:
            return None
        finally:
            del self._wanted[number]

    def give_back(self, number: int, address: str, fetched: Fetched) -> None:
        self._tell(GaveBack(number, address, fetched.total_ms / 1000 * self._setup.clock.rate, fetched.status))

    def lent(self, message: Lent) -> None:
        wanted = self._wanted.get(message.number)
        if wanted is not None and not wanted.done():
            wanted.set_result(message.granted)
        elif message.granted:
            self._tell(GaveBack(message.number, message.address))  # it was not waited for

    # The owner

    def lend(self, message: Lend) -> None:
        task = asyncio.create_task(self._lend(message))
        self._waiting.add(task)
        task.add_done_callback(self._waiting.discard)

    def take_back(self, message: GaveBack) -> None:
        """The borrower has its answer: the delay counts from now."""
        answer = Answered(message.l_time_s, message.status)
        delay = address_delay_after(answer, self._setup.config.politeness)
        self._keep(message.address, after_answer(Pace(), delay, self._setup.clock.monotonic()))

    async def _lend(self, message: Lend) -> None:
        granted = await self._reserve(message.address)
        self._tell(Lent(message.borrower, message.number, message.address, granted))

    async def _reserve(self, address: str) -> bool:
        """Wait until nobody asks the address and its delay is over, then leave it to another for one request."""
        clock = self._setup.clock
        until = clock.monotonic() + FREE_WITHIN_S * clock.rate
        while True:
            now = clock.monotonic()
            lane = self.lanes.get(address)
            pace = lane.pace if lane is not None else self.paces.get(address, Pace())
            if pace.ready_at <= now and (lane is None or not lane.asking):
                net = self._setup.config.net
                longest_s = net.connect_timeout + net.total_timeout
                self._keep(address, Pace(now + longest_s * clock.rate))
                return True
            if now >= until:
                return False
            await asyncio.sleep(LOOK_EVERY_S)

    def _keep(self, address: str, pace: Pace) -> None:
        lane = self.lanes.get(address)
        if lane is not None:
            lane.pace = pace
            lane.wake()  # it may be resting for longer than it must now
        self.paces[address] = pace
        if len(self.paces) > MOST_KEPT:
            now = self._setup.clock.monotonic()
            self.paces = {other: kept for other, kept in self.paces.items() if kept.ready_at > now}
