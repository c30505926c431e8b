"""Near-duplicate clusters: pages whose simhashes differ in at most k bits, and what hangs together through them.

With k bits to differ and k + 1 bands, two hashes within k bits are equal in at least one band (pigeonhole). So for
each band the distinct hashes are sorted by it, and each is compared with its neighbours in the same run: the first
with the next, then with the one after, until no run is that long.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

BITS: Final = 64
MOST_NEIGHBOURS: Final = 4096
"""Longer runs are compared this far only; they are one template, and hang together all the same."""


def clusters(page_ids: Any, simhashes: Any, distance: int) -> Any:
    """For each page the smallest id of its cluster, as an array; `page_ids` ascend. Pages alone name themselves."""
    distinct, place = np.unique(np.asarray(simhashes).view(np.uint64), return_inverse=True)
    pairs = [_pairs(distinct, shift, width, distance) for shift, width in _bands(distance + 1)]
    first = np.concatenate([pair[0] for pair in pairs])
    second = np.concatenate([pair[1] for pair in pairs])
    graph = coo_array((np.ones(len(first), np.int8), (first, second)), shape=(len(distinct), len(distinct)))
    _, label = connected_components(graph, directed=False)
    of_page = label[place]
    smallest = np.full(len(distinct), np.iinfo(np.int64).max, np.int64)
    np.minimum.at(smallest, of_page, page_ids)
    return smallest[of_page]


def _bands(count: int) -> list[tuple[int, int]]:
    """Shift and width of so many bands that together are all bits."""
    edges = [BITS * number // count for number in range(count + 1)]
    return [(low, high - low) for low, high in pairwise(edges)]


def _pairs(hashes: Any, shift: int, width: int, distance: int) -> tuple[Any, Any]:
    """Places of hashes that are equal in a band and differ in at most so many bits."""
    band = hashes >> np.uint64(shift)
    if width < BITS:
        band &= np.uint64((1 << width) - 1)
    order = np.argsort(band, kind="stable")
    band, sorted_hashes = band[order], hashes[order]
    first, second = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    left = np.arange(len(hashes) - 1)
    for step in range(1, min(MOST_NEIGHBOURS, len(hashes))):
        left = left[left + step < len(hashes)]
        left = left[band[left] == band[left + step]]
        if not len(left):
            break
        near = left[np.bitwise_count(sorted_hashes[left] ^ sorted_hashes[left + step]) <= distance]
        first.append(order[near])
        second.append(order[near + step])
    return np.concatenate(first), np.concatenate(second)
