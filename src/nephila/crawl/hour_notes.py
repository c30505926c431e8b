"""Notes of how quickly sites answer, taken with every request that is made anyway, and written down now and then.

`HourNotes` only counts, in memory; `keep_noting` writes to the agent's hours file, in a thread, so often that an hour
which has just ended is known when the next one is planned.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Final

from nephila.clock import Clock
from nephila.crawl.fetcher import Fetched
from nephila.errors import DamagedError, DiskFullError
from nephila.store.hour_figures import HOUR_S, HourNote, HoursFile, Notes

WRITE_EVERY_S: Final = 30.0
"""Real seconds between two writings, at most; a fast clock writes ten times in each of its hours."""

LEAST_LATENCY_S: Final = 1e-4
_BUSY: Final = 429
_SERVER_ERRORS: Final = 500


class HourNotes:
    """What one agent has measured since it was last written down."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._notes: Notes = {}

    def note(self, site: str, fetched: Fetched) -> None:
        """One request, whatever its role. Seconds are simulated, as delays are."""
        key = (site, int(fetched.started_at // HOUR_S))
        note = self._notes.get(key)
        if note is None:
            note = self._notes[key] = HourNote()
        note.asked_s += fetched.total_ms / 1000 * self._clock.rate
        if not fetched.status or fetched.status == _BUSY or fetched.status >= _SERVER_ERRORS:
            note.failures += 1
        if fetched.status and fetched.first_byte_ms:
            wait_ms = max(0.0, fetched.first_byte_ms - fetched.connect_ms)
            seconds = math.log(max(LEAST_LATENCY_S, wait_ms / 1000 * self._clock.rate))
            note.answers += 1
            note.log_sum += seconds
            note.square_sum += seconds * seconds

    def take(self) -> Notes:
        taken, self._notes = self._notes, {}
        return taken


async def keep_noting(notes: HourNotes, open_file: Callable[[], HoursFile], clock: Clock) -> None:
    """Write notes down until cancelled, and once more then."""
    every_s = min(WRITE_EVERY_S, HOUR_S / 10 / clock.rate)
    pen = _Pen(notes, open_file, clock)
    with ThreadPoolExecutor(1, thread_name_prefix="hours") as thread:
        try:
            while True:
                await asyncio.sleep(every_s)
                await asyncio.get_running_loop().run_in_executor(thread, pen.write)
        finally:
            thread.submit(pen.write_last).result()


class _Pen:
    """Writes in one thread alone."""

    def __init__(self, notes: HourNotes, open_file: Callable[[], HoursFile], clock: Clock) -> None:
        self._notes = notes
        self._open = open_file
        self._clock = clock
        self._file: HoursFile | None = None

    def write(self) -> None:
        taken = self._notes.take()
        if not taken:
            return
        # Some seconds are lost, or all hours are until the file is deleted: no reason to stop a crawl.
        with suppress(DiskFullError, DamagedError):
            self._file = self._file or self._open()
            self._file.add(taken, self._clock.now())

    def write_last(self) -> None:
        self.write()
        if self._file is not None:
            self._file.close()
