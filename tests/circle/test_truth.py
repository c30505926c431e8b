"""A crawl of the lab's web finds the truth: every URL once, with its outcome and its content."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from nephila.config.sections import Lab
from nephila.lab.serve import LabServer
from nephila.lab.web import Web
from nephila.urls import split

from .webs import (
    QUICK,
    Expected,
    assert_complete,
    assert_complete_under_any_name,
    crawl,
    expected,
    in_lab,
    outcomes,
    settings_of,
    write_seeds,
)

LAB = Lab(sites=40, max_depth=3, seed=2)


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
    assert len(true) > 2500
    # when it is crawled
    folder = tmp_path / "crawl"
    ran = crawl(folder, "-i", seeds, "--engine", engine, "--agents", agents, *settings_of(QUICK, in_lab(lab)))
    # then every URL, outcome and digest is the truth's (so that they are equal by URL for all numbers of agents)
    assert ran.code == 0, ran.err
    assert ran.report["how"] == "done"
    assert_complete(true, folder)


@pytest.mark.slow
def test_from_a_share_of_the_seeds_the_web_that_they_lead_to_is_found(lab: LabServer, tmp_path: Path) -> None:
    # given the seeds of a third of the sites
    assert lab.lab is not None
    chosen = list(Web(lab.lab).seeds(share=0.3))
    true = expected(lab, chosen)
    assert 0 < len(chosen) < LAB.sites / 2
    assert len({split(url)[0] for url in true.rows}) > len(chosen)
    # when they are crawled in the mode `web`
    folder = tmp_path / "crawl"
    seeds = write_seeds(tmp_path / "seeds.txt", chosen)
    ran = crawl(folder, "-i", seeds, "--agents", 2, *settings_of(QUICK, in_lab(lab)))
    # then all that they lead to is found, and the output list holds the input and is an input (S1-5)
    assert ran.code == 0, ran.err
    assert_complete_under_any_name(true, folder)
    found = (folder / "seeds.out").read_text().split()
    assert len(found) == len(set(found)) > len(chosen)
    assert found[: len(chosen)] == chosen
    again = crawl(
        tmp_path / "again", "-i", folder / "seeds.out", "--set", "crawl.max_depth=0", *settings_of(QUICK, in_lab(lab))
    )
    assert again.code == 0, again.err
    assert set(found) <= set(outcomes(tmp_path / "again"))
