"""Which pages a page links to: its children in the tree, and further links inside and outside the site (4.3, 4.4).

Inside links go to depths at most one below, so that a breadth-first depth is the tree's depth. Outside links go to
home pages or to pages of depth 1 (in the study to home pages alone: a page that another site links to counts as of
depth 0), half of them within the site's community of 25. What is decided here is what the
truth tells; how a link is written is decided in `spelling`.
"""

from __future__ import annotations

from bisect import bisect_right
from math import gcd
from typing import Final, NamedTuple

from nephila.lab.card import COMMUNITY_SITES, Card, Cards
from nephila.lab.draw import Stream, draw, geometric_table, key_of
from nephila.lab.fates import Law
from nephila.lab.holders import Holders
from nephila.lab.paths import PathBook, in_other_case, path_of
from nephila.lab.skeleton import HEAD_BYTES, LINK_BYTES, Skeleton, Skeletons, home_children, island_pages

_EXTRA: Final = geometric_table(8.0)
_OUTSIDE: Final = 51  # of 256: 20 %
_HOME: Final = 179  # of 256: 70 % of outside links
_ALIAS: Final = 64  # of 256, of links to the home page of a site that has aliases
_OTHER_CASE: Final = 64  # of 256: 25 % of links in a site that folds case (4.9)
_SESSION: Final = 10  # of 256, of further inside links
_ATTRACTION: Final = 4.35  # sites by rank r get links as r^(-0.77): in-degrees with a tail exponent near 2.3
_CANONICAL: Final = 51  # of 256: 20 % of the pages that have links of kind h name their own address
_CANONICAL_BYTES: Final = 400
_FRAMES_IN_ALL: Final = 6
_NEIGHBOURS: Final = 40  # looked at for one whose URL lasts
# By the page's kind, in the order of KINDS: the letters of its first links, and those to choose from for further ones.
_LETTERS: Final = ("", "f", "a", "h", "hf", "ah", "ahf")
_FURTHER: Final = ("", "ffff", "aaaa", "hhhh", "hhhh", "aaah", "aaah")


class Link(NamedTuple):
    """One link. The absolute URL in normal form is origin + path; `session` is written and must be stripped."""

    origin: str
    path: str
    letter: str  # a, f or h (S1-46)
    session: str
    inside: bool
    word: int  # the draw that its spelling comes from
    canonical: bool = False


_link: Final = tuple.__new__  # what Link(...) comes to, in half the time, for the loops below


