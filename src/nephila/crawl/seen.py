"""Has this site had this URL already? Exact, in 8 bytes per URL, with S1-14's Bloom filter in front of large sites.

The truth is the pages table on disk. An active site of ordinary size has all its hashes in memory as a sorted packed
array, with the newest beside it in a set. A large site has a Bloom filter instead (`filtered`).
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable
from typing import Final, Protocol

LARGE_SITE: Final = 1 << 18
"""URLs of a site from which on a filter takes the place of the packed array (2 MiB)."""

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
        self._packed = array("q", sorted(hashes))
        self._fresh: set[int] = set()

    def add(self, url_hash: int) -> bool:
        if url_hash in self._fresh:
            return False
        at = bisect_left(self._packed, url_hash)
        if at < len(self._packed) and self._packed[at] == url_hash:
            return False
        self._fresh.add(url_hash)
        if len(self._fresh) > max(_MERGE_AT, len(self._packed) >> 3):
            # The packed ones are a sorted run: putting some more behind them and sorting is little more than merging.
            self._packed = array("q", sorted([*self._packed, *self._fresh]))
            self._fresh = set()
        return True

    def __contains__(self, url_hash: int) -> bool:
        at = bisect_left(self._packed, url_hash)
        return url_hash in self._fresh or (at < len(self._packed) and self._packed[at] == url_hash)

    def unsaved(self) -> frozenset[int]:
        return frozenset()

    def saved(self, hashes: frozenset[int]) -> None:
        """Everything stays in memory anyway."""

    def __len__(self) -> int:
        return len(self._packed) + len(self._fresh)
