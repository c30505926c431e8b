"""Real webs and real crawls for the tests of the circle: a lab's processes, `python -m nephila` and the truth."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw

import nephila
from nephila.crawl.pages import KnownPage, read_pages
from nephila.crawl.totals import read_totals
from nephila.engine.nursery import NURSERY
from nephila.lab.serve import LabServer
from nephila.lab.truth import truth
from nephila.lab.web import Web
from nephila.store.database import open_reader
from nephila.store.folder import CrawlFolder
from nephila.urls import split

LONG = bool(os.environ.get("NEPHILA_LONG"))
"""Whether there is time for many places of a fault instead of a few, and for what takes long: `make crash`, `study`."""

QUICK: Mapping[str, object] = {
    "politeness.min_delay": 0,
    "politeness.delay_factor": 0,
    "crawl.retries": 0,
    "crawl.sleep_min": 0.1,
    "net.header_timeout": 2.0,  # longer than a busy machine leaves the lab's processes waiting
    "net.idle_timeout": 2.0,
    "archive.sync": "false",  # nothing here cuts the power; the kills lose nothing either way
}
"""No delays, because the web is ours, and short time-outs."""


def environment() -> dict[str, str]:
    """Where a child process finds this very package."""
    own = str(Path(nephila.__file__).parents[1])
    return {**os.environ, "PYTHONPATH": os.pathsep.join([own, *filter(None, [os.environ.get("PYTHONPATH")])])}


def settings_of(*layers: Mapping[str, object]) -> list[str]:
    words: list[str] = []
    merged = {key: value for layer in layers for key, value in layer.items()}
    for key, value in merged.items():
        words += ["--set", f"{key}={value}"]
    return words


def in_lab(server: LabServer) -> dict[str, object]:
    """What a crawl must know to find the lab's sites."""
    return {"net.allow_private": "127.0.0.0/8", "net.nameservers": server.dns}


@dataclass(frozen=True)
class Ran:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def report(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.out)
        return found


