"""The tree of one site, computed whole from its number: who is whose child, what becomes of each page, how large it is.

Pages are numbered breadth first, so the children of a page are a range and a depth is a range (4.3). A site's skeleton
costs 11 bytes per page; skeletons are kept up to a number of bytes, so memory does not grow with the web.
Expected counts per depth are S1-32's exactly: only the home page's offspring carry the host factor (Pareto 1.8).
Whoever asks for a site's first pages gets its crown: the same skeleton, grown only as deep as these pages need.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from nephila.lab import figures
from nephila.lab.draw import Stream, Table, Words, draw, draws, geometric, geometric_table, site_key
from nephila.lab.fates import Fate, Law, page_fates, seed_fate, stratum
from nephila.lab.lives import CHANGING_SHARE, LIST_SHARE, is_list, lists, place_lives
from nephila.lab.paths import path_lengths
from nephila.lab.sizes import page_size, page_sizes

ISLAND_SHARE: Final = 0.03
COPY_SHARE: Final = 0.04
DANGLING_SHARE: Final = {"survey": 0.12, "study": figures.LINK_KINDS["000"] / sum(figures.LINK_KINDS.values())}

HEAD_BYTES: Final = 1_000
LINK_BYTES: Final = 48
"""What a page needs at most for its frame, and for each link beside the target's path."""

_GENERATION_BYTES: Final = {"survey": 0, "study": 10}

_CROWN_PAGES: Final = 32  # a crown ends with the first depth that brings it to so many, of 575 on average
_NEXT_DOOR_BYTES: Final = 400  # a home page may have to hold the link to its neighbour's island
_PARETO: Final = 1.8
_FRAMES_AT_MOST: Final = 5
_HOME_FRAMES: Final = 0.15


KINDS: Final = ("000", "00f", "0a0", "h00", "h0f", "ha0", "haf")
_KIND: Final = Table([figures.LINK_KINDS[kind] for kind in KINDS[1:]])
_FRAMES_ALONE: Final = KINDS.index("00f")
_LIST: Final = KINDS.index("0a0")
# The study's pages by whether their URLs last and by what is no list: frames are seen in lasting pages alone (S1-47: as
# seldom as they change, they must have been looked at for all of the 19 days).
_LASTING_KIND: Final = Table([0.03340, 0.24203 - LIST_SHARE, 0.03390, 0.00213, 0.60634, 0.00024])
_CHANGING_KIND: Final = Table([0.0, 0.2510 - LIST_SHARE, 0.03516, 0.0, 0.62883, 0.0])
_MOST_FACTOR: Final = 2.5  # of a host in the study: behind S1's limit of 3,000 pages its largest sites look alike
_WITHOUT_FRAMES: Final = np.array([0, 2, 2, 3, 3, 5, 5], dtype=np.int64)
_PLAIN: Final = np.zeros(1, dtype=np.bool_)
_BY_16: Final = np.uint64(16)
_LOW_16: Final = np.uint64(0xFFFF)
_COPIED_BELOW: Final = np.uint64(round(COPY_SHARE * 65536))


@dataclass(frozen=True, slots=True)
class Skeleton:
    """One site. Tree pages come first; an island's pages, which no tree page links to, follow (4.4).

    Of a crown only what concerns the pages before `shown` is told: its arrays end early, and its last level start is
    that of the depth after next.
    """

    level_starts: tuple[int, ...]  # first page of each depth; last: the number of tree pages
    first_child: NDArray[np.int32]  # children of p: first_child[p] .. first_child[p + 1]
    fate: NDArray[np.uint8]
    size_bytes: NDArray[np.int32]
    kind: NDArray[np.uint8]  # index into KINDS
    copy: NDArray[np.bool_]  # the page has the same body as the page before it (S0-14)
    life: NDArray[np.uint8]  # of each place, the last pages' children among them: how fast its URLs change (4.8)
    shown: int  # how many pages can be written from it: to write one is to know whether the next is its copy
    whole: bool

    @property
    def tree_pages(self) -> int:
        return self.level_starts[-1]

    @property
    def pages(self) -> int:
        return len(self.fate)

    @property
    def nbytes(self) -> int:
        arrays = (self.first_child, self.fate, self.size_bytes, self.kind, self.copy, self.life)
        return sum(array.nbytes for array in arrays) + 1_000


