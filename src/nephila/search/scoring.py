"""How a score comes about, and who gives way: plain functions of arrays.

    score = relevance · (1 + search.rank_weight · log2(1 + times_mean))

The relevance is BM25 over the fields with their weights, plus what an exact title brings; `times_mean` is the page's
PageRank as a multiple of the mean. So a page whose rank doubles gains the same each time, a page without a rank loses
nothing, and at 10⁶ pages no rank can multiply a relevance by more than 1 + 20 · rank_weight.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


def level_of(times_mean: Any) -> Any:
    """Twice log2(1 + times_mean): what tantivy knows of a rank, in steps of 1."""
    return 2 * np.log2(1 + np.maximum(np.asarray(times_mean, np.float64), 0))


def rank_factor(times_mean: Any, rank_weight: float) -> Any:
    return 1 + rank_weight * np.log2(1 + np.maximum(np.asarray(times_mean, np.float64), 0))


def level_factor(level: Any, rank_weight: float) -> Any:
    """The factor that tantivy used for its order."""
    return 1 + rank_weight * np.asarray(level, np.float64) / 2


def tantivy_weight(level: int, rank_weight: float) -> float:
    """The value w of a field for which tantivy's factor log2(2 + w) is `level_factor`."""
    return float(2 ** (1 + rank_weight * level / 2) - 2)


@dataclass(frozen=True, slots=True)
class Kept:
    """Places of those that stay, the best first, and how many before the last of them gave way to a better one."""

    places: tuple[int, ...]
    given_way: int


def keep(
    scores: Any, ids: Any, groups: Any, sites: Any, *, per_group: int | None, per_site: int | None, most: int
) -> Kept:
    """Order by score, equal ones by id; of a near-duplicate cluster and of a site only so many stay, `most` in all."""
    order = np.lexsort((ids, -scores))
    of_group: dict[int, int] = {}
    of_site: dict[int, int] = {}
    places: list[int] = []
    given_way = 0
    for place, group, site in zip(order.tolist(), groups[order].tolist(), sites[order].tolist(), strict=True):
        if len(places) == most:
            break
        grouped, sited = of_group.get(group, 0), of_site.get(site, 0)
        if (per_group is not None and grouped >= per_group) or (per_site is not None and sited >= per_site):
            given_way += 1
            continue
        of_group[group], of_site[site] = grouped + 1, sited + 1
        places.append(place)
    return Kept(tuple(places), given_way)
