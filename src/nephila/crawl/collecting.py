"""Doing what a site's next step says: requests, and what follows from their answers for the site and its address.

The lanes call this one at a time per address. Everything learnt goes into the slot's group in the same moment, so that
what is committed together is what was decided together.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final, Protocol

import msgspec

from nephila.crawl.comparing import Comparing
from nephila.crawl.fetcher import Connection, Fetched, FetchRequest, lacks_contact
from nephila.crawl.group import Judged, Role, SiteRow, Swept, Visited
from nephila.crawl.harvest import CHECKSUM_BYTES
from nephila.crawl.messages import SiteEnded
from nephila.crawl.outcome import Asleep, GivenUp, failed_runs_after, site_after
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
from nephila.crawl.recording import count_request, record_page
from nephila.crawl.resolver import Resolved
from nephila.crawl.robots_state import (
    Permission,
    RobotsAnswer,
    RobotsRow,
    RobotsState,
    Standing,
    after_robots_fetch,
    from_row,
    may_follow_robots_redirect,
    permission,
    to_row,
)
from nephila.crawl.setup import Setup
from nephila.crawl.site import (
    HOME,
    AskHome,
    AskPage,
    AskRobots,
    AskSample,
    BecomeAlias,
    Close,
    Ended,
    Load,
    Refuse,
    SiteContext,
    Step,
    Wait,
    parse_site,
)
from nephila.crawl.slot import Slot
from nephila.records import Outcome
from nephila.urls import Refusal, host_of, join, registrable_domain, split, url_hash

ROBOTS: Final = "/robots.txt"
ROBOTS_WIRE_BYTES: Final = 512 * 1024
KEEP_OPEN_S: Final = 15.0
"""A connection is kept for the next request when that may be sent within so many real seconds."""

PAGES_PURSE: Final = "pages"
RESERVE_WITHIN_S: Final = 10.0
RESERVE_EVERY_S: Final = 0.05
MOST_RESTING: Final = 10_000
"""Sites that have left, after which those that may be asked again are forgotten."""


class OnLane(Protocol):
    """What collecting needs to know of a lane."""

    address: str
    pace: Pace
    asking: int


class Collecting:
    """Everything an agent does to sites."""

    def __init__(
        self, setup: Setup, slots: dict[int, Slot], starve: Callable[[int, str], None],
        fail: Callable[[BaseException | None], None], max_open: int,
    ) -> None:  # fmt: skip
        self.setup = setup
        self.slots = slots
        self.fail = fail
        self.contexts: dict[int, SiteContext] = {}
        self.comparing = {
            number: Comparing(setup.config.aliases.rule, slot, self.contexts) for number, slot in slots.items()
        }
        self.address_pages: Counter[str] = Counter()
        if setup.config.crawl.max_pages_per_address is not None:
            for slot in slots.values():
                self.address_pages.update(slot.state.address_pages())
        self.exhausted: set[str] = set()
        self.lanes: Mapping[str, OnLane] = {}
        self.foreign: dict[str, Pace] = {}  # addresses that were asked for a robots.txt on behalf of another
        self.resting: dict[int, Pace] = {}  # sites that left before they may be asked again
        self.paused = False
        self.open_connections = 0
        self._starve = starve
        self._starving: set[tuple[int, str]] = set()
        self._max_open = max_open
        self._closing: set[asyncio.Future[None]] = set()

    def slot_of(self, context: SiteContext) -> Slot:
        return self.slots[context.slot]

    # Before a page is asked for

    def before_page(self, context: SiteContext, step: AskPage | Refuse | Ended | Load) -> Step:
        """The step, unless the site must first be compared with another, or a limit stands against it."""
        compared = self.comparing[context.slot].next_step(context)
        if compared is not None:
            return compared
        if context.held_home is not None and not context.has_task(HOME):
            self._record_home(context)
        if not isinstance(step, AskPage) or step.task.tries:
            return step
        crawl = self.setup.config.crawl
        if crawl.max_depth is not None and step.task.depth > crawl.max_depth:
            return Refuse(step.task, Outcome.LIMIT, "crawl.max_depth")
        if crawl.max_pages_per_site is not None and context.requested >= crawl.max_pages_per_site:
            return Close(Outcome.LIMIT, "crawl.max_pages_per_site")
        per_address = crawl.max_pages_per_address
        if per_address is not None and self.address_pages[context.address] >= per_address:
            return Close(Outcome.LIMIT, "crawl.max_pages_per_address")
        slot = self.slot_of(context)
        for purse in self._purses(context):
            if slot.credit[purse] <= 0:
                if purse in self.exhausted and purse != PAGES_PURSE:
                    return Close(Outcome.LIMIT, "crawl.max_pages_per_domain")
                self._ask_for_credit(slot.number, purse)
                return Wait(float("inf"))
        return step

    def credit_came(self, slot: int) -> None:
        self._starving = {starving for starving in self._starving if starving[0] != slot}

    def _ask_for_credit(self, slot: int, purse: str) -> None:
        if (slot, purse) not in self._starving:
            self._starving.add((slot, purse))
            self._starve(slot, purse)

    def _purses(self, context: SiteContext) -> tuple[str, ...]:
        crawl = self.setup.config.crawl
        purses: tuple[str, ...] = () if crawl.max_pages is None else (PAGES_PURSE,)
        if crawl.max_pages_per_domain is not None:
            purses += (f"domain:{registrable_domain(host_of(context.url))}",)
        return purses

    # Steps without a request

    async def load(self, context: SiteContext) -> None:
        """Take waiting URLs from disk; first everything found so far must be there."""
        slot = self.slot_of(context)
        found = context.seen.unsaved()
        await slot.flush()
        context.seen.saved(found)
        count = context.loadable
        context.load(slot.state.todo(context.number, count), count)

    def refuse(self, context: SiteContext, step: Refuse) -> None:
        context.take(step.task)
        judged = Judged(context.number, step.task.hash, step.outcome, step.reason)
        self.slot_of(context).judge(judged, step.task.outcome)

    def close(self, context: SiteContext, step: Close) -> None:
        """A limit: all that was never requested gets its outcome, in memory and on disk; further tries go on."""
        context.keep_tried()
        self.slot_of(context).sweep(Swept(context.number, step.outcome, step.reason, todo=False, untried=True))

    async def end(self, context: SiteContext, *, alone: bool) -> bool:
        """Nothing is left to request; False when something came in the meantime."""
        slot = self.slot_of(context)
        if not alone:
            await slot.flush()  # another site is compared with this one and must find its pages on disk
            if context.waiting or context.more_on_disk:
                return False
        if context.seed_outcome is not None:
            context.failed_runs = failed_runs_after(context.failed_runs, context.seed_outcome)
        self._leave(context, "done")
        return True

    def become_alias(self, context: SiteContext, step: BecomeAlias) -> None:
        """Recorded, with its reason; what links to it is handed to the canonical site by the coordinator."""
        slot = self.slot_of(context)
        if context.held_home is not None:
            self._record_home(context)
        slot.sweep(Swept(context.number, Outcome.ALIAS, step.reason, todo=False))
        self._leave(context, "alias", Outcome.ALIAS.value, step.reason, step.canonical)

    def give_up(self, context: SiteContext, outcome: Outcome, reason: str) -> None:
        """The run ends without this site; its URLs wait for the next one (never deleted)."""
        slot = self.slot_of(context)
        slot.sweep(Swept(context.number, outcome, reason, todo=True))
        context.failed_runs += 1
        self._leave(context, "asleep", outcome.value, reason)

    def _leave(
        self, context: SiteContext, state: str, outcome: str = "", reason: str = "", alias_of: int | None = None
    ) -> None:
        slot = self.slot_of(context)
        slot.keep(self.row(context, state, outcome, reason, alias_of))
        if context.first_at is not None:
            slot.group.parties.append((context.number, self.setup.clock.now() - context.first_at))
        slot.group.ended.append(SiteEnded(context.number, state, slot.applied, alias_of or 0))
        slot.touch()
        self.comparing[context.slot].forget(context)
        self._let_rest(context)
        del self.contexts[context.number]
        for connection in context.idle:
            self._close(connection)
        context.idle.clear()

    def row(
        self, context: SiteContext, state: str, outcome: str = "", reason: str = "", alias_of: int | None = None
    ) -> SiteRow:
        """The context as it goes to disk; the moment at which it may be asked again becomes one of UTC."""
        wait_s = max(0.0, max(context.pace.ready_at, context.asleep_until) - self.setup.clock.monotonic())
        next_at = self.setup.clock.now() + wait_s
        return context.row(state, outcome, reason, alias_of, robots=self.robots_bytes(context.robots), next_at=next_at)

    def _let_rest(self, context: SiteContext) -> None:
        now = self.setup.clock.monotonic()
        if context.pace.ready_at > now:
            self.resting[context.number] = context.pace
        if len(self.resting) > MOST_RESTING:
            self.resting = {number: pace for number, pace in self.resting.items() if pace.ready_at > now}

    # Requests

    def ready_at(self, lane: OnLane, context: SiteContext, step: Step) -> float:
        """When the step may be done: site and address decide, and for a sample the site that is asked."""
        ready_at = max(lane.pace.ready_at, context.pace.ready_at)
        if not isinstance(step, AskSample):
            return ready_at
        asked = self._asked_instead(context, step.site)
        pace = asked.pace if asked is not None else self.resting.get(step.other, Pace())
        return max(ready_at, pace.ready_at) if step.site != context.url else ready_at

    def _asked_instead(self, context: SiteContext, site: str) -> SiteContext | None:
        """Another site in memory that is asked on behalf of this one."""
        if not site or site == context.url:
            return None
        return next((other for other in self.contexts.values() if other.url == site), None)

    async def ask(self, lane: OnLane, context: SiteContext, step: AskRobots | AskHome | AskPage | AskSample) -> bool:
        """One request, and what follows for site and address; False when the site has left the lane."""
        match step:
            case AskPage(task=task):
                slot = self.slot_of(context)
                purses = () if task.tries else self._purses(context)
                if slot.spend(purses) is not None:
                    return True
                context.take(task)
                fetched = context.held_home if task.path == HOME else None
                context.held_home = None if task.path == HOME else context.held_home
                fetched = fetched or await self._fetch(lane, context, FetchRequest(task.path))
                if not task.tries:
                    # Pages are counted also while there is no limit: one that is set later counts them too.
                    slot.spent(purses if PAGES_PURSE in purses else (PAGES_PURSE, *purses))
                    if self.setup.config.crawl.max_pages_per_address is not None:
                        self.address_pages[context.address] += 1
                record_page(self.setup, slot, context, task, fetched)
                slot.note(context)
                return self._judge_site(context, fetched)
            case AskRobots():
                return await self._ask_robots(lane, context)
            case AskHome():
                fetched = await self._fetch(lane, context, FetchRequest(HOME))
                context.home_tried = True
                context.home = _checksum(fetched)
                context.held_home = fetched
            case AskSample(site=site, path=path):
                checksum = await self._sample(lane, context, site, path)
                self.comparing[context.slot].answered(context, step, checksum)
        return True

    async def _fetch(self, lane: OnLane, context: SiteContext, request: FetchRequest, site: str = "") -> Fetched:
        """Ask this site, or another one on the same address, and leave both alone afterwards for long enough."""
        own = not site or site == context.url
        connection = (
            context.idle.pop() if own and context.idle else self._connection(site or context.url, context.address)
        )
        context.in_flight += 1
        try:
            fetched = await connection.fetch(request)
        finally:
            context.in_flight -= 1
        self._answered(lane, context, fetched)
        asked = self._asked_instead(context, site)
        if asked is not None:
            asked.pace = after_answer(
                asked.pace, self._delay(asked, self._answer(asked, fetched)), self.setup.clock.monotonic()
            )
        wait_s = (max(lane.pace.ready_at, context.pace.ready_at) - self.setup.clock.monotonic()) / self.setup.clock.rate
        if own and wait_s <= KEEP_OPEN_S and self.open_connections <= self._max_open:
            context.idle.append(connection)
        else:
            self._close(connection)
        return fetched

    def _answered(self, lane: OnLane, context: SiteContext, fetched: Fetched) -> None:
        now = self.setup.clock.monotonic()
        context.busy_in_a_row = context.busy_in_a_row + 1 if fetched.status in BUSY else 0
        answer = self._answer(context, fetched)
        context.pace = after_answer(context.pace, self._delay(context, answer), now)
        lane.pace = after_answer(lane.pace, address_delay_after(answer, self.setup.config.politeness), now)

    def _answer(self, context: SiteContext, fetched: Fetched) -> Answered:
        wait = fetched.header("retry-after")
        return Answered(
            l_time_s=fetched.total_ms / 1000 * self.setup.clock.rate,
            status=fetched.status,
            retry_after_s=retry_after_s(wait, self.setup.clock.now()) if wait else None,
            busy_in_a_row=context.busy_in_a_row,
        )

    def _delay(self, context: SiteContext, answer: Answered) -> Delay:
        crawl_delay_s = context.robots.rules.crawl_delay_s if context.robots is not None else None
        return delay_after(answer, crawl_delay_s, self.setup.config.politeness)

    def _judge_site(self, context: SiteContext, fetched: Fetched) -> bool:
        if context.number not in self.contexts:
            return True  # another request of this site has ended it meanwhile
        context.health, verdict = site_after(context.health, fetched.outcome, fetched.status, self.setup.config.crawl)
        match verdict:
            case Asleep(seconds=seconds):
                context.asleep_until = self.setup.clock.monotonic() + seconds
            case GivenUp():
                self.give_up(context, Outcome.DEFERRED_HOST, f"{fetched.outcome.value}: {fetched.reason}".rstrip(": "))
                return False
            case None:
                pass
        return True

    async def _ask_robots(self, lane: OnLane, context: SiteContext) -> bool:
        """robots.txt with its redirects; the rules bind this site wherever they were found (RFC 9309 2.3.1.2)."""
        site, path, hops = context.url, ROBOTS, 0
        while True:
            request = FetchRequest(path, max_wire_bytes=ROBOTS_WIRE_BYTES)
            if site == context.url:
                fetched = await self._fetch(lane, context, request)
            else:
                fetched = await self._fetch_elsewhere(lane, context, site, request)
            self._record(context, site, path, "robots", fetched, None)
            target = join(site + path, (fetched.header("location") or "").strip(), self.setup.strip)
            if fetched.outcome is not Outcome.REDIRECT or isinstance(target, Refusal):
                break
            if not may_follow_robots_redirect(hops):
                break
            site, path = split(target)
            hops += 1
            if site == context.url:
                await self._rest(lane, context)
        wait = fetched.header("retry-after")
        utc_now = self.setup.clock.now()
        answer = RobotsAnswer(
            fetched.outcome, fetched.status, fetched.payload, hops, retry_after_s(wait, utc_now) if wait else None
        )
        name = self.setup.config.net.user_agent
        context.robots = after_robots_fetch(answer, context.robots, name, self.setup.config.crawl, utc_now)
        self._heed_crawl_delay(context)
        self.slot_of(context).keep(self.row(context, "waiting"))
        if context.robots.standing is not Standing.UNREACHABLE:
            return True
        if context.robots.failures > self.setup.config.crawl.give_up:  # in a row, earlier runs included (S1-11)
            self.give_up(context, Outcome.DEFERRED_ROBOTS, f"robots.txt: {context.robots.reason}")
            return False
        return True

    def _heed_crawl_delay(self, context: SiteContext) -> None:
        """A Crawl-delay holds from the very answer that brought it."""
        crawl_delay_s = context.robots.rules.crawl_delay_s if context.robots is not None else None
        if crawl_delay_s is not None:
            delay = delay_after(Answered(0.0), crawl_delay_s, self.setup.config.politeness)
            before_s = context.pace.delay_s
            pace = after_answer(context.pace, delay, self.setup.clock.monotonic())
            context.pace = replace(pace, delay_s=max(before_s, delay.seconds))

    async def _rest(self, lane: OnLane, context: SiteContext) -> None:
        """Between two requests of one step the delay holds as well."""
        ready_at = max(lane.pace.ready_at, context.pace.ready_at)
        await self.setup.clock.sleep(ready_at - self.setup.clock.monotonic())

    async def _fetch_elsewhere(self, lane: OnLane, context: SiteContext, site: str, request: FetchRequest) -> Fetched:
        """The target of a robots.txt redirect on another site: one request, address checked like every other."""
        resolved = await self.setup.resolver.resolve(host_of(site))
        if not isinstance(resolved, Resolved):
            return Fetched(resolved.outcome, resolved.reason, self.setup.clock.now(), "")
        address = context.address if context.address in resolved.addresses else resolved.addresses[0]
        if lacks_contact((address,), self.setup.config.net):
            return Fetched(Outcome.BLOCKED_ADDRESS, "net.contact is not set", self.setup.clock.now(), address)
        if address == context.address:
            await self._rest(lane, context)
        elif not await self._reserve(address):
            return Fetched(Outcome.DEFERRED_HOST, "the address is being asked", self.setup.clock.now(), address)
        connection = self._connection(site, address)
        try:
            fetched = await connection.fetch(request)
        finally:
            self._close(connection)
        if address == context.address:
            self._answered(lane, context, fetched)
        else:
            self._release(address, fetched)
        return fetched

    async def _reserve(self, address: str) -> bool:
        """Have an address of another lane to ourselves for one request; not waited for long, so that no two wait for
        each other. Addresses of other agents are beyond this.
        """
        clock = self.setup.clock
        until = clock.monotonic() + RESERVE_WITHIN_S * clock.rate
        while True:
            now = clock.monotonic()
            lane = self.lanes.get(address)
            pace = lane.pace if lane is not None else self.foreign.get(address, Pace())
            if pace.ready_at <= now and (lane is None or not lane.asking):
                reserved = Pace(now + self.setup.config.net.total_timeout * clock.rate)
                if lane is not None:
                    lane.pace = reserved
                self.foreign[address] = reserved
                return True
            if now >= until:
                return False
            await asyncio.sleep(RESERVE_EVERY_S)

    def _release(self, address: str, fetched: Fetched) -> None:
        answer = Answered(fetched.total_ms / 1000 * self.setup.clock.rate, fetched.status)
        delay = address_delay_after(answer, self.setup.config.politeness)
        pace = after_answer(Pace(), delay, self.setup.clock.monotonic())
        lane = self.lanes.get(address)
        if lane is not None:
            lane.pace = pace
        self.foreign[address] = pace
        if len(self.foreign) > MOST_RESTING:
            now = self.setup.clock.monotonic()
            self.foreign = {other: kept for other, kept in self.foreign.items() if kept.ready_at > now}

    async def _sample(self, lane: OnLane, context: SiteContext, site: str, path: str) -> bytes | None:
        """The checksum of one page for comparison; None where it may not be asked or did not answer 200."""
        robots = context.robots if site == context.url else self._robots_of(site, context)
        if self.setup.obeys_robots and permission(robots, path, self.setup.clock.now()) is not Permission.ALLOWED:
            return None
        fetched = await self._fetch(lane, context, FetchRequest(path), site)
        checksum = _checksum(fetched)
        self._record(context, site, path, "sample", fetched, checksum)
        return checksum

    def _record_home(self, context: SiteContext) -> None:
        """The home page was fetched for comparison alone."""
        assert context.held_home is not None
        self._record(context, context.url, HOME, "sample", context.held_home, context.home)
        context.held_home = None

    def _record(
        self, context: SiteContext, site: str, path: str, role: Role, fetched: Fetched, checksum: bytes | None
    ) -> None:
        """robots.txt and samples are archived and in the visits; they are no pages."""
        count_request(self.setup, context, fetched)
        visited = Visited(
            context.number, site, url_hash(path), path, role, fetched, fetched.outcome, fetched.reason,
            archived=bool(fetched.raw_header), checksum=checksum,
        )  # fmt: skip
        slot = self.slot_of(context)
        slot.visit(visited, None)
        slot.note(context)

    def _robots_of(self, site: str, context: SiteContext) -> RobotsState | None:
        """The rules of another site on the same address."""
        for other in self.contexts.values():
            if other.url == site:
                return other.robots
        return self.robots_from(self.slot_of(context).state.robots_of(context.address, site))

    def robots_bytes(self, robots: RobotsState | None) -> bytes | None:
        return None if robots is None else msgspec.msgpack.encode(to_row(robots, self.setup.config.net.user_agent))

    def robots_from(self, kept: bytes | None) -> RobotsState | None:
        if kept is None:
            return None
        row = msgspec.msgpack.decode(kept, type=RobotsRow)
        return from_row(row, self.setup.config.net.user_agent, self.setup.clock.now())

    def _connection(self, site: str, address: str) -> Connection:
        self.open_connections += 1
        return Connection(parse_site(site), address, self.setup.fetching)

    def _close(self, connection: Connection) -> None:
        self.open_connections -= 1
        closing = asyncio.ensure_future(connection.aclose())
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)

    async def aclose(self) -> None:
        for context in self.contexts.values():
            for connection in context.idle:
                self._close(connection)
            context.idle.clear()
        await asyncio.gather(*self._closing, return_exceptions=True)


def _checksum(fetched: Fetched) -> bytes | None:
    """Of a whole page; None for everything else."""
    if fetched.outcome is not Outcome.OK or fetched.status != 200:
        return None
    return hashlib.sha1(fetched.payload, usedforsecurity=False).digest()[:CHECKSUM_BYTES]
