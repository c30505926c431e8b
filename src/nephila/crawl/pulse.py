"""How an agent feels: how late its loop was at worst, and how much memory it takes. Always on, and next to free.

A timer asks to be called every 50 ms and notes by how much it was called late: whatever holds the loop up, a bomb, a
parser, a slow disk, is seen here first (RELIABILITY I4). Beside it stands how much of that was our own work, by the
thread's CPU time: on a busy machine the rest is others'. Memory is the kernel's own count.
"""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

BEAT_S: Final = 0.05
_STATUS: Final = Path("/proc/self/status")
_LINE: Final = re.compile(r"^(VmHWM|VmRSS):\s*([0-9]+) kB$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes in use, now and at most since the process began; 0 where the system does not tell."""

    now_bytes: int = 0
    most_bytes: int = 0


def read_memory() -> Memory:
    try:
        lines = dict(_LINE.findall(_STATUS.read_text(encoding="ascii", errors="replace")))
    except OSError:
        return Memory()
    return Memory(int(lines.get("VmRSS", 0)) * 1024, int(lines.get("VmHWM", 0)) * 1024)


class Pulse:
    """Beats while the loop runs."""

    def __init__(self) -> None:
        self.worst_lag_s = 0.0
        self.worst_work_s = 0.0  # the longest without a pause that was our own computing
        self.started = read_memory()
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._expected = 0.0
        self._cpu_s = 0.0

    def start(self) -> None:
        self._expected = self._loop.time() + BEAT_S
        self._cpu_s = time.thread_time()
        self._timer = self._loop.call_at(self._expected, self._beat)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _beat(self) -> None:
        lag_s = self._loop.time() - self._expected
        self.worst_lag_s = max(self.worst_lag_s, lag_s)
        self.worst_work_s = max(self.worst_work_s, min(lag_s, time.thread_time() - self._cpu_s))
        self.start()
