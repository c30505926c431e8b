"""Room on the disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from nephila.errors import DiskFullError
from nephila.store.space import RESERVE_BYTES, Reserve, free_bytes, must_pause


def test_the_reserve_takes_real_room_and_gives_it_back(tmp_path: Path) -> None:
    reserve = Reserve(tmp_path / "reserve", 2**20)
    reserve.hold()
    reserve.hold()
    assert reserve.path.stat().st_blocks * 512 >= 2**20
    reserve.release()
    reserve.release()
    assert not reserve.path.exists()


def test_a_reserve_that_does_not_fit_leaves_nothing(tmp_path: Path) -> None:
    reserve = Reserve(tmp_path / "reserve", free_bytes(tmp_path) * 4)
    with pytest.raises(DiskFullError):
        reserve.hold()
    assert not reserve.path.exists()


@pytest.mark.parametrize(("free", "paused"), [(0, True), (RESERVE_BYTES, True), (RESERVE_BYTES + 2_000, False)])
def test_fetching_pauses_before_the_disk_is_full(free: int, paused: bool) -> None:
    assert must_pause(free, in_flight_bytes=1_000) == paused
