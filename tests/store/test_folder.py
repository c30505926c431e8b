"""The crawl folder: made, opened, refused, locked."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from nephila.errors import DamagedError, FolderInUseError, NephilaError, UsageError
from nephila.store.folder import FORMAT_VERSION, CrawlFolder


def everything_in(path: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() if file.is_file() else b"" for file in sorted(path.rglob("*"))}


def test_a_folder_is_made_and_opened_again(tmp_path: Path) -> None:
    made = CrawlFolder.create(tmp_path / "new" / "crawl")
    assert CrawlFolder.open(made.path) == made
    assert CrawlFolder.create(made.path) == made
    assert CrawlFolder.is_crawl(made.path)
    assert made.agent_database(3) == made.path / "state" / "agent-03.db"
    assert made.archive_of(3) == made.path / "archive" / "agent-03"
    assert made.batch(7) == made.path / "batches" / "0007"


def test_slots_are_those_with_an_archive_or_a_database(tmp_path: Path) -> None:
    folder = CrawlFolder.create(tmp_path)
    assert folder.slots() == ()
    folder.archive_of(2).mkdir(parents=True)
    folder.agent_database(0).touch()
    folder.agent_database(117).touch()
    (folder.state / "agent-05.db-wal").touch()
    (folder.state / "agent-05.lock").touch()
    assert folder.slots() == (0, 2, 117)


def test_an_empty_folder_becomes_a_crawl(tmp_path: Path) -> None:
    assert CrawlFolder.create(tmp_path).version_file.read_text() == f"{FORMAT_VERSION}\n"


@pytest.mark.parametrize("point", ["durable.half_aside:1", "durable.before_rename:1", "durable.after_rename:1"])
def test_a_process_killed_while_making_a_folder_is_no_obstacle(tmp_path: Path, point: str) -> None:
    path = tmp_path / "crawl"
    script = "import sys, pathlib, nephila.store.folder as folder\nfolder.CrawlFolder.create(pathlib.Path(sys.argv[1]))"
    environment = {**os.environ, "NEPHILA_CRASH_AT": point}
    killed = subprocess.run([sys.executable, "-c", script, str(path)], env=environment, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert CrawlFolder.create(path) == CrawlFolder.open(path)


def test_a_folder_with_other_things_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("ten years")
    before = everything_in(tmp_path)
    with pytest.raises(UsageError, match="left alone"):
        CrawlFolder.create(tmp_path)
    with pytest.raises(UsageError, match="not a crawl folder"):
        CrawlFolder.open(tmp_path)
    assert everything_in(tmp_path) == before


def test_a_folder_whose_state_is_not_ours_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "of-the-art.txt").write_text("x")
    with pytest.raises(UsageError, match="left alone"):
        CrawlFolder.create(tmp_path)


def test_a_state_that_is_a_file_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("x")
    with pytest.raises(UsageError, match="left alone"):
        CrawlFolder.create(tmp_path)


def test_a_missing_folder_is_not_made_by_opening_it(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no crawl in"):
        CrawlFolder.open(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()


def test_a_file_is_not_a_folder(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    with pytest.raises(UsageError, match="is a file"):
        CrawlFolder.create(file)
    with pytest.raises(UsageError, match="is a file"):
        CrawlFolder.open(file)


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    folder = CrawlFolder.create(tmp_path)
    folder.version_file.write_text(f"{FORMAT_VERSION + 1}\n")
    with pytest.raises(NephilaError, match="upgrade Nephila"):
        CrawlFolder.open(tmp_path)


@pytest.mark.parametrize("content", [b"", b"\x00\x00", b"one", "٣".encode(), b"\xff"])
def test_a_version_that_is_no_number_is_damage(tmp_path: Path, content: bytes) -> None:
    CrawlFolder.create(tmp_path).version_file.write_bytes(content)
    with pytest.raises(DamagedError, match="nephila repair"):
        CrawlFolder.open(tmp_path)


@pytest.fixture
def an_ordinary_user() -> Iterator[Path]:
    """A folder as seen by someone who is not root, since root may write anywhere."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name)
        path.chmod(0o755)
        was_root = os.geteuid() == 0
        yield path
        if was_root:
            os.seteuid(0)
        path.chmod(0o755)


