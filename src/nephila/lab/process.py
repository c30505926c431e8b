"""One process of the lab: `python -m nephila.lab.process`, started by `LabServer` alone.

The first line of standard input is its orders as JSON. It answers "ready" when it accepts connections and "flushed"
after each "flush"; when standard input ends, because the lab stops or its parent died, it witnesses what is under
way and leaves.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import signal
import sys
from pathlib import Path
from typing import Final

import msgspec
import uvloop

from nephila.config.sections import Lab
from nephila.lab.dns import NameServer
from nephila.lab.hostile.serving import HostileListeners
from nephila.lab.hostile.sites import HostileSites
from nephila.lab.post import Post
from nephila.lab.request_log import FLUSH_EVERY_S
from nephila.lab.server import listen, loopback_socket
from nephila.lab.shared_clock import CLOCK_FILE, SharedClock
from nephila.lab.sites import GeneratedWeb, ServedSites
from nephila.lab.static import StaticSite


class Orders(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one server process is told at its start."""

    folder: str
    process: int
    processes: int
    port: int
    dns_port: int
    parent: int
    origin: float
    lab: Lab | None
    static: tuple[StaticSite, ...] = ()
    hostile: bool = False  # whether the lab has hostile sites; the last process is theirs alone


READY: Final = "ready"
FLUSH: Final = "flush"
FLUSHED: Final = "flushed"


def sites_of(orders: Orders) -> ServedSites:
    hostile = HostileSites(orders.port) if orders.hostile else None
    return ServedSites(None if is_hostile(orders) else generated_web(orders.lab, orders.origin), orders.static, hostile)


def is_hostile(orders: Orders) -> bool:
    """Whether this process serves the hostile sites."""
    return orders.hostile and orders.process == orders.processes - 1


def generated_web(lab: Lab | None, origin: float) -> GeneratedWeb | None:
    if lab is None:
        return None
    from nephila.lab.web import Web  # numpy and the word pools; a lab of folders alone does without

    return Web(lab, origin)


async def serve(orders: Orders, order_lines: asyncio.StreamReader) -> None:
    """Serve until standard input ends or a signal asks to stop."""
    folder = Path(orders.folder)
    loop = asyncio.get_running_loop()
    stopped = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stopped.set)
    # Ctrl-C reaches the whole terminal; the parent decides what stops first, and a crawl stops before its web.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sites = sites_of(orders)
    with SharedClock(folder / CLOCK_FILE) as shared_clock:
        post = Post(sites, shared_clock, folder, orders.process, orders.processes)
        server = None if is_hostile(orders) else await listen(post, loopback_socket(orders.port))
        hostile = HostileListeners(post) if is_hostile(orders) else None
        if hostile is not None:
            await hostile.listen(orders.port)
        names = NameServer(sites, shared_clock, folder) if orders.process == 0 else None
        if names is not None:
            await names.listen(orders.dns_port)

        def flush() -> None:
            post.flush()
            if names is not None:
                names.flush()

        def flush_again() -> None:
            flush()
            if os.getppid() != orders.parent:  # a fork of the parent may hold our input open after its death
                stopped.set()
            loop.call_later(FLUSH_EVERY_S, flush_again)

        async def obey() -> None:
            while line := await order_lines.readline():
                if line.decode().strip() == FLUSH:
                    flush()
                    _say(FLUSHED)
            stopped.set()

        loop.call_later(FLUSH_EVERY_S, flush_again)
        obeying = loop.create_task(obey())
        _say(READY)
        await stopped.wait()
        obeying.cancel()
        if server is not None:
            server.close()
        if hostile is not None:
            hostile.close()
        post.stop()
        if names is not None:
            names.stop()


def _say(word: str) -> None:
    with contextlib.suppress(BrokenPipeError):  # the parent is gone; the end of standard input says so too
        os.write(1, word.encode() + b"\n")


async def _main() -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=16 * 2**20)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer)
    orders = msgspec.json.decode(await reader.readline(), type=Orders)
    await serve(orders, reader)


def _open_many_files() -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


if __name__ == "__main__":
    _open_many_files()
    uvloop.run(_main())
