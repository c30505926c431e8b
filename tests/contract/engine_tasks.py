"""Tasks and workers that the engine contract gives out; in a module of their own, because they travel by name."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from nephila.engine import Channel
from nephila.errors import DiskFullError

FOR_EVER_S = 3600.0


@dataclass(frozen=True, slots=True)
class Piece:
    number: int
    folder: Path
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Counted:
    number: int
    letters: int
    where: Path


def count_letters(piece: Piece) -> Counted:
    return Counted(piece.number, sum(map(len, piece.names)), piece.folder / "counted")


def double(number: int) -> int:
    return 2 * number


def process_of(number: int) -> int:
    return os.getpid()


def cores_of(number: int) -> int:
    return len(os.sched_getaffinity(0))


def block_on_first_try(piece: Piece) -> int:
    """Leaves its process id behind and blocks; a second try finds the mark and finishes."""
    mark = piece.folder / f"{piece.number}.pid"
    if piece.number != 1 or mark.exists():
        return piece.number
    _leave(mark, str(os.getpid()))
    time.sleep(FOR_EVER_S)
    return -1


def die(piece: Piece) -> int:
    if piece.number == 2:
        with (piece.folder / "tries").open("a") as tries:
            tries.write("x")
        os.kill(os.getpid(), signal.SIGKILL)
    return piece.number


def fail_on_three(number: int) -> int:
    if number == 3:
        raise ValueError("three is too many")
    return number


def find_disk_full(number: int) -> int:
    raise DiskFullError("there is no room left on the disk; make some and run the command again")


def break_promise(number: int) -> str:
    return number  # type: ignore[return-value]


def make_bytes(size: int) -> bytes:
    return bytes(size)


def speak(number: int) -> None:
    print("spoken on stdout", flush=True)


def without_annotations(number):  # type: ignore[no-untyped-def]
    return number


async def echo(channel: Channel, prefix: bytes) -> None:
    while (frame := await channel.receive()) is not None:
        await channel.send(prefix + frame)


async def count_up(channel: Channel, last: int) -> None:
    """Sends all it has and ends at once."""
    for number in range(last):
        await channel.send(str(number).encode())


async def fail(channel: Channel, sentence: str) -> None:
    raise ValueError(sentence)


async def fill_disk(channel: Channel, sentence: str) -> None:
    raise DiskFullError(sentence)


async def clean_up(channel: Channel, folder: Path) -> None:
    try:
        await channel.send(b"ready")
        await asyncio.sleep(FOR_EVER_S)
    finally:
        _leave(folder / "cleaned", "yes")


async def oversleep(channel: Channel, folder: Path) -> None:
    """Deaf to everything: blocks its own event loop."""
    _leave(folder / f"{os.getpid()}.pid", "")
    time.sleep(FOR_EVER_S)  # noqa: ASYNC251 - that it blocks is the point


async def send_oversize(channel: Channel, size: int) -> None:
    await channel.send(bytes(size))


async def tell_signal_state(channel: Channel, number: int) -> None:
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    blocked = signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())
    same_session = os.getsid(0) == os.getsid(os.getppid())
    await channel.send(f"{ignored} {blocked} {same_session}".encode())


async def flood(channel: Channel, folder: Path) -> None:
    """Sends until it is held back, and tells how far it came."""
    for number in range(200):
        sending = asyncio.create_task(channel.send(bytes(2**20)))
        _, held_back = await asyncio.wait({sending}, timeout=0.2)
        if held_back:
            _leave(folder / "held_back", str(number))
            await asyncio.sleep(FOR_EVER_S)


def _leave(mark: Path, text: str) -> None:
    """By rename, so that whoever sees the mark sees all of it."""
    fresh = mark.with_suffix(".new")
    fresh.write_text(text)
    fresh.rename(mark)


if __name__ == "__main__":  # a parent to be killed: two deaf workers, one that listens, and a map in its midst
    from nephila.engine import open_engine

    async def _start() -> None:
        folder = Path(sys.argv[1])
        here = sys.modules["engine_tasks"]
        engine = open_engine("local", 1)
        await engine.spawn(here.oversleep, [folder, folder])
        (echoing,) = await engine.spawn(here.echo, [b""])
        _leave(folder / f"{echoing.pid}.pid", "")
        for _ in engine.map(here.block_on_first_try, [Piece(1, folder)]):
            pass

    import engine_tasks  # noqa: F401 - by its name and not as __main__, since tasks travel by name

    asyncio.run(_start())
