"""A crawl that follows a policy finds the same truth: sites stop and go on, and none is lost (S2-12, S2-13)."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from nephila.config.sections import Lab
from nephila.lab.serve import LabServer
from nephila.store.folder import CrawlFolder
from nephila.store.hour_figures import DAY_S, read_hours

from .webs import QUICK, assert_complete, crawl, expected, in_lab, running, settings_of

ORIGIN = 20_000 * DAY_S


def planned(lab: LabServer, hour_s: float = 1.0) -> list[str]:
    """Few places, and hours that pass quickly."""
    clock = {"clock.rate": 3600 / hour_s, "clock.origin": ORIGIN, "clock.real_origin": time.time()}
    return settings_of(QUICK, in_lab(lab), {"crawl.active_sites": 2, **clock})


@pytest.mark.slow
def test_every_url_is_collected_once_though_sites_stop_and_go_on(tmp_path: Path) -> None:
    # given a web of 12 sites, places for two at a time, and a clock by which an hour is a second
    with LabServer(Lab(sites=12, max_depth=3, seed=5), processes=1) as lab:
        true = expected(lab)
        seeds = lab.write_seeds(tmp_path / "seeds.txt")
        folder = tmp_path / "crawl"
        words = ["-i", seeds, "--policy", "lp", "--agents", 1, *planned(lab)]
        # when it is killed on the way and started again
        with running(folder, *words) as begun:
            begun.until_pages(len(true) // 4)
            begun.kill_all()
        ran = crawl(folder)
    # then the truth was found, by plans, and what was measured on the way is kept
    assert ran.code == 0, ran.err
    assert ran.report["how"] == "done"
    assert_complete(true, folder)
    assert ran.report["plans"] > 1
    assert ran.report["suspensions"] > 0
    plan = json.loads((folder / "plan" / "schedule.json").read_text())
    assert plan["policy"] == "lp"
    known = read_hours(CrawlFolder.open(folder), ORIGIN + DAY_S, 7 * DAY_S)
    assert len(known) >= 8
    assert sum(sum(one.answers) for one in known.values()) > len(true) / 2
