"""Frames on a socket: however the bytes are cut, and whatever bytes come (RELIABILITY P3)."""

from __future__ import annotations

import asyncio
import itertools
import os
import random
import socket
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nephila.engine.connection import Connection
from nephila.engine.frames import HEAD, MAX_FRAME_BYTES, read_frame, write_frame
from nephila.engine.lane import LANE_BYTES
from nephila.engine.seam import FrameTooLargeError


async def receive_all(connection: Connection) -> list[bytes]:
    received = []
    while (frame := await connection.receive()) is not None:
        received.append(frame)
    return received


@given(frames=st.lists(st.binary(max_size=50)), cuts=st.lists(st.integers(0, 400)))
def test_frames_are_the_same_however_their_bytes_are_cut(frames: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(HEAD.pack(len(frame)) + frame for frame in frames)
    edges = sorted({0, len(stream), *(cut % (len(stream) + 1) for cut in cuts)})

    async def received() -> list[bytes]:
        connection = Connection(half_open=True)
        for start, end in itertools.pairwise(edges):
            connection.data_received(stream[start:end])
        connection.eof_received()
        return await receive_all(connection)

    assert asyncio.run(received()) == frames


async def test_ten_thousand_streams_of_noise_neither_crash_nor_grow() -> None:
    noise = random.Random(1)
    for _ in range(10_000):
        connection = Connection(half_open=False)
        for _ in range(noise.randrange(4)):
            connection.data_received(noise.randbytes(noise.randrange(64)))
        connection.connection_lost(None)

        for frame in await receive_all(connection):
            assert len(frame) <= 256


async def test_who_announces_an_oversize_frame_is_cut_off() -> None:
    ours, theirs = socket.socketpair()
    connection = await Connection.over(ours, half_open=False)

    theirs.sendall(struct.pack(">I", 2) + b"ok" + struct.pack(">I", MAX_FRAME_BYTES + 1))

    assert await receive_all(connection) == [b"ok"]
    assert not await connection.send(b"anybody there?")
    theirs.close()


async def test_a_frame_cut_by_the_others_death_is_not_received() -> None:
    ours, theirs = socket.socketpair()
    connection = await Connection.over(ours, half_open=False)

    theirs.sendall(struct.pack(">I", 3) + b"all" + struct.pack(">I", 3) + b"pa")
    theirs.close()

    assert await receive_all(connection) == [b"all"]


async def test_a_receive_cancelled_in_the_middle_of_a_frame_tears_nothing() -> None:
    ours, theirs = socket.socketpair()
    connection = await Connection.over(ours, half_open=False)
    theirs.sendall(struct.pack(">I", 5) + b"he")
    waiting = asyncio.create_task(connection.receive())
    await asyncio.sleep(0)
    waiting.cancel()

    theirs.sendall(b"llo")
    theirs.close()

    assert await receive_all(connection) == [b"hello"]


async def test_a_full_lane_stops_the_reading_and_receiving_starts_it_again() -> None:
    ours, theirs = socket.socketpair()
    connection = await Connection.over(ours, half_open=False)
    frame = os.urandom(LANE_BYTES // 2)
    sending = asyncio.create_task(asyncio.to_thread(_send_and_close, theirs, frame, 10))

    received = await receive_all(connection)

    assert received == [frame] * 10
    await sending


def test_blocking_frames_go_round_and_end_with_the_socket() -> None:
    ours, theirs = socket.socketpair()
    write_frame(theirs, b"one")
    write_frame(theirs, b"")
    theirs.sendall(b"\0\0")
    theirs.close()

    assert [read_frame(ours), read_frame(ours), read_frame(ours)] == [b"one", b"", None]
    ours.close()


def test_an_oversize_frame_is_neither_written_nor_read() -> None:
    ours, theirs = socket.socketpair()
    with pytest.raises(FrameTooLargeError):
        write_frame(theirs, bytes(MAX_FRAME_BYTES + 1))
    theirs.sendall(struct.pack(">I", MAX_FRAME_BYTES + 1))

    assert read_frame(ours) is None
    ours.close()
    theirs.close()


def _send_and_close(sock: socket.socket, frame: bytes, times: int) -> None:
    for _ in range(times):
        write_frame(sock, frame)
    sock.close()
