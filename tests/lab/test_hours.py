"""Load over the day in four shapes."""

from __future__ import annotations

import statistics

from nephila.lab.hours import delay_s, load, shape


def test_every_shape_keeps_to_its_level_and_swing() -> None:
    bounds = {0: (0.02, 0.32, 0.2), 1: (0.65, 0.95, 0.2), 2: (0.3, 0.95, 0.6), 3: (0.02, 0.95, 0.8)}
    swings: dict[int, list[float]] = {0: [], 1: [], 2: [], 3: []}
    for site in range(400):
        day = [load(1, site, hour) for hour in range(24)]
        low, high, _ = bounds[shape(1, site)]
        assert low <= min(day) and max(day) <= high
        swings[shape(1, site)].append(max(day) - min(day))
    assert all(len(found) > 60 for found in swings.values())
    assert statistics.mean(swings[0]) < 0.15 and statistics.mean(swings[1]) < 0.15
    assert 0.3 < statistics.mean(swings[2]) < 0.5 < statistics.mean(swings[3])


def test_most_sites_are_idlest_in_the_small_hours() -> None:
    best = [min(range(24), key=lambda hour: load(2, site, hour)) for site in range(300) if shape(2, site) > 1]
    assert sum(hour <= 8 or hour == 23 for hour in best) > 0.65 * len(best)


def test_a_busy_hour_is_a_slow_hour() -> None:
    site = next(number for number in range(100) if shape(1, number) == 3)
    hours = sorted(range(24), key=lambda hour: load(1, site, hour))
    idle, busy = (
        statistics.median(delay_s(1, site, page, 0.3, hour * 3600.0) for page in range(400))
        for hour in (hours[0], hours[-1])
    )
    assert busy > 1.5 * idle > 0
    assert delay_s(1, site, 1, 0.0, 0.0) == 0.0
