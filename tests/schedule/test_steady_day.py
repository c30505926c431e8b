"""A few noisy days made into one."""

from __future__ import annotations

import numpy as np
import pytest

from nephila.schedule.policy import HOURS
from nephila.schedule.steady_day import steady_day


def _days(mean: np.ndarray, count: int) -> np.ndarray:
    chance = np.random.default_rng(4)
    return np.stack([mean + chance.normal(0, 0.02, mean.shape) for _ in range(count)])


def test_a_flat_day_becomes_flat_and_a_swing_stays() -> None:
    # given fifty servers that are equally busy all day, and fifty with a valley at four in the morning
    swing = 0.1 + 0.3 * (1 - np.cos(2 * np.pi * (np.arange(HOURS) - 4) / HOURS))
    mean = np.vstack([np.full((50, HOURS), 0.8), np.tile(swing, (50, 1))])
    days = _days(mean, 3)
    # when
    steady, plain = steady_day(days), days.mean(axis=0)
    # then it is nearer to the truth than the mean for both kinds, by half at least
    for kind in (slice(0, 50), slice(50, 100)):
        assert np.abs(steady[kind] - mean[kind]).mean() < 0.6 * np.abs(plain[kind] - mean[kind]).mean()
    assert set(np.abs(steady[50:].argmin(axis=1) - 4)) <= {0, 1, 2}


def test_one_day_and_days_that_are_all_the_same_are_believed_as_they_are() -> None:
    day = _days(np.full((2, HOURS), 0.5), 1)
    assert np.array_equal(steady_day(day), day[0])
    assert steady_day(np.repeat(day, 3, axis=0)) == pytest.approx(day[0])
