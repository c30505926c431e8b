"""Before a page is asked: is its pattern asleep, is a budget used up, is it time for a probe? (RELIABILITY U1-U5)

Budgets of a site come from its own row; those of a domain and an address are counted here over all sites of the slot.
An address belongs to one slot, so its count is exact; a domain whose sites lie on addresses of several slots has its
budget in each of them.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from nephila.crawl.robots_state import Permission, permission
from nephila.crawl.setup import Setup
from nephila.crawl.site import AskProbe, Close, Refuse, SiteContext
from nephila.crawl.slot import Slot
from nephila.crawl.slot_state import PageTask
from nephila.crawl.traps import within, worth
from nephila.records import Outcome
from nephila.urls import host_of, registrable_domain

_MOST_NAMES: Final = 100_000


class Trapping:
    """The budgets of an agent's slots."""

    def __init__(self, setup: Setup, slots: dict[int, Slot]) -> None:
        self._setup = setup
        self._slots = slots
        self._domains: OrderedDict[tuple[int, str], int] = OrderedDict()
        self._addresses: OrderedDict[tuple[int, str], int] = OrderedDict()

    def before_page(self, context: SiteContext, task: PageTask) -> Refuse | Close | AskProbe | None:
        """What is done instead of asking for this page; None: ask for it."""
        traps = self._setup.traps
        if traps.let_in and traps.lets_in(context.url + task.path):
            return None
        asleep = context.traps.refusal(task.path, traps)
        if asleep is not None:
            return Refuse(task, Outcome.TRAP_REJECTED, asleep)
        spent = self._spent(context)
        if spent is not None:
            return Close(Outcome.HOST_BUDGET, spent)
        probe = context.traps.probe(task.path, context.requested, traps.keys.probe_after)
        if probe is None:
            return None
        if self._setup.obeys_robots:
            allowed = permission(context.robots, probe, self._setup.clock.now())
            if allowed is not Permission.ALLOWED:
                context.traps.probed(probe, None)
                return None
        return AskProbe(probe)

    def asked(self, context: SiteContext) -> None:
        """A page was requested for the first time."""
        domain, address = (context.slot, _domain(context)), (context.slot, context.address)
        _raise(self._domains, domain, self._domain_pages(context))
        _raise(self._addresses, address, self._address_pages(context))
        self._slots[context.slot].group.domains[domain[1]] += 1

    def _spent(self, context: SiteContext) -> str | None:
        """The budget that is used up, in words."""
        keys = self._setup.traps.keys
        value = worth(given=context.given, seeds=context.seeds)
        if not within(context.requested, keys.site_pages, value):
            return f"traps.site_pages: {context.requested} pages of its site were asked"
        if keys.domain_pages is not None and not within(self._domain_pages(context), keys.domain_pages, value):
            return f"traps.domain_pages: {self._domain_pages(context)} pages of {_domain(context)} were asked"
        if keys.address_pages is not None and not within(self._address_pages(context), keys.address_pages, value):
            return f"traps.address_pages: {self._address_pages(context)} pages of {context.address} were asked"
        return None

    def _domain_pages(self, context: SiteContext) -> int:
        name = (context.slot, _domain(context))
        if name not in self._domains:
            slot = self._slots[context.slot]
            unwritten = slot.group.domains[name[1]] + slot.committing.domains[name[1]]
            _keep(self._domains, name, slot.state.domain_pages(name[1]) + unwritten)
        return self._domains[name]

    def _address_pages(self, context: SiteContext) -> int:
        name = (context.slot, context.address)
        if name not in self._addresses:
            _keep(self._addresses, name, self._slots[context.slot].state.pages_on(context.address))
        return self._addresses[name]


def _domain(context: SiteContext) -> str:
    return registrable_domain(host_of(context.url))


def _keep(counts: OrderedDict[tuple[int, str], int], name: tuple[int, str], pages: int) -> None:
    counts[name] = pages
    if len(counts) > _MOST_NAMES:
        counts.popitem(last=False)


def _raise(counts: OrderedDict[tuple[int, str], int], name: tuple[int, str], before: int) -> None:
    counts[name] = before + 1
    counts.move_to_end(name)
