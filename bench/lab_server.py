"""How many pages per second and core the lab serves, and how much memory its processes take at a million sites.

Two series: one page of the paper's mean size that costs nothing to make (the server alone), and the generated web
(page bodies computed on the way). The client shares the machine, so pages per second of server CPU time is the figure
that counts: a core that does nothing else serves that many. The wall-clock figure is printed beside it.

    python bench/lab_server.py [--sites 1000000] [--pages 40000] [--connections 200] [--processes 1]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import uvloop

from nephila.clock import Clock
from nephila.config.sections import Lab
from nephila.lab.answer import Answer, Manner
from nephila.lab.paths import path_of
from nephila.lab.ports import hold_ports
from nephila.lab.post import Post
from nephila.lab.serve import LabServer
from nephila.lab.server import listen, loopback_socket
from nephila.lab.shared_clock import SharedClock
from nephila.lab.web import Web

MEAN_PAGE_BYTES = 18_000  # S1-30
ONE_PAGE_ADDRESS = "127.250.0.1"
PAGES_PER_SITE = 20
TICKS = os.sysconf("SC_CLK_TCK")
LENGTH = re.compile(rb"\r\nContent-Length: (\d+)\r\n")


@dataclass(frozen=True, slots=True)
class Visits:
    """The pages asked of one site, over one connection."""

    address: str
    host: str
    targets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Served:
    """Server processes that are running, and their port."""

    port: int
    pids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Speed:
    pages: int
    received_bytes: int
    wall_s: float
    server_cpu_s: float
    memory_mib: tuple[float, ...]  # of the largest process: before, at half way, at the end


def cpu_s(pids: tuple[int, ...]) -> float:
    fields = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids]
    return sum(int(one[11]) + int(one[12]) for one in fields) / TICKS


def memory_mib(pids: tuple[int, ...]) -> float:
    found = [re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text()) for pid in pids]
    return max(int(one[1]) for one in found if one) / 1024


class Client(asyncio.Protocol):
    """Asks for one site's pages one after another and counts what comes."""

    def __init__(self, visits: Visits, port: int, done: asyncio.Future[tuple[int, int]]) -> None:
        self._left = iter(visits.targets)
        self._host = f"{visits.host}:{port}"
        self._done = done
        self._seen = bytearray()
        self._end = -1
        self._pages = self._bytes = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._ask()

    def _ask(self) -> None:
        target = next(self._left, None)
        if target is None:
            self._transport.close()
        else:
            self._transport.write(f"GET {target} HTTP/1.1\r\nHost: {self._host}\r\n\r\n".encode())

    def data_received(self, data: bytes) -> None:
        self._seen += data
        if self._end < 0:
            head = self._seen.find(b"\r\n\r\n")
            if head < 0:
                return
            length = LENGTH.search(self._seen, 0, head + 2)
            assert length, bytes(self._seen[:head])
            self._end = head + 4 + int(length[1])
        if len(self._seen) >= self._end:
            self._pages += 1
            self._bytes += self._end
            self._seen.clear()
            self._end = -1
            self._ask()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._done.done():
            self._done.set_result((self._pages, self._bytes))


async def fetch(work: Iterator[Visits], lab: Served, pages: int, connections: int) -> Speed:
    loop = asyncio.get_running_loop()
    memory = [memory_mib(lab.pids)]
    got_pages = got_bytes = 0

    async def one() -> None:
        nonlocal got_pages, got_bytes
        while got_pages < pages:
            visits = next(work)
            done: asyncio.Future[tuple[int, int]] = loop.create_future()
            await loop.create_connection(lambda: Client(visits, lab.port, done), visits.address, lab.port)  # noqa: B023
            count, size = await done
            got_pages += count
            got_bytes += size
            if len(memory) == 1 and got_pages >= pages // 2:
                memory.append(memory_mib(lab.pids))

    began, cpu = time.monotonic(), cpu_s(lab.pids)
    await asyncio.gather(*(one() for _ in range(connections)))
    wall_s, used_s = time.monotonic() - began, cpu_s(lab.pids) - cpu
    return Speed(got_pages, got_bytes, wall_s, used_s, (*memory, memory_mib(lab.pids)))


class OnePage:
    """A web that is one page, made once."""

    _PAGE = Answer(Manner.WHOLE, 200, (("Content-Type", "text/html"),), b"x" * MEAN_PAGE_BYTES)

    def answer(self, host: str, port: int, target: str, address: str, now: float) -> Answer:
        return self._PAGE


async def serve_one_page(port: int, folder: Path) -> None:
    """What the process that `one_page_served` starts does: the real server and witness around the smallest web."""
    with SharedClock.create(folder / "clock", Clock()) as clock:
        await listen(Post(OnePage(), clock, folder), loopback_socket(port))
        print("ready", flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


@contextmanager
def one_page_served(folder: Path) -> Iterator[Served]:
    held = hold_ports(0, 0)
    command = [sys.executable, __file__, "--one-page", str(held.port), str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdout.readline()
        yield Served(held.port, (child.pid,))
        child.stdin.close()
    held.close()


def one_page_work() -> Iterator[Visits]:
    while True:
        yield Visits(ONE_PAGE_ADDRESS, "one.example", ("/page.html",) * PAGES_PER_SITE)


def generated_work(lab: Lab) -> Iterator[Visits]:
    """Sites spread over the whole web, each with its first pages, as a crawl would ask for them."""
    web = Web(lab)
    step = 7919  # a prime, so that the sites asked one after another lie far apart
    for number in range(lab.sites):
        site = number * step % lab.sites
        card = web.card(site)
        pages = min(PAGES_PER_SITE, int(web.skeleton(site).pages))
        yield Visits(card.address, card.host, tuple(path_of(card.paths, page) for page in range(pages)))


def show(name: str, speed: Speed) -> None:
    mean_kb = speed.received_bytes / speed.pages / 1000
    print(
        f"{name:<10} {speed.pages:>8} pages of {mean_kb:5.1f} KB  "
        f"{speed.pages / speed.server_cpu_s:>8.0f} pages/s per core  "
        f"{speed.pages / speed.wall_s:>8.0f} pages/s by the wall  "
        f"RSS per process {' -> '.join(f'{one:.0f}' for one in speed.memory_mib)} MiB",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sites", type=int, default=1_000_000)
    parser.add_argument("--pages", type=int, default=40_000)
    parser.add_argument("--connections", type=int, default=200)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--one-page", nargs=2, metavar=("PORT", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one_page:
        uvloop.run(serve_one_page(int(options.one_page[0]), Path(options.one_page[1])))
        return
    with tempfile.TemporaryDirectory() as folder, one_page_served(Path(folder)) as served:
        show("server", uvloop.run(fetch(one_page_work(), served, options.pages, options.connections)))
    with LabServer(Lab(sites=options.sites, faults=False), processes=options.processes) as lab:
        assert lab.lab is not None
        print(f"{options.sites} sites, {options.processes} processes:")
        served = Served(lab.port, lab.pids)
        show("generated", uvloop.run(fetch(generated_work(lab.lab), served, options.pages, options.connections)))


if __name__ == "__main__":
    main()
