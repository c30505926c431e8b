"""Crawls that are killed on purpose, by chance or at a named point, and started again by the same command.

A campaign runs crawls of one lab until it has spent its kills; each crawl is then led to its end and checked. The
chance is seeded: a campaign can be repeated, as far as a busy machine repeats anything.
"""

from __future__ import annotations

import os
import random
import shutil
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from nephila.lab.serve import LabServer
from nephila.store.durable import CRASH_VARIABLE

from ..circle.webs import QUICK, Expected, Ran, Running, expected, in_lab, is_alive, kill_process, settings_of
from .checking import Evidence, Finding, Kill, check, refetches, refetches_by_kill

AGENTS = 2
GROUP_PAGES = 10
MIN_DELAY_S = 0.01
SMALL = {
    "archive.group_pages": GROUP_PAGES,
    "archive.group_delay": 0.02,
    "archive.rotate_size": "1MB",
    "politeness.min_delay": MIN_DELAY_S,
}
"""Small groups and files: there is much to be cut through."""

# Whom a kill hits, in percent (RELIABILITY 3.2).
EARLY = 0.2
"""The share of kills that do not wait for a page: they hit a start, a recovery, an agent in its imports."""

EARLY_S = (0.05, 1.5)
MIX = (("agent", 60), ("coordinator", 25), ("all", 10), ("TERM, then KILL", 5))
TERM_S = 0.05
LONGEST_WAIT_S = 10.0
LONGEST_RUN_S = 60.0

POINTS = (
    "coordinator.leased", "coordinator.received", "coordinator.applied", "coordinator.stopping",
    "agent.applied", "agent.stopping",
    "slot.collected", "slot.half_written", "slot.committed",
    "warc.half_member", "warc.appended", "warc.synced", "warc.rotating", "warc.recovering",
    "database.in_commit", "database.committed",
    "durable.half_aside", "durable.before_rename", "durable.after_rename",
)  # fmt: skip
"""Every point that a crawl passes (RELIABILITY 3.2, CP1 to CP13 and CP18)."""


@dataclass
class Crawl:
    """One crawl of a campaign: its folder, how often it was started and killed."""

    folder: Path
    since_ns: int
    kills: list[Kill] = field(default_factory=list)
    starts_ns: list[int] = field(default_factory=list)
    bytes_at_start: int = 0


