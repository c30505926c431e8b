"""The client of `lab_server.py`: asks for pages as fast as the lab gives them, and watches the lab's processes."""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import uvloop

CONNECTIONS = 200
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
    """What one series measured."""

    sites: int
    pages: int
    received_bytes: int
    wall_s: float
    server_cpu_s: float
    memory_mib: tuple[float, ...]  # of the largest process, at equal steps of time, the first before the first page


def cpu_s(pids: tuple[int, ...]) -> float:
    fields = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids]
    return sum(int(one[11]) + int(one[12]) for one in fields) / TICKS


def memory_mib(pids: tuple[int, ...]) -> float:
    found = [re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text()) for pid in pids]
    return max(int(one[1]) for one in found if one) / 1024


class Client(asyncio.Protocol):
    """Asks for one site's pages one after another, until it has all or time is up, and counts what comes."""

    def __init__(self, visits: Visits, port: int, until: float, done: asyncio.Future[tuple[int, int]]) -> None:
        self._left = iter(visits.targets)
        self._host = f"{visits.host}:{port}"
        self._until = until
        self._done = done
        self._seen = bytearray()
        self._end = -1
        self._pages = self._bytes = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._ask()

    def _ask(self) -> None:
        target = next(self._left, None)
        if target is None or time.monotonic() > self._until:
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


def fetch(work: Iterator[Visits], lab: Served, seconds: float, looks: int = 1) -> Speed:
    """Ask for `seconds`; look at the memory `looks` times on the way, the last time at the end."""
    return uvloop.run(_fetch(work, lab, seconds, looks))


async def _fetch(work: Iterator[Visits], lab: Served, seconds: float, looks: int) -> Speed:
    loop = asyncio.get_running_loop()
    sites = pages = size_bytes = 0
    memory = [memory_mib(lab.pids)]
    began, cpu = time.monotonic(), cpu_s(lab.pids)
    until = began + seconds

    async def one() -> None:
        nonlocal sites, pages, size_bytes
        while time.monotonic() < until:
            visits = next(work)
            done: asyncio.Future[tuple[int, int]] = loop.create_future()
            await loop.create_connection(lambda: Client(visits, lab.port, until, done), visits.address, lab.port)  # noqa: B023
            count, size = await done
            sites += 1
            pages += count
            size_bytes += size
            if len(memory) < looks and time.monotonic() - began >= len(memory) * seconds / looks:
                memory.append(memory_mib(lab.pids))

    await asyncio.gather(*(one() for _ in range(CONNECTIONS)))
    wall_s, used_s = time.monotonic() - began, cpu_s(lab.pids) - cpu
    return Speed(sites, pages, size_bytes, wall_s, used_s, (*memory, memory_mib(lab.pids)))
