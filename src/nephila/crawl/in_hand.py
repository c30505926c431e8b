"""What an agent has in hand at this moment, in a file that outlives it: a page that kills agents is known afterwards.

An agent takes answers apart in its own process, with code in C among it. While it does, site and hash of the page are
noted here. An agent that finds a note in the file of its slot knows what its predecessor died of, or so it seems: that
is counted (`blamed`), and a page that was in hand at `traps.deaths` deaths is set aside. A page that is on disk by then
was not to blame.

One cell is for the loop, which has one page in hand at a time, one for a page over which an error was raised, in the
loop or in a commit; the others are for work in threads. A note costs one write into the system's memory, no wait for a
disk: a power cut is nobody's fault.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nephila.store.durable import disk_errors

_NOTE: Final = struct.Struct("<qq")
_NOTHING: Final = _NOTE.pack(0, 0)
_CELLS: Final = 16
_LOOP: Final = 0
_FAILED: Final = 1


@dataclass(frozen=True, slots=True)
class Noted:
    """A page, or a robots.txt, sample or probe, by its site and the hash of its path."""

    site: int
    hash: int


class InHand:
    """The file of one slot; without a path nothing is kept."""

    def __init__(self, path: Path | None = None) -> None:
        self._descriptor: int | None = None
        self._now = _NOTHING
        self._free = list(range(2, _CELLS))
        self.left: frozenset[Noted] = frozenset()  # by whoever had the slot before
        if path is None:
            return
        with disk_errors(path):
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            found = os.pread(self._descriptor, _CELLS * _NOTE.size, 0)
            os.pwrite(self._descriptor, _NOTHING * _CELLS, 0)
        whole = found[: len(found) // _NOTE.size * _NOTE.size]
        self.left = frozenset(Noted(site, key) for site, key in _NOTE.iter_unpack(whole) if site)

    def mark(self, site: int, key: int) -> Mark:
        return Mark(self, _NOTE.pack(site, key))

    def close(self) -> None:
        """What is noted stays: whoever ends in good order has nothing in hand."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def lay_down(self) -> None:
        """Nothing is in the loop's hand."""
        self._take(_NOTHING)

    def failed_with(self, site: int, key: int) -> None:
        """An error was raised over this one, which ends the agent; others may still be taken in hand until then."""
        self._write(_FAILED, _NOTE.pack(site, key))

    def _take(self, note: bytes) -> None:
        if note != self._now:
            self._write(_LOOP, note)
            self._now = note

    @contextmanager
    def _aside(self, note: bytes) -> Iterator[None]:
        cell = self._free.pop() if self._free else None
        if cell is not None:
            self._write(cell, note)
        yield  # an error leaves the note: it ends the agent
        if cell is not None:
            self._write(cell, _NOTHING)
            self._free.append(cell)

    def _write(self, cell: int, note: bytes) -> None:
        if self._descriptor is not None:
            with suppress(OSError):  # a full disk is told by those who must write
                os.pwrite(self._descriptor, note, cell * _NOTE.size)


@dataclass(frozen=True, slots=True)
class Mark:
    """How one page is noted."""

    _hand: InHand
    _note: bytes

    def take(self) -> None:
        """The loop begins to work on it."""
        self._hand._take(self._note)

    def lay_down(self) -> None:
        self._hand.lay_down()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """A thread works on it."""
        with self._hand._aside(self._note):
            yield


NO_MARK: Final = InHand().mark(0, 0)
"""For a fetch that no slot answers for."""