@dataclass
class Campaign:
    lab: LabServer
    place: Path
    seed: int
    wait_s: tuple[float, float] = (0.0, 0.5)  # from the first new page after a start, or the last kill, to a kill
    tell: Callable[[str], None] = lambda line: None
    kills: Counter[str] = field(default_factory=Counter)
    crawls: int = 0
    pages: int = 0
    again: int = 0
    cost: list[int] = field(default_factory=list)  # requests that each kill has cost
    resumes_s: list[float] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._chance = random.Random(self.seed)
        self._true: Expected = expected(self.lab)
        assert self.lab.lab is not None
        self._sites = self.lab.lab.sites
        self._seeds = self.lab.write_seeds(self.place / "seeds.txt")
        self._crawl: Crawl | None = None

    @property
    def spent(self) -> int:
        return self.kills.total()

    def random_kills(self, count: int) -> None:
        """So many kills at random times; crawls that end meanwhile are checked and followed by others."""
        target = self.spent + count
        while self.spent < target:
            crawl = self._current()
            started = self._start(crawl)
            while self.spent < target:
                if self._ended_before_a_kill(crawl, started):
                    self._finish(crawl, started.ended())
                    break
                whom = self._chance.choices([name for name, _ in MIX], [share for _, share in MIX])[0]
                if whom != "agent":
                    self._kill_command(crawl, started, whom)
                    break
                agents = [pid for pid in started.agents() if is_alive(pid)]
                if agents:
                    kill_process(self._chance.choice(agents))
                    self._note(crawl, Kill(whom, 1))
            else:
                started.kill_all()
                self._note(crawl, Kill("all", AGENTS))
        self.complete()

    def kill_at(self, point: str, nth: int = 1) -> int:
        """Run with a death planned at the nth pass of `point`; gives how many processes died of it.

        One death is enough: the command is then killed as well, if it was an agent's, and the next point follows.
        """
        crawl = self._current()
        stops = point.endswith(".stopping")  # passed once, when the command is asked to stop
        os.environ[CRASH_VARIABLE] = f"{point}:{1 if stops else nth}"
        try:
            started = self._start(crawl)
        finally:
            del os.environ[CRASH_VARIABLE]
        agents: set[int] = set()
        asked = False
        deadline = time.monotonic() + LONGEST_RUN_S
        while started.process.poll() is None and time.monotonic() < deadline:
            agents.update(started.agents())
            if not asked and any(not is_alive(pid) for pid in agents):
                break
            if stops and not asked and len(agents) == AGENTS and self._has_grown(crawl):
                asked = True
                started.process.terminate()
            time.sleep(0.005)
        code = started.process.poll()
        if code is None:
            started.kill_all()
            self._note(crawl, Kill(point, AGENTS))
            self._note(crawl, Kill("all", AGENTS))
            return 1
        ran = started.ended()
        if code < 0 or (asked and code != 0):
            self._note(crawl, Kill(point, AGENTS))
            return 1
        if code == 0:
            self._finish(crawl, ran)
        return 0

    def complete(self) -> None:
        """Lead the crawl under way to its end."""
        if self._crawl is not None and self._crawl.starts_ns:
            crawl = self._crawl
            self._finish(crawl, self._start(crawl).ended(120.0))

    def _current(self) -> Crawl:
        if self._crawl is None:
            self._crawl = Crawl(self.place / f"crawl-{self.crawls}", time.monotonic_ns())
        return self._crawl

    def _start(self, crawl: Crawl) -> Running:
        """The command: with its seeds at first, afterwards with nothing but the folder."""
        words: list[object] = []
        if not (crawl.folder / "nephila.toml").exists() or not (crawl.folder / "state" / "coordinator.db").exists():
            words = ["-i", self._seeds, "--agents", AGENTS, *settings_of(QUICK, SMALL, in_lab(self.lab))]
        crawl.starts_ns.append(time.monotonic_ns())
        crawl.bytes_at_start = _archive_bytes(crawl.folder)
        return Running(crawl.folder, *words)

    def _ended_within(self, started: Running, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if started.process.poll() is not None:
                return True
            time.sleep(0.002)
        return started.process.poll() is not None

    def _ended_before_a_kill(self, crawl: Crawl, started: Running) -> bool:
        if self._chance.random() < EARLY:
            return self._ended_within(started, self._chance.uniform(*EARLY_S))
        deadline = time.monotonic() + LONGEST_WAIT_S
        while not self._has_grown(crawl) and time.monotonic() < deadline:
            if self._ended_within(started, 0.01):
                return True
        return self._ended_within(started, self._chance.uniform(*self.wait_s))

    def _has_grown(self, crawl: Crawl) -> bool:
        """Whether the archive is another than when the command was started."""
        return _archive_bytes(crawl.folder) != crawl.bytes_at_start

    def _kill_command(self, crawl: Crawl, started: Running, whom: str) -> None:
        if whom == "coordinator":
            started.kill()
            started.process.communicate()  # its agents are still about when it is started again
        elif whom == "all":
            started.kill_all()
        else:
            started.process.terminate()
            self._ended_within(started, TERM_S)
            started.kill_all()
        self._note(crawl, Kill(whom, AGENTS))

    def _note(self, crawl: Crawl, kill: Kill, times: int = 1) -> None:
        crawl.kills.append(replace(kill, at_ns=time.monotonic_ns()))
        self.kills[kill.whom] += times

    def _finish(self, crawl: Crawl, ran: Ran) -> None:
        """The crawl has ended by itself: is it what it should be?"""
        self._crawl = None
        self.crawls += 1
        if ran.code != 0:
            self.findings.append(Finding("stopped", f"{crawl.folder.name}: exit code {ran.code}: {ran.err[-500:]}"))
            return
        witnessed = self.lab.witnessed()
        requests = witnessed.where(witnessed.started_ns >= crawl.since_ns)
        resumes_s = _resumes(crawl.starts_ns, requests.started_ns.tolist())
        # In flight: one request per site at the most, and one group that is not on disk.
        per_agent = self._sites + GROUP_PAGES
        evidence = Evidence(crawl.folder, self._true, requests, crawl.kills, MIN_DELAY_S, per_agent)
        found = check(evidence)
        self.findings += found
        self.resumes_s += resumes_s
        self.pages += ran.report["pages"]
        self.again += refetches(crawl.folder, requests)
        self.cost += refetches_by_kill(crawl.folder, requests, crawl.kills)
        line = f"{crawl.folder.name}: {ran.report['pages']} pages, {len(crawl.kills)} kills, {len(found)} findings"
        self.tell(line + "".join(f"\n  {finding}" for finding in found[:20]))
        if not found:
            shutil.rmtree(crawl.folder)


def _archive_bytes(folder: Path) -> int:
    found = 0
    for path in (folder / "archive").glob("agent-*/*.warc.gz"):
        with suppress(FileNotFoundError):
            found += path.stat().st_size
    return found


def _resumes(starts_ns: Sequence[int], requests_ns: Sequence[int]) -> list[float]:
    """Seconds from each start to its first request, where it came to one before the next start."""
    found = []
    for start, following in zip(starts_ns, [*starts_ns[1:], 1 << 62], strict=True):
        first = next((at for at in requests_ns if start <= at < following), None)
        if first is not None:
            found.append((first - start) / 1e9)
    return found