def host_factor(law: Law, site: int) -> float:
    """Pareto 1.8 with mean 1: the mean of the site's own slice of the distribution, so that all slices average to 1."""
    place = stratum(law, site, Stream.HOST_FACTOR)
    power = 1 - 1 / _PARETO
    slices = law.sites
    factor = float(slices * (((place + 1) / slices) ** power - (place / slices) ** power))
    return factor if law.profile == "survey" else min(factor, _MOST_FACTOR) / _mean_factor(slices)


@lru_cache(maxsize=8)
def _mean_factor(slices: int) -> float:
    """Of all sites, the largest cut."""
    edges = (np.arange(slices + 1) / slices) ** (1 - 1 / _PARETO) * slices
    return float(np.minimum(np.diff(edges), _MOST_FACTOR).mean())


@lru_cache(maxsize=1 << 13)
def home_children(law: Law, site: int) -> int:
    """Pages of depth 1; they are numbered from 1 on. Cheap, so that other sites may link to one of them."""
    if law.max_depth == 0 or seed_fate(law, site) is not Fate.OK:
        return 0
    profile = law.profile
    mean = figures.offspring(0, profile) * (1.0 if law.faults else figures.success(0, profile))
    mean *= host_factor(law, site) * law.growth
    return geometric(draw(site_key(law.seed, site, Stream.OFFSPRING), 0), mean)


def island_pages(law: Law, site: int) -> int:
    """Pages of the site that only another site links to; 0 for most sites."""
    word = site_key(law.seed, site, Stream.ISLAND)
    if law.sites < 2 or word >> 32 >= ISLAND_SHARE * (1 << 32) or seed_fate(law, site) is not Fate.OK:
        return 0
    return 2 + (word & 7)


@lru_cache(maxsize=64)
def _offspring(depth: int, faults: bool, profile: str = "survey", listing: bool = False) -> Table:
    mean = figures.offspring(depth, profile) * (1.0 if faults else figures.success(depth, profile))
    return geometric_table(mean * (1.0 if profile == "survey" else _crowd(depth, listing)))


def _crowd(depth: int, listing: bool) -> float:
    """How many more children lists have, and others fewer: below lists lie all places whose URLs change."""
    changing = CHANGING_SHARE[min(depth + 1, len(CHANGING_SHARE) - 1)]
    return changing / LIST_SHARE if listing else (1 - changing) / (1 - LIST_SHARE)


@lru_cache(maxsize=16)
def _bare_share(max_depth: int) -> float:
    """Share of the study's pages below the home page that are no lists and have no children, by expectation."""
    pages, bare, total = 1.0, 0.0, 0.0
    for depth in range(1, max_depth + 1):
        pages *= figures.offspring(depth - 1, "study") * figures.success(depth, "study")
        mean = figures.offspring(depth, "study") * _crowd(depth, False) if depth < max_depth else 0.0
        bare += pages * (1 - LIST_SHARE) / (1 + mean)
        total += pages
    return bare / total if total else 1.0


@lru_cache(maxsize=16)
def leaf_share(max_depth: int) -> float:
    """Share of downloaded pages without children, by expectation."""
    requested, leaves, total = 1.0, 0.0, 0.0
    for depth in range(max_depth + 1):
        downloaded = requested * figures.success(depth)
        mean = figures.offspring(depth)
        leaves += downloaded * (1.0 if depth == max_depth else 1 / (1 + mean))
        total += downloaded
        requested = downloaded * mean
    return leaves / total


