"""Why a site is not asked for anything right now: one sentence for every case."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nephila.crawl.waiting import waits_for
from nephila.shown import RobotsShown, SiteLine
from nephila.store.control import Control

LINE = SiteLine("http://a.test", "waiting", "", "", 3, 10, 100, 20, 1.0, 100.0)
UNREACHABLE = RobotsShown("unreachable", "http_error 503", "", None, 160.0, 2)


@pytest.mark.parametrize(
    ("line", "robots", "control", "now", "said"),
    [
        (LINE, None, Control(), 100.5, "left alone for 1 s"),
        (LINE, None, Control(), 102.0, "7 of its URLs were not requested yet"),
        (LINE, UNREACHABLE, Control(), 102.0, "http_error 503), which means no, not before 58 s from now"),
        (LINE, UNREACHABLE, Control(paused=True), 102.0, "The crawl is paused."),
        (LINE, None, Control(True, frozenset({"http://a.test"})), 102.0, "You have blocked it"),
        (replace(LINE, state="new"), None, Control(), 102.0, "waits to be handed to an agent"),
        (replace(LINE, state="asleep", outcome="deferred_host", reason="reset"), None, Control(), 102.0,
         "asleep: deferred_host, reset. The next run takes it up again."),
        (replace(LINE, state="done"), None, Control(paused=True), 102.0, "Everything known of it"),
        (replace(LINE, state="done", outcome="dns_nxdomain"), None, Control(), 102.0, "Nothing of it can be asked"),
        (replace(LINE, state="alias", reason="same home page"), None, Control(), 102.0, "another name of another site"),
        (replace(LINE, known=3), None, Control(), 102.0, "Nothing of it waits"),
    ],
)  # fmt: skip
def test_the_strongest_reason_is_told(
    line: SiteLine, robots: RobotsShown | None, control: Control, now: float, said: str
) -> None:
    assert said in waits_for(line, robots, control, 0.0, now)
