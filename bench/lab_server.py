"""How many pages per second the lab serves, and how much memory its processes take: `make bench-lab`, in 3 minutes.

The client shares the machine, so pages per second of the server's own CPU time is the figure that counts ("per core"):
a core that does nothing else serves that many; beside it the same as microseconds of CPU time a page. The figure by
the wall is what was seen here, client and all.

    python bench/lab_server.py [--seconds 12] [--memory-seconds 40]

one page     one finished page of the paper's mean size: what HTTP, the sockets and the witness cost
first pages  the first 20 pages of sites far apart: the dearest load, every 20 pages a tree is grown and a name made
whole sites  all pages of sites far apart (at most 2,000 of each), as a crawl asks for them
memory       the home pages of very many sites, so that every cache is filled and begins to forget
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from itertools import count
from pathlib import Path

import uvloop
from lab_client import Served, Speed, Visits, fetch

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
FIRST_PAGES = 20
MOST_PAGES = 2_000
SITE_STEP = 7919  # a prime, so that the sites asked one after another lie far apart
LOOKS = 8
SMALL, LARGE = 1_000, 1_000_000


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
        yield Visits(ONE_PAGE_ADDRESS, "one.example", ("/page.html",) * FIRST_PAGES)


def sites_work(lab: Lab, most_pages: int, first_site: int = 0) -> Iterator[Visits]:
    """Sites spread over the whole web, each with its first pages."""
    web = Web(lab)
    for number in count(first_site):
        site = number * SITE_STEP % lab.sites
        card = web.card(site)
        pages = min(most_pages, web.skeleton(site).pages) if most_pages > 1 else 1
        yield Visits(card.address, card.host, tuple(path_of(card.paths, page) for page in range(pages)))


def show(load: str, sites: int, processes: int, speed: Speed) -> None:
    print(
        f"{load:<12}{sites:>11,}{processes:>6}{speed.pages:>10,}{speed.received_bytes / speed.pages / 1000:>7.1f}"
        f"{speed.pages / speed.server_cpu_s:>11,.0f}{speed.server_cpu_s / speed.pages * 1e6:>10,.0f}"
        f"{speed.pages / speed.wall_s:>10,.0f}"
        f"{speed.memory_mib[0]:>9.0f}{speed.memory_mib[-1]:>6.0f}",
        flush=True,
    )


def measure(sites: int, processes: int, seconds: float, memory_seconds: float) -> Speed | None:
    """All series of one lab; those of speed come after the caches are full."""
    filled = None
    with LabServer(Lab(sites=sites, faults=False), processes=processes) as server:
        lab = server.lab
        assert lab is not None
        served = Served(server.port, server.pids)
        if memory_seconds:
            filled = fetch(sites_work(lab, 1), served, memory_seconds, LOOKS)
            show("memory", sites, processes, filled)
        for load, most_pages in (("first pages", FIRST_PAGES), ("whole sites", MOST_PAGES)):
            show(load, sites, processes, fetch(sites_work(lab, most_pages, sites // 2), served, seconds))
    return filled


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=12.0, help="How long each series of speed takes.")
    parser.add_argument("--memory-seconds", type=float, default=40.0, help="How long the series of memory takes.")
    parser.add_argument("--one-page", nargs=2, metavar=("PORT", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one_page:
        uvloop.run(serve_one_page(int(options.one_page[0]), Path(options.one_page[1])))
        return
    print(f"{date.today()}, Python {platform.python_version()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print(
        f"{'':<12}{'':>11}{'proc-':>6}{'':>10}{'KB/':>7}{'pages/s':>11}{'CPU µs':>10}{'pages/s':>10}{'RSS MiB per':>15}"
    )
    print(
        f"{'load':<12}{'sites':>11}{'esses':>6}{'pages':>10}{'page':>7}{'per core':>11}{'per page':>10}{'by wall':>10}"
        f"{'start':>9}{'end':>6}"
    )
    with tempfile.TemporaryDirectory() as folder, one_page_served(Path(folder)) as served:
        show("one page", 1, 1, fetch(one_page_work(), served, options.seconds / 3))
    measure(SMALL, 1, options.seconds, 0)
    measure(SMALL, 2, options.seconds, 0)
    filled = measure(LARGE, 1, options.seconds, options.memory_seconds)
    measure(LARGE, 2, options.seconds, 0)
    if filled is None:
        return
    moments = "  ".join(f"{memory:.0f}" for memory in filled.memory_mib)
    print(f"\nRSS at {LARGE:,} sites, one process, every {options.memory_seconds / LOOKS:.0f} s (MiB): {moments}")
    print(f"  while {filled.sites:,} sites were asked for their home pages; all caches are bounded (docs/lab.md)")


if __name__ == "__main__":
    main()