def test_a_read_only_folder_can_be_opened_and_not_locked(an_ordinary_user: Path) -> None:
    folder = CrawlFolder.create(an_ordinary_user / "crawl")
    folder.state.chmod(0o555)
    if os.geteuid() == 0:
        os.seteuid(65_534)
    assert CrawlFolder.open(folder.path) == folder
    with pytest.raises(NephilaError, match="give yourself the right to write"):
        folder.lock("test")


def test_a_folder_cannot_be_made_where_nothing_may_be_written(an_ordinary_user: Path) -> None:
    an_ordinary_user.chmod(0o555)
    if os.geteuid() == 0:
        os.seteuid(65_534)
    with pytest.raises(NephilaError, match="give yourself the right to write"):
        CrawlFolder.create(an_ordinary_user / "crawl")


def test_the_second_process_is_refused_at_once_and_told_who_the_first_is(tmp_path: Path) -> None:
    folder = CrawlFolder.create(tmp_path)
    with folder.lock("nephila crawl http://example.org/"):
        before = everything_in(tmp_path)
        begun_at = time.monotonic()
        with pytest.raises(FolderInUseError, match=rf"process {os.getpid()} \(nephila crawl") as refusal:
            folder.lock("nephila crawl again")
        assert time.monotonic() - begun_at < 1
        assert refusal.value.exit_code == 4
        assert everything_in(tmp_path) == before
    folder.lock("now it is free").release()


_HOLD = """
import sys, os, time
from pathlib import Path
from nephila.store.folder import CrawlFolder
lock = CrawlFolder.open(Path(sys.argv[1])).lock("nephila crawl")
child = None
if sys.argv[2] == "with-child":
    child_runs, child_says = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(child_says, b"!")
        time.sleep(60)
    os.read(child_runs, 1)
print(child or 0, flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("family", ["alone", "with-child"])
def test_a_killed_process_leaves_no_lock_behind(tmp_path: Path, family: str) -> None:
    # given a process that holds the folder, perhaps with a forked child that outlives it
    folder = CrawlFolder.create(tmp_path)
    holder = subprocess.Popen([sys.executable, "-c", _HOLD, str(tmp_path), family], stdout=subprocess.PIPE)
    assert holder.stdout is not None
    child = int(holder.stdout.readline())
    with pytest.raises(FolderInUseError, match=f"process {holder.pid}"):
        folder.lock("second")
    # when it is killed
    holder.kill()
    holder.wait()
    holder.stdout.close()
    # then the next one has the folder at once
    try:
        folder.lock("third").release()
    finally:
        if child:
            os.kill(child, signal.SIGKILL)


def test_a_lock_can_be_waited_for(tmp_path: Path) -> None:
    folder = CrawlFolder.create(tmp_path)
    holder = subprocess.Popen([sys.executable, "-c", _HOLD, str(tmp_path), "alone"], stdout=subprocess.PIPE)
    assert holder.stdout is not None
    holder.stdout.readline()
    holder.terminate()  # it ends at some time after this, and the lock with it
    folder.lock("next", wait_s=5).release()
    holder.wait()
    holder.stdout.close()


def test_slots_are_locked_one_by_one(tmp_path: Path) -> None:
    folder = CrawlFolder.create(tmp_path)
    with folder.lock("coordinator"), folder.lock_slot(0, "agent"), folder.lock_slot(1, "agent"):
        with pytest.raises(FolderInUseError, match="agent-01"):
            folder.lock_slot(1, "agent")
        assert folder.slots() == ()
