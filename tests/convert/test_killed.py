"""A conversion that is killed at any point and run again gives the same bytes."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import Collected, bytes_of, convert, crawl_on

pytestmark = pytest.mark.xdist_group("convert")


def convert_and_die(path: Path, point: str) -> None:
    command = [sys.executable, "-m", "nephila", "convert", "-C", str(path), "--engine", "inline"]
    done = subprocess.run(command, env=os.environ | {"NEPHILA_CRASH_AT": point}, capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr


@pytest.fixture(scope="module")
def halfway_bytes(collected: Collected, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    path = tmp_path_factory.mktemp("halfway") / "crawl"
    shutil.copytree(collected.halfway, path)
    convert(path)
    return bytes_of(path)


@pytest.mark.parametrize(
    "point", ["convert.ids:1", "convert.extracted:1", "convert.links:1", "convert.prepared:1", "durable.after_rename:7",
              "convert.published:1"],
)  # fmt: skip
def test_a_first_conversion_killed_and_run_again_gives_the_same_bytes(
    point: str, collected: Collected, halfway_bytes: dict[str, bytes], tmp_path: Path
) -> None:
    path = tmp_path / "crawl"
    shutil.copytree(collected.halfway, path)
    convert_and_die(path, point)
    convert(path)
    assert bytes_of(path) == halfway_bytes


def test_a_further_conversion_killed_while_publishing_gives_the_same_bytes(
    collected: Collected, tmp_path: Path
) -> None:
    # given two copies of a crawl that was converted halfway and has gone on
    paths = [tmp_path / "killed", tmp_path / "whole"]
    for path in paths:
        shutil.copytree(collected.halfway, path)
        convert(path)
        crawl_on(path, collected.whole)
    # when one is killed between two renames and converted again, and the other is not
    convert_and_die(paths[0], "durable.after_rename:4")
    for path in paths:
        convert(path)
    # then they are equal, and nothing is left lying about
    assert bytes_of(paths[0]) == bytes_of(paths[1])
    assert not list(paths[0].rglob("*.aside")) and not (paths[0] / "state/convert/extracts").exists()


def test_killed_again_and_again_at_any_instant_it_gives_the_same_bytes(
    collected: Collected, halfway_bytes: dict[str, bytes], tmp_path: Path
) -> None:
    """Worker processes and all; each go is given more time than the one before, until one comes to its end."""
    path = tmp_path / "crawl"
    shutil.copytree(collected.halfway, path)
    command = [sys.executable, "-m", "nephila", "convert", "-C", str(path), "--engine", "local", "--agents", "2"]
    killed = 0
    for number in range(40):
        going = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            code = going.wait(timeout=0.4 * 1.35**number)
        except subprocess.TimeoutExpired:
            os.killpg(going.pid, signal.SIGKILL)
            going.wait()
            killed += 1
            continue
        if code == 0:
            break
    assert killed > 3
    assert bytes_of(path) == halfway_bytes
    assert not list(path.rglob("*.aside"))
