"""What the coordinator orders: new sites, further seeds of known ones, credit, and limits that have changed.

An order is applied to the group that is being filled, and acknowledged when that is on disk; the same order a second
time changes nothing.
"""

from __future__ import annotations

from dataclasses import replace

from nephila.crawl.collecting import Collecting
from nephila.crawl.group import IMPORTED, FoundPage, SiteRow
from nephila.crawl.messages import AskAgain, FurtherSeed, NewSite, Orders, SiteEnded
from nephila.crawl.places import Places
from nephila.crawl.recording import SEED_KIND, offer
from nephila.crawl.slot import Slot
from nephila.records import Outcome
from nephila.urls import url_hash


class Ordered:
    """Applies orders to the slots of one agent."""

    def __init__(self, collecting: Collecting, places: Places) -> None:
        self._collecting = collecting
        self._setup = collecting.setup
        self._places = places

    def apply(self, orders: Orders) -> None:
        slot = self._collecting.slots[orders.slot]
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
        for again in orders.again:
            self._ask_again(slot, again)
        slot.touch()
        if orders.credits:
            self._collecting.credit_came(slot.number)
            self._places.wake()

    def _let_in(self, slot: Slot) -> None:
        """Limits have changed: sites in memory look on disk again, the others are opened when that is written."""
        slot.group.let_in = True
        self._collecting.exhausted.clear()
        for context in self._collecting.contexts.values():
            if context.slot == slot.number:
                context.more_on_disk = True
        self._places.wake()

    def _new_site(self, slot: Slot, site: NewSite) -> None:
        """A site to collect; it comes into memory when it is on disk."""
        known = slot.row(site.number)
        row = SiteRow(site.number, site.url, site.address, site.given, "waiting")
        if known is not None:  # it came out of an archive, and now it is known where it is
            row = replace(known, address=site.address, given=site.given, state="waiting")
        for seed in site.seeds:
            if known is None or not slot.state.knows(site.number, url_hash(seed.path)):
                row = self._seed_row(slot, row, FurtherSeed(site.number, seed))
        slot.keep(row)
        slot.group.opened.append(site.number)

    def _seed_row(self, slot: Slot, row: SiteRow, further: FurtherSeed) -> SiteRow:
        """A seed of a site that is not in memory; returns the site's row with one page more."""
        seed = further.seed
        outcome = Outcome(row.outcome) if row.state in ("alias", "asleep") else Outcome.WAITING
        if self._setup.scope.forgotten.rule_for(row.url, seed.path) is not None:
            outcome = Outcome.FORGOTTEN
        slot.find(
            FoundPage(
                row.site, url_hash(seed.path), seed.path, 0, row.known, outcome, row.reason, self._setup.clock.now(),
                seed.referrer, seed.kind or SEED_KIND, seed.hops, seed=True, strayed=seed.strayed,
            )
        )  # fmt: skip
        return replace(row, known=row.known + 1)

    def _ask_again(self, slot: Slot, again: AskAgain) -> None:
        """Pages to be visited again: marked on disk with this group; a site in memory looks there for them."""
        context = self._collecting.contexts.get(again.number)
        if context is not None:
            slot.group.revisits += [(again.number, key) for key in again.hashes]
            context.more_on_disk = True
            self._places.wake(context.address)
            return
        row = slot.row(again.number)
        assert row is not None, again
        if row.state == IMPORTED:  # they wait with it until it is known where it is
            slot.group.revisits += [(again.number, key) for key in again.hashes]
        elif row.state in ("done", "waiting") or self._places.waits_for(row.site):
            slot.group.revisits += [(again.number, key) for key in again.hashes]
            slot.keep(replace(row, state="waiting"))
            slot.group.opened.append(row.site)
        else:  # an alias by now, or asleep: what is due is planned anew
            slot.group.ended.append(SiteEnded(row.site, row.state, slot.applied, row.alias_of or 0))

    def _further_seed(self, slot: Slot, further: FurtherSeed) -> None:
        """One more seed reopens a site that had ended (S1-2); a known one only makes it say again that it has.

        A site that was given up for this run stays asleep: the seed waits for the next run with its other pages.
        """
        seed = further.seed
        context = self._collecting.contexts.get(further.number)
        if context is not None:
            kind = seed.kind or SEED_KIND
            offer(
                self._setup, slot, context, seed.path, seed.referrer, kind, 0, hops=seed.hops, seed=True,
                strayed=seed.strayed,
            )  # fmt: skip
            slot.note(context)
            self._places.wake(context.address)
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
