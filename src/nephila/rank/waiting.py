"""Links that wait in memory, in blocks that go back to the system as soon as they are used up.

Small arrays stay with the process after they are freed; an array above 32 MiB is a mapping of its own, which the C
library returns at once. So small pieces are copied together into large blocks (untouched pages of which cost nothing).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from nephila.rank.arrays import NOWHERE

BLOCK_LINKS: Final = (1 << 23) + 1024
"""Four bytes each: a little more than 32 MiB."""
_LARGE: Final = 1 << 18
"""A piece of so many links is kept as it is: most often it is such a block itself."""


class Waiting:
    """Pairs of ids or rows, 8 bytes each while all of a block are below 2^32 - 1, else 16."""

    def __init__(self) -> None:
        self._blocks: list[tuple[Any, Any]] = []
        self._open: tuple[Any, Any] | None = None
        self._used = 0

    def append(self, sources: Any, targets: Any) -> None:
        if not len(sources):
            return
        largest = max(int(sources.max()), int(targets.max()))
        kind = np.uint32 if largest < int(NOWHERE) else np.int64
        if len(sources) >= _LARGE and sources.dtype == kind:
            self._close()
            self._blocks.append((sources, targets))
            return
        done = 0
        while done < len(sources):
            if self._open is None or self._open[0].dtype != kind:
                self._close()
                self._open = np.empty(BLOCK_LINKS, kind), np.empty(BLOCK_LINKS, kind)
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

    def _close(self) -> None:
        if self._open is not None and self._used:
            self._blocks.append((self._open[0][: self._used], self._open[1][: self._used]))
        self._open, self._used = None, 0
