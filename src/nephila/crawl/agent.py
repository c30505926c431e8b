"""The agent: one process that collects the sites of its slots, many at a time (S0-11, S1-6).

It listens to the coordinator, brings sites into memory as there is room, gives each address its lane, and reports.
What it finds of other sites goes out with the commit that made it durable. When the coordinator is gone it commits what
it has and ends.
"""

from __future__ import annotations

import asyncio
import resource
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, assert_never

import msgspec

from nephila.config.sections import Config
from nephila.crawl.collecting import PAGES_PURSE, Collecting
from nephila.crawl.fetcher import user_agent
from nephila.crawl.forgotten import read_forgotten
from nephila.crawl.group import Group
from nephila.crawl.hour_notes import keep_noting
from nephila.crawl.in_hand import InHand
from nephila.crawl.messages import (
    Block,
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
    Pause,
    Progress,
    Serve,
    SlowSite,
    Stop,
    Stopped,
    ToCoordinator,
    decode_for_agent,
    encode,
)
from nephila.crawl.ordered import Ordered
from nephila.crawl.parcels import Parcel
from nephila.crawl.places import Places
from nephila.crawl.pulse import Pulse, read_memory
from nephila.crawl.rounds import RoundCredit
from nephila.crawl.setup import make_clock, make_setup, software
from nephila.crawl.slot import Slot
from nephila.crawl.slot_state import SlotState
from nephila.engine import Channel
from nephila.errors import NephilaError
from nephila.store.control import NOTHING_ASKED, Control
from nephila.store.database import sqlite_errors
from nephila.store.durable import crash_point
from nephila.store.folder import CrawlFolder
from nephila.store.hour_figures import HoursFile, hours_path
from nephila.store.space import Reserve
from nephila.urls import registrable_domain

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
    is_planned: bool = False  # plans will come; the first is waited for
    new_pages: dict[int, int] | None = None  # in a round of refresh: how many each slot may ask for


async def agent(channel: Channel, argument: AgentArgument) -> None:
    """The worker that the engine spawns."""
    folder = CrawlFolder.open(Path(argument.folder))
    locks = [folder.lock_slot(slot, f"agent {argument.number}", wait_s=LOCK_WAIT_S) for slot in argument.slots]
    try:
        databases = [folder.agent_database(slot) for slot in argument.slots]
        with sqlite_errors(databases[0] if len(databases) == 1 else folder.state):
            await Agent(channel, argument, folder).run()
    except NephilaError as error:
        await channel.send(encode(Failed(str(error), error.exit_code)))
    finally:
        for lock in locks:
            lock.release()


