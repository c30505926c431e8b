"""The web in a box: what each host, path and time has to say. Nothing is stored; everything is computed when asked.

A request becomes an `Answer` in four steps: the host gives the site, the path gives the page number, the site's
skeleton gives the page's fate and size, and the page's body is written from them and the time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from email.utils import formatdate
from typing import Final, Literal

from nephila.config.sections import Lab
from nephila.lab.answer import Answer, Manner
from nephila.lab.card import Card, Cards
from nephila.lab.draw import Stream, draw, key_of
from nephila.lab.names import Names
from nephila.lab.paths import page_of, path_of
from nephila.lab.skeleton import Fate, Law, Skeleton, Skeletons

_DEPTHS: Final = {"survey": 5, "study": 9}
_SLOW_NAME_S: Final = 2.0
_SLOW_SHARE: Final = 0.005


@dataclass(frozen=True, slots=True)
class Resolution:
    """What the name server says to a name. `slow` names have addresses too, after `delay_s` simulated seconds."""

    kind: Literal["address", "nxdomain", "servfail", "slow"]
    addresses: tuple[str, ...] = ()
    delay_s: float = 0.0


def law_of(lab: Lab) -> Law:
    return Law(lab.seed, lab.sites, lab.profile, lab.max_depth or _DEPTHS[lab.profile], lab.faults)


class Web:
    """One seeded web. `clock_origin` is the simulated second at which pages are at their first version."""

    def __init__(self, lab: Lab, clock_origin: float = 0.0) -> None:
        self.lab = lab
        self.clock_origin = clock_origin
        self.law = law_of(lab)
        self.cards = Cards(lab, self.law, Names(lab.seed, lab.sites))
        self.skeletons = Skeletons(self.law)

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
        for site in range(self.lab.sites):
            card = self.cards.of(site)
            if card.fate in (Fate.NO_NAME, Fate.NAME_FAILS):
                continue
            yield card.address, card.host
            for alias in self.cards.aliases(site):
                if alias != card.address:
                    yield card.address, alias

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
        site = self.site_of(host, port, address)
        if site is None:
            return _error(404)
        card = self.cards.of(site)
        if target == "/robots.txt":
            return _robots(card)
        skeleton = self.skeletons.of(card.model)
        page = page_of(card.paths, target, skeleton.pages)
        if page is None:
            return _error(404)
        return self._page(card, skeleton, page, now)

    def _page(self, card: Card, skeleton: Skeleton, page: int, now: float) -> Answer:
        links = "".join(
            f'<a href="{path_of(card.paths, child)}">{child}</a>\n'
            for child in range(int(skeleton.first_child[page]), int(skeleton.first_child[page + 1]))
        )
        body = f"<html><title>{card.host} {page}</title><body>{links}</body></html>".encode()
        return Answer(Manner.WHOLE, 200, (("Content-Type", "text/html"),), body)


def _robots(card: Card) -> Answer:
    if card.robots is None:
        return _error(404)
    return Answer(Manner.WHOLE, 200, (("Content-Type", "text/plain"),), card.robots.text().encode("ascii"))


def _error(status: int) -> Answer:
    body = f"<html><head><title>{status}</title></head><body><h1>{status}</h1></body></html>\n".encode("ascii")
    return Answer(Manner.WHOLE, status, (("Content-Type", "text/html"),), body)


def etag_of(body: bytes) -> str:
    return f'"{hashlib.sha1(body, usedforsecurity=False).hexdigest()[:16]}"'


def http_date(at: float) -> str:
    return formatdate(at, usegmt=True)