class Linker:
    """Answers which links a page has; all of it computed from the page's numbers."""

    def __init__(self, law: Law, cards: Cards, skeletons: Skeletons, alias_port: str, holders: Holders) -> None:
        self._law = law
        self._cards = cards
        self._skeletons = skeletons
        self._alias_port = alias_port
        self._holders = holders
        key = key_of(law.seed, Stream.LINKS)
        self._step = key % law.sites | 1
        while gcd(self._step, law.sites) != 1:
            self._step += 2
        self._shift = draw(key, 1) % law.sites
        self.book = PathBook()

    def links(
        self, card: Card, skeleton: Skeleton, page: int, now: float | None = None, generation: int | None = None
    ) -> list[Link]:
        """The links of a downloaded page at a moment (None: the web's first), whether robots may follow them or not.

        Without a generation they are those of the URL that holds the page's place then.
        """
        moment = self._holders.origin if now is None else now
        changes_hands, generation_of = self._holders.changes_hands, self._holders.generation
        if skeleton.copy.item(page):
            page -= 1
        if generation is None:
            generation = generation_of(card.model, skeleton, page, moment)
        kind = skeleton.kind.item(page)
        letters, further = _LETTERS[kind], _FURTHER[kind]
        if not letters:
            return []
        key = key_of(card.links_key, page)
        found: list[Link] = []
        origin, style = card.origin, card.paths
        held, make_path, paths_key, folds_case = self.book.held, self.book.make, style.key, style.folds_case
        least = len(letters)
        budget = skeleton.size_bytes.item(page) - HEAD_BYTES
        first, last = skeleton.first_child.item(page), skeleton.first_child.item(page + 1)
        for number, child in enumerate(range(first, last)):
            word = draw(key, child)
            if changes_hands and (held_by := generation_of(card.model, skeleton, child, moment)):
                path = self.book.path(style, child, held_by)
            else:
                path = held.get(paths_key + child) or make_path(style, child)
            if folds_case:
                path = _in_a_case(path, word)
            budget -= len(path) + LINK_BYTES
            letter = letters[number] if number < least else further[word >> 20 & 3]
            found.append(_link(Link, (origin, path, letter, "", True, word, False)))
        extra_key = key_of(key, 1)
        extra = _EXTRA.pick(extra_key)
        may_leave = self._law.sites > 1
        if "f" in letters:
            extra = min(extra, _FRAMES_IN_ALL - len(found))
            may_leave = False
        limit = _reach(skeleton, page)
        for number in range(extra):
            word = draw(extra_key, number)
            letter = letters[len(found)] if len(found) < least else further[word >> 20 & 3]
            if may_leave and word & 0xFF < _OUTSIDE:
                link = self._outside(card, letter, draw(word, 1))
                budget -= len(link.origin) + len(link.path) + LINK_BYTES
            else:
                place = (word >> 32) / 4294967296.0
                target = int(limit**place) - 1 if word & 0x100 else int(limit * place)
                if changes_hands:
                    target = _lasting(skeleton, target)
                path = held.get(paths_key + target) or make_path(style, target)
                if folds_case:
                    path = _in_a_case(path, (word & 0xFFFFFFFF) << 20)  # the upper half has chosen the target
                session = _session(word) if target and word >> 12 & 0xFF < _SESSION else ""
                link = _link(Link, (origin, path, letter, session, True, word, False))
                budget -= len(path) + len(session) + LINK_BYTES
            if budget < 0:
                break
            found.append(link)
        if page == 0 and may_leave:
            found += self._island_next_door(card, further[0])
        if "h" in letters and extra_key >> 8 & 0xFF < _CANONICAL and budget > _CANONICAL_BYTES and len(found) > 3:
            itself = self.book.path(style, page, generation)
            found.append(Link(origin, itself, "h", "", True, extra_key, canonical=True))
        while len(found) < least:  # HEAD_BYTES has room for these
            word = draw(extra_key, -1 - len(found))
            found.append(Link(origin, "/", letters[len(found)], "", True, word))
        return found

    def home_of(self, site: int, word: int) -> str:
        """The origin that a link to a site's home page names: at times one of its aliases."""
        aliases = self._cards.aliases(site) if word & 0xFF < _ALIAS else ()
        if aliases:
            return f"http://{aliases[(word >> 8) % len(aliases)]}{self._alias_port}"
        return self._cards.origin(site)

    def _outside(self, card: Card, letter: str, word: int) -> Link:
        sites = self._law.sites
        first = card.model - card.model % COMMUNITY_SITES
        size = min(COMMUNITY_SITES, sites - first)
        if word & 1 and size > 1:
            site = first + (word >> 32) % size
        else:
            rank = int(sites * ((word >> 32) / 4294967296.0) ** _ATTRACTION)
            site = (rank * self._step + self._shift) % sites
        if site == card.site:
            site = (site + 1) % sites
        if word >> 8 & 0xFF >= _HOME and self._law.profile == "survey":
            model = self._cards.model(site)
            pages = home_children(self._law, model)
            if pages:
                path = path_of(self._cards.style(model), 1 + (word >> 20) % pages)
                return Link(self._cards.origin(site), path, letter, "", False, word)
        return Link(self.home_of(site, word >> 16), "/", letter, "", False, word)

    def _island_next_door(self, card: Card, letter: str) -> list[Link]:
        """The home page of site s + 1 is the only one that links to an island of site s (4.4)."""
        neighbour = (card.site - 1) % self._law.sites
        model = self._cards.model(neighbour)
        if not island_pages(self._law, model):
            return []
        path = path_of(self._cards.style(model), self._skeletons.of(model).tree_pages)
        return [Link(self._cards.origin(neighbour), path, letter, "", False, key_of(card.links_key, neighbour))]


def _in_a_case(path: str, word: int) -> str:
    """The path, or one of its case variants."""
    if word >> 40 & 0xFF < _OTHER_CASE and "%" not in path and path != "/":
        return in_other_case(path, 1 + (word >> 48 & 1))
    return path


def _lasting(skeleton: Skeleton, target: int) -> int:
    """The target, or the nearest before it whose URL lasts: only lists link to what changes hands."""
    life = skeleton.life
    for place in range(target, max(target - _NEIGHBOURS, 0), -1):
        if not life.item(place):
            return place
    return 0


def _reach(skeleton: Skeleton, page: int) -> int:
    """How many pages, counted from the home page, lie at most one level below the page."""
    if page >= skeleton.tree_pages:
        return 1
    starts = skeleton.level_starts
    return starts[min(bisect_right(starts, page) + 1, len(starts) - 1)]


def _session(word: int) -> str:
    return f"{'sessionid' if word >> 24 & 1 else 'sid'}={word >> 28 & 0xFFFFFFFF:08x}"
