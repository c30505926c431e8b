"""Working on hostile pages in a process that may die: the page it died of is known to the next process.

Before a page is parsed its id is noted in a file; afterwards the note is cleared. A process that finds a note knows
that its predecessor died there. The second death of a page is its last: it is passed over (RELIABILITY C1: never more
than twice). A timer on CPU time ends a process that does not come back from a page; the C handler of `faulthandler`
writes a line before that, so that the successor can tell a page that took too long from one that crashed the parser.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import struct
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Protocol

from nephila.convert.attributes import Parse

DEATHS: Final = 2
_NOTE: Final = struct.Struct("<q")
_NOBODY: Final = -1


class Guard(Protocol):
    def verdict(self, page_id: int) -> Parse | None:
        """Why a page must not be parsed again; None: it may be."""

    def note(self, page_id: int) -> None: ...

    def clear(self) -> None: ...


class NoGuard:
    """For an engine whose tasks run in the caller's own process, which must not die."""

    def verdict(self, page_id: int) -> Parse | None:
        return None

    def note(self, page_id: int) -> None: ...

    def clear(self) -> None: ...


class FileGuard:
    """The first eight bytes are the page in work, the others are pages that processes died of (~id: of overtime)."""

    def __init__(self, descriptor: int, overtime: int, max_parse_s: float) -> None:
        self._descriptor = descriptor
        self._max_parse_s = max_parse_s
        noted = os.pread(descriptor, os.fstat(descriptor).st_size, 0)
        ids = [found[0] for found in _NOTE.iter_unpack(noted[: len(noted) // _NOTE.size * _NOTE.size])]
        deaths = ids[1:]
        if ids and ids[0] != _NOBODY:
            took_too_long = os.fstat(overtime).st_size > 0
            deaths.append(~ids[0] if took_too_long else ids[0])
        os.ftruncate(overtime, 0)
        os.pwrite(descriptor, b"".join(_NOTE.pack(page_id) for page_id in (_NOBODY, *deaths)), 0)
        self._deaths = Counter(deaths)

    def verdict(self, page_id: int) -> Parse | None:
        if self._deaths[~page_id]:
            return Parse.TIMEOUT  # it would take as long again
        return Parse.CRASH if self._deaths[page_id] >= DEATHS else None

    def note(self, page_id: int) -> None:
        os.pwrite(self._descriptor, _NOTE.pack(page_id), 0)
        signal.setitimer(signal.ITIMER_PROF, self._max_parse_s)

    def clear(self) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)
        os.pwrite(self._descriptor, _NOTE.pack(_NOBODY), 0)


@contextmanager
def guard(path: Path | None, max_parse_s: float) -> Iterator[Guard]:
    """A guard over one portion; `path` is where deaths are noted, None where this process must not die."""
    if path is None:
        yield NoGuard()
        return
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o644)
    overtime = os.open(path.with_name(path.name + ".overtime"), flags | os.O_APPEND, 0o644)
    faulthandler.register(signal.SIGPROF, file=overtime, all_threads=False, chain=True)
    try:
        yield FileGuard(descriptor, overtime, max_parse_s)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        faulthandler.unregister(signal.SIGPROF)
        os.close(descriptor)
        os.close(overtime)
