"""Near-duplicate clusters: pages whose simhashes differ in at most k bits, and what hangs together through them.

The 64 bits are cut into k + 3 blocks. Two hashes within k bits are equal in at least three of them (pigeonhole), so
for every choice of three blocks the distinct hashes are sorted with these in front, and each is compared with its
neighbours in the same run: with the next, then with the one after, until no run is that long (Manku, Jain, Das Sarma
2007). Three blocks of k + 3 rather than one of k + 1: pages made from few templates have hashes in few lumps, and
runs that are equal in sixteen bits only would be as long as the lumps.
"""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Any, Final

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

BITS: Final = 64
MOST_NEIGHBOURS: Final = 4096
"""Longer runs are compared this far only; they are one template, and hang together all the same."""
_EQUAL_BLOCKS: Final = 3
_PAIRS_AT_ONCE: Final = 2**21


def clusters(page_ids: Any, simhashes: Any, distance: int) -> Any:
    """For each page the smallest id of its cluster, as an array; `page_ids` ascend. Pages alone name themselves."""
    distinct, place = np.unique(np.asarray(simhashes).view(np.uint64), return_inverse=True)
    components = _Components(len(distinct))
    blocks = _blocks(distance + _EQUAL_BLOCKS)
    for front in combinations(blocks, _EQUAL_BLOCKS):
        order = [*front, *(block for block in blocks if block not in front)]
        _join_near(distinct, order, distance, components)
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


def _blocks(count: int) -> list[tuple[int, int]]:
    """Shift and width of so many blocks that together are all bits."""
    edges = [BITS * number // count for number in range(count + 1)]
    return [(low, high - low) for low, high in pairwise(edges)]


def _join_near(hashes: Any, order: list[tuple[int, int]], distance: int, components: _Components) -> None:
    """Join the hashes that are equal in the first blocks of an order and differ in at most so many bits."""
    permuted = np.sort(_permute(hashes, order))
    behind = np.uint64(sum(width for _, width in order[_EQUAL_BLOCKS:]))
    front = permuted >> behind
    left = np.arange(len(hashes) - 1)
    for step in range(1, min(MOST_NEIGHBOURS, len(hashes))):
        left = left[left + step < len(hashes)]
        left = left[front[left] == front[left + step]]
        if not len(left):
            break
        near = left[np.bitwise_count(permuted[left] ^ permuted[left + step]) <= distance]
        if len(near):
            back = (_restore(permuted[places], order) for places in (near, near + step))
            components.join(*(np.searchsorted(hashes, found) for found in back))


def _permute(hashes: Any, order: list[tuple[int, int]]) -> Any:
    """The blocks of every hash in another order, the first one on top."""
    result = np.zeros_like(hashes)
    for shift, width in order:
        result = (result << np.uint64(width)) | ((hashes >> np.uint64(shift)) & np.uint64((1 << width) - 1))
    return result


def _restore(permuted: Any, order: list[tuple[int, int]]) -> Any:
    result = np.zeros_like(permuted)
    at = BITS
    for shift, width in order:
        at -= width
        result |= ((permuted >> np.uint64(at)) & np.uint64((1 << width) - 1)) << np.uint64(shift)
    return result
