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
_PAIRS_AT_ONCE: Final = 2**21


def clusters(page_ids: Any, simhashes: Any, distance: int) -> Any:
    """For each page the smallest id of its cluster, as an array; `page_ids` ascend. Pages alone name themselves."""
    distinct, place = np.unique(np.asarray(simhashes).view(np.uint64), return_inverse=True)
    components = _Components(len(distinct))
    for shift, width in _bands(distance + 1):
        _join_near(distinct, shift, width, distance, components)
    of_page = components.labels()[place]
    smallest = np.full(len(distinct), np.iinfo(np.int64).max, np.int64)
    np.minimum.at(smallest, of_page, page_ids)
    return smallest[of_page]


class _Components:
    """What hangs together so far. Pairs are folded into labels from time to time, so that a large cluster, all of
    whose pairs are near, costs no more memory than others."""

    def __init__(self, count: int) -> None:
        self._labels: Any = np.arange(count)
        self._waiting: list[tuple[Any, Any]] = []
        self._pairs = 0

    def join(self, first: Any, second: Any) -> None:
        new = self._labels[first] != self._labels[second]
        self._waiting.append((first[new], second[new]))
        self._pairs += int(new.sum())
        if self._pairs > _PAIRS_AT_ONCE:
            self._fold()

    def labels(self) -> Any:
        self._fold()
        return self._labels

    def _fold(self) -> None:
        if self._pairs:
            first, second = (self._labels[np.concatenate(side)] for side in zip(*self._waiting, strict=True))
            size = len(self._labels)
            graph = coo_array((np.ones(len(first), np.int8), (first, second)), shape=(size, size))
            self._labels = connected_components(graph, directed=False)[1][self._labels]
        self._waiting, self._pairs = [], 0


def _bands(count: int) -> list[tuple[int, int]]:
    """Shift and width of so many bands that together are all bits."""
    edges = [BITS * number // count for number in range(count + 1)]
    return [(low, high - low) for low, high in pairwise(edges)]


def _join_near(hashes: Any, shift: int, width: int, distance: int, components: _Components) -> None:
    """Join the hashes that are equal in a band and differ in at most so many bits."""
    band = hashes >> np.uint64(shift)
    if width < BITS:
        band &= np.uint64((1 << width) - 1)
    order = np.argsort(band, kind="stable")
    band, sorted_hashes = band[order], hashes[order]
    left = np.arange(len(hashes) - 1)
    for step in range(1, min(MOST_NEIGHBOURS, len(hashes))):
        left = left[left + step < len(hashes)]
        left = left[band[left] == band[left + step]]
        if not len(left):
            break
        near = left[np.bitwise_count(sorted_hashes[left] ^ sorted_hashes[left + step]) <= distance]
        components.join(order[near], order[near + step])
