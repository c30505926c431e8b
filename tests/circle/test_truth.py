"""A crawl of the lab's web finds the truth: every URL once, with its outcome and its content."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from nephila.config.sections import Lab
from nephila.lab.serve import LabServer

from .webs import QUICK, Expected, assert_complete, crawl, expected, in_lab, settings_of

LAB = Lab(sites=60, max_depth=3)


@pytest.fixture(scope="module")
def lab() -> Iterator[LabServer]:
    with LabServer(LAB, processes=1) as server:
        yield server


@pytest.fixture(scope="module")
def true(lab: LabServer) -> Expected:
    return expected(lab)


@pytest.mark.slow
@pytest.mark.parametrize(("engine", "agents"), [("local", 1), ("local", 2), ("local", 4), ("inline", 2)])
def test_every_url_is_collected_exactly_once_however_many_agents_there_are(
    lab: LabServer, true: Expected, tmp_path: Path, engine: str, agents: int
) -> None:
    # given a web of some thousand pages with all of S1's faults, and a seed in each of its sites
    seeds = lab.write_seeds(tmp_path / "seeds.txt")
    assert len(true) > 3000
    # when it is crawled
    folder = tmp_path / "crawl"
    ran = crawl(folder, "-i", seeds, "--engine", engine, "--agents", agents, *settings_of(QUICK, in_lab(lab)))
    # then every URL, outcome and digest is the truth's (so that they are equal by URL for all numbers of agents)
    assert ran.code == 0, ran.err
    assert ran.report["how"] == "done"
    assert_complete(true, folder)
