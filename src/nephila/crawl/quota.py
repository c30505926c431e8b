"""Limits of pages that hold for the whole crawl: each slot gets its share, so that none is ever exceeded.

The quota travels with the lease. A slot that has URLs and no credit starves; it is given more, and when all is given
out the other slots are asked for what they do not need. Only when nobody has any left is a limit reached.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable

from nephila.config.sections import Crawl
from nephila.crawl.collecting import PAGES_PURSE
from nephila.crawl.messages import Exhausted, Findings, GiveBack, Orders
from nephila.crawl.site_list import SiteList


class Quota:
    """Who has credit in which purse, and who waits for some."""

    def __init__(
        self, crawl: Crawl, sites: SiteList, post: Callable[[list[Orders]], Awaitable[None]],
        ask: Callable[[GiveBack], Awaitable[None]], tell_all: Callable[[Exhausted], Awaitable[None]],
    ) -> None:  # fmt: skip
        self._crawl = crawl
        self._sites = sites
        self._post = post
        self._ask = ask
        self._tell_all = tell_all
        self._asked_back: dict[str, set[int]] = {}
        self._askings: Counter[str] = Counter()  # an answer to an earlier one says nothing of what came since
        self._starving: dict[str, set[int]] = defaultdict(set)
        self._unsettled: dict[int, int] = dict.fromkeys(sites.slots, 0)  # slots whose accounts of this run are awaited
        self.is_used_up = False  # crawl.max_pages is reached

    async def came_up(self, slot: int, sent: int) -> None:
        """A slot is open, with its own last parcel; what it was asked to give back, it is asked again."""
        if slot in self._unsettled:
            self._unsettled[slot] = sent
        for purse, asked in self._asked_back.items():
            if slot in asked:
                await self._ask(GiveBack(slot, purse, self._askings[purse]))

    async def starves(self, slot: int, purse: str) -> None:
        self._starving[purse].add(slot)
        await self._share_out(purse)

    async def found(self, findings: Findings) -> None:
        """What a slot returns is there for the others."""
        self._settle(findings)
        for credit in findings.returned:
            if credit.asking == self._askings[credit.purse]:
                self._asked_back.get(credit.purse, set()).discard(findings.slot)
        for purse in {credit.purse for credit in findings.returned} | self._starving.keys():
            await self._share_out(purse)

    def _settle(self, findings: Findings) -> None:
        """The first parcel of a run tells what a slot has used; nothing is given out before all have told."""
        if findings.returned and findings.sequence > self._unsettled.get(findings.slot, findings.sequence):
            del self._unsettled[findings.slot]

    async def _share_out(self, purse: str) -> None:
        """Give starving slots their share; when all is given out, ask the others for what they do not need."""
        limit = self._crawl.max_pages if purse == PAGES_PURSE else self._crawl.max_pages_per_domain
        if limit is None or self._unsettled:
            return  # nothing to share, or not yet known how much
        starving = self._starving[purse]
        for slot in sorted(starving):
            left = limit - self._sites.granted(purse)
            orders = self._sites.grant(slot, purse, limit, max(1, left // (4 * len(self._sites.slots))))
            if not orders:
                break
            starving.discard(slot)
            self._asked_back.pop(purse, None)
            await self._post(orders)
        if starving:
            await self._ask_back(purse)

    async def _ask_back(self, purse: str) -> None:
        asked = self._asked_back.get(purse)
        if asked is None:
            # Those that starve are asked as well: they answer when what they have under way is done.
            asked = self._asked_back[purse] = set(self._sites.slots)
            self._askings[purse] += 1
            for slot in sorted(asked):
                await self._ask(GiveBack(slot, purse, self._askings[purse]))
        if asked:
            return
        if purse == PAGES_PURSE:
            self.is_used_up = True
        else:
            await self._tell_all(Exhausted(purse))
