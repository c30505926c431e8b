"""A full disk: the crawl rests, says so, and goes on when there is room; what must stop does so with 3 (F4)."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ..circle.webs import LONG, Ran, crawl, environment, pages_on_disk, run, running, wait_until
from .faulty import SmallWeb, fault, small_web

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("crash-disk")]


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallWeb]:
    with small_web(tmp_path_factory.mktemp("web")) as served:
        yield served


def assert_told(ran: Ran, code: int, *words: str) -> None:
    assert ran.code == code, ran.err
    assert "Traceback" not in ran.err
    assert all(word in ran.err for word in words), ran.err


@pytest.mark.parametrize("nth", range(1, 200) if LONG else [4, 17, 120])
def test_no_room_at_one_write_costs_nothing(web: SmallWeb, tmp_path: Path, nth: int) -> None:
    # given a disk that has no room at the nth write, in the archive, in a database or in a file of settings
    since_ns = time.monotonic_ns()
    with fault(f"full:{nth}"):
        ran = web.inline(tmp_path / "crawl")
    # then the crawl goes on by itself, or says that it cannot and is completed by the same command
    if ran.code:
        assert_told(ran, 3, "No room left", "make room")
        ran = web.inline(tmp_path / "crawl")
    assert ran.code == 0, ran.err
    assert web.findings(tmp_path / "crawl", since_ns) == []


class Told:
    """A crawl whose progress lines are read as they come."""

    def __init__(self, folder: Path, *words: object) -> None:
        self.path = folder.with_name("progress.txt")
        command = [sys.executable, "-m", "nephila", "crawl", "-C", str(folder), *map(str, words)]
        with self.path.open("wb") as err:
            self.process = subprocess.Popen(command, env=environment(), stdout=subprocess.DEVNULL, stderr=err)

    def says(self, words: str) -> bool:
        assert self.process.poll() is None, self.path.read_text()
        return words in self.path.read_text()


@pytest.mark.parametrize(
    "stop", [False, True] if LONG else [False], ids=lambda stop: "stopped" if stop else "room comes"
)
def test_agents_without_room_rest_and_go_on_or_stop_with_3(web: SmallWeb, tmp_path: Path, stop: bool) -> None:
    folder, flag = tmp_path / "crawl", tmp_path / "full"
    since_ns = time.monotonic_ns()
    with fault(f"full-while:{flag}"):
        told = Told(folder, *web.words("--agents", 2, "--set", "politeness.min_delay=0.3"))
    try:
        wait_until(lambda: pages_on_disk(folder) >= 5, 60.0, "five pages")
        # when the disk is full
        flag.touch()
        # then it says so and no page is committed
        wait_until(lambda: told.says("Paused: the disk is nearly full"), 30.0, "a word about the disk")
        pages = pages_on_disk(folder)
        if stop:
            # when it is stopped all the same, it says that there was no room
            told.process.send_signal(signal.SIGINT)
            assert told.process.wait(60.0) == 3, told.path.read_text()
            assert "No room left" in told.path.read_text() and "Traceback" not in told.path.read_text()
            assert pages_on_disk(folder) == pages
            ran = crawl(folder)
            assert ran.code == 0, ran.err
        else:
            # when there is room again, it goes on by itself
            flag.unlink()
            assert told.process.wait(90.0) == 0, told.path.read_text()
    finally:
        told.process.kill()
        told.process.wait()
    assert web.findings(folder, since_ns, allowed_again=int(stop) * 100) == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of 240 MB."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = shutil.which("mount")
    if os.geteuid() != 0 or mount is None:
        pytest.skip("only root may mount a small file system")
    done = subprocess.run(
        [mount, "-t", "tmpfs", "-o", "size=240m", "tmpfs", str(place)], capture_output=True, check=False
    )
    if done.returncode:
        pytest.skip(f"a small file system cannot be mounted here: {done.stderr.decode().strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def fill(path: Path, but_bytes: int) -> None:
    """Take all room but so many bytes."""
    found = os.statvfs(path.parent)
    with path.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, found.f_bavail * found.f_frsize - but_bytes)


def test_a_crawl_rests_before_a_real_disk_is_full_and_its_status_tells(web: SmallWeb, small_disk: Path) -> None:
    folder, filler = small_disk / "crawl", small_disk / "filler"
    since_ns = time.monotonic_ns()
    with running(folder, *web.words("--agents", 2, "--set", "politeness.min_delay=0.3")) as started:
        started.until_pages(5)
        # when somebody else takes nearly all room
        fill(filler, 10 * 2**20)
        # then the crawl rests, and its status says why
        wait_until(lambda: run("status", "-C", folder, "--json").report["report"]["no_room"], 60.0, "a rest")
        assert "the disk is nearly full" in run("status", "-C", folder).out
        # when there is room again, it goes on by itself
        filler.unlink()
        ran = started.ended(90.0)
    assert ran.code == 0, ran.err
    assert web.findings(folder, since_ns) == []
    assert not (folder / "state" / "reserve").exists()


def test_no_room_for_tables_is_told_and_costs_nothing(web: SmallWeb, small_disk: Path) -> None:
    folder, filler = small_disk / "crawl", small_disk / "filler"
    ran = web.inline(folder)
    assert ran.code == 0, ran.err
    # given a disk with next to no room
    fill(filler, 64 * 1024)
    assert_told(run("convert", "-C", folder, "--engine", "inline", "--agents", 1), 3, "room")
    # when there is some, the same command makes the tables
    filler.unlink()
    done = run("convert", "-C", folder, "--engine", "inline", "--agents", 1, "--json")
    assert done.code == 0, done.err
    assert done.report["pages"] == ran.report["pages"]
