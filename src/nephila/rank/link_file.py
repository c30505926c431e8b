"""The link file: who links to whom, binary, memory-mapped, in the order in which ranking reads it.

S0-28 and S3-6 keep one record per page: source, count, destinations. This is the same record taken apart into columns
(compressed sparse rows) and turned round: a row holds the *sources* of the links that lead to a page, because ranking
then writes each page once and never twice at the same time. `docs/link-file.md` says it byte by byte:

    0   8  the letters NEPHLINK
    8   4  version of the format, 1
    12  4  direction: 0 rows are targets and hold sources (in), 1 rows are sources and hold targets (out)
    16  8  n, the number of pages
    24  8  m, the number of links
    32 32  zero
    64     n × 8   ids: the page id of each row, signed
           n × 4   degrees: how many links leave the page
           (n+1) × 8  offsets: row v holds the links offsets[v] to offsets[v+1] - 1
           m × 4   the other ends of the links, as row numbers, ascending within a row

All numbers are little-endian; each column begins at the next multiple of 64. Rows hold distinct links and no link from
a page to itself. The file appears by rename; opening it checks that every offset and every row number is in range, so
that the kernel may trust it.
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any, Final, Self

import numpy as np

from nephila.errors import DamagedError, UsageError
from nephila.rank.arrays import Degrees, Ids, Offsets, Pages

MAGIC: Final = b"NEPHLINK"
VERSION: Final = 1
HEADER: Final = struct.Struct("<8sIIQQ32x")
ALIGNMENT: Final = 64


class Direction(IntEnum):
    IN = 0
    OUT = 1


@dataclass(frozen=True, slots=True)
class Layout:
    """Where each column begins, and where the file ends."""

    ids: int
    degrees: int
    offsets: int
    ends: int
    size_bytes: int


def layout(pages: int, links: int) -> Layout:
    """The places of the columns of a file with so many pages and links."""
    ids = HEADER.size
    degrees = _aligned(ids + 8 * pages)
    offsets = _aligned(degrees + 4 * pages)
    ends = _aligned(offsets + 8 * (pages + 1))
    return Layout(ids, degrees, offsets, ends, ends + 4 * links)


def _aligned(place: int) -> int:
    return -(-place // ALIGNMENT) * ALIGNMENT


@dataclass(frozen=True, slots=True)
class Links:
    """Rows of links, in memory, mapped, or read piece by piece: `part` gives what a range of rows needs."""

    offsets: Offsets
    sources: Pages
    degrees: Degrees
    read: Callable[[int, int], Pages] | None = None

    @property
    def pages(self) -> int:
        return len(self.degrees)

    @property
    def links(self) -> int:
        return int(self.offsets[-1])

    def part(self, first: int, last: int) -> tuple[Pages, int]:
        """The sources of the rows [first, last), and the place of the first of them among all links."""
        if self.read is None:
            return self.sources, 0
        begin = int(self.offsets[first])
        return self.read(begin, int(self.offsets[last])), begin

    def lengths(self) -> Ids:
        """How many links each row holds."""
        places: Ids = self.offsets.view(np.int64)
        return places[1:] - places[:-1]

    def of(self, page: int) -> Pages:
        """The sources of the links to one page."""
        sources, base = self.part(page, page + 1)
        return sources[int(self.offsets[page]) - base : int(self.offsets[page + 1]) - base]

    def bounds(self, parts: int) -> list[int]:
        """Row numbers that cut the rows into `parts` ranges of about the same number of links and pages."""
        weight_of_row = max(1, self.links // max(self.pages, 1) // 2)
        work = self.links + weight_of_row * self.pages
        before = lambda row: int(self.offsets[row]) + weight_of_row * row  # noqa: E731
        inner = (bisect_left(range(self.pages), work * part // parts, key=before) for part in range(1, parts))
        return [0, *inner, self.pages]


@dataclass(frozen=True, slots=True)
class LinkFile:
    """An opened link file."""

    path: Path
    direction: Direction
    ids: Ids
    links: Links

    @classmethod
    def open(cls, path: Path, *, streamed: bool = False) -> Self:
        """Map the file; `streamed` reads links piece by piece instead, for a file larger than the memory."""
        try:
            with path.open("rb") as file:
                head = file.read(HEADER.size)
        except FileNotFoundError:
            raise UsageError(f"There is no link file {path}; run `nephila rank` first.") from None
        if len(head) < HEADER.size:
            raise _damaged(path, "it is shorter than its header")
        magic, version, direction, pages, links = HEADER.unpack(head)
        if magic != MAGIC or version != VERSION or direction not in (0, 1):
            raise _damaged(path, "it does not begin as one")
        places = layout(pages, links)
        if path.stat().st_size != places.size_bytes:
            raise _damaged(path, f"it has {path.stat().st_size} bytes instead of {places.size_bytes}")
        ids = _column(path, np.int64, places.ids, pages)
        degrees = _column(path, np.uint32, places.degrees, pages)
        offsets = _column(path, np.uint64, places.offsets, pages + 1)
        # What is mapped counts as memory of this process once it was touched; what is read goes with its array.
        ends = _column(path, np.uint32, places.ends, 0 if streamed else links)
        read = _reader(path, places.ends)
        _check(path, offsets, read, pages, links)
        return cls(path, Direction(direction), ids, Links(offsets, ends, degrees, read if streamed else None))


def header(direction: Direction, pages: int, links: int) -> bytes:
    return HEADER.pack(MAGIC, VERSION, direction, pages, links)


def _column(path: Path, kind: Any, place: int, count: int) -> Any:
    if count == 0:
        return np.zeros(0, kind)
    # A plain view of the mapping: numpy.memmap's own indexing costs more than the small rows it gives.
    return np.asarray(np.memmap(path, dtype=np.dtype(kind).newbyteorder("<"), mode="r", offset=place, shape=(count,)))


def _reader(path: Path, place: int) -> Callable[[int, int], Pages]:
    def read(begin: int, end: int) -> Pages:
        return np.fromfile(path, dtype="<u4", count=end - begin, offset=place + 4 * begin)

    return read


def _check(path: Path, offsets: Offsets, read: Callable[[int, int], Pages], pages: int, links: int) -> None:
    if offsets[0] != 0 or offsets[-1] != links or bool((offsets[1:] < offsets[:-1]).any()):
        raise _damaged(path, "its offsets are out of order")
    step = 1 << 20
    for begin in range(0, links, step):
        if int(read(begin, min(begin + step, links)).max()) >= pages:
            raise _damaged(path, "a link leads outside its pages")


def _damaged(path: Path, why: str) -> DamagedError:
    return DamagedError(f"{path} is not a whole link file: {why}; run `nephila rank` again to make it anew.")
