"""More than fifty kills in a few crawls: nothing is lost, nothing is twice, nobody is asked too soon (RELIABILITY 3).

`make crash` is the long form of this, with a table.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from nephila.config.sections import Lab
from nephila.lab.serve import LabServer

from .killing import POINTS, Campaign

RANDOM_KILLS = 31


@pytest.fixture(scope="module")
def lab() -> Iterator[LabServer]:
    """A few hundred pages, some of them slow to come: kills find requests under way."""
    with LabServer(Lab(sites=12, max_depth=2, delay=0.005), processes=1) as server:
        yield server


@pytest.mark.slow
def test_random_kills_lose_nothing_and_double_nothing(lab: LabServer, tmp_path: Path) -> None:
    campaign = Campaign(lab, tmp_path, seed=1)
    campaign.random_kills(RANDOM_KILLS)
    assert [str(finding) for finding in campaign.findings] == []
    assert campaign.spent >= RANDOM_KILLS
    assert campaign.pages > 0


@pytest.mark.slow
def test_a_death_at_any_named_point_loses_nothing_and_doubles_nothing(lab: LabServer, tmp_path: Path) -> None:
    campaign = Campaign(lab, tmp_path, seed=2)
    missed = [point for point in POINTS if not campaign.kill_at(point)]
    # A crawl may have ended before it came to a point: then a new one does, which was begun in its place.
    missed = [point for point in missed if not campaign.kill_at(point)]
    campaign.complete()
    assert missed == []
    assert [str(finding) for finding in campaign.findings] == []
