"""The one door for durable bytes, and the points at which a process can be made to die."""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from failing_disks import ForgetfulDisk, FullDisk

from nephila.errors import DiskFullError, NephilaError
from nephila.store.durable import AppendFile, RealDisk, aside_of, explained, replace_file


class ShortDisk(RealDisk):
    """Takes at most seven bytes at a time, as a system call may."""

    def write(self, descriptor: int, content: memoryview) -> int:
        return super().write(descriptor, content[:7])


def test_short_writes_are_continued(tmp_path: Path) -> None:
    file = AppendFile(tmp_path / "file", ShortDisk())
    file.append(b"0123456789" * 10)
    assert (tmp_path / "file").read_bytes() == b"0123456789" * 10
    assert file.size_bytes == 100


@pytest.mark.parametrize("seed", range(40))
def test_a_replaced_file_is_old_or_new_after_a_power_cut(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old" * 5000)
    disk = ForgetfulDisk()
    replace_file(path, b"new" * 6000, disk)
    disk.cut_power(seed)
    assert path.read_bytes() == b"new" * 6000  # replace_file had returned


@pytest.mark.parametrize("refuse_at", [1])
def test_a_full_disk_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path, refuse_at: int) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(DiskFullError, match="make room"):
        replace_file(path, b"new" * 1000, FullDisk(refuse_at))
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_leftover_of_a_killed_process_does_not_get_in(tmp_path: Path) -> None:
    path = tmp_path / "file"
    aside_of(path).write_bytes(b"half of something else, and longer")
    replace_file(path, b"new")
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.fixture
def small_files_only() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.usefixtures("small_files_only")
def test_a_limit_of_the_system_is_told_like_a_full_disk(tmp_path: Path) -> None:
    file = AppendFile(tmp_path / "file")
    with pytest.raises(DiskFullError):
        file.append(b"x" * 5000)


@pytest.mark.parametrize(
    ("number", "expected"),
    [(errno.ENOSPC, "No room left"), (errno.EROFS, "right to write"), (errno.EIO, "check the disk")],
)
def test_each_failure_has_a_sentence_that_names_the_file(number: int, expected: str) -> None:
    error = explained(OSError(number, os.strerror(number)), Path("some/file"))
    assert isinstance(error, NephilaError)
    assert expected in str(error)
    assert "some/file" in str(error)


_PASSES = """
import sys
from pathlib import Path
from nephila.store.durable import AppendFile, crash_point
file = AppendFile(Path(sys.argv[1]))
for number in range(4):
    file.append(b"%d" % number * 10, half_point="half")
    crash_point("appended")
"""


@pytest.mark.parametrize(
    ("crash_at", "left"),
    [
        ("", 40),
        ("appended:1", 10),
        ("appended:3", 30),
        ("half:1", 5),
        ("half:3", 25),
        ("appended:9", 40),
        ("other:1", 40),
    ],
)
def test_a_process_dies_at_the_pass_it_was_told_to(tmp_path: Path, crash_at: str, left: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _PASSES, str(tmp_path / "file")],
        env={**os.environ, "NEPHILA_CRASH_AT": crash_at},
        check=False,
    )
    assert (tmp_path / "file").stat().st_size == left
    assert done.returncode == (0 if left == 40 else -signal.SIGKILL)


def test_a_misspelt_crash_point_is_refused() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import nephila.store.durable"],
        env={**os.environ, "NEPHILA_CRASH_AT": "appended"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "name:nth" in done.stderr
