"""A crawl that follows a policy finds the same truth: sites stop and go on, and none is lost (S2-12, S2-13)."""

from __future__ import annotations

import json
import math
import time
from pathlib import Path

import numpy as np
import pytest

from nephila.clock import Clock
from nephila.config.sections import Lab
from nephila.lab.hours import load
from nephila.lab.serve import LabServer
from nephila.lab.troubles import slowed
from nephila.lab.web import Web
from nephila.store.folder import CrawlFolder
from nephila.store.hour_figures import DAY_S, HourNote, HoursFile, hours_path, read_hours
from nephila.urls import host_of

from .webs import LONG, QUICK, assert_complete, crawl, expected, in_lab, running, settings_of, slot_rows

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


@pytest.mark.slow
@pytest.mark.skipif(not LONG, reason="takes hours of a clock that must not run too fast: `make schedule`")
def test_a_server_that_slows_down_suddenly_gives_its_place_back_and_is_planned_anew(tmp_path: Path) -> None:
    # given sites whose hours are known from a quiet day, and a clock by which an hour takes six seconds (S2-17)
    lab = Lab(sites=48, max_depth=3, seed=17, faults=False, delay=30.0, slumps=0.2)
    with LabServer(lab, processes=1, clock=Clock(600.0, ORIGIN, time.time()), origin=ORIGIN) as server:
        assert server.lab is not None
        web = Web(server.lab, ORIGIN)
        large = [site for site in range(lab.sites) if len(web.skeleton(site).fate) >= 8][:10]
        # when they are collected two at a time, from an hour on in which one of them answers twenty times slower
        slow, hour = next((site, hour) for hour in range(18) for site in _slow_and_first(lab, hour, large))
        seeds = tmp_path / "seeds.txt"
        seeds.write_text("".join(f"{web.cards.origin(site)}/\n" for site in large))
        folder = CrawlFolder.create(tmp_path / "crawl")
        _know_hours(folder, web, large)
        began = server.set_clock(now=ORIGIN + DAY_S + hour * 3600)
        settings = {
            "crawl.active_sites": 2, "clock.rate": began.rate, "clock.origin": began.simulated_at,
            "clock.real_origin": began.real_at, "politeness.delay_factor": 1, "politeness.max_delay": 1e6,
            "crawl.mode": "sites", "crawl.max_pages_per_site": 8, "net.header_timeout": 60, "net.idle_timeout": 60,
            "aliases.rule": "off", "traps.probe_after": "none",
        }  # fmt: skip
        words = settings_of(QUICK, in_lab(server), settings)
        ran = crawl(folder.path, "-i", seeds, "--policy", "sorting", "--agents", 1, *words)
        seen = server.witnessed()
    # then it was noticed, and what the site has came in the end
    assert ran.code == 0, ran.err
    assert ran.report["how"] == "done" and ran.report["surprises"] >= 1
    assert ran.report["suspensions"] >= 1
    assert slot_rows(folder.path, "SELECT 1 FROM pages WHERE todo = 1") == []
    # and others had the place while it was slow: between two of its pages theirs were collected
    pages = seen.where(seen.target != "/robots.txt")
    asked = np.sort(pages.where(pages.host == host_of(web.cards.origin(slow))).simulated_at)
    pause = int(np.diff(asked).argmax())
    others = pages.where(pages.host != host_of(web.cards.origin(slow))).simulated_at
    assert int(((others > asked[pause]) & (others < asked[pause + 1])).sum()) >= 8


def _slow_and_first(lab: Lab, hour: int, sites: list[int]) -> list[int]:
    """The site alone that has a slump at an hour for which it would be the first choice by its usual load."""
    slow = [site for site in sites if slowed(lab.seed, site, DAY_S + hour * 3600, lab.slumps) > 1]
    return slow if slow == sorted(sites, key=lambda site: load(lab.seed, site, hour))[:1] else []


def _know_hours(folder: CrawlFolder, web: Web, sites: list[int]) -> None:
    """What a probe of the first day would have learnt."""
    notes = {}
    for site in sites:
        for hour in range(24):
            usual_s = math.log(web.lab.delay / (1 - load(web.lab.seed, site, hour)))
            key = (web.cards.origin(site), int(ORIGIN // 3600) + hour)
            notes[key] = HourNote(answers=6, log_sum=6 * usual_s, square_sum=6 * usual_s**2)
    file = HoursFile(hours_path(folder, "probe"), 7 * DAY_S)
    file.add(notes, ORIGIN + DAY_S)
    file.close()
