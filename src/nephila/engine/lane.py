"""A bounded line of frames between two tasks of one event loop; also where a connection keeps what has come in."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final

LANE_BYTES: Final = 4 * 2**20
"""A lane that holds this much is full: the sender waits."""


class Lane:
    """First in, first out. Both verbs may be cancelled without losing a frame."""

    def __init__(self) -> None:
        self._frames: deque[bytes] = deque()
        self._bytes = 0
        self._closed = False
        self._some = asyncio.Event()
        self._room = asyncio.Event()

    @property
    def full(self) -> bool:
        return self._bytes >= LANE_BYTES

    @property
    def closed(self) -> bool:
        return self._closed

    def put_at_once(self, frame: bytes) -> None:
        """For who cannot wait; looks at `full` afterwards. A closed lane drops the frame."""
        if not self._closed:
            self._frames.append(frame)
            self._bytes += len(frame) + 1  # so that empty frames also fill a lane
            self._some.set()

    async def put(self, frame: bytes) -> bool:
        """False once the lane is closed."""
        while self.full and not self._closed:
            self._room.clear()
            await self._room.wait()
        self.put_at_once(frame)
        return not self._closed

    async def take(self) -> bytes | None:
        """None once the lane is closed and empty."""
        while not self._frames:
            if self._closed:
                return None
            self._some.clear()
            await self._some.wait()
        frame = self._frames.popleft()
        self._bytes -= len(frame) + 1
        self._room.set()
        return frame

    def close(self) -> None:
        """What is in the lane can still be taken."""
        self._closed = True
        self._some.set()
        self._room.set()
