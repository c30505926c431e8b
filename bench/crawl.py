"""Crawlers beside each other on the same webs, in one run, in turn: `make bench`.

    python bench/crawl.py [--webs mid,synth] [--rounds 3] [--peers nephila,wget2,…] [--python PYTHON-WITH-THE-PEERS]

Every crawler gets the same seeds and follows the same links (a, area, frame, iframe) within their sites, without delay;
Nephila with everything on: robots, WARC with digests, state that survives kill -9, duplicates. A run counts what is in
the true list of files, made by another parser. Seconds are by the clock from start to end of the command; CPU is that
of all its processes (the server's is not counted); memory is the largest sum over its processes, shared pages shared.
The table shows the median and, as a ratio, how many times as many pages per second Nephila collects, with the least and
the most of the rounds. Absolute figures are of this machine, now: compare only those of one run.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from crawl_webs import PORT, File, Web, build, key, served

from nephila.crawl.pages import read_pages
from nephila.records import Outcome
from nephila.store.folder import CrawlFolder

HERE = Path(__file__).parent
LOOK_EVERY_S = 0.1
TAGS = "--follow-tags=a,area,frame,iframe"
Command = Callable[[Path, Path, str], list[str]]  # the file of seeds, where to write, the Python of the peers


def nephila(seeds: Path, out: Path, python: str) -> list[str]:
    settings = {"crawl.mode": "sites", "net.allow_private": "127.0.0.0/8", "politeness.min_delay": 0,
                "politeness.delay_factor": 0, "traps.probe_after": "none"}  # fmt: skip
    words = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    return [sys.executable, "-m", "nephila", "crawl", "-C", str(out / "crawl"), "-i", str(seeds), "--json", *words]


def wget2(seeds: Path, out: Path, python: str) -> list[str]:
    return ["wget2", "-q", "-r", "-l", "inf", "--max-threads=16", TAGS, "-P", str(out), "-i", str(seeds)]


def wget(seeds: Path, out: Path, python: str) -> list[str]:
    return ["wget", "-q", "-r", "-l", "inf", TAGS, "-P", str(out), "-i", str(seeds)]


def httrack(seeds: Path, out: Path, python: str) -> list[str]:
    free = ["--disable-security-limits", "-A1000000000", "-c16", "-%c1000", "-r999999", "-I0", "-%v0", "-q"]
    return ["httrack", *seeds.read_text().split(), "-O", str(out), *free]


def script(name: str) -> Command:
    def command(seeds: Path, out: Path, python: str) -> list[str]:
        return [python, str(HERE / "crawl_peers" / f"{name}.py"), str(seeds), str(out)]

    return command


COMMANDS: dict[str, Command] = {
    "nephila": nephila, "wget2": wget2, "wget2-tmpfs": wget2, "wget": wget, "httrack": httrack,
    "crawlee": script("crawlee_tuned"), "scrapy-lean": script("scrapy_lean"), "scrapy": script("scrapy_stock"),
}  # fmt: skip
"""The order of the table; wget2-tmpfs writes to memory, all others to disk."""


@dataclass(frozen=True)
class Run:
    """One crawl of one web by one crawler."""

    peer: str
    web: str
    seconds: float
    cpu_s: float
    peak_bytes: int
    disk_bytes: int
    files: int  # of the true list
    missed: int

    @property
    def per_s(self) -> float:
        return self.files / self.seconds

    @property
    def cpu_us(self) -> float:
        return self.cpu_s / max(self.files, 1) * 1e6


def family(pid: int) -> list[int]:
    """A process and all that descend from it."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [pid, *(member for child in children for member in family(int(child)))]


def held_bytes(pid: int) -> int:
    """What a process holds, a page that it shares with n others counted as an nth."""
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except (OSError, ProcessLookupError):
        pass
    return 0


