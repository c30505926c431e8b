"""A channel over a socket, for either side of a worker process.

Received frames wait in a lane; while it is full the socket is not read, so the sender's buffers fill and its `send`
waits: the back-pressure reaches through. Reading goes on in the protocol and not in `receive`, so that a `receive`
cancelled by a time-out never tears a frame.
"""

from __future__ import annotations

import asyncio
import socket
from typing import Final, cast

from nephila.engine.frames import HEAD, MAX_FRAME_BYTES, check_size
from nephila.engine.lane import Lane
from nephila.engine.seam import GRACE_S

_WRITE_BUFFER_BYTES: Final = 2**20


class Connection(asyncio.Protocol):
    """One end of a socket pair. `half_open`: may go on sending after the other side said it sends no more."""

    def __init__(self, *, half_open: bool, spare: socket.socket | None = None) -> None:
        self._half_open = half_open
        self._spare = spare
        self._transport: asyncio.Transport | None = None
        self._lane = Lane()
        self._partial = bytearray()
        self._reading_paused = False
        self._unbounded = False
        self._lost = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()

    @classmethod
    async def over(cls, sock: socket.socket, *, half_open: bool) -> Connection:
        loop = asyncio.get_running_loop()
        spare = sock.dup()
        _, connection = await loop.create_connection(lambda: cls(half_open=half_open, spare=spare), sock=sock)
        return connection

    @property
    def ended(self) -> bool:
        """The other side sends no more."""
        return self._lane.closed

    async def send(self, frame: bytes) -> bool:
        check_size(len(frame))
        transport = self._transport
        if self._lost.is_set() or transport is None or transport.is_closing():
            return False
        transport.write(HEAD.pack(len(frame)) + frame)
        await self._writable.wait()
        return not self._lost.is_set()

    async def receive(self) -> bytes | None:
        frame = await self._lane.take()
        if self._reading_paused and not self._lane.full:
            self._resume_reading()
        return frame

    def finish(self) -> None:
        """Send what is buffered and then the end; receiving goes on."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write_eof()

    async def leave(self) -> None:
        """Close once everything sent has left this process; what the other side did not read yet waits there."""
        transport = self._transport
        assert transport is not None
        transport.set_write_buffer_limits(high=0)  # from now on "writable" means that nothing is buffered
        await self._writable.wait()
        transport.close()

    async def settle(self) -> None:
        """The other side's process has ended: take in what it left, which its socket bounds, and close."""
        self._unbounded = True
        self._resume_reading()
        try:
            async with asyncio.timeout(GRACE_S):
                await self._lost.wait()
        except TimeoutError:
            self.abort()  # a process that it left behind holds its socket

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    # What the event loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(high=_WRITE_BUFFER_BYTES)

    def data_received(self, data: bytes) -> None:
        self._partial += data
        whole = memoryview(self._partial)
        start, end = 0, len(whole)
        while end - start >= HEAD.size:
            (size,) = HEAD.unpack_from(whole, start)
            if size > MAX_FRAME_BYTES:
                self.abort()  # no frame of ours: whoever is there does not speak our language
                break
            if end - start - HEAD.size < size:
                break
            start += HEAD.size
            self._lane.put_at_once(bytes(whole[start : start + size]))
            start += size
        whole.release()
        del self._partial[:start]
        if self._lane.full and not self._unbounded:
            self._pause_reading()

    def eof_received(self) -> bool:
        self._lane.close()
        return self._half_open

    def connection_lost(self, exc: Exception | None) -> None:
        if self._spare is not None:
            if exc is not None:
                self._read_rest(self._spare)
            self._spare.close()
        self._lost.set()
        self._lane.close()
        self._writable.set()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def _read_rest(self, sock: socket.socket) -> None:
        """A failed write makes the event loop forget what is still to be read: the last words of a dead worker."""
        self._unbounded = True
        try:
            while rest := sock.recv(2**18, socket.MSG_DONTWAIT):
                self.data_received(rest)
        except OSError:
            pass  # nothing more, or nobody there

    def _pause_reading(self) -> None:
        if not self._reading_paused and self._transport is not None and not self._transport.is_closing():
            self._reading_paused = True
            self._transport.pause_reading()

    def _resume_reading(self) -> None:
        if self._reading_paused and self._transport is not None and not self._transport.is_closing():
            self._reading_paused = False
            self._transport.resume_reading()
