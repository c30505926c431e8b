"""How one message lies on a socket: its length in four bytes (big-endian), then its bytes.

The functions here block; `connection` does the same for an event loop.
"""

from __future__ import annotations

import socket
import struct
from typing import Final

from nephila.engine.seam import FrameTooLargeError

MAX_FRAME_BYTES: Final = 64 * 2**20

HEAD: Final = struct.Struct(">I")


def check_size(frame_bytes: int) -> None:
    if frame_bytes > MAX_FRAME_BYTES:
        raise FrameTooLargeError(
            f"a message of {frame_bytes} bytes is larger than the {MAX_FRAME_BYTES} that may travel at once; "
            "write it to a file and send the name, or divide it"
        )


def write_frame(sock: socket.socket, frame: bytes) -> None:
    """Raises OSError if the other side is gone."""
    check_size(len(frame))
    sock.sendall(HEAD.pack(len(frame)) + frame)


def read_frame(sock: socket.socket) -> bytes | None:
    """None if the other side is gone, also in the middle of a frame, or sent what is no frame."""
    head = _read_exactly(sock, HEAD.size)
    if head is None:
        return None
    (size,) = HEAD.unpack(head)
    return _read_exactly(sock, size) if size <= MAX_FRAME_BYTES else None


def _read_exactly(sock: socket.socket, size: int) -> bytes | None:
    got = bytearray()
    while len(got) < size:
        try:
            part = sock.recv(min(size - len(got), 2**20))
        except ConnectionError:
            return None
        if not part:
            return None
        got += part
    return bytes(got)