def measured(command: list[str], longest_s: float) -> tuple[float, float, int]:
    """Run it; seconds by the clock, seconds of CPU, the most memory."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    peak, done = 0, threading.Event()

    def look() -> None:
        nonlocal peak
        while not done.wait(LOOK_EVERY_S):
            peak = max(peak, sum(map(held_bytes, family(process.pid))))

    looking = threading.Thread(target=look)
    looking.start()
    try:
        process.wait(longest_s)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.wait()
    seconds = time.perf_counter() - started
    done.set()
    looking.join()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, cpu_s, peak


def collected(peer: str, out: Path) -> set[File]:
    """The files that a crawler has brought, by its own account."""
    if peer == "nephila":
        return {key(page.url) for page in read_pages(CrawlFolder.open(out / "crawl")) if page.outcome is Outcome.OK}
    if (out / "got.txt").exists():
        return {key(url) for url in (out / "got.txt").read_text().split()}
    found = set()
    for path in out.rglob("*"):
        if path.is_file():
            host, _, rest = str(path.relative_to(out)).partition("/")
            for ending in (f":{PORT}", f"_{PORT}", ""):
                if host.endswith(ending):
                    found.add((host.removesuffix(ending), "/" + rest.partition("?")[0]))
                    break
    return found


def one_run(peer: str, web: Web, truth: set[File], place: Path, python: str, longest_s: float) -> Run:
    parent = Path("/dev/shm") if peer == "wget2-tmpfs" else place
    out = Path(tempfile.mkdtemp(prefix=f"bench-{peer}-", dir=parent))
    try:
        seeds = out.with_suffix(".seeds")
        seeds.write_text("".join(f"{seed}\n" for seed in web.seeds))
        os.sync()
        seconds, cpu_s, peak = measured(COMMANDS[peer](seeds, out, python), longest_s)
        brought = collected(peer, out) & truth
        disk = sum(path.stat().st_blocks * 512 for path in out.rglob("*") if path.is_file())
        return Run(peer, web.name, seconds, cpu_s, peak, disk, len(brought), len(truth) - len(brought))
    finally:
        shutil.rmtree(out, ignore_errors=True)
        out.with_suffix(".seeds").unlink(missing_ok=True)


def table(web: Web, truth: set[File], runs: list[Run]) -> str:
    largest = max(Counter(address for address, _ in truth).values())
    ours = [run.per_s for run in runs if run.peer == "nephila"]
    lines = [
        f"{web.name}: {len(web.roots)} sites, {len(truth):,} files, {largest:,} of them on the largest site; "
        f"load {os.getloadavg()[0]:.1f}",
        f"{'':<14}{'pages/s':>9}{'ours is':>9}{'(least – most)':>18}{'CPU µs/page':>13}"
        f"{'MB at peak':>12}{'MB on disk':>12}{'missed':>8}",
    ]
    for peer in dict.fromkeys(run.peer for run in runs):
        own = [run for run in runs if run.peer == peer]
        ratios = sorted(our / max(run.per_s, 1e-9) for our, run in zip(ours, own, strict=False))
        spread = f"({ratios[0]:.2f} – {ratios[-1]:.2f})" if ratios else ""
        beside = f"{median(ratios):8.2f}×{spread:>18}" if ratios else " " * 27
        lines.append(
            f"{peer:<14}{median(run.per_s for run in own):>9,.0f}{beside}{median(run.cpu_us for run in own):>13,.0f}"
            f"{median(run.peak_bytes for run in own) / 1e6:>12,.0f}"
            f"{median(run.disk_bytes for run in own) / 1e6:>12,.0f}{max(run.missed for run in own):>8,}"
        )
    return "\n".join(lines)


def present(peer: str, python: str) -> bool:
    if peer == "nephila":
        return True
    if peer in ("crawlee", "scrapy", "scrapy-lean"):
        package = peer.partition("-")[0]
        return subprocess.run([python, "-c", f"import {package}"], capture_output=True).returncode == 0
    return shutil.which(peer.partition("-")[0]) is not None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--webs", default="mid,small,synth,real")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peers", default=",".join(COMMANDS))
    parser.add_argument("--python", default=sys.executable, help="a Python that has Scrapy and crawlee")
    parser.add_argument("--place", type=Path, default=Path("build/bench-crawl"))
    parser.add_argument("--longest", type=float, default=600.0, help="seconds after which a crawler is stopped")
    words = parser.parse_args()
    place = words.place.resolve()
    peers = [peer for peer in words.peers.split(",") if present(peer, words.python)]
    print("not installed here: " + (", ".join(sorted(set(words.peers.split(",")) - set(peers))) or "none"))
    results = []
    for name in words.webs.split(","):
        web = build(name, place)
        truth = web.truth()
        runs = []
        with served(web, place):
            time.sleep(0.5)  # nginx opens its sockets
            for number in range(words.rounds):
                for peer in peers:
                    run = one_run(peer, web, truth, place, words.python, words.longest)
                    runs.append(run)
                    told = f"{run.seconds:7.2f} s {run.per_s:8,.0f}/s, {run.missed} missed"
                    print(f"  {number + 1} {peer:<12} {told}", file=sys.stderr)
        print(table(web, truth, runs) + "\n", flush=True)
        results += [asdict(run) for run in runs]
    (place / "runs.json").write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
