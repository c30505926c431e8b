"""One slot at work: the group that is being filled, the commit that is under way, and the credit left.

The loop adds to `group`; `keep_committing` closes it after `group_delay` or when it is full, and hands it to a thread
while the next one fills. Together they hold one group's worth at most: then `room` makes the lanes wait for the disk,
so that memory is bounded, and what a kill may cost.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Final

from nephila.config.sections import Archive
from nephila.crawl.group import FoundPage, Group, Judged, SiteRow, Swept, Visited
from nephila.crawl.messages import Credit
from nephila.crawl.parcels import Parcel
from nephila.crawl.site import SiteContext
from nephila.crawl.slot_state import SlotState
from nephila.errors import DiskFullError
from nephila.records import Outcome

GROUP_BYTES: Final = 8 * 2**20
"""Bodies in one commit, after which it is not waited for more."""

ROOM_EVERY_S: Final = 0.5
"""How often a commit is tried again that found no room on the disk."""


class Slot:
    """The state of a slot with its group in memory."""

    def __init__(
        self, state: SlotState, archive: Archive, committed: Callable[[Slot, Group, list[Parcel]], None],
        spend_reserve: Callable[[], None] = lambda: None,
    ) -> None:  # fmt: skip
        self.number = state.slot
        self.state = state
        self.in_hand = state.in_hand
        self.group = Group()
        self.committing = Group()
        how_far = state.how_far()
        self.applied = how_far.applied
        self.is_new = how_far.applied == 0  # nothing was ever collected here
        self.archived_bytes = 0
        self.credit: Counter[str] = Counter(state.purses())
        self.credit_came = asyncio.Event()
        self._under_way: Counter[str] = Counter()  # pages that were paid for and are not in a group yet
        self._held: Counter[str] = Counter()  # credit that is to be returned
        self._owing: dict[str, int] = {}  # purses that are asked back, and by which asking
        self._sent = how_far.sent
        self._archive = archive
        self._tell = committed
        self._spend_reserve = spend_reserve
        self.out_of_room = False  # the last commit found no room and is tried again
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"slot-{self.number}")
        self._work = asyncio.Event()
        self._full = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._committed = asyncio.Condition()
        self._done_groups = 0
        self._begun_groups = 0
        self._acknowledged = 0
        self._forgotten = 0
        self._closing = False
        self._frozen = False

    # Filling the group; each of these also keeps the counts of outcomes true

    def find(self, page: FoundPage) -> None:
        self.group.found.append(page)
        self.group.outcomes[page.outcome.value] += 1
        self._work.set()

    def visit(self, visited: Visited, before: Outcome | None) -> None:
        self.group.visited.append(visited)
        self.group.again.pop((visited.site, visited.hash), None)
        self.group.body_bytes += len(visited.fetched.content)
        if visited.role == "page":
            self._change(before, visited.outcome)
        self._added()

    def ask_again(self, site: int, key: int) -> None:
        """A page that had failed for good waits once more; a visit that comes before the commit has the last word."""
        self.group.again[site, key] = None
        self._work.set()

    def judge(self, judged: Judged, before: Outcome) -> None:
        self.group.judged.append(judged)
        self._change(before, judged.outcome)
        self._work.set()

    def sweep(self, swept: Swept) -> None:
        self.group.swept.append(swept)
        self._work.set()

    def keep(self, row: SiteRow) -> None:
        self.group.sites[row.site] = row
        self.group.figures.pop(row.site, None)
        self._work.set()

    def note(self, context: SiteContext) -> None:
        """What a visit or a further seed has changed in a site in memory."""
        self.group.figures[context.number] = context.figures()
        self._work.set()

    def touch(self) -> None:
        """Something was added to the group directly."""
        self._work.set()

    @property
    def lets_in(self) -> bool:
        """Whether pages that limits had cut off are about to wait again."""
        return self.group.let_in or self.committing.let_in

    def row(self, number: int) -> SiteRow | None:
        """The newest row of a site: in memory, on its way to disk, or on disk."""
        return self.group.sites.get(number) or self.committing.sites.get(number) or self.state.site(number)

    def _change(self, before: Outcome | None, after: Outcome) -> None:
        if before is not None and before is not after:
            self.group.outcomes[before.value] -= 1
            self.group.outcomes[after.value] += 1

    def _added(self) -> None:
        self._work.set()
        if self._is_behind:
            self._full.set()
            self._room.clear()

    @property
    def _is_behind(self) -> bool:
        """Whether one group's worth is not on disk, in the group or on its way: what a kill may cost is no more."""
        group, committing = self.group, self.committing
        return (
            len(group.visited) + len(committing.visited) >= self._archive.group_pages
            or group.body_bytes + committing.body_bytes >= GROUP_BYTES
        )

    @property
    def has_room(self) -> bool:
        return self._room.is_set()

    async def room(self) -> None:
        """Wait until the disk has caught up."""
        await self._room.wait()

    # Credit (max_pages and limits per domain: the quota travels with the lease)

    def spend(self, purses: tuple[str, ...]) -> str | None:
        """Take one page out of every purse, or out of none: then the empty one is told."""
        for purse in purses:
            if self.credit[purse] <= 0:
                return purse
        for purse in purses:
            self.credit[purse] -= 1
            self._under_way[purse] += 1
        return None

    def spent(self, purses: tuple[str, ...]) -> None:
        """The page that the credit was taken for is in the group; until then a crash gives the credit back."""
        self.group.used.update(purses)
        for purse in purses:
            self._under_way[purse] = max(0, self._under_way[purse] - 1)
            if purse in self._owing and not self._under_way[purse]:
                self.give_back(purse, self._owing.pop(purse))

    def receive(self, credits: tuple[Credit, ...]) -> None:
        for credit in credits:
            self.credit[credit.purse] += credit.pages
            self.group.granted[credit.purse] += credit.pages
        if credits:
            self.credit_came.set()
            self.credit_came = asyncio.Event()

    def give_back(self, purse: str, asking: int = 0) -> None:
        """Return what is unspent once every page that was paid out of the purse is in a group.

        An empty return is an answer too: then all that was ever given is used. A negative one tells of pages that
        were requested while there was no limit.
        """
        self._held[purse] += self.credit[purse]
        self.credit[purse] = 0
        if self._under_way[purse]:
            self._owing[purse] = max(asking, self._owing.get(purse, 0))
            return
        pages = self._held.pop(purse, 0)
        self.group.granted[purse] -= pages
        self.group.returned.append(Credit(purse, pages, asking))
        self._work.set()

    # Committing

    async def keep_committing(self) -> None:
        """Close and commit groups until `close` is called; ends with everything on disk."""
        while True:
            if not self._closing:
                await self._work.wait()
            self._work.clear()
            if not self._closing and not self._full.is_set():
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._full.wait(), self._archive.group_delay)
            self._full.clear()
            await self._commit()
            if self._closing and self.group.is_empty():
                return

    async def flush(self) -> None:
        """Wait until everything added so far is on disk."""
        if self.group.is_empty():
            target = self._begun_groups
        else:
            target = self._begun_groups + 1
            self._work.set()
            self._full.set()
        async with self._committed:
            await self._committed.wait_for(lambda: self._done_groups >= target)

    def commit_now(self) -> list[Parcel]:
        """Commit the group here and now, for those who have no loop; gives the parcels that it made."""
        group, self.group = self.group, Group()
        self._begun_groups += 1
        parcels = self._in_thread(group, self._sent + 1)
        self._done_groups += 1
        self._sent += len(parcels)
        return parcels

    @property
    def filling(self) -> int:
        """The number of the group that is being filled."""
        return self._begun_groups + 1

    @property
    def written(self) -> int:
        """The number of the last group that is on disk."""
        return self._done_groups

    @property
    def sent(self) -> int:
        """Our last parcel."""
        return self._sent

    def acknowledge(self, sequence: int) -> None:
        """The coordinator has our parcels up to this one; they are deleted with the next commit."""
        self._acknowledged = max(self._acknowledged, sequence)

    def freeze(self) -> None:
        """An error may have left half of something in the group: it is dropped, as a kill would have done."""
        self._frozen = True

    def stop_committing(self) -> None:
        self._closing = True
        self._work.set()
        self._full.set()

    def close(self) -> None:
        self._thread.shutdown(wait=True)
        self.state.close()

    async def _commit(self) -> None:
        if self._frozen:
            self.group = Group()
        if self.group.is_empty():
            return
        self.committing, self.group = self.group, Group()
        self._begun_groups += 1
        group = self.committing
        parcels = await self._durably(group)
        self._sent += len(parcels)
        self.committing = Group()
        if not self._is_behind:
            self._room.set()
        async with self._committed:
            self._done_groups += 1
            self._committed.notify_all()
        self._tell(self, group, parcels)

    async def _durably(self, group: Group) -> list[Parcel]:
        """Commit, and wait for room where there is none; nothing new is requested meanwhile.

        A crawl that must stop gives up: what it had under way is asked for again by the next run.
        """
        loop = asyncio.get_running_loop()
        while True:
            is_last = self._closing and self.out_of_room
            try:
                parcels = await loop.run_in_executor(self._thread, self._in_thread, group, self._sent + 1)
            except DiskFullError:
                if is_last:
                    raise
                if self.out_of_room:
                    await asyncio.sleep(ROOM_EVERY_S)
                self.out_of_room = True
                self._room.clear()
                self._spend_reserve()
            else:
                self.out_of_room = False
                return parcels

    def _in_thread(self, group: Group, sequence: int) -> list[Parcel]:
        if self._acknowledged > self._forgotten:
            self._forgotten = self._acknowledged
            group.forgotten = self._acknowledged
        return self.state.commit(group, sequence)
