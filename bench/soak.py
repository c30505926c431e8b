"""An hour of everything at once: the lab's web and its hostile sites, crawled while agents and coordinator are killed.

    python bench/soak.py --minutes 60 [--seed 1]

Every ten seconds it prints memory and open files of the crawl's processes, and at the end their slope, by least squares
over the processes that lived through at least six samples, and what was collected. A crawl that is killed is started
again by the same command; one that has ended begins anew in another folder.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from nephila.config.sections import Lab
from nephila.crawl.totals import read_totals
from nephila.engine.nursery import NURSERY
from nephila.lab.hostile.places import CANARY_ADDRESS, OUT_OF_SCOPE_HOST, RANGE
from nephila.lab.serve import LabServer
from nephila.store.folder import CrawlFolder

SAMPLE_S = 10.0
KILL_EVERY_S = (120, 360)
"""Seldom enough that a leak would show between two kills."""

SETTINGS = {
    "politeness.min_delay": "100ms", "politeness.delay_factor": 1, "net.header_timeout": "3s", "net.idle_timeout": "3s",
    "net.total_timeout": "10s", "net.min_rate_after": "3s", "net.connect_timeout": "2s", "crawl.max_page_size": "1MiB",
    "crawl.max_decoded_size": "4MiB", "crawl.retry_wait": "1s", "crawl.sleep_min": "1s",
    "scope.exclude_hosts": OUT_OF_SCOPE_HOST, "net.allow_private": f"127.1.0.0/16,{RANGE}",
}  # fmt: skip


def start(server: LabServer, folder: Path) -> subprocess.Popen[bytes]:
    words = [word for key, value in SETTINGS.items() for word in ("--set", f"{key}={value}")]
    command = [sys.executable, "-m", "nephila", "crawl", "-C", str(folder), "-q", "--json"]
    if not (folder / "nephila.toml").exists():
        command += ["-i", str(server.seeds_path), "--set", f"net.nameservers={server.dns}", *words]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def is_nursery(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip() == NURSERY
    except OSError:
        return False


def agents_of(pid: int) -> list[int]:
    """The agents of a crawl: forked by its nursery, or its own children where there is none."""
    return [agent for child in children(pid) for agent in (children(child) if is_nursery(child) else [child])]


def measure(pid: int) -> tuple[float, int] | None:
    """MiB of memory and open files of a process."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20, len(list(Path(f"/proc/{pid}/fd").iterdir()))
    except (OSError, IndexError):
        return None


def slope(samples: list[tuple[float, float]]) -> float:
    """Per minute, by least squares."""
    mean_x = sum(x for x, _ in samples) / len(samples)
    mean_y = sum(y for _, y in samples) / len(samples)
    spread = sum((x - mean_x) ** 2 for x, _ in samples)
    return 60 * sum((x - mean_x) * (y - mean_y) for x, y in samples) / spread if spread else 0.0


def soak(server: LabServer, place: Path, minutes: float, draw: random.Random) -> None:
    seen: dict[int, list[tuple[float, float, int]]] = defaultdict(list)
    began = time.monotonic()
    number = kills = starts = pages = 0
    process = start(server, place / f"crawl-{number}")
    starts += 1
    next_kill = began + draw.uniform(*KILL_EVERY_S)
    next_sample = began + SAMPLE_S
    while (now := time.monotonic()) < began + 60 * minutes:
        time.sleep(0.2)
        if process.poll() is not None:
            if process.returncode == 0:
                pages += read_totals(CrawlFolder(place / f"crawl-{number}")).pages
                number += 1
            process = start(server, place / f"crawl-{number}")
            starts += 1
        if now >= next_kill:
            agents = agents_of(process.pid)
            victim = draw.choice([*agents, *agents, process.pid])
            os.kill(victim, signal.SIGKILL)
            kills += 1
            next_kill = now + draw.uniform(*KILL_EVERY_S)
        if now >= next_sample:
            next_sample += SAMPLE_S
            line = []
            for pid in [process.pid, *agents_of(process.pid)]:
                found = measure(pid)
                if found is not None:
                    seen[pid].append((now - began, *found))
                    line.append(f"{found[0]:.0f} MiB {found[1]} files")
            print(f"{now - began:>6.0f} s  crawl {number}  kills {kills}  " + "   ".join(line), flush=True)
    process.terminate()
    process.wait(60)
    pages += read_totals(CrawlFolder(place / f"crawl-{number}")).pages
    own = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{own.ru_utime + own.ru_stime:,.0f} s of CPU by the crawls that ended in good order")
    visits = int((server.witnessed().address == CANARY_ADDRESS).sum())
    print(f"{pages:,} pages in {number + 1} crawls, {starts} starts, {kills} kills, {visits} visits to the canary")
    for pid, samples in seen.items():
        if len(samples) >= 6:
            later = samples[len(samples) // 3 :]  # what a process fills at its start is no leak
            memory = slope([(at, mebibytes) for at, mebibytes, _ in later])
            files = slope([(at, float(count)) for at, _, count in later])
            print(
                f"process {pid}: {samples[0][1]:.0f} to {samples[-1][1]:.0f} MiB "
                f"in {samples[-1][0] - samples[0][0]:.0f} s, "
                f"at the end {memory:+.2f} MiB and {files:+.2f} files per minute"
            )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sites", type=int, default=300, help="of the generated web, beside the hostile ones")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="soak-") as place:
        print(f"load average {os.getloadavg()[0]:.1f}", flush=True)
        lab = Lab(sites=given.sites, seed=given.seed)
        with LabServer(lab, hostile=True, folder=Path(place) / "lab", processes=1) as server:
            server.write_seeds()
            soak(server, Path(place), given.minutes, random.Random(given.seed))


if __name__ == "__main__":
    main()
