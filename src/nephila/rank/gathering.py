"""From links with any ids to links between rows 0 … n-1: which ids are there, and which row has which.

Links wait in memory, 8 bytes each while their ids are below 2^32, until they pass the limit; then they wait in a file.
Rows are in the order of the ids, or of their blocks first when there are blocks, so that a block is a range of rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import IO, Any, Final, Self, cast

import numpy as np

from nephila.rank import kernel
from nephila.rank.arrays import NOWHERE, Ids, Pages
from nephila.rank.edge_list import Pair
from nephila.rank.link_building import Piece
from nephila.rank.waiting import Waiting
from nephila.store.durable import disk_errors, make_directory

_BYTES_PER_LINK: Final = 8
_FILE_PIECE: Final = 1 << 19
_SPARSE: Final = 8
"""A table with one place per possible id is used while there are at most so many places per link."""


class Spool:
    """Links that wait, in memory or in a file of `room`; read as often as wanted, then drained once."""

    def __init__(self, room: Path, memory_limit_bytes: int) -> None:
        self._stack = ExitStack()
        make_directory(room)
        self._room = Path(self._stack.enter_context(TemporaryDirectory(prefix="spool-", dir=room)))
        self._most = max(memory_limit_bytes // _BYTES_PER_LINK, 1)
        self._waiting = Waiting()
        self._file: IO[bytes] | None = None
        self.links = 0
        self.largest = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def fill(self, pairs: Iterable[Pair]) -> None:
        for sources, targets in pairs:
            if not len(sources):
                continue
            self.links += len(sources)
            largest = max(int(sources.max()), int(targets.max()))
            self.largest = max(self.largest, largest)
            if self._file is None and self.links > self._most:
                with disk_errors(self._room):
                    self._file = self._stack.enter_context((self._room / "links").open("w+b"))
            if self._file is not None:
                with disk_errors(self._room):
                    self._file.write(np.stack((sources, targets), axis=1).tobytes())
            else:
                self._waiting.append(sources, targets, largest)

    def read(self) -> Iterator[tuple[Any, Any]]:
        yield from self._waiting.read()
        yield from self._filed()

    def drain(self) -> Iterator[tuple[Any, Any]]:
        """Read for the last time; what was given out is let go of."""
        yield from self._waiting.drain()
        yield from self._filed()

    def _filed(self) -> Iterator[tuple[Any, Any]]:
        if self._file is None:
            return
        self._file.flush()
        self._file.seek(0)
        while len(pairs := np.fromfile(self._file, np.int64, 2 * _FILE_PIECE)):
            yield pairs[0::2], pairs[1::2]


@dataclass(frozen=True, slots=True)
class Rows:
    """Which row has which id. `table` has a place per id where ids are dense, else ids are searched for."""

    ids: Ids
    table: Pages | None
    order: Any = None
    dense: bool = False

    @classmethod
    def of_spool(cls, spool: Spool) -> Self:
        """Every id that occurs is a row, in the order of the ids."""
        if spool.largest < _SPARSE * (spool.links + 1024):
            seen = np.zeros(spool.largest + 1, np.bool_)
            for pair in spool.read():
                for pages in pair:
                    if pages.dtype == np.uint32:
                        kernel.LOOPS.mark(pages, seen)
                    else:
                        seen[pages] = True
            ids = np.flatnonzero(seen).astype(np.int64, copy=False)
            if len(ids) == len(seen):
                return cls(ids, None, dense=True)
            table = np.cumsum(seen, dtype=np.uint32) - np.uint32(1)
            table[~seen] = NOWHERE
            return cls(ids, table)
        ids = np.zeros(0, np.int64)
        for sources, targets in spool.read():
            ids = np.union1d(ids, np.union1d(sources, targets).astype(np.int64))
        return cls(ids, None)

    def in_order_of(self, keys: list[Any]) -> tuple[Self, Any]:
        """The same ids in another order of rows, by the last key first as numpy.lexsort has it; and that order."""
        order = np.lexsort((self.ids, *keys))
        if self.table is None and not self.dense:
            place = np.empty(len(order), np.uint32)
            place[order] = np.arange(len(order), dtype=np.uint32)
            return type(self)(self.ids[order], None, (self.ids, place)), order
        table = np.full(len(self.ids) if self.table is None else len(self.table), NOWHERE, np.uint32)
        ids = self.ids[order]
        table[ids] = np.arange(len(ids), dtype=np.uint32)
        return type(self)(ids, table), order

    def find(self, ids: Any) -> Pages:
        """The row of each id; NOWHERE for an id that has none."""
        if self.dense and ids.dtype == np.uint32:
            return cast("Pages", ids)
        if self.table is not None:
            known = ids < len(self.table)
            if bool(known.all()):
                return cast("Pages", self.table[ids])
            return np.where(known, self.table[np.where(known, ids, 0)], NOWHERE)
        inorder, place = (self.ids, None) if self.order is None else self.order
        if not len(inorder):
            return np.full(len(ids), NOWHERE, np.uint32)
        found = np.minimum(np.searchsorted(inorder, ids), len(inorder) - 1)
        rows = (found if place is None else place[found]).astype(np.uint32)
        return np.where(inorder[found] == ids, rows, NOWHERE)


def as_rows(pairs: Iterable[tuple[Any, Any]], rows: Rows) -> Iterator[Piece]:
    """Links as pairs of rows; a link to or from an id without a row is left out."""
    for sources, targets in pairs:
        heads, ends = rows.find(sources), rows.find(targets)
        inside = (heads != NOWHERE) & (ends != NOWHERE)
        yield (heads, ends) if bool(inside.all()) else (heads[inside], ends[inside])
