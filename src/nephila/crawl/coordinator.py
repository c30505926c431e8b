"""The coordinator: hands sites to agents, takes what they find, and knows when nothing is left (S0-8).

It owns *who collects what* and nothing else: no page, no link of a page stays here. Everything it decides is in the
site list before anybody is told; an agent that dies is started again and finds its slots as they were.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from dataclasses import astuple, dataclass, field, replace
from enum import StrEnum
from typing import Any, Final, TypeVar, assert_never

from nephila.config.sections import Config
from nephila.crawl.agent import AgentArgument, agent
from nephila.crawl.control import LOOK_EVERY_S, news
from nephila.crawl.disk_room import DiskRoom
from nephila.crawl.fetcher import lacks_contact, needs_contact
from nephila.crawl.hourly import PLANNED_SITES, Hourly, Planner
from nephila.crawl.messages import (
    Borrow,
    Exhausted,
    Failed,
    Findings,
    FindingsApplied,
    GaveBack,
    GiveBack,
    Hello,
    Lend,
    Lent,
    Orders,
    OrdersApplied,
    Progress,
    Serve,
    Starved,
    Stop,
    Stopped,
    ToAgent,
    decode_for_coordinator,
    encode,
)
from nephila.crawl.quota import Quota
from nephila.crawl.resolver import Resolved
from nephila.crawl.rounds import Round
from nephila.crawl.scope import IN, decide, site_candidate
from nephila.crawl.setup import Setup
from nephila.crawl.site_list import Admission, Located, SiteList, WaitingSite
from nephila.crawl.slot import GROUP_BYTES, ROOM_EVERY_S
from nephila.crawl.throttle import share_of
from nephila.engine import Engine, Handle
from nephila.errors import (
    DamagedError,
    DiskFullError,
    FolderInUseError,
    NephilaError,
    UsageError,
    WorkerDiedError,
)
from nephila.records import Outcome
from nephila.store.control import Control, read_control
from nephila.store.durable import crash_point
from nephila.store.folder import CrawlFolder
from nephila.urls import host_of

T = TypeVar("T")
_LOG: Final = logging.getLogger("nephila.crawl")

LOOK_UPS: Final = 200
"""Names looked up at once."""

LEASE_BATCH: Final = 500
HAND_OUT_EVERY_S: Final = 0.02
FULL_FOR_S: Final = 0.2
LISTENER: Final = "listener"
MAX_DEATHS: Final = 20
"""Agents that may die in a row without having brought a page: something is wrong with this machine."""

_RETRIED: Final = frozenset({Outcome.DNS_FAIL, Outcome.DNS_TIMEOUT})


class HowEnded(StrEnum):
    """Why a run ended."""

    DONE = "done"
    INTERRUPTED = "interrupted"
    MAX_PAGES = "crawl.max_pages"
    MAX_SECONDS = "crawl.max_seconds"
    MAX_BYTES = "crawl.max_bytes"


@dataclass(slots=True)
class Member:
    """One agent process and the slots it leases."""

    number: int
    slots: tuple[int, ...]
    handle: Handle
    told: Control  # what it knows of DIR/control/
    progress: Progress | None = None
    stopped: bool = False
    sent: dict[int, int] = field(default_factory=dict)  # the last parcel sent to each slot that has said hello
    speaking: asyncio.Lock = field(default_factory=asyncio.Lock)  # frames leave in the order they were made


@dataclass(slots=True)
class Traffic:
    """What coordinator and agents said to each other (CHECKLIST 2.3: communication per page)."""

    frames: int = 0
    frame_bytes: int = 0
    links: int = 0


class Coordinator:
    def __init__(
        self, config: Config, setup: Setup, sites: SiteList, engine: Engine, folder: CrawlFolder, agents: int, *,
        bytes_before: int, on_progress: Callable[[Coordinator], None], planner: Planner | None = None,
        round_: Round | None = None,
    ) -> None:  # fmt: skip
        self._config = config
        self._setup = setup
        self.sites = sites
        self._engine = engine
        self._folder = folder
        self._agents = min(agents, len(sites.slots))
        self._bytes_before = bytes_before
        self._on_progress = on_progress
        self._round = round_
        self._admission = admission(config)
        self.control = read_control(folder)
        self._look_again_at = 0.0
        self._rests = ""  # why nothing is asked for
        self._disk = DiskRoom(folder, len(sites.slots) * GROUP_BYTES)
        self._waits_for_room = 0  # own commits that found none
        self.members: list[Member] = []
        self.traffic = Traffic()
        self.deaths = 0
        self._vain_deaths = 0
        self._died: set[int] = set()
        self.finished: list[Progress] = []  # the last word of agents that are gone
        self._looking_up: set[int] = set()
        self._located: list[Located] = []
        self._quota = Quota(config.crawl, sites, self._send_orders, self._send_to_slot, self._send_to_all)
        self.hourly = self._make_hourly(planner) if planner is not None else None
        self._how: HowEnded | None = None
        self._failure: BaseException | None = None
        self._event = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> HowEnded:
        """Collect until nothing is left, a limit is reached or somebody stops it."""
        self.sites.reopen(limits_text(self._config), self._admission, self._setup.clock.now())
        started = time.monotonic()
        slots = self.sites.slots
        self._check_limits(0.0)  # agents go on with what they have as soon as they are there
        try:
            for number in range(self._agents if self._how is None else 0):
                await self._start(number, tuple(slots[number :: self._agents]))
            self._spawn(self._hand_out())
            if self.hourly is not None:
                self._spawn(self.hourly.run())
            while self._how is None and self._failure is None:
                await self._obey()
                self._check(time.monotonic() - started)
                if self._how is None:
                    await self._next_event()
                self._on_progress(self)
        finally:
            await self._stop_agents()
            self._disk.spend_reserve()  # held by a running crawl alone
        if self._failure is not None:
            raise self._failure
        assert self._how is not None
        return self._how

    def interrupt(self) -> None:
        """Ctrl-C: finish what is on the wire, then end; the same command goes on from here."""
        self._how = self._how or HowEnded.INTERRUPTED
        self._event.set()

    async def _obey(self) -> None:
        """Tell agents what people asked for in DIR/control/ since the last look."""
        if time.monotonic() < self._look_again_at:
            return
        self._look_again_at = time.monotonic() + LOOK_EVERY_S
        self.control = read_control(self._folder)
        self._disk.look()
        self._log_rest()
        asked = replace(self.control, paused=self.control.paused or self.no_room)
        for member in list(self.members):
            told, member.told = member.told, asked
            for message in news(told, asked):
                await self._send(member, message)

    def _log_rest(self) -> None:
        rests = "the disk is nearly full" if self.no_room else ""
        rests = rests or ("control/paused asks for it" if self.control.paused else "")
        if rests and rests != self._rests:
            _LOG.warning("resting: %s", rests)
        elif rests != self._rests:
            _LOG.info("going on")
        self._rests = rests

    @property
    def no_room(self) -> bool:
        """Whether the crawl rests because the disk is full, or nearly so."""
        out = any(member.progress is not None and member.progress.out_of_room for member in self.members)
        return out or self._disk.is_short or self._waits_for_room > 0

    async def _durably(self, write: Callable[[], T]) -> T:
        """Do one transaction of the site list; where there is no room for it, wait until there is (F4)."""
        tries = 0
        while True:
            try:
                return write()
            except DiskFullError:
                if tries and self._how is not None:
                    raise  # it must stop now
                self._disk.spend_reserve()
                self._waits_for_room += 1
                try:
                    await asyncio.sleep(ROOM_EVERY_S if tries else 0.0)
                finally:
                    self._waits_for_room -= 1
                tries += 1

    def _check_limits(self, elapsed_s: float) -> None:
        crawl = self._config.crawl
        if crawl.max_seconds is not None and elapsed_s * self._setup.clock.rate >= crawl.max_seconds:
            self._how = HowEnded.MAX_SECONDS
        elif crawl.max_bytes is not None and self._bytes_before + self.received_bytes() >= crawl.max_bytes:
            self._how = HowEnded.MAX_BYTES

    def _check(self, elapsed_s: float) -> None:
        self._check_limits(elapsed_s)
        if self._how is not None:
            return
        if self._quota.is_used_up:
            self._how = HowEnded.MAX_PAGES
        elif self._nothing_left():
            self._how = HowEnded.DONE

    def _nothing_left(self) -> bool:
        return not self._looking_up and not self._located and not self.sites.has_open()

    @property
    def dns_queries(self) -> int:
        return self._setup.resolver.queries

    def received_bytes(self) -> int:
        return sum(progress.received_bytes for progress in self.progress())

    def progress(self) -> Iterable[Progress]:
        yield from self.finished
        yield from (member.progress for member in self.members if member.progress is not None)

    async def _next_event(self) -> None:
        """Wait until something happened, or a second has passed: limits of time are looked at then."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._event.wait(), 1.0)
        self._event.clear()

    # Agents

    async def _start(self, number: int, slots: tuple[int, ...]) -> None:
        argument = AgentArgument(
            number, str(self._folder.path), slots, self._of_agent(), number not in self._died, self.control,
            is_planned=self.hourly is not None, new_pages=self._new_pages(slots),
        )  # fmt: skip
        [handle] = await self._engine.spawn(agent, [argument])
        member = Member(number, slots, handle, argument.control)
        self.members.append(member)
        self._spawn(self._listen(member), LISTENER)

    def _of_agent(self) -> Config:
        """The configuration as an agent gets it: of the crawl's bytes per second it may receive its share."""
        net = self._config.net
        rate = share_of(net.max_rate, net.max_agent_rate, self._agents)
        return replace(self._config, net=replace(net, max_rate=None, max_agent_rate=rate))

    def _new_pages(self, slots: tuple[int, ...]) -> dict[int, int] | None:
        """In a round of refresh, how many new pages each slot may ask for; one that died in it gets no more."""
        if self._round is None:
            return None
        every = self.sites.slots
        return {slot: 0 if self.deaths else self._round.share(every.index(slot), len(every)) for slot in slots}

    async def _listen(self, member: Member) -> None:
        while (frame := await member.handle.receive()) is not None:
            self.traffic.frames += 1
            self.traffic.frame_bytes += len(frame)
            await self._handle(member, frame)
            self._event.set()
        code = await member.handle.join()
        self.members.remove(member)
        if member.progress is not None:
            self.finished.append(member.progress)
        if not member.stopped and self._failure is None:
            await self._bury(member, code)
        self._event.set()

    async def _bury(self, member: Member, code: int | None) -> None:
        """A dead agent's slots are given out again; its leases were never lost."""
        self.deaths += 1
        self._died.add(member.number)
        _LOG.warning("agent %d died with code %s; its slots are given out again", member.number, code)
        brought_pages = member.progress is not None and member.progress.pages > 0
        self._vain_deaths = 0 if brought_pages else self._vain_deaths + 1
        if self._vain_deaths > MAX_DEATHS:
            self._failure = WorkerDiedError(
                f"agents died {self._vain_deaths} times in a row without a page, the last with code {code}; everything "
                "committed is safe: look for the reason (memory, disk), then run the same command again."
            )
        elif self._how is None:
            await self._start(member.number, member.slots)

    async def _handle(self, member: Member, frame: bytes) -> None:
        message = decode_for_coordinator(frame)
        match message:
            case Findings():
                self.traffic.links += len(message.links)
                now = self._setup.clock.now()
                orders = await self._durably(lambda: self.sites.apply(message, self._admission, now))
                await self._send(member, FindingsApplied(message.slot, message.sequence))
                await self._send_orders(orders)
                await self._quota.found(message)
            case OrdersApplied():
                await self._durably(lambda: self.sites.delivered(message.slot, message.sequence))
            case Hello():
                member.sent[message.slot] = message.applied
                orders = await self._durably(lambda: self.sites.undelivered(message.slot, message.applied))
                await self._send_orders(orders)
                await self._quota.came_up(message.slot, message.sent)
                if self.hourly is not None:
                    await self.hourly.came_up(message.slot)
            case Starved():
                await self._quota.starves(message.slot, message.purse)
            case Borrow() | GaveBack() | Lent():
                await self._pass_on(member, message)
            case Progress():
                member.progress = message
            case Failed():
                self._failure = _error(message)
            case Stopped():
                member.stopped = True
            case _:
                assert_never(message)

    async def _send(self, member: Member, message: ToAgent) -> None:
        frame = encode(message)
        self.traffic.frames += 1
        self.traffic.frame_bytes += len(frame)
        async with member.speaking:
            await member.handle.send(frame)

    async def _send_to_slot(self, message: GiveBack | Serve) -> None:
        member = self._owner(message.slot)
        if member is not None:
            await self._send(member, message)

    async def _send_to_all(self, message: Exhausted) -> None:
        for member in list(self.members):
            await self._send(member, message)

    async def _pass_on(self, member: Member, message: Borrow | GaveBack | Lent) -> None:
        """Between the agent that must ask an address once and the one whose slot owns it (`lending`)."""
        if isinstance(message, Lent):
            borrower = next((other for other in self.members if other.number == message.borrower), None)
            if borrower is not None:
                await self._send(borrower, message)
            return
        owner = self._owner(self.sites.owner_of(message.address))
        if isinstance(message, GaveBack):
            if owner is not None:
                await self._send(owner, message)
        elif owner is not None:
            await self._send(owner, Lend(member.number, message.number, message.address))
        else:
            await self._send(member, Lent(member.number, message.number, message.address, granted=False))

    async def _send_orders(self, orders: list[Orders]) -> None:
        """What cannot be sent now lies in the outbox and is sent when its slot says how far it is.

        A slot takes parcels in their order alone: what another task has posted before goes out before.
        """
        for parcel in orders:
            member = self._owner(parcel.slot)
            if member is None or parcel.slot not in member.sent:
                continue
            first = member.sent[parcel.slot] + 1
            due = [parcel] if parcel.sequence == first else self.sites.outbox(parcel.slot, first, parcel.sequence)
            for each in due:
                if each.sequence == member.sent[each.slot] + 1:
                    member.sent[each.slot] = each.sequence
                    await self._send(member, each)

    def _owner(self, slot: int) -> Member | None:
        return next((member for member in self.members if slot in member.slots), None)

    async def _stop_agents(self) -> None:
        crash_point("coordinator.stopping")
        for member in list(self.members):
            await self._send(member, Stop())
        listeners = [task for task in self._tasks if task.get_name() == LISTENER]
        if listeners:
            _, late = await asyncio.wait(listeners, timeout=30.0)
            for member in list(self.members) if late else []:
                member.handle.kill()
            if late:
                await asyncio.wait(late, timeout=5.0)
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _spawn(self, work: Coroutine[Any, Any, None], name: str = "") -> None:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._task_ended)

    def _task_ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self._failure = self._failure or task.exception()
        self._event.set()

    # Sites

    async def _hand_out(self) -> None:
        """Look names up and lease their sites to slots while these have room (S0-8, S0-9, S1-19: one look-up each)."""
        while True:
            waiting = self.sites.new_sites(LOOK_UPS - len(self._looking_up), self._looking_up)
            room = self._room() if waiting else 0
            for site in waiting[:room]:
                self._looking_up.add(site.number)
                self._spawn(self._look_up(site))
            await self._lease()
            await asyncio.sleep(HAND_OUT_EVERY_S if room or not waiting else FULL_FOR_S)

    def _room(self) -> int:
        """How many sites the agents can take; two per place in memory, so that none waits for the next parcel."""
        places = 2 * self._config.crawl.active_sites * self._agents
        if self.hourly is not None:
            places = max(places, PLANNED_SITES)
        return max(0, places - self.sites.leased() - len(self._looking_up))

    def _make_hourly(self, planner: Planner) -> Hourly:
        return Hourly(
            planner, self._setup.clock, self._config.crawl.active_sites,
            agents=lambda: [member.slots for member in self.members],
            open_sites=self.sites.leased,
            all_found=lambda: not self._looking_up and not self._located and not self.sites.new_sites(1, set()),
            surprises=lambda: sum(each.surprises for each in self.progress()), send=self._send_to_slot,
        )  # fmt: skip

    async def _look_up(self, site: WaitingSite) -> None:
        found = await self._setup.resolver.resolve(host_of(site.url))
        if isinstance(found, Resolved):
            if site.given:
                needs_contact(found.addresses, self._config.net)
            candidate = site_candidate(site.url, from_seeds=site.given, address=found.addresses[0])
            verdict = decide(candidate, self._setup.scope) if self._setup.scope.countries is not None else IN
            if lacks_contact(found.addresses, self._config.net):
                await self._set_unreachable(site, Outcome.SCOPE_REJECTED, "contact: net.contact is not set")
            elif verdict.outcome is not None:
                await self._set_unreachable(site, verdict.outcome, verdict.reason)
            else:
                self._located.append(Located(site.number, found.addresses[0]))
        elif found.outcome in _RETRIED and not site.tries:
            self._setup.resolver.forget(host_of(site.url))
            await self._durably(lambda: self.sites.look_up_failed(site.number))
            self._looking_up.discard(site.number)
        else:
            await self._set_unreachable(site, found.outcome, found.reason)
        if len(self._located) >= LEASE_BATCH:
            await self._lease()

    async def _set_unreachable(self, site: WaitingSite, outcome: Outcome, reason: str) -> None:
        await self._durably(lambda: self.sites.set_unreachable(site.number, outcome, reason))
        self._looking_up.discard(site.number)
        self._event.set()

    async def _lease(self) -> None:
        if not self._located:
            return
        located, self._located = self._located[:LEASE_BATCH], self._located[LEASE_BATCH:]
        orders = await self._durably(lambda: self.sites.lease(located))
        self._looking_up -= {site.number for site in located}
        await self._send_orders(orders)
        self._event.set()


def admission(config: Config) -> Admission:
    return Admission(config.crawl.mode == "web", config.crawl.max_sites, config.traps.domain_sites)


def limits_text(config: Config) -> str:
    """Limits and budgets that leave URLs out, and their sources; when one has changed, sites are looked at again."""
    crawl = config.crawl
    limits = (
        crawl.max_sites, crawl.max_depth, crawl.max_pages_per_site, crawl.max_pages_per_domain,
        crawl.max_pages_per_address,
    )  # fmt: skip
    return " ".join(map(str, (*limits, *astuple(config.traps), *astuple(config.sources))))


def _error(failed: Failed) -> NephilaError:
    """The agent's error again, with its own exit code."""
    kinds = {kind.exit_code: kind for kind in (NephilaError, UsageError, DiskFullError, FolderInUseError, DamagedError)}
    return kinds.get(failed.exit_code, NephilaError)(failed.sentence)
