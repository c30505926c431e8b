"""What coordinator and agents say to each other while they rank by blocks; arrays travel as their bytes.

A message may be longer than a frame of the engine, so it goes in pieces: each begins with a byte that says whether
more follow. Everything sent is counted, since bytes are what distribution costs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np

from nephila.engine import Channel
from nephila.errors import WorkerDiedError

PIECE_BYTES: Final = 32 << 20
_MORE, _LAST = b"\x00", b"\x01"


class Shard(msgspec.Struct, frozen=True):
    """What an agent is given: its rows, and where every block begins. Its links lie beside it in the link file.

    `start` is a file with the values of all rows to begin with, 8 bytes each; without one all ranks begin alike.
    """

    link_file: Path
    first: int
    last: int
    block_starts: bytes
    damping: float
    local_sweeps: int
    start: Path | None = None


class Needs(msgspec.Struct, frozen=True, array_like=True, tag="needs"):
    """Agent: the foreign rows that link to mine, and the pairs of blocks (source, target) with links into mine."""

    rows: bytes
    source_blocks: bytes
    target_blocks: bytes
    block_pages: bytes


class Border(msgspec.Struct, frozen=True, array_like=True, tag="border"):
    """Coordinator: the rows of yours that others need."""

    rows: bytes


class Given(msgspec.Struct, frozen=True, array_like=True, tag="given"):
    """What rows give along each link: an agent's border rows, or the foreign rows that it needs."""

    z: bytes


class Flow(msgspec.Struct, frozen=True, array_like=True, tag="flow"):
    """Agent: what flows along each pair of blocks, the rank of each of my blocks, and how wrong my rows are."""

    between: bytes
    held: bytes
    wrong: float
    total: float


class Scale(msgspec.Struct, frozen=True, array_like=True, tag="scale"):
    """Coordinator: multiply each block by this."""

    factors: bytes


class Stop(msgspec.Struct, frozen=True, array_like=True, tag="stop"):
    """Coordinator: the ranks are right; send yours."""


class Result(msgspec.Struct, frozen=True, array_like=True, tag="result"):
    """Agent: the values of my rows."""

    y: bytes


Message = Needs | Border | Given | Flow | Scale | Stop | Result
_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(Message)


class Post:
    """One end of the road between coordinator and agent, with the bytes that went along it."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self.sent_bytes = 0
        self.received_bytes = 0

    async def send(self, message: Message) -> None:
        packed = _ENCODER.encode(message)
        self.sent_bytes += len(packed)
        for begin in range(0, len(packed), PIECE_BYTES):
            mark = _LAST if begin + PIECE_BYTES >= len(packed) else _MORE
            if not await self._channel.send(mark + packed[begin : begin + PIECE_BYTES]):
                raise _gone()

    async def receive(self) -> Message:
        pieces: list[bytes] = []
        while True:
            frame = await self._channel.receive()
            if frame is None:
                raise _gone()
            pieces.append(frame[1:])
            if frame[:1] == _LAST:
                break
        packed = b"".join(pieces)
        self.received_bytes += len(packed)
        message: Message = _DECODER.decode(packed)
        return message


def reals(packed: bytes) -> Any:
    return np.frombuffer(packed, np.float64)


def whole_numbers(packed: bytes) -> Any:
    return np.frombuffer(packed, np.int64)


def _gone() -> WorkerDiedError:
    return WorkerDiedError("An agent of the ranking is gone; run the same command again.")
