"""The lab's clock, shared by all its processes through a small file that each of them maps into memory.

The file holds two places for a clock and one byte that says which is in force. A setter fills the other place, then
flips the byte; so a reader never sees half a clock, and a setter killed on the way leaves the old one in force.
"""

from __future__ import annotations

import fcntl
import math
import mmap
import struct
import time
from pathlib import Path
from typing import Final, Self

from nephila.clock import Clock
from nephila.errors import UsageError

CLOCK_FILE: Final = "clock"
_PLACE: Final = struct.Struct("<Qddd")  # version, rate, simulated_at, real_at
_FIRST_PLACE: Final = 8
_FILE_BYTES: Final = _FIRST_PLACE + 2 * _PLACE.size


def reset(clock: Clock, rate: float | None, now: float | None, real_now: float) -> Clock:
    """The clock from `real_now` on, with another rate, another time or both; what is not given goes on unbroken."""
    simulated_now = clock.simulated_at + (real_now - clock.real_at) * clock.rate
    new_rate = clock.rate if rate is None else rate
    if not 0 < new_rate <= 1e6:
        raise UsageError(f"The clock's rate must be above 0 and at most 1000000, not {new_rate}.")
    new_now = simulated_now if now is None else now
    if not math.isfinite(new_now):
        raise UsageError(f"The clock's time must be a number of seconds, not {new_now}.")
    return Clock(new_rate, new_now, real_now)


class SharedClock:
    """One process's view of the clock file."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("r+b")
        self._memory = mmap.mmap(self._file.fileno(), _FILE_BYTES)
        self._known = bytes(_PLACE.size)
        self._clock = Clock()

    @classmethod
    def create(cls, path: Path, clock: Clock) -> Self:
        """Write the file anew; afterwards every process opens it by its path."""
        first = _PLACE.pack(1, clock.rate, clock.simulated_at, clock.real_at)
        path.write_bytes(bytes(_FIRST_PLACE) + first + bytes(_PLACE.size))
        return cls(path)

    def clock(self) -> Clock:
        """The clock in force; cheap enough to be asked for every request."""
        while True:
            place = self._memory[0]
            start = _FIRST_PLACE + place * _PLACE.size
            seen = self._memory[start : start + _PLACE.size]
            if seen == self._known:
                return self._clock
            if self._memory[0] == place:  # else it was set while we read
                _, rate, simulated_at, real_at = _PLACE.unpack(seen)
                self._known, self._clock = seen, Clock(rate, simulated_at, real_at)
                return self._clock

    def set(self, rate: float | None = None, now: float | None = None) -> Clock:
        """Set the rate, the time or both for all processes; returns the new clock."""
        fcntl.flock(self._file, fcntl.LOCK_EX)  # two setters must not fill the same place
        try:
            place = self._memory[0]
            start = _FIRST_PLACE + place * _PLACE.size
            version = _PLACE.unpack(self._memory[start : start + _PLACE.size])[0]
            clock = reset(self.clock(), rate, now, time.time())
            start = _FIRST_PLACE + (1 - place) * _PLACE.size
            self._memory[start : start + _PLACE.size] = _PLACE.pack(
                version + 1, clock.rate, clock.simulated_at, clock.real_at
            )
            self._memory[0] = 1 - place
            return clock
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def close(self) -> None:
        self._memory.close()
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
