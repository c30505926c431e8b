"""S1-14's Bloom filter in front of the exact test on disk, for sites whose hashes would fill the memory.

It is of sound size (S1-25 shows what an unsound one loses): what the filter does not know is new, what it thinks it
knows is asked on disk, so that no page is ever lost to a false positive. Apart from `seen`, because most crawls have no
such site and are spared numpy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

import numpy as np

_BITS_PER_URL: Final = 16
_HASHES: Final = 7  # 16 bits and 7 hashes: 1 in 1,400 look-ups goes to the disk in vain


class FilteredDisk:
    """A Bloom filter in front of the exact test on disk; `fresh` holds what is not on disk yet."""

    def __init__(self, hashes: Iterable[int], expected: int, on_disk: Callable[[int], bool]) -> None:
        self._bits = np.zeros(1 << max(10, (expected * _BITS_PER_URL - 1).bit_length() - 3), dtype=np.uint8)
        self._mask = len(self._bits) * 8 - 1
        self._on_disk = on_disk
        self._fresh: set[int] = set()
        known = np.fromiter(hashes, dtype=np.int64)
        self._count = len(known)
        starts, steps = known & 0xFFFF_FFFF, known >> 32 & 0xFFFF_FFFF | 1
        for turn in range(_HASHES):
            places = starts + turn * steps & self._mask
            np.bitwise_or.at(self._bits, places >> 3, (1 << (places & 7)).astype(np.uint8))

    def add(self, url_hash: int) -> bool:
        if self._marked(url_hash) and (url_hash in self._fresh or self._on_disk(url_hash)):
            return False
        self._mark(url_hash)
        self._fresh.add(url_hash)
        self._count += 1
        return True

    def unsaved(self) -> frozenset[int]:
        return frozenset(self._fresh)

    def saved(self, hashes: frozenset[int]) -> None:
        self._fresh -= hashes

    def __len__(self) -> int:
        return self._count

    def _places(self, url_hash: int) -> list[int]:
        # Two halves of the 64-bit hash give all places (Kirsch and Mitzenmacher); the step is odd, so they differ.
        start, step = url_hash & 0xFFFF_FFFF, (url_hash >> 32) & 0xFFFF_FFFF | 1
        return [(start + turn * step) & self._mask for turn in range(_HASHES)]

    def _mark(self, url_hash: int) -> None:
        for place in self._places(url_hash):
            self._bits[place >> 3] |= 1 << (place & 7)

    def _marked(self, url_hash: int) -> bool:
        return all(self._bits[place >> 3] >> (place & 7) & 1 for place in self._places(url_hash))
