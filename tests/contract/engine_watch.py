"""What the engine tests use to watch processes and channels."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterable
from pathlib import Path

from nephila.engine import Channel, Handle

PATIENCE_S = 20.0


def wait_until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < deadline, "it did not come true in time"
        time.sleep(0.005)


def runs(pid: int) -> bool:
    """Whether a process runs; a dead one that nobody waited for does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


async def all_frames(channel: Channel) -> AsyncIterator[bytes]:
    while (frame := await channel.receive()) is not None:
        yield frame


async def finish_all(handles: Iterable[Handle]) -> None:
    for handle in handles:
        handle.finish()
        assert await handle.receive() is None
        assert await handle.join() == 0


def import_path() -> str:
    return os.pathsep.join(sys.path)
