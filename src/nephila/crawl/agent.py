"""The agent: one process that collects the sites of its slots, many at a time (S0-11, S1-6).

It listens to the coordinator, brings sites into memory as there is room, gives each address its lane, and reports.
What it finds of other sites goes out with the commit that made it durable. When the coordinator is gone it commits what
it has and ends.
"""

from __future__ import annotations

import asyncio
import resource
from collections import deque
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, assert_never

import msgspec

from nephila.config.sections import Config
from nephila.crawl.collecting import PAGES_PURSE, Collecting
from nephila.crawl.fetcher import user_agent
from nephila.crawl.group import FoundPage, Group, SiteRow
from nephila.crawl.lane import Lane
from nephila.crawl.messages import (
    Block,
    Exhausted,
    Failed,
    Findings,
    FindingsApplied,
    FurtherSeed,
    GiveBack,
    Hello,
    NewSite,
    Orders,
    OrdersApplied,
    Pause,
    Progress,
    SiteEnded,
    SlowSite,
    Starved,
    Stop,
    Stopped,
    ToCoordinator,
    decode_for_agent,
    encode,
)
from nephila.crawl.outcome import patience_s, start_next_time
from nephila.crawl.politeness import MAX_RETRY_AFTER_S, Answered, Pace, address_delay_after, after_restart
from nephila.crawl.recording import SEED_KIND, offer
from nephila.crawl.seen import LARGE_SITE, FilteredDisk, PackedHashes, SeenUrls
from nephila.crawl.setup import make_clock, make_setup, software
from nephila.crawl.site import SiteContext
from nephila.crawl.slot import Slot
from nephila.crawl.slot_state import Parcel, SlotState
from nephila.engine import Channel
from nephila.errors import NephilaError
from nephila.records import Outcome
from nephila.store.control import NOTHING_ASKED, Control
from nephila.store.folder import CrawlFolder
from nephila.urls import url_hash

REPORT_EVERY_S: Final = 0.5
STOP_WITHIN_S: Final = 5.0
OPENED_AT_ONCE: Final = 50
LOCK_WAIT_S: Final = 2.0
_SPARE_FILES: Final = 100


@dataclass(frozen=True, slots=True)
class AgentArgument:
    """What an agent is started with."""

    number: int
    folder: str
    slots: tuple[int, ...]
    config: Config
    begins_run: bool  # False: it takes the place of an agent that died; what sleeps goes on sleeping
    control: Control = NOTHING_ASKED


async def agent(channel: Channel, argument: AgentArgument) -> None:
    """The worker that the engine spawns."""
    folder = CrawlFolder.open(Path(argument.folder))
    locks = [folder.lock_slot(slot, f"agent {argument.number}", wait_s=LOCK_WAIT_S) for slot in argument.slots]
    try:
        await Agent(channel, argument, folder).run()
    except NephilaError as error:
        await channel.send(encode(Failed(str(error), error.exit_code)))
    finally:
        for lock in locks:
            lock.release()