def grow(law: Law, site: int, enough: int | None = None) -> Skeleton:
    """The skeleton of a site, from nothing but its number; its crown if `enough` pages lie above its last depths."""
    fates = [np.array([seed_fate(law, site)], dtype=np.uint8)]
    children = [np.array([home_children(law, site)], dtype=np.int64)]
    starts = [0, 1]
    fate_key = site_key(law.seed, site, Stream.FATE)
    offspring_key = site_key(law.seed, site, Stream.OFFSPRING)
    count = int(children[0][0])
    for depth in range(1, law.max_depth + 1):
        if count == 0:
            break
        first = starts[-1]
        starts.append(first + count)
        if enough is not None and first >= enough:
            return _dress(law, site, starts, fates, children, whole=False)
        fates.append(page_fates(law, fate_key, depth, first, count))
        if depth < law.max_depth:
            words = draws(offspring_key, first, count)
            numbers = _offspring(depth, law.faults, law.profile).picks(words)
            if law.profile == "study":
                listing = lists(law, site, first, count).nonzero()[0]
                numbers[listing] = _offspring(depth, law.faults, law.profile, listing=True).picks(words[listing])
            if law.faults:
                numbers *= fates[-1] == 0  # what is not downloaded has no children
        else:
            numbers = np.zeros(count, dtype=np.int64)
        children.append(numbers)
        count = int(numbers.sum())
    island = island_pages(law, site)
    if island:
        fates.append(np.zeros(island, dtype=np.uint8))
        # The island's first page counts itself among its children (it links to itself), so that ranges stay gapless.
        children.append(np.array([island] + [0] * (island - 1), dtype=np.int64))
    return _dress(law, site, starts, fates, children, whole=True)


def home_crown(law: Law, site: int) -> Skeleton:
    """The same as grow(law, site, enough=1): a crown that shows the home page alone, without arrays to compute it."""
    if law.profile == "study":
        return grow(law, site, enough=1)
    children = home_children(law, site)
    if not children and island_pages(law, site):
        return grow(law, site)
    word = draw(site_key(law.seed, site, Stream.KIND), 0)
    kind = 1 + _KIND.pick(word)
    if not children:
        if word & 0xFFFF < _dangling_below(law.profile, law.max_depth):
            kind = 0
    elif children > _FRAMES_AT_MOST:
        kind = _WITHOUT_FRAMES.item(kind)
    elif word & 0xFF < _HOME_FRAMES * 256:
        kind = _FRAMES_ALONE
    lengths = path_lengths(law.seed, site, 1 + children) if children else _PLAIN
    needed = HEAD_BYTES + int(lengths.sum()) + children * LINK_BYTES + _NEXT_DOOR_BYTES
    return Skeleton(
        level_starts=(0, 1, 1 + children) if children else (0, 1),
        first_child=np.array([1, 1 + children], dtype=np.int32),
        fate=np.array([seed_fate(law, site)], dtype=np.uint8),
        size_bytes=np.array([max(page_size(law.seed, site, 0), needed)], dtype=np.int32),
        kind=np.array([kind], dtype=np.uint8),
        copy=_PLAIN,
        life=np.zeros(1 + children, dtype=np.uint8),
        shown=1,
        whole=not children,
    )


