"""Build a link file from links in any order, under a memory limit.

In come pieces of links as row numbers, out comes the link file. Pieces are kept as they come, 8 bytes a link; when
they pass the limit they go to bucket files by target (an external bucket sort), and from then on a bucket at a time is
in memory. A bucket becomes rows by counting: count the links of each row, then, a range of rows after the other, put
each source into its row, sort the rows and drop repetitions and self-links (DESIGN: Ranked nodes). Each range reads all
pieces again, which is cheap, and is written before the next begins: at the peak a link costs 9 bytes, 8 as it waits and
4 in its row while its range is at work.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Final

import numpy as np

from nephila.errors import NephilaError, UsageError
from nephila.rank import kernel
from nephila.rank.arrays import MOST_PAGES, Ids, Offsets, Pages
from nephila.rank.link_file import Direction, header, layout
from nephila.rank.waiting import Waiting, mapped
from nephila.store.durable import aside_of, disk_errors, make_directory, publish

BYTES_PER_LINK: Final = 9
BUCKETS: Final = 256
RANGES: Final = 16
_THREADS: Final = 2
_SPILLED_AT_ONCE: Final = 1 << 18

Piece = tuple[Pages, Pages]
"""Sources and targets of some links, as row numbers."""


@dataclass(frozen=True, slots=True)
class Built:
    """What became of the links that came in."""

    links: int
    self_links: int
    repeated: int
    buckets: int


def build(
    path: Path, ids: Ids, pieces: Iterable[Piece], memory_limit_bytes: int, direction: Direction = Direction.IN
) -> Built:
    """Write the link file of the pages `ids` at `path`; it appears whole, by rename."""
    if len(ids) > MOST_PAGES:
        raise UsageError(f"A link file holds at most {MOST_PAGES:,} pages, not {len(ids):,}; rank fewer.")
    make_directory(path.parent)
    with TemporaryDirectory(prefix="links-", dir=path.parent) as room, ExitStack() as stack:
        aside = aside_of(path)
        with disk_errors(aside):
            file = stack.enter_context(aside.open("wb"))
        sorting = _Sorting(len(ids), memory_limit_bytes, Path(room), stack)
        for sources, targets in pieces:
            sorting.take((targets, sources) if direction is Direction.OUT else (sources, targets))
        built, lengths, degrees = _write_rows(file, aside, sorting, layout(len(ids), 0).ends)
        with disk_errors(aside):
            _write_columns(file, ids, lengths if direction is Direction.OUT else degrees, lengths, built, direction)
    publish(aside, path)
    return built


def _write_columns(file: IO[bytes], ids: Ids, degrees: Pages, lengths: Pages, built: Built, way: Direction) -> None:
    places = layout(len(ids), built.links)
    offsets = np.zeros(len(ids) + 1, "<u8")
    np.cumsum(lengths, out=offsets[1:])
    file.truncate(places.size_bytes)
    for place, column in (
        (places.ids, ids.astype("<i8", copy=False)),
        (places.degrees, degrees.astype("<u4", copy=False)),
        (places.offsets, offsets),
    ):
        file.seek(place)
        column.tofile(file)
    file.seek(0)
    file.write(header(way, len(ids), built.links))
    file.flush()
    os.fdatasync(file.fileno())


def _write_rows(file: IO[bytes], aside: Path, sorting: _Sorting, place: int) -> tuple[Built, Pages, Pages]:
    """Write the rows of one bucket after the other; the length of each row and how often each page is a source."""
    lengths = np.zeros(sorting.pages, np.uint32)
    degrees = np.zeros(sorting.pages, np.uint32)
    came, kept, selves, buckets = sorting.links, 0, 0, 0
    file.seek(place)
    for first, last, pieces in sorting.buckets():
        buckets += 1
        for rows, self_links in _rows(pieces, first, last, lengths):
            kernel.LOOPS.count(rows, degrees)
            kept += len(rows)
            selves += self_links
            with disk_errors(aside):
                rows.astype("<u4", copy=False).tofile(file)
    return Built(kept, selves, came - kept - selves, buckets), lengths, degrees


def _rows(pieces: Waiting, first: int, last: int, lengths: Pages) -> Iterator[tuple[Pages, int]]:
    """The rows [first, last) of one bucket in order, a range at a time; `pieces` is emptied."""
    begins = np.zeros(last - first + 1, np.uint64)
    for _, targets in pieces.read():
        if not kernel.LOOPS.count(targets if first == 0 else targets - np.uint32(first), begins[1:]):
            raise NephilaError("A link leads to a page outside the link file; this is an error of Nephila's own.")
    np.cumsum(begins, out=begins)

    def fill(begin: int, end: int) -> tuple[Pages, int]:
        # Row v is filled from its beginning, which stands at place v + 1; when it is full its end stands there, and
        # the one array has become the offsets.
        offsets = np.zeros(end - begin + 1, np.uint64)
        offsets[1:] = begins[begin - first : end - first] - begins[begin - first]
        rows = mapped(int(begins[end - first] - begins[begin - first]), np.uint32)
        for sources, targets in pieces.read():
            if not kernel.LOOPS.scatter(sources, targets, offsets[1:], rows, begin, end):
                raise NephilaError("A row of links overflowed; this is an error of Nephila's own.")
        kept, selves = kernel.LOOPS.tidy(offsets, rows, lengths[begin:end], begin, end)
        return rows[:kept], selves

    ranges = [(first + begin, first + end) for begin, end in _ranges(begins)]
    with ThreadPoolExecutor(_THREADS) as pool:
        for wave in range(0, len(ranges), _THREADS):
            tasks = [pool.submit(fill, begin, end) for begin, end in ranges[wave : wave + _THREADS]]
            while tasks:
                yield tasks.pop(0).result()
    pieces.clear()


def _ranges(begins: Offsets) -> list[tuple[int, int]]:
    """Ranges of rows with about the same number of links; row v begins at begins[v]."""
    links, last = int(begins[-1]), len(begins) - 1
    wanted = np.array([links * part // RANGES for part in range(1, RANGES)], np.uint64)
    inner = np.searchsorted(begins, wanted)
    return list(pairwise(sorted({0, last, *(min(int(row), last) for row in inner)})))


class _Sorting:
    """Pieces in memory as long as they fit, then in one file per range of targets."""

    def __init__(self, pages: int, memory_limit_bytes: int, room: Path, stack: ExitStack) -> None:
        self.pages = pages
        self.links = 0
        self._limit_links = max(memory_limit_bytes // BYTES_PER_LINK, 1)
        self._room = room
        self._stack = stack
        self._pieces = Waiting()
        self._waiting = 0
        self._files: list[IO[bytes]] = []
        self._rows_per_bucket = max(-(-pages // BUCKETS), 1)

    def take(self, piece: Piece) -> None:
        self._pieces.append(*piece)
        self.links += len(piece[0])
        self._waiting += len(piece[0])
        if self._waiting > self._limit_links:
            self._spill()

    def buckets(self) -> Iterator[tuple[int, int, Waiting]]:
        """(first row, last row, its links) of each bucket, in order."""
        if not self._files:
            yield 0, self.pages, self._pieces
            return
        self._spill()
        for number, file in enumerate(self._files):
            first = min(number * self._rows_per_bucket, self.pages)
            last = min(first + self._rows_per_bucket, self.pages)
            file.flush()
            file.seek(0)
            pairs = np.fromfile(file, "<u4").reshape(-1, 2)
            file.truncate(0)
            bucket = Waiting()
            bucket.append(pairs[:, 0], pairs[:, 1])
            del pairs  # the bucket has its own copy
            yield first, last, bucket

    def _spill(self) -> None:
        if not self._files:
            paths = [self._room / f"{number:03}" for number in range(BUCKETS)]
            with disk_errors(self._room):
                self._files = [self._stack.enter_context(path.open("w+b")) for path in paths]
        for sources, targets in self._pieces.drain():
            for begin in range(0, len(sources), _SPILLED_AT_ONCE):
                self._write_buckets(
                    sources[begin : begin + _SPILLED_AT_ONCE], targets[begin : begin + _SPILLED_AT_ONCE]
                )
        self._waiting = 0

    def _write_buckets(self, sources: Pages, targets: Pages) -> None:
        bucket = (targets // np.uint32(self._rows_per_bucket)).astype(np.uint8)
        order = np.argsort(bucket, kind="stable")
        pairs = np.stack((sources[order], targets[order]), axis=1)
        ends = np.cumsum(np.bincount(bucket, minlength=BUCKETS))
        begin = 0
        for file, end in zip(self._files, ends, strict=True):
            with disk_errors(self._room):
                file.write(pairs[begin:end].data)
            begin = end