def run(*words: object, within_s: float = 90.0) -> Ran:
    """Run `nephila WORDS` to its end."""
    command = [sys.executable, "-m", "nephila", *map(str, words)]
    done = subprocess.run(
        command, env=environment(), capture_output=True, text=True, errors="replace", timeout=within_s, check=False
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def crawl(folder: Path, *words: object, within_s: float = 90.0) -> Ran:
    return run("crawl", "-C", folder, "--json", "-q", *words, within_s=within_s)


def crawl_inline(folder: Path, *words: object, within_s: float = 90.0) -> Ran:
    """The same in one process, which starts sooner."""
    return crawl(folder, "--engine", "inline", "--agents", 1, *words, within_s=within_s)


class Running:
    """A crawl under way as a process of its own."""

    def __init__(self, folder: Path, *words: object) -> None:
        self.folder = folder
        command = [sys.executable, "-m", "nephila", "crawl", "-C", str(folder), "--json", "-q", *map(str, words)]
        self.process = subprocess.Popen(
            command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace"
        )

    def agents(self) -> list[int]:
        """The process ids of its agents: forked by its nursery, or started where that is gone."""
        children = children_of(self.process.pid)
        forked = [pid for child in children if name_of(child) == NURSERY for pid in children_of(child)]
        return [*forked, *(pid for pid in children if b"nephila.engine.worker" in command_line(pid))]

    def nursery(self) -> int:
        """The process id of what its agents are forked from."""
        [found] = [child for child in children_of(self.process.pid) if name_of(child) == NURSERY]
        return found

    def until_pages(self, count: int, within_s: float = 60.0) -> None:
        """Wait until so many pages are on disk; fails if the crawl ends before."""

        def enough() -> bool:
            assert self.process.poll() is None, self.ended().err
            return pages_on_disk(self.folder) >= count

        wait_until(enough, within_s, f"{count} pages")

    def interrupt(self) -> None:
        self.process.send_signal(signal.SIGINT)

    def kill(self) -> None:
        self.process.kill()

    def ended(self, within_s: float = 60.0) -> Ran:
        out, err = self.process.communicate(timeout=within_s)
        return Ran(self.process.returncode, out, err)

    def kill_all(self) -> list[int]:
        """SIGKILL for the coordinator and all of its agents; gives the agents' process ids."""
        agents = self.agents()
        self.process.kill()
        for pid in agents:
            kill_process(pid)
        self.ended()
        wait_until(lambda: not any(map(is_alive, agents)), 10.0, "the end of the agents")
        return agents


@contextmanager
def running(folder: Path, *words: object) -> Iterator[Running]:
    """A crawl that does not outlive the test."""
    started = Running(folder, *words)
    try:
        yield started
    finally:
        agents = started.agents() if started.process.poll() is None else []
        if started.process.poll() is None:
            started.process.kill()
        started.process.communicate()
        for pid in agents:
            kill_process(pid)


def wait_until(condition: Callable[[], bool], within_s: float, what: str) -> None:
    """Look again and again until the condition holds; the deadline is an error."""
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not come within {within_s:g} s"
        time.sleep(0.01)  # between two looks, not instead of one


def kill_process(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def children_of(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def name_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def is_alive(pid: int) -> bool:
    """Whether the process is there and no zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


# What is in a folder


def slot_rows(folder: Path, sql: str, *values: object) -> list[tuple[Any, ...]]:
    """The rows of all slots, while the crawl runs too."""
    rows: list[tuple[Any, ...]] = []
    crawl_folder = CrawlFolder(folder)
    for slot in crawl_folder.slots():
        if crawl_folder.agent_database(slot).exists():
            rows += read_rows(crawl_folder.agent_database(slot), sql, *values)
    return rows


def site_rows(folder: Path, sql: str, *values: object) -> list[tuple[Any, ...]]:
    """Rows of the coordinator's database."""
    return read_rows(CrawlFolder(folder).coordinator_database, sql, *values)


def read_rows(path: Path, sql: str, *values: object) -> list[tuple[Any, ...]]:
    reader = open_reader(path)
    try:
        return list(reader.execute(sql, values))
    finally:
        reader.close()


def pages_on_disk(folder: Path) -> int:
    try:
        return sum(row[0] for row in slot_rows(folder, "SELECT pages FROM slot"))
    except apsw.SQLError:  # the tables are being made
        return 0


def outcomes(folder: Path) -> dict[str, str]:
    """Every URL known and its outcome; each must be there once."""
    return {url: page.outcome.value for url, page in pages(folder).items()}


def pages(folder: Path) -> dict[str, KnownPage]:
    found: dict[str, KnownPage] = {}
    for page in read_pages(CrawlFolder(folder)):
        assert page.url not in found, f"{page.url} is there twice"
        found[page.url] = page
    return found


# The truth


@dataclass(frozen=True)
class Expected:
    """What a crawl of a lab must find: outcome and, where it is `ok`, the digest of the body."""

    rows: dict[str, tuple[str, bytes | None]]
    untold_sites: frozenset[str] = frozenset()
    canonical: Mapping[str, str] = field(default_factory=dict)  # site -> the site that it is another name of

    @property
    def alias_sites(self) -> frozenset[str]:
        return frozenset(split(url)[0] for url, (outcome, _) in self.rows.items() if outcome == "alias")

    def __len__(self) -> int:
        return len(self.rows)

    def requested(self) -> set[str]:
        never = {"alias", "blocked_robots", "deferred_robots", "dns_nxdomain", "dns_fail"}
        return {url for url, (outcome, _) in self.rows.items() if outcome not in never}


def expected(server: LabServer, seeds: Iterable[str] | None = None) -> Expected:
    """The truth, without aliases of sites that have no page but the home page to be compared by.

    Two names with one home page and nothing else may be two virtual hosts; they are collected as such, and the truth
    of the lab, which knows better, is no judge there.
    """
    assert server.lab is not None
    found = [row for row in truth(Web(server.lab), 0.0, seeds) if row.reachable]
    contents: dict[str, set[bytes | None]] = {}
    for row in found:
        if row.outcome.value == "ok":
            contents.setdefault(row.site, set()).add(row.digest)
    untold = {row.site for row in found if row.site != row.canonical_site and len(contents[row.canonical_site]) < 2}
    rows = {row.url: (row.outcome.value, row.digest) for row in found if row.site not in untold}
    return Expected(rows, frozenset(untold), {row.site: row.canonical_site for row in found})


def collected(folder: Path) -> dict[str, tuple[str, bytes | None]]:
    return {url: (page.outcome.value, page.checksum) for url, page in pages(folder).items()}


def differences(true: Expected, folder: Path, without: frozenset[str] = frozenset()) -> list[str]:
    """What is missing, too much or other than in truth; none in a crawl that is complete."""
    left_out = true.untold_sites | without
    found = {url: row for url, row in collected(folder).items() if split(url)[0] not in left_out}
    true = Expected({url: row for url, row in true.rows.items() if split(url)[0] not in without})
    told = [f"missing: {url} ({true.rows[url][0]})" for url in sorted(true.rows.keys() - found.keys())]
    told += [f"unexpected: {url} ({found[url][0]})" for url in sorted(found.keys() - true.rows.keys())]
    for url in sorted(true.rows.keys() & found.keys()):
        (true_outcome, digest), (outcome, checksum) = true.rows[url], found[url]
        if outcome != true_outcome or (outcome == "ok" and digest != checksum):
            told.append(f"otherwise: {url} is {outcome}, in truth {true_outcome}")
    return told


def assert_complete_under_any_name(true: Expected, folder: Path) -> None:
    """Like `assert_complete`, where the crawl may have met an alias before the site's true name: the first is kept."""

    def under_true_names(rows: Mapping[str, tuple[str, bytes | None]]) -> dict[str, tuple[str, bytes | None]]:
        named: dict[str, tuple[str, bytes | None]] = {}
        for url, (outcome, digest) in rows.items():
            site, path = split(url)
            true_name = true.canonical.get(site, site) + path
            if outcome != "alias" and site not in true.untold_sites:
                assert true_name not in named, f"{true_name} was collected under two names"
                named[true_name] = (outcome, digest if outcome == "ok" else None)
        return named

    wanted, found = under_true_names(true.rows), under_true_names(collected(folder))
    told = [f"missing: {url} ({wanted[url][0]})" for url in sorted(wanted.keys() - found.keys())]
    told += [f"unexpected: {url} ({found[url][0]})" for url in sorted(found.keys() - wanted.keys())]
    for url in sorted(wanted.keys() & found.keys()):
        if found[url] != wanted[url]:
            told.append(f"otherwise: {url} is {found[url][0]}, in truth {wanted[url][0]}")
    assert not told, f"{len(told)} differences:\n" + "\n".join(told[:20])
    assert_counted(folder)


def assert_complete(true: Expected, folder: Path, without: frozenset[str] = frozenset()) -> None:
    """Everything in truth was collected, once; the counters of the folder say the same. `without` names sites."""
    told = differences(true, folder, without)
    assert not told, f"{len(told)} differences:\n" + "\n".join(told[:20])
    assert_counted(folder)


def assert_counted(folder: Path) -> None:
    """The counters that the live view shows are those of the rows."""
    there: dict[str, int] = {}
    for outcome in outcomes(folder).values():
        there[outcome] = there.get(outcome, 0) + 1
    assert read_totals(CrawlFolder(folder)).outcomes == there
    requested = slot_rows(folder, "SELECT count(*) FROM pages WHERE tries > 0")
    assert pages_on_disk(folder) == sum(row[0] for row in requested)


def write_seeds(path: Path, seeds: Sequence[str]) -> Path:
    path.write_text("".join(f"{seed}\n" for seed in seeds))
    return path
