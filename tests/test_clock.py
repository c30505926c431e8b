"""Time that does not jump, whatever the wall clock does."""

from __future__ import annotations

import time

import pytest

from nephila.clock import Clock

DAY_S = 86_400.0


@pytest.mark.parametrize("jump_s", [-DAY_S, DAY_S, 10 * 365 * DAY_S])
def test_a_wall_clock_that_is_set_changes_nothing_in_a_running_process(
    monkeypatch: pytest.MonkeyPatch, jump_s: float
) -> None:
    clock = Clock(rate=2.0, simulated_at=1000.0, real_at=time.time())
    before, before_monotonic = clock.now(), clock.monotonic()
    real_time = time.time
    monkeypatch.setattr(time, "time", lambda: real_time() + jump_s)
    assert 0.0 <= clock.now() - before < 60.0
    assert 0.0 <= clock.monotonic() - before_monotonic < 60.0


def test_two_clocks_of_the_same_numbers_agree_with_the_wall_clock() -> None:
    assert abs(Clock().now() - time.time()) < 1.0
