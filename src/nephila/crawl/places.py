"""Sites in memory: who waits for a place, who has one, and the lane of each address (S1-16, S2-13).

A site takes a place when there is room, with what was kept of it on disk, and gives it back when it has ended or was
given up. Lanes come with the first site of an address and go with its last; how long the address is to be left alone
outlives them.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping
from typing import Final

from nephila.crawl.collecting import Collecting
from nephila.crawl.group import SiteRow
from nephila.crawl.known_contents import SiteContents
from nephila.crawl.lane import Lane
from nephila.crawl.messages import Serve
from nephila.crawl.outcome import patience_s, start_next_time
from nephila.crawl.politeness import MAX_RETRY_AFTER_S, Answered, Pace, address_delay_after, after_restart
from nephila.crawl.seen import LARGE_SITE, PackedHashes, SeenUrls
from nephila.crawl.site import HOME, SiteContext
from nephila.crawl.slot import Slot
from nephila.crawl.sourcing import learn_from_robots, waiting_sources, wants_sitemaps
from nephila.crawl.suspending import Suspending
from nephila.crawl.trapped import SiteTraps
from nephila.crawl.turns import Turns

OPENED_AT_ONCE: Final = 50
MOST_PACES: Final = 10_000
"""Addresses without a lane, after which those that may be asked again are forgotten."""


PLAN_WITHIN_S: Final = 10.0
"""Real seconds that a run with a policy waits for its first plan."""

MOST_ON_A_LANE: Final = 32
"""Sites of one address in memory at once. They take turns, so more would gain nothing, and each turn asks them all:
a thousand names on one address (F10) would hold the loop up."""


class Places:
    """The sites of one agent that are collected now, and those that wait for it."""

    def __init__(self, collecting: Collecting, slots: Mapping[int, Slot], *, waits_for_plan: bool = False) -> None:
        self._collecting = collecting
        self._setup = collecting.setup
        self._slots = slots
        self._started_at = self._setup.clock.monotonic()
        self._lanes: dict[str, Lane] = {}
        collecting.lending.lanes = self._lanes
        self._paces: dict[str, Pace] = {}  # of addresses without a lane, until they may be asked again
        self._pending = Turns()
        self._suspending = Suspending(collecting, self._pending)
        self._waits_for_plan = waits_for_plan
        self._queued: set[int] = set()
        self._crowded: dict[str, deque[tuple[int, int]]] = {}  # sites whose address has enough to do
        self._closed = False

    @property
    def pending(self) -> int:
        """Sites that wait for a place."""
        return len(self._pending) + sum(map(len, self._crowded.values()))

    @property
    def suspensions(self) -> int:
        return self._suspending.count

    @property
    def surprises(self) -> int:
        return self._suspending.surprises

    def waits_for(self, site: int) -> bool:
        """Whether a site is among those that will get a place."""
        return site in self._queued

    def wake(self, address: str | None = None) -> None:
        """Something new may be done, on one address or on any."""
        for lane in self._lanes.values() if address is None else filter(None, [self._lanes.get(address)]):
            lane.wake()

    async def close(self, within_s: float) -> None:
        """Nothing new is begun; what is on the wire may end within bounds."""
        self._closed = True
        lanes = list(self._lanes.values())
        stops = [asyncio.create_task(lane.stop()) for lane in lanes]
        if stops:
            _, late = await asyncio.wait(stops, timeout=within_s)
            for task in late:
                task.cancel()
            for lane in lanes:
                lane.cancel()

    def begin(self) -> None:
        """Fill places now, or when the first plan has come; one that does not come is not waited for long."""
        if self._waits_for_plan:
            asyncio.get_running_loop().call_later(PLAN_WITHIN_S, self._go_without_plan)
        self.fill()

    def _go_without_plan(self) -> None:
        self._waits_for_plan = False
        self.fill()

    def serve(self, plan: Serve) -> None:
        """A new hour, or new sites in this one: places are taken and given back in the order of the plan (S2-12)."""
        self._pending.serve(plan)
        self._waits_for_plan = False
        self._suspending.hour_changed()
        self.wake()
        self.fill()

    def enqueue(self, slot: int, site: int) -> None:
        if site not in self._queued and site not in self._collecting.contexts:
            self._queued.add(site)
            self._pending.append((slot, site))

    def fill(self) -> None:
        """Bring sites into memory while there is room, in all and on their address."""
        self._make_room()
        opened = 0
        while (
            not self._closed
            and not self._waits_for_plan
            and len(self._pending)
            and len(self._collecting.contexts) < self._setup.config.crawl.active_sites
        ):
            if opened == OPENED_AT_ONCE:
                asyncio.get_running_loop().call_soon(self.fill)  # others may act in between
                return
            opened += 1
            slot_number, site = self._pending.popleft()
            self._queued.discard(site)
            slot = self._slots[slot_number]
            row = slot.row(site)
            assert row is not None, site
            if site in self._collecting.contexts or row.state not in ("waiting", "asleep"):
                continue
            lane = self._lanes.get(row.address)
            is_crowded = lane is not None and len(lane.contexts) >= MOST_ON_A_LANE
            if is_crowded or self._neighbour_is_written(slot, row):
                self._queued.add(site)
                self._crowded.setdefault(row.address, deque()).append((slot_number, site))
            else:
                self._activate(slot, row)

    def _neighbour_is_written(self, slot: Slot, row: SiteRow) -> bool:
        """Whether a site of the same address has just left: its pages must be on disk before others are compared.

        The commit that brings them there fills places again.
        """
        return any(
            other.address == row.address and other.requested and number != row.site
            for group in (slot.committing, slot.group)
            for number, other in group.sites.items()
            if number not in self._collecting.contexts
        )

    def _make_room(self) -> None:
        """Sites that waited for others on their address may come in when these have left."""
        for address, waiting in list(self._crowded.items()):
            lane = self._lanes.get(address)
            room = MOST_ON_A_LANE - (len(lane.contexts) if lane is not None else 0)
            for _ in range(min(room, len(waiting))):
                self._pending.appendleft(waiting.popleft())
            if not waiting:
                del self._crowded[address]

    def _activate(self, slot: Slot, row: SiteRow) -> None:
        context = self._context(slot, row)
        count = context.loadable
        context.load(slot.state.todo(row.site, count), count)
        # A seed that came after the site was written is in a group that is not on disk yet.
        late = [page for group in (slot.committing, slot.group) for page in group.found if page.site == row.site]
        for page in late:
            context.seen.add(page.hash)
        context.more_on_disk = context.more_on_disk or bool(late) or slot.lets_in
        self._collecting.contexts[row.site] = context
        self._take_up_sources(slot, context)
        self._collecting.window.fit(len(self._collecting.contexts))
        self._collecting.comparing[slot.number].begin(context)
        self._suspending.took_place(context)
        lane = self._lanes.get(row.address)
        if lane is None:
            pace = self._pace_of_address(slot, row.address)
            lane = self._lanes[row.address] = Lane(
                row.address, pace, self._collecting, self._suspending, self._lane_ended
            )
            lane.add(context)
            lane.start()
        else:
            lane.add(context)

    def _take_up_sources(self, slot: Slot, context: SiteContext) -> None:
        """The sitemaps that are known of a site, and those that a robots.txt read earlier names."""
        sources = self._setup.config.sources
        if not wants_sitemaps(sources):
            return
        known = slot.state.sources(context.number)
        context.known_sources = {row.url: row for row in known}
        context.sources = waiting_sources(known, self._setup.clock.now(), sources)
        if context.robots is not None or not self._setup.obeys_robots:
            learn_from_robots(self._setup, slot, context)

    def _context(self, slot: Slot, row: SiteRow) -> SiteContext:
        start = start_next_time(row.failed_runs, self._setup.config.crawl)
        now = self._setup.clock.monotonic()
        return SiteContext(
            number=row.site,
            slot=slot.number,
            url=row.url,
            address=row.address,
            given=row.given,
            seen=seen_of(slot, row.site, row.known),
            contents=contents_of(slot, row.site),
            known=row.known,
            retries=start.retries,
            patience_s=patience_s(self._setup.config.crawl),
            longest_delay_s=max(self._setup.config.politeness.max_delay, self._setup.config.politeness.min_delay),
            pace=self._pace_of_site(slot, row),
            window=self._collecting.window,
            robots=self._collecting.robots_from(row.robots),
            home=row.home,
            home_tried=row.home is not None or self._setup.scope.forgotten.rule_for(row.url, HOME) is not None,
            distinct_from={int(number) for number in row.distinct_from.split()},
            asleep_until=now + max(start.wait_s, self._asked_to_wait_s(row)),
            last_ms=row.last_ms,
            requested=row.requested,
            received_bytes=row.received_bytes,
            failed_runs=row.failed_runs,
            first_at=row.first_at,
            last_at=row.last_at,
            traps=SiteTraps(slot.state.patterns(row.site), is_honest=slot.state.said_404(row.site)),
            seeds=slot.state.seed_count(row.site),
        )

    def _asked_to_wait_s(self, row: SiteRow) -> float:
        """How long the site still wants to be left alone, by what it said in an earlier run (Retry-After)."""
        if row.state != "asleep":
            return 0.0
        # The clock may have been set meanwhile: never longer than what was asked for, or what a run waits anyway.
        longest_s = min(max(row.delay_s, patience_s(self._setup.config.crawl)), MAX_RETRY_AFTER_S)
        return min(max(0.0, row.next_at - self._setup.clock.now()), longest_s)

    def _pace_of_address(self, slot: Slot, address: str) -> Pace:
        """After a restart every address counts as answered when this agent began (DESIGN: A killed coordinator)."""
        kept = self._paces.pop(address, None) or self._collecting.lending.paces.get(address)
        if kept is not None or slot.is_new:
            return kept or Pace()
        politeness = self._setup.config.politeness
        last_s = slot.state.longest_last_ms(address) / 1000
        delay = address_delay_after(Answered(last_s * self._setup.clock.rate), politeness)
        return after_restart(delay.seconds, politeness, self._started_at)

    def _pace_of_site(self, slot: Slot, row: SiteRow) -> Pace:
        """As it was left in this run; else as after a restart."""
        kept = self._collecting.asking.resting.pop(row.site, None)
        if kept is not None or slot.is_new:
            return kept or Pace(delay_s=row.delay_s)
        return after_restart(row.delay_s, self._setup.config.politeness, self._started_at)

    def _lane_ended(self, lane: Lane) -> None:
        """The lane goes, its manners stay until its address may be asked again."""
        if lane.contexts and not lane.stopping:
            lane.start()  # a site came while the last one left
            return
        self._lanes.pop(lane.address, None)
        now = self._setup.clock.monotonic()
        if lane.pace.ready_at > now:
            self._paces[lane.address] = lane.pace
        if len(self._paces) > MOST_PACES:
            self._paces = {address: pace for address, pace in self._paces.items() if pace.ready_at > now}
        self.fill()


def contents_of(slot: Slot, site: int) -> SiteContents:
    """Which contents a site has had, as far as they are on disk."""
    return SiteContents(slot.state.contents(site), lambda checksum: slot.state.first_with(site, checksum))


def seen_of(slot: Slot, site: int, known: int) -> SeenUrls:
    """Which URLs a site has, as far as they are on disk."""
    if known < LARGE_SITE:
        return PackedHashes(slot.state.hashes(site))
    from nephila.crawl.filtered import FilteredDisk

    return FilteredDisk(slot.state.hashes(site), 2 * known, lambda key: slot.state.knows(site, key))
