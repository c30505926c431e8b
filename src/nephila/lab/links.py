"""Which pages a page links to: its children in the tree, and further links inside and outside the site (4.3, 4.4).

Inside links go to depths at most one below, so that a breadth-first depth is the tree's depth. Outside links go to
home pages or to pages of depth 1, half of them within the site's community of 25. What is decided here is what the
truth tells; how a link is written is decided in `spelling`.
"""

from __future__ import annotations

from bisect import bisect_right
from math import gcd
from typing import Final, NamedTuple

from nephila.lab.card import COMMUNITY_SITES, Card, Cards
from nephila.lab.draw import Stream, draw, geometric_table, key_of
from nephila.lab.fates import Law
from nephila.lab.paths import in_other_case, path_of
from nephila.lab.skeleton import HEAD_BYTES, KINDS, LINK_BYTES, Skeleton, Skeletons, home_children, island_pages

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
_LETTERS: Final = {"00f": "f", "0a0": "a", "h00": "h", "h0f": "hf", "ha0": "ah", "haf": "ahf"}
_FURTHER: Final = {"00f": "ffff", "0a0": "aaaa", "h00": "hhhh", "h0f": "hhhh", "ha0": "aaah", "haf": "aaah"}
_PATHS_HELD: Final = 1 << 15


class Link(NamedTuple):
    """One link. The absolute URL in normal form is origin + path; `session` is written and must be stripped."""

    origin: str
    path: str
    letter: str  # a, f or h (S1-46)
    session: str
    inside: bool
    word: int  # the draw that its spelling comes from
    canonical: bool = False


class Linker:
    """Answers which links a page has; all of it computed from the page's numbers."""

    def __init__(self, law: Law, cards: Cards, skeletons: Skeletons, alias_port: str) -> None:
        self._law = law
        self._cards = cards
        self._skeletons = skeletons
        self._alias_port = alias_port
        key = key_of(law.seed, Stream.LINKS)
        self._step = key % law.sites | 1
        while gcd(self._step, law.sites) != 1:
            self._step += 2
        self._shift = draw(key, 1) % law.sites
        self._paths: dict[int, str] = {}  # key of the site's paths + page; keys are 64-bit hashes

    def links(self, card: Card, skeleton: Skeleton, page: int) -> list[Link]:
        """The links of a downloaded page, whether robots may follow them or not."""
        if skeleton.copy[page]:
            page -= 1
        kind = KINDS[skeleton.kind[page]]
        if kind == "000":
            return []
        letters, further = _LETTERS[kind], _FURTHER[kind]
        key = key_of(card.links_key, page)
        found: list[Link] = []
        budget = int(skeleton.size_bytes[page]) - HEAD_BYTES
        for child in range(int(skeleton.first_child[page]), int(skeleton.first_child[page + 1])):
            word = draw(key, child)
            letter = letters[len(found)] if len(found) < len(letters) else further[word >> 20 & 3]
            link = Link(card.origin, self._path(card, child, word), letter, "", True, word)
            budget -= len(link.path) + LINK_BYTES
            found.append(link)
        extra_key = key_of(key, 1)
        extra = _EXTRA.pick(extra_key)
        if "f" in letters:
            extra = min(extra, _FRAMES_IN_ALL - len(found))
        limit = _reach(skeleton, page)
        for number in range(extra):
            word = draw(extra_key, number)
            letter = letters[len(found)] if len(found) < len(letters) else further[word >> 20 & 3]
            if word & 0xFF < _OUTSIDE and self._law.sites > 1 and "f" not in letters:
                link = self._outside(card, letter, draw(word, 1))
                budget -= len(link.origin)
            else:
                link = self._further(card, letter, limit, word)
            budget -= len(link.path) + len(link.session) + LINK_BYTES
            if budget < 0:
                break
            found.append(link)
        if page == 0 and "f" not in letters:
            found += self._island_next_door(card, further[0])
        if "h" in letters and extra_key >> 8 & 0xFF < _CANONICAL and budget > _CANONICAL_BYTES and len(found) > 3:
            path = path_of(card.paths, page)
            found.append(Link(card.origin, path, "h", "", True, extra_key, canonical=True))
        while len(found) < len(letters):  # HEAD_BYTES has room for these
            word = draw(extra_key, -1 - len(found))
            found.append(Link(card.origin, "/", letters[len(found)], "", True, word))
        return found

    def home_of(self, site: int, word: int) -> str:
        """The origin that a link to a site's home page names: at times one of its aliases."""
        aliases = self._cards.aliases(site) if word & 0xFF < _ALIAS else ()
        if aliases:
            return f"http://{aliases[(word >> 8) % len(aliases)]}{self._alias_port}"
        return self._cards.origin(site)

    def _path(self, card: Card, page: int, word: int) -> str:
        """The path of a page of the same site, at times in another case."""
        if page == 0:
            return "/"
        held = self._paths
        name = card.paths.key + page
        path = held.get(name)
        if path is None:
            if len(held) >= _PATHS_HELD:
                held.clear()
            held[name] = path = path_of(card.paths, page)
        if card.paths.folds_case and word >> 40 & 0xFF < _OTHER_CASE and "%" not in path:
            return in_other_case(path, 1 + (word >> 48 & 1))
        return path

    def _further(self, card: Card, letter: str, limit: int, word: int) -> Link:
        place = (word >> 32) / 4294967296.0
        target = int(limit**place) - 1 if word >> 8 & 1 else int(limit * place)
        session = _session(word) if word >> 12 & 0xFF < _SESSION and target else ""
        case_word = (word & 0xFFFFFFFF) << 20  # the upper half has chosen the target
        return Link(card.origin, self._path(card, target, case_word), letter, session, True, word)

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
        if word >> 8 & 0xFF >= _HOME:
            model = self._cards.model(site)
            pages = home_children(self._law, model)
            if pages:
                target = self._cards.of(site)
                return Link(target.origin, path_of(target.paths, 1 + (word >> 20) % pages), letter, "", False, word)
        return Link(self.home_of(site, word >> 16), "/", letter, "", False, word)

    def _island_next_door(self, card: Card, letter: str) -> list[Link]:
        """The home page of site s + 1 is the only one that links to an island of site s (4.4)."""
        neighbour = (card.site - 1) % self._law.sites
        target = self._cards.of(neighbour)
        if neighbour == card.site or not island_pages(self._law, target.model):
            return []
        path = path_of(target.paths, self._skeletons.of(target.model).tree_pages)
        return [Link(target.origin, path, letter, "", False, key_of(card.links_key, neighbour))]


def _reach(skeleton: Skeleton, page: int) -> int:
    """How many pages, counted from the home page, lie at most one level below the page."""
    if page >= skeleton.tree_pages:
        return 1
    starts = skeleton.level_starts
    return starts[min(bisect_right(starts, page) + 1, len(starts) - 1)]


def _session(word: int) -> str:
    return f"{'sessionid' if word >> 24 & 1 else 'sid'}={word >> 28 & 0xFFFFFFFF:08x}"
