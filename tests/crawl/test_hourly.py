"""Plans come in time, and to every slot (S2-12)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from nephila.clock import Clock
from nephila.crawl.hourly import NOTED_WITHIN_S, Hourly
from nephila.crawl.messages import Serve
from nephila.records import HourPlan, SiteTurn


class Planned:
    """A planner that knows two sites, and a listener that counts what is sent."""

    def __init__(self, enough: int) -> None:
        self.asked: list[tuple[float, list[tuple[int, ...]], int]] = []
        self.sent: list[Serve] = []
        self.done = asyncio.Event()
        self._enough = enough

    def plan(self, now: float, agents: Sequence[tuple[int, ...]], places: int) -> HourPlan:
        self.asked.append((now, list(agents), places))
        turns = (SiteTurn(8, 1, 60.0, True, 0.0), SiteTurn(7, 0, 60.0, True, 0.0))
        return HourPlan(int(now // 3600), turns)

    async def send(self, part: Serve) -> None:
        self.sent.append(part)
        if len(self.sent) >= self._enough:
            self.done.set()


async def test_every_hour_has_a_plan_and_every_slot_its_part_of_it() -> None:
    # given a clock by which an hour is a tenth of a second, and one agent with two slots
    planned = Planned(enough=6)
    hourly = Hourly(
        planned, Clock(36_000.0), 3, agents=lambda: [(0, 1)], open_sites=lambda: 2, all_found=lambda: True,
        surprises=lambda: 0, send=planned.send,
    )  # fmt: skip
    # when
    async with asyncio.timeout(30):
        running = asyncio.create_task(hourly.run())
        await planned.done.wait()
        running.cancel()
    # then each plan is of an hour of its own, and went to both
    hours = [int(now // 3600) for now, _, _ in planned.asked]
    assert hours == sorted(set(hours))
    assert len(hours) >= 3
    assert planned.asked[0][1:] == ([(0, 1)], 3)
    assert [(part.slot, part.sites, part.ranks) for part in planned.sent[:2]] == [(0, (7,), (1,)), (1, (8,), (0,))]


async def test_a_server_that_fails_suddenly_is_planned_anew_within_the_hour() -> None:
    # given a clock by which ten minutes are a quarter of a second, and a site that fails after the first plan (S2-17)
    planned = Planned(enough=4)
    counts = iter([0, 0, 1])
    clock = Clock(2_400.0, 0.0, time.time())
    hourly = Hourly(
        planned, clock, 3, agents=lambda: [(0, 1)], open_sites=lambda: 2, all_found=lambda: True,
        surprises=lambda: next(counts, 1), send=planned.send,
    )  # fmt: skip
    # when
    async with asyncio.timeout(30):
        running = asyncio.create_task(hourly.run())
        await planned.done.wait()
        running.cancel()
    # then there is a second plan, made when the failure is in the notes
    first, second = (now for now, _, _ in planned.asked[:2])
    assert second - first >= NOTED_WITHIN_S or second // 3600 > first // 3600


async def test_sites_that_come_within_an_hour_are_planned_in_it_and_a_slot_that_opens_late_gets_the_plan() -> None:
    # given an hour that does not end, and sites that become more while it passes
    planned = Planned(enough=4)
    counts = iter([10, 10, 12])
    hourly = Hourly(
        planned, Clock(1.0, 0.0, 0.0), 3, agents=lambda: [(0, 1)], open_sites=lambda: next(counts, 12),
        all_found=lambda: True, surprises=lambda: 0, send=planned.send,
    )  # fmt: skip
    # when
    async with asyncio.timeout(30):
        running = asyncio.create_task(hourly.run())
        await planned.done.wait()
        running.cancel()
    # then there were two plans, and who asks for one has the latest
    assert len(planned.asked) == 2
    await hourly.came_up(1)
    assert planned.sent[-1].slot == 1
    await hourly.came_up(9)
    assert len(planned.sent) == 5
