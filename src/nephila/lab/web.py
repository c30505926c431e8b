"""The web in a box: what each host, path and time has to say. Nothing is stored; everything is computed when asked.

A request becomes an `Answer` in four steps: the host gives the site, the path gives the page number, the site's
skeleton gives the page's fate and size, and the page's body is written from them and the time.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from nephila.config.sections import Lab
from nephila.lab.addresses import address_of
from nephila.lab.answer import Answer, Manner
from nephila.lab.card import Card, Cards
from nephila.lab.change import Version, home_fate_at, rate_per_day, version_at
from nephila.lab.draw import Stream, draw, key_of
from nephila.lab.fates import Fate, Law, seed_fate
from nephila.lab.headers import error_answer, page_headers, redirect_answer, robots_answer
from nephila.lab.holders import Holders
from nephila.lab.hours import delay_s
from nephila.lab.links import Linker
from nephila.lab.lives import home_rate
from nephila.lab.names import Names
from nephila.lab.pages import look_of, original, write_page
from nephila.lab.paths import PAGES_AT_MOST, path_of, place_of
from nephila.lab.skeleton import Skeleton, Skeletons
from nephila.lab.troubles import DAY_S, is_down, slowed

_DEPTHS: Final = {"survey": 5, "study": 9}
_SLOW_NAME_S: Final = 2.0
_SLOW_SHARE: Final = 0.005
_MOVED_AWAY: Final = 13  # of 256: 5 % of moved pages have gone to another site
_FATES: Final = tuple(Fate)
_PLAIN_HTML: Final = (("Content-Type", "text/html"),)
_STATUS: Final = {Fate.NOT_FOUND: 404, Fate.FORBIDDEN: 403, Fate.SERVER_ERROR: 500}
_MANNERS: Final = {
    Fate.RESET: Manner.RESET,
    Fate.HANG: Manner.HANG,
    Fate.SHORT_HEADER: Manner.SHORT_HEADER,
    Fate.NOT_HTTP: Manner.NOT_HTTP,
    Fate.CUT_BODY: Manner.CUT_BODY,
    Fate.STALL_BODY: Manner.STALL_BODY,
    # These two never get as far as a request unless somebody sends one by hand.
    Fate.NO_NAME: Manner.RESET,
    Fate.NAME_FAILS: Manner.RESET,
    Fate.REFUSED: Manner.RESET,
}


@dataclass(frozen=True, slots=True)
class Resolution:
    """What the name server says to a name. `slow` names have addresses too, after `delay_s` simulated seconds."""

    kind: Literal["address", "nxdomain", "servfail", "slow"]
    addresses: tuple[str, ...] = ()
    delay_s: float = 0.0


def law_of(lab: Lab) -> Law:
    return Law(lab.seed, lab.sites, lab.profile, lab.max_depth or _DEPTHS[lab.profile], lab.faults, lab.growth)


class Web:
    """One seeded web. `clock_origin` is the simulated second at which pages are at their first version."""

    def __init__(self, lab: Lab, clock_origin: float = 0.0) -> None:
        self.lab = lab
        self.clock_origin = clock_origin
        self._unchanging = Version(0, clock_origin)
        self.law = law_of(lab)
        self.cards = Cards(lab, self.law, Names(lab.seed, lab.sites))
        self.skeletons = Skeletons(self.law)
        self.holders = Holders(self.law, clock_origin)
        self.linker = Linker(self.law, self.cards, self.skeletons, self.cards.port_suffix(lab.port), self.holders)
        if lab.profile == "study":
            home_rate(self.law, 0)  # loads what is heavy now: the first visitor must not wait for it

    @property
    def number_of_sites(self) -> int:
        return self.lab.sites

    def card(self, site: int) -> Card:
        return self.cards.of(site)

    def skeleton(self, site: int) -> Skeleton:
        """The tree of a site; a mirror has its model's."""
        return self.skeletons.of(self.cards.of(site).model)

    def seeds(self, share: float = 1.0) -> Iterator[str]:
        """One home page per site; with a share, those of a fixed choice of sites (the same choice every time)."""
        key = key_of(self.lab.seed, Stream.SEED_SHARE)
        for site in range(self.lab.sites):
            if share >= 1.0 or draw(key, site) < share * 2.0**64:
                yield self.cards.origin(site) + "/"

    def hosts(self) -> Iterator[tuple[str, str]]:
        """(address, name) of every name that has an address, for a file like /etc/hosts."""
        names, cards = self.cards.names, self.cards
        for site in range(self.lab.sites):  # by the million, so without the sites' cards
            if self.law.faults and seed_fate(self.law, cards.model(site)) in (Fate.NO_NAME, Fate.NAME_FAILS):
                continue
            address = address_of(site)
            yield address, names.name(site)
            for alias in cards.aliases(site):
                if alias != address:
                    yield address, alias

    def resolve(self, name: str) -> Resolution:
        """What DNS knows of a name (upper case and a final dot are forgiven)."""
        site = self.cards.site_of(name.lower().rstrip("."))
        if site is None:
            return Resolution("nxdomain")
        card = self.cards.of(site)
        if card.fate is Fate.NO_NAME:
            return Resolution("nxdomain")
        if card.fate is Fate.NAME_FAILS:
            return Resolution("servfail")
        slow = self.lab.faults and draw(key_of(self.lab.seed, Stream.NAME, 2), site) < _SLOW_SHARE * 2.0**64
        if slow:
            return Resolution("slow", (card.address,), _SLOW_NAME_S)
        return Resolution("address", (card.address,))

    def site_of(self, host: str, port: int, address: str) -> int | None:
        """The site that answers for a host at an address; None where nobody does."""
        if port != self.lab.port:
            return None
        site = self.cards.site_of(host)
        if site is None or (address and self.cards.of(site).address != address):
            return None
        return site

    def answer(self, host: str, port: int, target: str, address: str, now: float) -> Answer:
        """What one request is told; a stranger's host or path is told 404."""
        site = self.cards.site_of(host) if port == self.lab.port else None
        if site is None:
            return error_answer(404)
        card = self.cards.of(site)
        if address and address != card.address:
            return error_answer(404)
        if self.lab.outages and self.is_down(site, now):
            return Answer(Manner.RESET, 0, (), b"")
        if target == "/robots.txt":
            return robots_answer(card)
        place = place_of(card.paths, target, PAGES_AT_MOST, self.linker.book.path)
        skeleton = None if place is None else self.skeletons.showing(card.model, place[0])
        if place is None or skeleton is None:
            return error_answer(404)
        return self._page(card, skeleton, *place, now)

    def is_down(self, site: int, now: float) -> bool:
        """Whether a site is down at a moment, though it is a site that answers (`troubles`)."""
        return is_down(self.lab.seed, site, int((now - self.clock_origin) // DAY_S), self.lab.outages)

    def generation(self, card: Card, skeleton: Skeleton, page: int, now: float) -> int:
        """Of the URL at a page's place now."""
        return self.holders.generation(card.model, skeleton, page, now)

    def fate(self, card: Card, skeleton: Skeleton, page: int, now: float, generation: int = 0) -> Fate:
        """What becomes of a request for a page at a moment."""
        fate = _FATES[skeleton.fate.item(page)]
        if self.law.profile == "survey":
            return fate
        if page == 0:
            return home_fate_at(self.law, card.model, self.clock_origin, now) or fate if fate is Fate.OK else fate
        if self.holders.found(card.model, skeleton, page, generation, now) is None:
            return Fate.NOT_FOUND
        if self.law.faults and fate is Fate.OK and self.holders.away(card.model, skeleton, page, now):
            return Fate.SERVER_ERROR
        return fate

    def rate_per_day(self, card: Card, skeleton: Skeleton, page: int, generation: int = 0) -> float:
        """How often the body of an original page changes."""
        depth = bisect_right(skeleton.level_starts, page) - 1
        return rate_per_day(self.law, card.model, skeleton, page, depth, generation)

    def version(self, card: Card, skeleton: Skeleton, page: int, now: float, generation: int = 0) -> Version:
        """The version of an original page that is shown at a moment."""
        if self.law.profile == "survey":
            return self._unchanging
        rate = self.rate_per_day(card, skeleton, page, generation)
        holder = self.holders.found(card.model, skeleton, page, generation, now)
        since = self.clock_origin if holder is None else holder.since
        return version_at(self.law, card.model, page, rate, since, now, generation)

    def body(self, card: Card, skeleton: Skeleton, page: int, now: float) -> bytes:
        """The whole body of a downloaded page, as the URL that holds its place now shows it."""
        generation = self.generation(card, skeleton, page, now)
        page = original(skeleton, page)
        return self._body(card, skeleton, page, generation, self.version(card, skeleton, page, now, generation), now)

    def _body(self, card: Card, skeleton: Skeleton, page: int, generation: int, version: Version, now: float) -> bytes:
        look = look_of(card, skeleton, page)
        links = self.linker.links(card, skeleton, page, now, generation)
        return write_page(card, skeleton, page, links, look, version.number, self.linker.book.path, generation)

    def redirect_target(self, card: Card, skeleton: Skeleton, page: int, now: float) -> tuple[str, str]:
        """(origin, path) that a moved page names: a page before it, or now and then another site's home page."""
        word = draw(key_of(card.links_key, Stream.CODE), page)
        if page and word & 0xFF >= _MOVED_AWAY:
            target = (word >> 8) % page
            return card.origin, path_of(card.paths, target, self.generation(card, skeleton, target, now))
        if card.site == 0:  # sites move to a site of a smaller number, so that no redirect runs in a circle
            return card.origin, "/moved/index.html"
        return self.cards.origin((word >> 8) % card.site), "/"

    def _page(self, card: Card, skeleton: Skeleton, page: int, generation: int, now: float) -> Answer:
        fate = self.fate(card, skeleton, page, now, generation)
        wait_s = delay_s(self.lab.seed, card.site, page, self.lab.delay, now) if self.lab.delay else 0.0
        if self.lab.slumps:
            wait_s *= slowed(self.lab.seed, card.site, now - self.clock_origin, self.lab.slumps)
        if fate is Fate.OK:
            return self._whole(card, skeleton, page, generation, now, wait_s)
        return self._fault(card, skeleton, page, fate, generation, now, wait_s)

    def _whole(self, card: Card, skeleton: Skeleton, page: int, generation: int, now: float, wait_s: float) -> Answer:
        shown = original(skeleton, page)
        look = look_of(card, skeleton, shown)
        version = self.version(card, skeleton, shown, now, generation)
        body = self._body(card, skeleton, shown, generation, version, now)
        etag = f'"{card.site:x}-{shown:x}-{version.number:x}"' if card.validates else ""
        headers = page_headers(card, look, etag, version.since)
        return Answer(Manner.WHOLE, 200, headers, body, wait_s)

    def _fault(
        self, card: Card, skeleton: Skeleton, page: int, fate: Fate, generation: int, now: float, wait_s: float
    ) -> Answer:
        if fate in _STATUS:
            return error_answer(_STATUS[fate], wait_s)
        if fate in (Fate.MOVED, Fate.FOUND):
            origin, path = self.redirect_target(card, skeleton, page, now)
            return redirect_answer(301 if fate is Fate.MOVED else 302, origin + path, wait_s)
        manner = _MANNERS[fate]
        if manner not in (Manner.CUT_BODY, Manner.STALL_BODY):
            return Answer(manner, 200, _PLAIN_HTML, b"", wait_s)
        # A body that will be cut holds no links: whether half a page is worth reading is the crawler's own affair.
        look = look_of(card, skeleton, page)
        version = self.version(card, skeleton, page, now, generation)
        body = write_page(card, skeleton, page, [], look, version.number, generation=generation)
        etag = f'"{page:x}"' if card.validates else ""
        return Answer(manner, 200, page_headers(card, look, etag, version.since), body, wait_s)
