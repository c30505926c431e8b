"""Has this site had this content already (S0-14)? Exact, in 8 bytes per content.

The truth is the table `contents` on disk. In memory are the first 64 bits of each checksum, packed; what they do not
know is new, what they seem to know is asked on disk. Contents that are not on disk yet are kept whole until then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from nephila.crawl.seen import PackedHashes

_TURN_AT: Final = 256
"""Contents kept whole, after which it is looked whether the older ones are on disk."""


class SiteContents:
    """The contents of one site, each with its first page; without `on_disk` all of them stay in memory."""

    __slots__ = ("_new", "_older", "_older_are_in", "_on_disk", "_packed")

    def __init__(self, checksums: Iterable[bytes] = (), on_disk: Callable[[bytes], int | None] | None = None) -> None:
        self._packed = PackedHashes(map(_prefix, checksums))
        self._on_disk = on_disk
        self._new: dict[bytes, int] = {}
        self._older: dict[bytes, int] = {}
        self._older_are_in = 0  # the group after whose commit they are on disk

    def __len__(self) -> int:
        return len(self._packed)

    def __contains__(self, checksum: bytes) -> bool:
        if checksum in self._new or checksum in self._older:
            return True
        return _prefix(checksum) in self._packed and self._on_disk is not None and self._on_disk(checksum) is not None

    def first(self, checksum: bytes, page: int) -> int:
        """The first page with this content: `page` itself where it is new, which is known from now on."""
        known = self._new.get(checksum, self._older.get(checksum))
        if known is not None:
            return known
        if not self._packed.add(_prefix(checksum)) and self._on_disk is not None:
            known = self._on_disk(checksum)
            if known is not None:
                return known
        self._new[checksum] = page
        return page

    def let_go(self, filling: int, written: int) -> None:
        """Forget what is on disk; `filling` is the number of the group being filled, `written` of the last on disk."""
        if self._on_disk is None or len(self._new) < _TURN_AT:
            return
        if self._older_are_in <= written:
            self._older, self._new, self._older_are_in = self._new, {}, filling


def _prefix(checksum: bytes) -> int:
    return int.from_bytes(checksum[:8], "little", signed=True)
