"""S1's Tables 7-13 counted on the lab's own web: nine batches over 19 days, by walking the model (S1-35 .. S1-47).

As in `tables`, S1's robot is the judge's: tree pages only, no robots.txt. Nothing is written and read again, and none
of the crawler's code or of the statistics' is used, so that both can be compared with these counts.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from nephila.lab import figures
from nephila.lab.card import Card
from nephila.lab.change import BATCH_S, DAY_S, home_fate_at
from nephila.lab.fates import Fate
from nephila.lab.lives import Life, is_list
from nephila.lab.pages import original
from nephila.lab.skeleton import KINDS, Skeleton
from nephila.lab.web import Web

_BATCHES: Final = figures.BATCHES
_DEPTHS: Final = len(figures.BY_DEPTH)
DOMAINS: Final = (*figures.BY_DOMAIN, *figures.BY_SECOND_LEVEL)
Counts = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class StudyTally:
    """Sums per site (first axis)."""

    seeds_up: Counts  # Tables 7, 8: by batch
    requested: Counts  # Table 7: by batch
    downloaded: Counts  # Table 7: by batch
    domain: Counts  # Tables 9, 10: the site's own, by DOMAINS
    seeds: Counts  # Tables 9, 10: downloaded in all batches, changed, sum of intervals
    downloads: Counts  # Table 11: documents by number of downloads, 1 .. 9
    documents: Counts  # Table 12: by depth
    seen_twice: Counts  # Table 12: by depth
    changed: Counts  # Table 12: by depth
    days: Counts  # Table 12: by depth, sum of intervals of changed documents
    kind_twice: Counts  # Table 13: by link kinds
    kind_changed: Counts
    kind_days: Counts


_WIDTHS: Final = (
    *(_BATCHES,) * 3, len(DOMAINS), 3, _BATCHES, *(_DEPTHS,) * 4, *(len(KINDS),) * 3,
)  # fmt: skip


def study_tally(web: Web, whole_sites: bool = True) -> StudyTally:
    """Look at all sites nine times; without whole sites, at their home pages alone."""
    made = StudyTally(*(np.zeros((web.number_of_sites, width)) for width in _WIDTHS))
    assert len(_WIDTHS) == len(fields(StudyTally))
    for site in range(web.number_of_sites):
        _count(web, site, made, whole_sites)
    return made


def _count(web: Web, site: int, made: StudyTally, whole_sites: bool) -> None:
    card = web.card(site)
    labels = card.host.split(".")
    for name in (labels[-1], ".".join(labels[-2:])):
        if name in DOMAINS:
            made.domain[site, DOMAINS.index(name)] = 1
    # A quarter of a day into each batch: that is when its pages are looked at, wherever they lie.
    moments = [web.clock_origin + batch * BATCH_S + DAY_S / 4 for batch in range(_BATCHES)]
    up = [
        batch
        for batch, now in enumerate(moments)
        if card.fate is Fate.OK and home_fate_at(web.law, card.model, web.clock_origin, now) is None
    ]
    made.seeds_up[site, up] = 1
    if not up:
        return
    skeleton = web.skeletons.of(card.model)
    for page in range(skeleton.tree_pages if whole_sites else 1):
        _count_place(web, card, skeleton, page, site, up, moments, made)


def _count_place(
    web: Web, card: Card, skeleton: Skeleton, page: int, site: int, up: list[int], moments: list[float],
    made: StudyTally,
) -> None:  # fmt: skip
    made.requested[site, up] += 1
    if skeleton.fate.item(page) != Fate.OK:
        return
    seen: dict[int, list[tuple[float, int]]] = {}
    for batch in up:
        now = moments[batch]
        if web.holders.away(card.model, skeleton, page, now):
            continue
        made.downloaded[site, batch] += 1
        generation = web.generation(card, skeleton, page, now)
        seen.setdefault(generation, []).append((now, _state(web, card, skeleton, page, generation, now)))
    depth = bisect_right(skeleton.level_starts, page) - 1
    kind = int(skeleton.kind[original(skeleton, page)])
    for visits in seen.values():
        changes = sum(before[1] != after[1] for before, after in pairwise(visits))
        days = (visits[-1][0] - visits[0][0]) / DAY_S
        made.downloads[site, len(visits) - 1] += 1
        made.documents[site, depth] += 1
        if len(visits) > 1:
            made.seen_twice[site, depth] += 1
            made.kind_twice[site, kind] += 1
        if changes:
            made.changed[site, depth] += 1
            made.days[site, depth] += days / changes
            made.kind_changed[site, kind] += 1
            made.kind_days[site, kind] += days / changes
        if page == 0 and len(visits) == _BATCHES:
            made.seeds[site] = 1, changes > 0, days / changes if changes else 0


def _state(web: Web, card: Card, skeleton: Skeleton, page: int, generation: int, now: float) -> int:
    """A number that changes when the page's bytes do."""
    shown = original(skeleton, page)
    number = web.version(card, skeleton, shown, now, generation).number
    if is_list(web.law, card.model, shown):
        children = range(skeleton.first_child.item(shown), skeleton.first_child.item(shown + 1))
        places = [child for child in children if skeleton.life.item(child) != Life.LASTING]
        return hash((number, *(web.generation(card, skeleton, child, now) for child in places)))
    return number
