"""The wall clock is set in the middle of a crawl and between two runs: nobody is flooded, nobody is forgotten (F5)."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from ..circle.webs import LONG, running
from .faulty import fault, small_web

DAY_S = 86_400


@pytest.mark.slow
@pytest.mark.parametrize("jump_s", [-DAY_S, DAY_S] if LONG else [-DAY_S])
def test_a_clock_that_is_set_neither_floods_nor_stalls(tmp_path: Path, jump_s: int) -> None:
    since_ns = time.monotonic_ns()
    folder = tmp_path / "crawl"
    with small_web(tmp_path, faults=True) as web:
        # given a crawl in the midst of which the clock is set, and which is killed then
        with (
            fault(f"clock:{jump_s}:1.0"),
            running(folder, *web.words("--agents", 2, "--set", "politeness.min_delay=0.05")) as started,
        ):
            started.until_pages(20)
            started.kill_all()
        # when it goes on with the clock as it should be, which is a jump back
        with running(folder) as started:
            ran = started.ended(60.0)
        # then it comes to its end, and nobody was asked too soon
        assert ran.code == 0, ran.err
        assert web.findings(folder, since_ns, allowed_again=100, min_delay_s=0.05) == []