class Agent:
    def __init__(self, channel: Channel, argument: AgentArgument, folder: CrawlFolder) -> None:
        self._channel = channel
        self._number = argument.number
        self._begins_run = argument.begins_run
        config = argument.config
        self._config = config
        self.setup = make_setup(config, make_clock(config))
        about = software(config, user_agent(config.net))
        self.slots: dict[int, Slot] = {}
        for number in argument.slots:
            state = SlotState(folder, number, config.archive, about)
            self.slots[number] = Slot(state, config.archive, self._committed)
        self._failure: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.collecting = Collecting(self.setup, self.slots, self._starve, self._fail, max_open=_open_files())
        self.collecting.paused, self.collecting.blocked = argument.control.paused, argument.control.blocked
        self._started_at = self.setup.clock.monotonic()
        self._lanes: dict[str, Lane] = {}
        self.collecting.asking.lanes = self._lanes
        self._paces: dict[str, Pace] = {}  # of addresses without a lane, until they may be asked again
        self._pending: deque[tuple[int, int]] = deque()
        self._queued: set[int] = set()
        self._outgoing: asyncio.Queue[ToCoordinator] = asyncio.Queue()
        self._ended = asyncio.Event()
        self._finishing = False

    async def run(self) -> None:
        committers = [asyncio.create_task(slot.keep_committing()) for slot in self.slots.values()]
        for committer in committers:
            committer.add_done_callback(self._committer_ended)
        others: list[asyncio.Task[Any]] = [
            asyncio.create_task(work) for work in (self._send_all(), self._listen(), self._report())
        ]
        for task in others:
            task.add_done_callback(self._committer_ended)
        try:
            self._begin()
            ended = asyncio.create_task(self._ended.wait())
            others.append(ended)
            first: list[asyncio.Future[Any]] = [ended, self._failure]
            await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
            await self._finish(committers)
        finally:
            for task in [*others, *committers]:
                task.cancel()
            await asyncio.gather(*others, *committers, return_exceptions=True)
            for slot in self.slots.values():
                slot.close()
            await self.setup.resolver.aclose()
        if self._failure.done():
            self._failure.result()

    def _begin(self) -> None:
        """Say how far each slot is, send again what was not acknowledged, and take up what was begun."""
        for slot in self.slots.values():
            self._outgoing.put_nowait(Hello(slot.number, slot.applied, slot.sent))
            for parcel in slot.state.unsent():
                self._outgoing.put_nowait(_findings(parcel))
            # The limits may be others now, and pages count that were requested while there was none.
            for purse in {PAGES_PURSE, *slot.credit}:
                slot.give_back(purse)
            states = ("waiting", "asleep") if self._begins_run else ("waiting",)
            for site in slot.state.numbers_in(*states):
                self._enqueue(slot.number, site)
        self._fill()

    def _pace_of_address(self, slot: Slot, address: str) -> Pace:
        """After a restart every address counts as answered when this agent began (DESIGN: A killed coordinator)."""
        kept = self._paces.pop(address, None) or self.collecting.asking.foreign.get(address)
        if kept is not None or slot.is_new:
            return kept or Pace()
        politeness = self._config.politeness
        last_s = slot.state.longest_last_ms(address) / 1000
        delay = address_delay_after(Answered(last_s * self.setup.clock.rate), politeness)
        return after_restart(delay.seconds, politeness, self._started_at)

    def _pace_of_site(self, slot: Slot, row: SiteRow) -> Pace:
        """As it was left in this run; else as after a restart."""
        kept = self.collecting.asking.resting.pop(row.site, None)
        if kept is not None or slot.is_new:
            return kept or Pace(delay_s=row.delay_s)
        return after_restart(row.delay_s, self._config.politeness, self._started_at)

    async def _finish(self, committers: list[asyncio.Task[None]]) -> None:
        """Let requests on the wire end, within bounds, and commit everything."""
        self._finishing = True
        lanes = list(self._lanes.values())
        stops = [asyncio.create_task(lane.stop()) for lane in lanes]
        if stops:
            _, late = await asyncio.wait(stops, timeout=STOP_WITHIN_S)
            for task in late:
                task.cancel()
            for lane in lanes:
                lane.cancel()
        await self.collecting.asking.aclose()
        for slot in self.slots.values():
            self._keep_contexts(slot)
            slot.stop_committing()
        await asyncio.gather(*committers, return_exceptions=True)
        self._outgoing.put_nowait(Stopped(self._number))
        while not self._outgoing.empty():
            if not await self._channel.send(encode(self._outgoing.get_nowait())):
                return

    def _keep_contexts(self, slot: Slot) -> None:
        """What a context learnt of its site's manners goes to disk with it."""
        for context in self.collecting.contexts.values():
            if context.slot == slot.number:
                slot.keep(self.collecting.row(context, "waiting"))

    def _committer_ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and task.exception() is not None:
            self._fail(task.exception())

    def _fail(self, error: BaseException | None) -> None:
        if error is not None and not self._failure.done():
            self._failure.set_exception(error)

    # Listening and telling

    async def _send_all(self) -> None:
        while True:
            if not await self._channel.send(encode(await self._outgoing.get())):
                self._ended.set()
                return

    async def _listen(self) -> None:
        try:
            while (frame := await self._channel.receive()) is not None:
                message = decode_for_agent(frame)
                match message:
                    case Orders():
                        self._apply(message)
                    case FindingsApplied():
                        self.slots[message.slot].acknowledge(message.sequence)
                    case GiveBack():
                        self.slots[message.slot].give_back(message.purse)
                    case Exhausted():
                        self.collecting.exhausted.add(message.purse)
                        self._wake()
                    case Pause():
                        self.collecting.paused = message.on
                        self._wake()
                    case Block():
                        self.collecting.blocked = frozenset(message.sites)
                        self._wake()
                    case Stop():
                        return
                    case _:
                        assert_never(message)
        except Exception as error:  # noqa: BLE001  # whatever it is, the agent must not go on deaf
            self._fail(error)
        finally:
            self._ended.set()

    async def _report(self) -> None:
        while True:
            self._outgoing.put_nowait(self._progress())
            await asyncio.sleep(REPORT_EVERY_S)

    def _progress(self) -> Progress:
        counts, contexts = self.setup.counts, self.collecting.contexts
        now = self.setup.clock.monotonic()
        slowest = sorted(contexts.values(), key=lambda context: -context.last_ms)[:5]
        return Progress(
            agent=self._number,
            requests=counts.requests,
            pages=counts.pages,
            received_bytes=counts.received_bytes,
            active_sites=len(contexts),
            pending_sites=len(self._pending),
            sleeping_sites=sum(context.asleep_until > now for context in contexts.values()),
            open_connections=self.collecting.asking.open_connections,
            waiting_urls=sum(context.waiting for context in contexts.values()),
            outcomes=dict(counts.outcomes),
            slowest=tuple(SlowSite(each.url, each.last_ms, each.waiting) for each in slowest if each.last_ms),
        )

    def _committed(self, slot: Slot, group: Group, parcels: list[Parcel]) -> None:
        """A group is on disk: tell what it found and applied, and open the sites it brought."""
        for parcel in parcels:
            self._outgoing.put_nowait(_findings(parcel))
        if group.orders:
            self._outgoing.put_nowait(OrdersApplied(slot.number, max(group.orders)))
        for site in group.opened:
            self._enqueue(slot.number, site)
        for site in slot.state.numbers_in("waiting") if group.let_in else ():
            self._enqueue(slot.number, site)
        self._fill()

    def _starve(self, slot: int, purse: str) -> None:
        self._outgoing.put_nowait(Starved(slot, purse))

    def _wake(self) -> None:
        for lane in self._lanes.values():
            lane.wake()

    # Orders

    def _apply(self, orders: Orders) -> None:
        slot = self.slots[orders.slot]
        if orders.sequence <= slot.applied:
            return  # it is acknowledged when it is on disk, not before
        assert orders.sequence == slot.applied + 1, "a parcel was left out"
        slot.applied = orders.sequence
        slot.group.orders.append(orders.sequence)
        if orders.let_in:
            self._let_in(slot)
        slot.receive(orders.credits)
        for site in orders.sites:
            self._new_site(slot, site)
        for seed in orders.seeds:
            self._further_seed(slot, seed)
        slot.touch()
        if orders.credits:
            self.collecting.credit_came(slot.number)
            self._wake()

    def _let_in(self, slot: Slot) -> None:
        """Limits have changed: sites in memory look on disk again, the others are opened when that is written."""
        slot.group.let_in = True
        self.collecting.exhausted.clear()
        for context in self.collecting.contexts.values():
            if context.slot == slot.number:
                context.more_on_disk = True
        self._wake()

    def _new_site(self, slot: Slot, site: NewSite) -> None:
        """A site to collect; it comes into memory when it is on disk."""
        row = SiteRow(site.number, site.url, site.address, site.given, "waiting")
        for seed in site.seeds:
            row = self._seed_row(slot, row, FurtherSeed(site.number, seed))
        slot.keep(row)
        slot.group.opened.append(site.number)

    def _seed_row(self, slot: Slot, row: SiteRow, further: FurtherSeed) -> SiteRow:
        """A seed of a site that is not in memory; returns the site's row with one page more."""
        seed = further.seed
        outcome = Outcome(row.outcome) if row.state in ("alias", "asleep") else Outcome.WAITING
        slot.find(
            FoundPage(
                row.site, url_hash(seed.path), seed.path, 0, row.known, outcome, row.reason, self.setup.clock.now(),
                seed.referrer, seed.kind or SEED_KIND, seed.hops, seed=True,
            )
        )  # fmt: skip
        return replace(row, known=row.known + 1)

    def _further_seed(self, slot: Slot, further: FurtherSeed) -> None:
        """One more seed reopens a site that had ended (S1-2); a known one only makes it say again that it has.

        A site that was given up for this run stays asleep: the seed waits for the next run with its other pages.
        """
        seed = further.seed
        context = self.collecting.contexts.get(further.number)
        if context is not None:
            kind = seed.kind or SEED_KIND
            offer(self.setup, slot, context, seed.path, seed.referrer, kind, 0, hops=seed.hops, seed=True)
            slot.note(context)
            lane = self._lanes.get(context.address)
            if lane is not None:
                lane.wake()
            return
        row = slot.row(further.number)
        assert row is not None, further
        key = url_hash(seed.path)
        uncommitted = (page for group in (slot.group, slot.committing) for page in group.found)
        if not slot.state.knows(row.site, key) and not any(
            (page.site, page.hash) == (row.site, key) for page in uncommitted
        ):
            row = self._seed_row(slot, row, further)
            if row.state == "done":
                row = replace(row, state="waiting")
            slot.keep(row)
            if row.state == "waiting":
                slot.group.opened.append(row.site)
        if row.state != "waiting":
            slot.group.ended.append(SiteEnded(row.site, row.state, slot.applied, row.alias_of or 0))

    # Sites in memory

    def _enqueue(self, slot: int, site: int) -> None:
        if site not in self._queued and site not in self.collecting.contexts:
            self._queued.add(site)
            self._pending.append((slot, site))

    def _fill(self) -> None:
        """Bring sites into memory while there is room."""
        opened = 0
        while not self._finishing and self._pending and len(self.collecting.contexts) < self._config.crawl.active_sites:
            if opened == OPENED_AT_ONCE:
                asyncio.get_running_loop().call_soon(self._fill)  # others may act in between
                return
            opened += 1
            slot_number, site = self._pending.popleft()
            self._queued.discard(site)
            slot = self.slots[slot_number]
            row = slot.row(site)
            assert row is not None, site
            if site not in self.collecting.contexts and row.state in ("waiting", "asleep"):
                self._activate(slot, row)

    def _activate(self, slot: Slot, row: SiteRow) -> None:
        context = self._context(slot, row)
        count = context.loadable
        context.load(slot.state.todo(row.site, count), count)
        # A seed that came after the site was written is in a group that is not on disk yet.
        late = [page for group in (slot.committing, slot.group) for page in group.found if page.site == row.site]
        for page in late:
            context.seen.add(page.hash)
        context.more_on_disk = context.more_on_disk or bool(late) or slot.lets_in
        self.collecting.contexts[row.site] = context
        self.collecting.comparing[slot.number].begin(context)
        lane = self._lanes.get(row.address)
        if lane is None:
            pace = self._pace_of_address(slot, row.address)
            lane = self._lanes[row.address] = Lane(row.address, pace, self.collecting, self._lane_ended)
            lane.add(context)
            lane.start()
        else:
            lane.add(context)

    def _context(self, slot: Slot, row: SiteRow) -> SiteContext:
        start = start_next_time(row.failed_runs, self._config.crawl)
        now = self.setup.clock.monotonic()
        return SiteContext(
            number=row.site,
            slot=slot.number,
            url=row.url,
            address=row.address,
            given=row.given,
            seen=_seen(slot, row),
            contents=slot.state.contents(row.site),
            known=row.known,
            retries=start.retries,
            patience_s=patience_s(self._config.crawl),
            longest_delay_s=max(self._config.politeness.max_delay, self._config.politeness.min_delay),
            pace=self._pace_of_site(slot, row),
            robots=self.collecting.robots_from(row.robots),
            home=row.home,
            home_tried=row.home is not None,
            distinct_from={int(number) for number in row.distinct_from.split()},
            asleep_until=now + max(start.wait_s, self._asked_to_wait_s(row)),
            last_ms=row.last_ms,
            requested=row.requested,
            received_bytes=row.received_bytes,
            failed_runs=row.failed_runs,
            first_at=row.first_at,
            last_at=row.last_at,
        )

    def _asked_to_wait_s(self, row: SiteRow) -> float:
        """How long the site still wants to be left alone, by what it said in an earlier run (Retry-After)."""
        if row.state != "asleep":
            return 0.0
        return min(max(0.0, row.next_at - self.setup.clock.now()), MAX_RETRY_AFTER_S)

    def _lane_ended(self, lane: Lane) -> None:
        """The lane goes, its manners stay until its address may be asked again."""
        if lane.contexts and not lane.stopping:
            lane.start()  # a site came while the last one left
            return
        self._lanes.pop(lane.address, None)
        now = self.setup.clock.monotonic()
        if lane.pace.ready_at > now:
            self._paces[lane.address] = lane.pace
        if len(self._paces) > 10_000:
            self._paces = {address: pace for address, pace in self._paces.items() if pace.ready_at > now}
        self._fill()


def _findings(parcel: Parcel) -> Findings:
    return msgspec.msgpack.decode(parcel.payload, type=Findings)


def _seen(slot: Slot, row: SiteRow) -> SeenUrls:
    if row.known < LARGE_SITE:
        return PackedHashes(slot.state.hashes(row.site))
    return FilteredDisk(slot.state.hashes(row.site), 2 * row.known, lambda key: slot.state.knows(row.site, key))


def _open_files() -> int:
    """As many connections as the system lets us have, less what databases and archives need."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return max(16, hard - _SPARE_FILES)
