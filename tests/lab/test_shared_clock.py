"""One clock for all processes of the lab."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nephila.clock import Clock
from nephila.errors import UsageError
from nephila.lab.shared_clock import SharedClock, reset

TIMES = st.floats(-1e10, 1e10)
RATES = st.floats(1e-3, 1e6)


@given(rate=RATES, simulated_at=TIMES, real_at=TIMES, later_s=st.floats(0, 1e6), new_rate=RATES)
def test_a_new_rate_lets_time_go_on_from_where_it_is(
    rate: float, simulated_at: float, real_at: float, later_s: float, new_rate: float
) -> None:
    real_now = real_at + later_s
    after = reset(Clock(rate, simulated_at, real_at), new_rate, None, real_now)
    assert after.rate == new_rate
    assert after.real_at == real_now
    assert after.simulated_at == simulated_at + (real_now - real_at) * rate


def test_a_new_time_keeps_the_rate() -> None:
    assert reset(Clock(60.0, 0.0, 0.0), None, 1e9, 5.0) == Clock(60.0, 1e9, 5.0)


@pytest.mark.parametrize("rate", [0.0, -1.0, 1e7, float("nan"), float("inf")])
def test_a_rate_that_is_none_is_refused(rate: float) -> None:
    with pytest.raises(UsageError, match="rate"):
        reset(Clock(), rate, None, 0.0)


@pytest.mark.parametrize("now", [float("nan"), float("inf")])
def test_a_time_that_is_none_is_refused(now: float) -> None:
    with pytest.raises(UsageError, match="time"):
        reset(Clock(), None, now, 0.0)


def test_what_one_sets_all_others_read_at_once(tmp_path: Path) -> None:
    with SharedClock.create(tmp_path / "clock", Clock()) as ours, SharedClock(tmp_path / "clock") as theirs:
        assert theirs.clock() == Clock()
        for rate in (10.0, 20.0, 30.0):
            assert ours.set(rate=rate, now=1e9) == theirs.clock()
            assert theirs.clock().rate == rate


def test_another_process_reads_what_is_set_here(tmp_path: Path) -> None:
    with SharedClock.create(tmp_path / "clock", Clock(7.0, 1e9, time.time())) as ours:
        program = (
            "import sys, pathlib; from nephila.lab.shared_clock import SharedClock\n"
            "clock = SharedClock(pathlib.Path(sys.argv[1]))\n"
            "for _ in range(2):\n"
            "    sys.stdin.readline(); print(repr(clock.clock()), flush=True)\n"
        )
        with subprocess.Popen(
            [sys.executable, "-c", program, str(tmp_path / "clock")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as child:
            assert child.stdin is not None
            assert child.stdout is not None
            for rate in (None, 500.0):
                expected = ours.set(rate=rate) if rate else ours.clock()
                child.stdin.write("\n")
                child.stdin.flush()
                assert child.stdout.readline().strip() == repr(expected)


def test_a_setter_killed_on_the_way_leaves_the_old_clock(tmp_path: Path) -> None:
    path = tmp_path / "clock"
    with SharedClock.create(path, Clock(2.0, 3.0, 4.0)) as ours:
        # Given that the place not in force was half written
        with path.open("r+b") as file:
            file.seek(8 + 32)
            file.write(b"\xff" * 20)
        # then the clock is the old one
        assert ours.clock() == Clock(2.0, 3.0, 4.0)
        # and the next setting works
        assert ours.set(rate=9.0).rate == 9.0
        assert ours.clock().rate == 9.0
