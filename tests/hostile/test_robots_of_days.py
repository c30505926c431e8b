"""A robots.txt is read again after a day, and what it says then holds (RFC 9309 2.4, E11)."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from nephila.lab.hostile.robots import DAYS_PAGES

from ..circle.webs import LONG, outcomes
from .hostile_web import asked_of, crawl_rows, hostile_lab, rows

pytestmark = [
    pytest.mark.slow, pytest.mark.xdist_group("hostile"),
    pytest.mark.skipif(not LONG, reason="takes two days of a clock that must not run too fast: `make crash`"),
]  # fmt: skip

RATE = 18_000.0
"""An hour is a fifth of a second, a day five."""


def test_a_changed_robots_txt_is_read_a_day_later_and_obeyed_from_then_on(tmp_path: Path) -> None:
    with hostile_lab() as server:
        # given a site of forty pages with a robots.txt that closes them a day later, and opens others
        [row] = rows("E11")
        now = time.time()
        clock = {"clock__rate": RATE, "clock__origin": now, "clock__real_origin": now}
        # when it is asked for a page an hour
        hourly = {"politeness__min_delay": 3600.0, "politeness__max_delay": 3600.0, "crawl__sleep_min": 0.0}
        ran = crawl_rows(server, tmp_path, [row], **clock, **hourly)
        assert ran.code == 0, ran.err
        # then its robots.txt was asked for again, what it had closed was not asked for before, what it closes not after
        asked = asked_of(server, row)
        again = asked.index("/robots.txt", 1)
        before, after = asked[:again], asked[again:]
        assert len(before) > 10
        assert [target for target in before if target.startswith("/b/")] == []
        assert [target for target in after if target.startswith("/a/")] == []
        found = [outcome for url, outcome in outcomes(tmp_path / "crawl").items() if "/a/" in url]
        assert found.count("ok") == len([target for target in before if target.startswith("/a/")])
        assert found.count("blocked_robots") == DAYS_PAGES - found.count("ok") > 0
