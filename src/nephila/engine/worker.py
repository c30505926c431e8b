"""A worker process: `python -m nephila.engine.worker FD map` or `FD spawn MODULE:FUNCTION`. Started by `process` alone.

The socket is the process's life line. When the parent is gone, killed or not, `receive` gives None; a worker that does
not end by itself within the time of grace is ended hard, so that no process is ever left behind.
"""

from __future__ import annotations

import asyncio
import os
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable

import msgspec

from nephila.engine.calls import Call, Request, call_named, decode, perform, report_failure
from nephila.engine.connection import Connection
from nephila.engine.frames import read_frame, write_frame
from nephila.engine.seam import GRACE_S


def main(words: list[str]) -> int:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what Ctrl-C means
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    fd, verb, *names = words
    os.set_inheritable(int(fd), False)  # a grandchild must not hold the life line
    sock = socket.socket(fileno=int(fd))
    threading.Thread(target=_end_with_parent, args=(sock.fileno(),), daemon=True).start()
    return _serve_map(sock) if verb == "map" else _run_spawned(sock, names[0])


def _end_with_parent(fd: int) -> None:
    """Runs as a thread, because the worker's own thread may be deep in work when the parent dies."""
    life_line = select.poll()
    life_line.register(fd, 0)  # wakes for nothing but the other end's closing
    life_line.poll()
    time.sleep(GRACE_S)
    os._exit(1)


def _serve_map(sock: socket.socket) -> int:
    requests = msgspec.msgpack.Decoder(Request)
    while (frame := read_frame(sock)) is not None:
        request = requests.decode(frame)
        answer = perform(request.task, request.partition)
        sys.stdout.flush()
        try:
            write_frame(sock, msgspec.msgpack.encode(answer))
        except OSError:
            break  # the parent is gone
    return 0


def _run_spawned(sock: socket.socket, name: str) -> int:
    argument = read_frame(sock)
    if argument is None:
        return 0
    try:
        call = call_named(name, 2)
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(_live(sock, call, argument))
    except asyncio.CancelledError:
        return _die_of(signal.SIGTERM)
    except Exception as error:  # noqa: BLE001 - whatever it was, it is reported and becomes the exit code
        return report_failure(error)
    return 0


async def _live(sock: socket.socket, call: Call, packed_argument: bytes) -> None:
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    channel = await Connection.over(sock, half_open=True)
    try:
        await call.function(channel, decode(call.argument_decoder, packed_argument, f"argument of {call.name}"))
    finally:
        await channel.leave()


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


def _die_of(number: signal.Signals) -> int:
    """End as the signal would have ended us, so that the parent sees what it did."""
    sys.stdout.flush()
    sys.stderr.flush()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    return 128 + number


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