class Agent:
    def __init__(self, channel: Channel, argument: AgentArgument, folder: CrawlFolder) -> None:
        self._channel = channel
        self._folder = folder
        self._number = argument.number
        self._begins_run = argument.begins_run
        config = argument.config
        self._config = config
        self.setup = make_setup(config, make_clock(config), read_forgotten(folder), folder.state)
        about = software(config, user_agent(config.net))
        self.slots: dict[int, Slot] = {}
        for number in argument.slots:
            state = SlotState(folder, number, config.archive, about, InHand(folder.in_hand(number)))
            state.blame(config.traps.deaths)
            self.slots[number] = Slot(state, config.archive, self._committed, Reserve(folder.reserve).release)
        self._outgoing: asyncio.Queue[ToCoordinator] = asyncio.Queue()
        self._failure: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.collecting = Collecting(
            self.setup, self.slots, self._outgoing.put_nowait, self._fail, max_open=_open_files()
        )
        self.collecting.paused, self.collecting.blocked = argument.control.paused, argument.control.blocked
        self.collecting.rounds = None if argument.new_pages is None else RoundCredit(dict(argument.new_pages))
        self._places = Places(self.collecting, self.slots, waits_for_plan=argument.is_planned)
        self._ordered = Ordered(self.collecting, self._places)
        self._ended = asyncio.Event()
        self._pulse = Pulse()

    async def run(self) -> None:
        committers = [asyncio.create_task(slot.keep_committing()) for slot in self.slots.values()]
        for committer in committers:
            committer.add_done_callback(self._committer_ended)
        others: list[asyncio.Task[Any]] = [
            asyncio.create_task(work) for work in (self._send_all(), self._listen(), self._report(), self._learn())
        ]
        for task in others:
            task.add_done_callback(self._committer_ended)
        registrable_domain("")  # reads the list of suffixes now: between two requests it would hold all of them up
        self._pulse.start()
        try:
            self._begin()
            ended = asyncio.create_task(self._ended.wait())
            others.append(ended)
            first: list[asyncio.Future[Any]] = [ended, self._failure]
            await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
            await self._finish(committers)
        finally:
            self._pulse.stop()
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
                self._places.enqueue(slot.number, site)
        self._places.begin()

    async def _finish(self, committers: list[asyncio.Task[None]]) -> None:
        """Let requests on the wire end, within bounds, and commit everything."""
        await self._places.close(STOP_WITHIN_S)
        await self.collecting.asking.aclose()
        crash_point("agent.stopping")
        for slot in self.slots.values():
            self._keep_contexts(slot)
            slot.stop_committing()
        await asyncio.gather(*committers, return_exceptions=True)
        self._outgoing.put_nowait(self._progress())
        if not self._failure.done():  # an agent that failed is to be replaced, or tells why it cannot be
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
                        self._ordered.apply(message)
                    case FindingsApplied():
                        self.slots[message.slot].acknowledge(message.sequence)
                    case GiveBack():
                        self.slots[message.slot].give_back(message.purse, message.asking)
                    case Exhausted():
                        self.collecting.exhausted.add(message.purse)
                        self._places.wake()
                    case Pause():
                        self.collecting.paused = message.on
                        self._places.wake()
                    case Block():
                        self.collecting.blocked = frozenset(message.sites)
                        self._places.wake()
                    case Lend():
                        self.collecting.lending.lend(message)
                    case Lent():
                        self.collecting.lending.lent(message)
                    case GaveBack():
                        self.collecting.lending.take_back(message)
                    case Serve():
                        self._places.serve(message)
                    case Stop():
                        return
                    case _:
                        assert_never(message)
        except Exception as error:  # noqa: BLE001  # whatever it is, the agent must not go on deaf
            self._fail(error)
        finally:
            self._ended.set()

    async def _learn(self) -> None:
        """Keep how quickly sites answer at this hour of the day."""
        half_life_s = self._config.schedule.half_life
        path = hours_path(self._folder, f"{min(self.slots):02}")
        await keep_noting(self.setup.hours, lambda: HoursFile(path, half_life_s), self.setup.clock)

    async def _report(self) -> None:
        while True:
            self._outgoing.put_nowait(self._progress())
            await asyncio.sleep(REPORT_EVERY_S)

    def _progress(self) -> Progress:
        counts, contexts = self.setup.counts, self.collecting.contexts
        now = self.setup.clock.monotonic()
        memory = read_memory()
        slowest = sorted(contexts.values(), key=lambda context: -context.last_ms)[:5]
        return Progress(
            agent=self._number,
            requests=counts.requests,
            pages=counts.pages,
            received_bytes=counts.received_bytes,
            active_sites=len(contexts),
            pending_sites=self._places.pending,
            sleeping_sites=sum(context.asleep_until > now for context in contexts.values()),
            open_connections=self.collecting.asking.open_connections,
            waiting_urls=sum(context.waiting for context in contexts.values()),
            outcomes=dict(counts.outcomes),
            loop_lag_ms=round(self._pulse.worst_lag_s * 1000, 1),
            loop_work_ms=round(self._pulse.worst_work_s * 1000, 1),
            memory_bytes=memory.now_bytes,
            memory_growth_bytes=max(0, memory.most_bytes - self._pulse.started.now_bytes),
            slowest=tuple(SlowSite(each.url, each.last_ms, each.waiting) for each in slowest if each.last_ms),
            out_of_room=any(slot.out_of_room for slot in self.slots.values()),
            suspensions=self._places.suspensions,
            surprises=self._places.surprises,
        )

    def _committed(self, slot: Slot, group: Group, parcels: list[Parcel]) -> None:
        """A group is on disk: tell what it found and applied, and open the sites it brought."""
        if group.orders:
            crash_point("agent.applied")
        for parcel in parcels:
            self._outgoing.put_nowait(_findings(parcel))
        if group.orders:
            self._outgoing.put_nowait(OrdersApplied(slot.number, max(group.orders)))
        for site in group.opened:
            self._places.enqueue(slot.number, site)
        for site in slot.state.numbers_in("waiting") if group.let_in else ():
            self._places.enqueue(slot.number, site)
        self._places.fill()


def _findings(parcel: Parcel) -> Findings:
    return msgspec.msgpack.decode(parcel.payload, type=Findings)


def _open_files() -> int:
    """As many connections as the system lets us have, less what databases and archives need."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return max(16, hard - _SPARE_FILES)
