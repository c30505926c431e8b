"""Stopped, interrupted and killed crawls: the same command completes to the truth, and the archive is whole."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from nephila.config.sections import Lab
from nephila.lab.serve import LabServer

from .archives import assert_archive_whole
from .webs import (
    QUICK,
    Expected,
    assert_complete,
    crawl,
    expected,
    in_lab,
    is_alive,
    kill_process,
    running,
    settings_of,
    slot_rows,
    wait_until,
)


@pytest.fixture(scope="module")
def lab() -> Iterator[LabServer]:
    with LabServer(Lab(sites=60, max_depth=2), processes=1) as server:
        yield server


@pytest.fixture(scope="module")
def true(lab: LabServer) -> Expected:
    return expected(lab)


@pytest.fixture
def command(lab: LabServer, tmp_path: Path) -> list[object]:
    """A crawl of the whole lab, with small groups: there is much to be cut through."""
    small = {"archive.group_pages": 10, "archive.group_delay": 0.02, "archive.rotate_size": "2MB"}
    seeds = lab.write_seeds(tmp_path / "seeds.txt")
    return ["-i", seeds, "--agents", 2, *settings_of(QUICK, small, in_lab(lab))]


@pytest.mark.slow
def test_an_interrupted_crawl_ends_with_130_and_the_same_command_completes_it(
    true: Expected, command: list[object], tmp_path: Path
) -> None:
    folder = tmp_path / "crawl"
    # given a crawl that is interrupted half way
    with running(folder, *command) as started:
        started.until_pages(200)
        agents = started.agents()
        started.interrupt()
        ran = started.ended(20.0)
    # then it says so, leaves no process behind and a whole archive
    assert ran.code == 130, ran.err
    assert ran.report["how"] == "interrupted"
    assert not any(map(is_alive, agents))
    assert 200 <= ran.report["pages"] < len(true)
    assert_archive_whole(folder)
    # when the same command is given again, with nothing but the folder
    ran = crawl(folder)
    # then it completes to the truth, and what was collected before is not asked for again
    assert ran.code == 0, ran.err
    assert_complete(true, folder)
    assert_archive_whole(folder)
    sql = "SELECT 1 FROM visits WHERE role = 'page' GROUP BY site, hash HAVING count(*) > 1"
    assert slot_rows(folder, sql) == []


@pytest.mark.slow
def test_a_killed_agent_is_replaced_and_nothing_is_lost_or_twice(
    true: Expected, command: list[object], tmp_path: Path
) -> None:
    folder = tmp_path / "crawl"
    # given a crawl whose agents are killed one after the other, and then both with what they were forked from
    with running(folder, *command) as started:
        for pages in (100, 400):
            started.until_pages(pages)
            kill_process(started.agents()[pages // 100 % 2])
        started.until_pages(700)
        kill_process(started.nursery())
        ran = started.ended()
    # then the crawl goes on by itself to the truth
    assert ran.code == 0, ran.err
    assert ran.report["agent_deaths"] == 4
    assert_complete(true, folder)
    assert_archive_whole(folder)


@pytest.mark.slow
def test_agents_end_with_their_killed_coordinator_and_the_folder_alone_completes_the_crawl(
    true: Expected, command: list[object], tmp_path: Path
) -> None:
    folder = tmp_path / "crawl"
    with running(folder, *command) as started:
        started.until_pages(300)
        agents = started.agents()
        # when the coordinator is killed
        started.kill()
        killed_at = time.monotonic()
        started.process.wait()
        # then its agents end within the two seconds that are promised (and some for a busy machine)
        wait_until(lambda: not any(map(is_alive, agents)), 4.0, "the end of the agents")
        assert time.monotonic() - killed_at < 4.0
    # when the crawl goes on
    ran = crawl(folder)
    assert ran.code == 0, ran.err
    assert_complete(true, folder)
    assert_archive_whole(folder)


@pytest.mark.slow
def test_a_crawl_killed_whole_again_and_again_comes_to_the_truth(
    true: Expected, command: list[object], tmp_path: Path
) -> None:
    folder = tmp_path / "crawl"
    words = command
    for pages in (1, 400, 1150):
        with running(folder, *words) as started:
            started.until_pages(pages)
            started.kill_all()
        words = []
    ran = crawl(folder)
    assert ran.code == 0, ran.err
    assert_complete(true, folder)
    assert_archive_whole(folder)


@pytest.mark.slow
def test_another_number_of_agents_goes_on_with_the_same_slots(
    true: Expected, command: list[object], tmp_path: Path
) -> None:
    folder = tmp_path / "crawl"
    with running(folder, *command) as started:
        started.until_pages(300)
        started.kill_all()
    ran = crawl(folder, "--agents", 1)
    assert ran.code == 0, ran.err
    assert ran.report["agents"] == 1
    assert_complete(true, folder)