def _dress(
    law: Law,
    site: int,
    starts: list[int],
    fates: list[NDArray[np.uint8]],
    numbers: list[NDArray[np.int64]],
    whole: bool,
) -> Skeleton:
    """Sizes, link kinds and copies, once the tree stands."""
    fate, children = np.concatenate(fates), np.concatenate(numbers)
    pages = len(fate)
    tree = starts[-1] if whole else pages
    # Children of p start after the home page and the children of all pages before p.
    first_child = np.empty(pages + 1, dtype=np.int32)
    first_child[0] = 0
    children.cumsum(out=first_child[1:])
    first_child += 1
    words = draws(site_key(law.seed, site, Stream.KIND), 0, pages)
    childless = children == 0
    listing = np.zeros(pages, dtype=np.bool_)
    if law.profile == "study":
        listing[0] = is_list(law, site, 0)
        listing[1:tree] = lists(law, site, 1, tree - 1)
    life = place_lives(law, site, listing, children, starts)
    kind = _KIND.picks(words) if law.profile == "survey" else _study_kinds(words, life[:pages])
    kind += 1
    if 0 < children[0] <= _FRAMES_AT_MOST and int(words[0]) & 0xFF < _HOME_FRAMES * 256:
        kind[0] = _FRAMES_ALONE
    crowded = (children > _FRAMES_AT_MOST).nonzero()[0]
    kind[crowded] = _WITHOUT_FRAMES[kind[crowded]]
    kind[childless & (words & _LOW_16 < np.uint64(_dangling_below(law.profile, law.max_depth)))] = 0
    kind[1:][listing[1:]] = _LIST
    copy = np.zeros(pages, dtype=np.bool_)
    if tree > 3:
        plain = childless & (fate == 0)
        odd, before = plain[3:tree:2], plain[2 : tree - 1 : 2]
        copy[3:tree:2] = odd & before & (words[3:tree:2] >> _BY_16 & _LOW_16 < _COPIED_BELOW)
    size = page_sizes(law.seed, site, pages)
    # What the links to the pages before a page take; between two children, what the links to those between take.
    lengths = path_lengths(law.seed, site, first_child.item(pages))
    lengths += LINK_BYTES + _GENERATION_BYTES[law.profile]
    taken = np.zeros(len(lengths) + 1, dtype=np.int64)
    lengths.cumsum(out=taken[1:])
    reached = taken[first_child]
    needed = reached[1:] - reached[:-1]
    needed += HEAD_BYTES
    np.maximum(size, needed, out=size)
    size[0] = max(int(size[0]), HEAD_BYTES + int(reached[1] - taken[1]) + _NEXT_DOOR_BYTES)
    copy[1:] &= (life[1:pages] == 0) & (life[: pages - 1] == 0)  # a copy's bytes must not change by the day
    copies = copy.nonzero()[0]
    size[copies] = size[copies - 1]
    kind[copies] = kind[copies - 1]
    shown = pages if whole else max(pages - 1, 1)  # a home page has no copies
    sizes, kinds = size.astype(np.int32), kind.astype(np.uint8)
    return Skeleton(tuple(starts), first_child, fate, sizes, kinds, copy, life, shown, whole)


def _study_kinds(words: Words, life: NDArray[np.uint8]) -> NDArray[np.int64]:
    kinds: NDArray[np.int64] = np.where(life == 0, _LASTING_KIND.picks(words), _CHANGING_KIND.picks(words))
    return kinds


@lru_cache(maxsize=16)
def _dangling_below(profile: str, max_depth: int) -> int:
    if profile == "study":
        return round(min(DANGLING_SHARE[profile] / _bare_share(max_depth), 1.0) * 65536)
    return round(DANGLING_SHARE[profile] / leaf_share(max_depth) * 65536)


class Skeletons:
    """The skeletons used last, up to a number of bytes."""

    def __init__(self, law: Law, budget_bytes: int = 64 << 20) -> None:
        self._law = law
        self._budget_bytes = budget_bytes
        self._held: OrderedDict[int, Skeleton] = OrderedDict()
        self.held_bytes = 0

    def of(self, site: int) -> Skeleton:
        """The whole skeleton."""
        skeleton = self._held.get(site)
        if skeleton is None or not skeleton.whole:
            return self._hold(site, grow(self._law, site))
        self._held.move_to_end(site)
        return skeleton

    def showing(self, site: int, page: int) -> Skeleton | None:
        """A skeleton from which a page can be written, the crown if that will do; None: there is no such page."""
        skeleton = self._held.get(site)
        if skeleton is not None and page < skeleton.shown:
            self._held.move_to_end(site)
            return skeleton
        if skeleton is None or not skeleton.whole:
            skeleton = self._hold(site, grow(self._law, site, _CROWN_PAGES) if page else home_crown(self._law, site))
            if page >= skeleton.shown:
                skeleton = self.of(site)
        return skeleton if page < skeleton.shown else None

    def _hold(self, site: int, skeleton: Skeleton) -> Skeleton:
        before = self._held.pop(site, None)
        if before is not None:
            self.held_bytes -= before.nbytes
        self._held[site] = skeleton
        self.held_bytes += skeleton.nbytes
        while self.held_bytes > self._budget_bytes and len(self._held) > 1:
            _, dropped = self._held.popitem(last=False)
            self.held_bytes -= dropped.nbytes
        return skeleton
