"""Has this site had this URL already? Exact, in 8 bytes per URL, with S1-14's Bloom filter in front of large sites.

The truth is the pages table on disk. An active site of ordinary size has all its hashes in memory as a sorted packed
array, with the newest beside it in a set. A large site has a Bloom filter of sound size instead (S1-25 shows what an
unsound one loses): what the filter does not know is new, what it thinks it knows is asked on disk, so that no page is
ever lost to a false positive.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

LARGE_SITE: Final = 1 << 18
"""URLs of a site from which on a filter takes the place of the packed array (2 MiB)."""

_BITS_PER_URL: Final = 16
_HASHES: Final = 7  # 16 bits and 7 hashes: 1 in 1,400 look-ups goes to the disk in vain
_MERGE_AT: Final = 512


class SeenUrls(Protocol):
    """Hashes of the URLs of one site."""

    def add(self, url_hash: int) -> bool:
        """True where the hash is new; it is known from now on."""
        ...

    def unsaved(self) -> frozenset[int]:
        """Hashes that are perhaps not on disk yet and are kept in memory for that."""
        ...

    def saved(self, hashes: frozenset[int]) -> None:
        """These are on disk now."""
        ...

    def __len__(self) -> int: ...


class PackedHashes:
    """A sorted array of 64-bit hashes and the set of the newest, merged when the set has grown."""

    def __init__(self, hashes: Iterable[int] = ()) -> None:
        self._packed = _sorted(np.fromiter(hashes, dtype=np.int64))
        self._fresh: set[int] = set()

    def add(self, url_hash: int) -> bool:
        if url_hash in self._fresh:
            return False
        at = bisect_left(self._packed, url_hash)
        if at < len(self._packed) and self._packed[at] == url_hash:
            return False
        self._fresh.add(url_hash)
        if len(self._fresh) > max(_MERGE_AT, len(self._packed) >> 3):
            fresh = np.fromiter(self._fresh, dtype=np.int64)
            self._packed = _sorted(np.concatenate([np.frombuffer(self._packed, dtype=np.int64), fresh]))
            self._fresh = set()
        return True

    def unsaved(self) -> frozenset[int]:
        return frozenset()

    def saved(self, hashes: frozenset[int]) -> None:
        """Everything stays in memory anyway."""

    def __len__(self) -> int:
        return len(self._packed) + len(self._fresh)


def _sorted(hashes: NDArray[np.int64]) -> array[int]:
    """Sorted by numpy, kept as an array, in which a look-up by bisection costs half of numpy's own."""
    packed = array("q")
    packed.frombytes(np.sort(hashes).tobytes())
    return packed


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
