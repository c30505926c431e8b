"""A writer killed at each named point, then started again: the archive holds exactly what was committed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import killable_writer
import pytest
from archived_pages import urls_in
from killable_writer import GROUPS, committed_position

from nephila.store.archive.names import archive_files
from nephila.store.archive.verify import verify

POINTS = [
    "warc.half_member",
    "warc.appended",
    "warc.synced",
    "warc.rotating",
    "database.in_commit",
    "database.committed",
]


def start(folder: Path, crash_at: str) -> int:
    done = subprocess.run(
        [sys.executable, killable_writer.__file__, str(folder)],
        env={**os.environ, "NEPHILA_CRASH_AT": crash_at},
        check=False,
    )
    return done.returncode


@pytest.mark.parametrize("nth", [1, 4])
@pytest.mark.parametrize("point", POINTS)
def test_a_kill_at_any_point_loses_nothing_and_doubles_nothing(tmp_path: Path, point: str, nth: int) -> None:
    # given a writer killed at the point, and killed again while it recovers
    assert start(tmp_path, f"{point}:{nth}") == -signal.SIGKILL
    again = start(tmp_path, "warc.recovering:1")
    assert again in (-signal.SIGKILL, 0)
    # when the same command is given
    assert start(tmp_path, "") == 0
    # then every page is there once, in the state and in the archive, and every file is whole
    expected = [f"http://example.org/{number}" for number in range(3 * GROUPS)]
    assert urls_in(tmp_path / "archive", committed_position(tmp_path)) == expected
    files = archive_files(tmp_path / "archive")
    assert sum(dict(verify(path).kinds)["response"] for path in files) == len(expected)
    assert [problem for path in files for problem in verify(path).problems] == []
    for path in files:
        subprocess.run(["gzip", "-t", str(path)], check=True)
