"""Links that wait in memory, in blocks that go back to the system as soon as they are used up.

What the C library frees stays with the process, most of the time. So a block is a mapping of its own, which is gone
with the array that stood in it; untouched pages of it cost nothing. Blocks are small: whoever indexes with one makes a
copy of it twice as wide, and that copy is what a block costs at the peak.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from nephila.rank.arrays import NOWHERE

BLOCK_LINKS: Final = 1 << 20


class Waiting:
    """Pairs of ids or rows, 8 bytes each while all of a block are below 2^32 - 1, else 16."""

    def __init__(self) -> None:
        self._blocks: list[tuple[Any, Any]] = []
        self._open: tuple[Any, Any] | None = None
        self._used = 0

    def append(self, sources: Any, targets: Any, largest: int = 0) -> None:
        """Keep a copy of these links; of ids wider than 32 bits `largest` says how large they are."""
        kind = np.uint32 if largest < int(NOWHERE) else np.int64
        if len(sources) == BLOCK_LINKS and _is_block(sources) and _is_block(targets):
            self._blocks.append((sources, targets))  # handed on from another Waiting
            return
        done = 0
        while done < len(sources):
            if self._open is None or self._open[0].dtype != kind:
                self._close()
                self._open = mapped(BLOCK_LINKS, kind), mapped(BLOCK_LINKS, kind)
            count = min(len(sources) - done, BLOCK_LINKS - self._used)
            for block, values in zip(self._open, (sources, targets), strict=True):
                block[self._used : self._used + count] = values[done : done + count]
            done += count
            self._used += count
            if self._used == BLOCK_LINKS:
                self._close()

    def read(self) -> Iterator[tuple[Any, Any]]:
        self._close()
        yield from self._blocks

    def drain(self) -> Iterator[tuple[Any, Any]]:
        """The blocks in order, for the last time; each is let go of when the next is asked for."""
        self._close()
        self._blocks.reverse()
        while self._blocks:
            yield self._blocks.pop()

    def clear(self) -> None:
        self._close()
        self._blocks.clear()

    def _close(self) -> None:
        if self._open is not None and self._used:
            self._blocks.append((self._open[0][: self._used], self._open[1][: self._used]))
        self._open, self._used = None, 0


def mapped(count: int, kind: Any) -> Any:
    """An array of zeros in a mapping of its own."""
    if not count:
        return np.zeros(0, kind)
    return np.frombuffer(mmap.mmap(-1, count * np.dtype(kind).itemsize), kind)


def _is_block(values: Any) -> bool:
    return bool(values.dtype == np.uint32 and values.flags.c_contiguous)
