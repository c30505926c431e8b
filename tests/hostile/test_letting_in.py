"""What a budget refused is recorded with its reason, told by `nephila why`, and let in when a person says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..circle.webs import assert_counted, crawl, outcomes, run, settings_of
from .hostile_web import asked_of, crawl_rows, hostile_lab, rows

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("hostile")]

SMALL = 60
"""`traps.pattern_pages` here: a small budget is used up sooner."""


def test_a_calendar_sleeps_and_wakes_when_it_is_let_in(tmp_path: Path) -> None:
    with hostile_lab() as server:
        # given a calendar without end whose pattern was put to sleep
        [row] = rows("F1")
        ran = crawl_rows(server, tmp_path, [row], traps__pattern_pages=SMALL)
        assert ran.code == 0, ran.err
        refused = [url for url, outcome in outcomes(tmp_path / "crawl").items() if outcome == "trap_rejected"]
        asked = len(asked_of(server, row))
        assert refused and asked <= 240  # watched from 50 pages on, and four months must have grown it
        # then its story is told
        told = run("why", refused[0], "-C", tmp_path / "crawl")
        assert "trap_rejected: traps.pattern_pages: " in told.out
        assert "brought nothing new" in told.out
        # when the same command is run again, nothing is asked
        assert crawl(tmp_path / "crawl").report["run_requests"] == 0
        # when the calendar is let in, for as many pages as there may be
        let_in = settings_of({"traps.let_in": f"{row.url(server.port)}cal/*", "crawl.max_pages_per_site": asked + 100})
        ran = crawl(tmp_path / "crawl", *let_in)
        # then those that were refused are asked first of all
        assert ran.code == 0, ran.err
        assert outcomes(tmp_path / "crawl")[refused[0]] == "ok"
        assert ran.report["run_pages"] >= 90
        assert_counted(tmp_path / "crawl")


def test_a_maze_ends_at_the_budget_of_its_site_and_a_larger_one_goes_on(tmp_path: Path) -> None:
    with hostile_lab() as server:
        server.set_clock(rate=100)  # its second of delay is a hundredth here
        [row] = rows("F8")
        # given a maze that was left when its budget was used up: a hundredth, since its user has named it
        ran = crawl_rows(server, tmp_path, [row], traps__site_pages=1, traps__probe_after="none")
        assert ran.code == 0, ran.err
        found = outcomes(tmp_path / "crawl")
        of_maze = [outcome for url, outcome in found.items() if "f8-maze" in url]
        assert of_maze.count("ok") == 100
        assert set(of_maze) == {"ok", "host_budget"}
        # when the budget is raised
        ran = crawl(tmp_path / "crawl", *settings_of({"traps.site_pages": 2}))
        # then as many more are asked
        of_maze = [outcome for url, outcome in outcomes(tmp_path / "crawl").items() if "f8-maze" in url]
        assert of_maze.count("ok") == 200
        left = next(url for url, outcome in outcomes(tmp_path / "crawl").items() if outcome == "host_budget")
        told = run("why", left, "-C", tmp_path / "crawl").out
        assert "host_budget: traps.site_pages: 200 pages of its site were asked" in told


def test_an_endless_domain_goes_on_when_it_may_have_more_sites(tmp_path: Path) -> None:
    with hostile_lab() as server:
        [row] = rows("F9")
        ran = crawl_rows(server, tmp_path, [row], traps__domain_sites=2, aliases__rule="off")
        assert ran.report["sites"]["done"] == 4  # it, two more, and the control site
        assert crawl(tmp_path / "crawl", *settings_of({"traps.domain_sites": 5})).report["sites"]["done"] == 7
