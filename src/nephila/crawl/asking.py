"""Asking politely: a request, and how long its site and its address are left alone afterwards (S1-18).

Connections are opened, kept and closed here; the lanes make sure that one address is asked one thing at a time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from nephila.crawl.fetcher import Connection, Fetched, FetchRequest, lacks_contact
from nephila.crawl.in_hand import InHand, Mark
from nephila.crawl.lending import Lending, OnLane
from nephila.crawl.politeness import (
    BUSY,
    Answered,
    Delay,
    Pace,
    address_delay_after,
    after_answer,
    delay_after,
    retry_after_s,
)
from nephila.crawl.resolver import Resolved
from nephila.crawl.setup import Setup
from nephila.crawl.site import AskSample, SiteContext, Step, parse_site
from nephila.records import Outcome
from nephila.urls import host_of, url_hash

KEEP_OPEN_S: Final = 15.0
"""A connection is kept for the next request when that may be sent within so many real seconds."""

MOST_RESTING: Final = 10_000
"""Sites that have left, after which those that may be asked again are forgotten."""


class Asking:
    """The manners of one agent: who may be asked when, and the connections to ask by."""

    def __init__(
        self, setup: Setup, contexts: Mapping[int, SiteContext], lending: Lending, hands: Mapping[int, InHand],
        max_open: int,
    ) -> None:  # fmt: skip
        self._setup = setup
        self._contexts = contexts
        self._lending = lending
        self._hands = hands
        self._max_open = max_open
        self._closing: set[asyncio.Future[None]] = set()
        self.resting: dict[int, Pace] = {}  # sites that left before they may be asked again
        self.open_connections = 0

    def ready_at(self, lane: OnLane, context: SiteContext, step: Step) -> float:
        """When the step may be done: site and address decide, and for a sample the site that is asked."""
        ready_at = max(lane.pace.ready_at, context.pace.ready_at)
        if not isinstance(step, AskSample):
            return ready_at
        asked = self._asked_instead(context, step.site)
        pace = asked.pace if asked is not None else self.resting.get(step.other, Pace())
        return max(ready_at, pace.ready_at) if step.site != context.url else ready_at

    async def fetch(self, lane: OnLane, context: SiteContext, request: FetchRequest, site: str = "") -> Fetched:
        """Ask this site, or another one on the same address, and leave both alone afterwards for long enough."""
        own = not site or site == context.url
        connection = (
            context.idle.pop() if own and context.idle else self._connection(site or context.url, context.address)
        )
        context.in_flight += 1
        try:
            fetched = await connection.fetch(request, self._mark(context, request))
        finally:
            context.in_flight -= 1
        self._answered(lane, context, fetched)
        asked = self._asked_instead(context, site)
        if asked is not None:
            asked.pace = after_answer(
                asked.pace, self._delay(asked, self._answer(asked, fetched)), self._setup.clock.monotonic()
            )
        wait_s = (
            max(lane.pace.ready_at, context.pace.ready_at) - self._setup.clock.monotonic()
        ) / self._setup.clock.rate
        if own and wait_s <= KEEP_OPEN_S and self.open_connections <= self._max_open:
            context.idle.append(connection)
        else:
            self._close(connection)
        return fetched

    async def fetch_elsewhere(self, lane: OnLane, context: SiteContext, site: str, request: FetchRequest) -> Fetched:
        """The target of a robots.txt redirect on another site: one request, address checked like every other."""
        resolved = await self._setup.resolver.resolve(host_of(site))
        if not isinstance(resolved, Resolved):
            return Fetched(resolved.outcome, resolved.reason, self._setup.clock.now(), "")
        address = context.address if context.address in resolved.addresses else resolved.addresses[0]
        if lacks_contact((address,), self._setup.config.net):
            return Fetched(Outcome.BLOCKED_ADDRESS, "net.contact is not set", self._setup.clock.now(), address)
        if address == context.address:
            await self.rest(lane, context)
            fetched = await self._fetch_once(context, site, address, request)
            self._answered(lane, context, fetched)
            return fetched
        borrowed = await self._lending.borrow(address)
        if borrowed is None:
            return Fetched(Outcome.DEFERRED_HOST, "the address is being asked", self._setup.clock.now(), address)
        fetched = await self._fetch_once(context, site, address, request)
        self._lending.give_back(borrowed, address, fetched)
        return fetched

    async def _fetch_once(self, context: SiteContext, site: str, address: str, request: FetchRequest) -> Fetched:
        connection = self._connection(site, address)
        try:
            return await connection.fetch(request, self._mark(context, request))
        finally:
            self._close(connection)

    def _mark(self, context: SiteContext, request: FetchRequest) -> Mark:
        """Whatever is asked on behalf of a site is noted as the site's own."""
        return self._hands[context.slot].mark(context.number, url_hash(request.target))

    async def rest(self, lane: OnLane, context: SiteContext) -> None:
        """Between two requests of one step the delay holds as well."""
        ready_at = max(lane.pace.ready_at, context.pace.ready_at)
        await self._setup.clock.sleep(ready_at - self._setup.clock.monotonic())

    def heed_crawl_delay(self, context: SiteContext) -> None:
        """A Crawl-delay holds from the very answer that brought it."""
        crawl_delay_s = context.robots.rules.crawl_delay_s if context.robots is not None else None
        if crawl_delay_s is not None:
            delay = delay_after(Answered(0.0), crawl_delay_s, self._setup.config.politeness)
            before_s = context.pace.delay_s
            pace = after_answer(context.pace, delay, self._setup.clock.monotonic())
            context.pace = replace(pace, delay_s=max(before_s, delay.seconds))

    def let_rest(self, context: SiteContext) -> None:
        now = self._setup.clock.monotonic()
        if context.pace.ready_at > now:
            self.resting[context.number] = context.pace
        if len(self.resting) > MOST_RESTING:
            self.resting = {number: pace for number, pace in self.resting.items() if pace.ready_at > now}

    def close_idle(self, context: SiteContext) -> None:
        for connection in context.idle:
            self._close(connection)
        context.idle.clear()

    async def aclose(self) -> None:
        for context in self._contexts.values():
            self.close_idle(context)
        await asyncio.gather(*self._closing, return_exceptions=True)

    def _asked_instead(self, context: SiteContext, site: str) -> SiteContext | None:
        """Another site in memory that is asked on behalf of this one."""
        if not site or site == context.url:
            return None
        return next((other for other in self._contexts.values() if other.url == site), None)

    def _answered(self, lane: OnLane, context: SiteContext, fetched: Fetched) -> None:
        now = self._setup.clock.monotonic()
        context.busy_in_a_row = context.busy_in_a_row + 1 if fetched.status in BUSY else 0
        answer = self._answer(context, fetched)
        context.pace = after_answer(context.pace, self._delay(context, answer), now)
        lane.pace = after_answer(lane.pace, address_delay_after(answer, self._setup.config.politeness), now)

    def _answer(self, context: SiteContext, fetched: Fetched) -> Answered:
        wait = fetched.header("retry-after")
        return Answered(
            l_time_s=fetched.total_ms / 1000 * self._setup.clock.rate,
            status=fetched.status,
            retry_after_s=retry_after_s(wait, self._setup.clock.now()) if wait else None,
            busy_in_a_row=context.busy_in_a_row,
        )

    def _delay(self, context: SiteContext, answer: Answered) -> Delay:
        crawl_delay_s = context.robots.rules.crawl_delay_s if context.robots is not None else None
        return delay_after(answer, crawl_delay_s, self._setup.config.politeness)

    def _connection(self, site: str, address: str) -> Connection:
        self.open_connections += 1
        return Connection(parse_site(site), address, self._setup.fetching)

    def _close(self, connection: Connection) -> None:
        self.open_connections -= 1
        closing = asyncio.ensure_future(connection.aclose())
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)
