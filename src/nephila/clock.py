"""One clock for a crawl and for the lab, so that weeks can pass in minutes.

`rate` simulated seconds pass in one real second; 1 is real time. Delays and intervals count in simulated seconds and
run on the monotonic clock, so that a jump of the wall clock neither floods nor stalls a site (J-2, DESIGN: Clock).
For the same reason a process asks the wall clock once, when it starts, and counts on from there: robots.txt files do
not all grow old, and sites that asked for a minute do not wait for a day, because somebody has set the time (F5).
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Final


def _since_boot() -> float:
    """Goes on while the machine sleeps, which the monotonic clock does not."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


_BOOTED_AT: Final = time.time() - _since_boot()


@dataclass(frozen=True, slots=True)
class Clock:
    """Simulated time: `now()` is UTC seconds, `monotonic()` never goes back; both run at `rate`.

    `real_at` is the real UTC second at which simulated time was `simulated_at`; processes that share these three
    numbers share the time.
    """

    rate: float = 1.0
    simulated_at: float = 0.0
    real_at: float = 0.0

    def now(self) -> float:
        return self.simulated_at + (_BOOTED_AT + _since_boot() - self.real_at) * self.rate

    def monotonic(self) -> float:
        return time.monotonic() * self.rate

    async def sleep(self, simulated_s: float) -> None:
        await asyncio.sleep(max(0.0, simulated_s) / self.rate)


REAL_TIME = Clock()
