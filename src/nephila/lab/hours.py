"""How busy a site is at each hour of the day, and how long it takes to answer (S2-6, CHECKLIST 3, 4.11).

Four shapes: low and flat, high and flat, high with a valley, wide swing with a deep valley. A loaded site is slower:
it works at the rate 1 - load, so an answer takes 1 / (1 - load) times as long.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Final

from nephila.lab.draw import Stream, draw, key_of, share

_NORMAL: Final = NormalDist()
_NIGHT_SHARE: Final = 0.7
_SIGMA: Final = 0.6
SHAPES: Final = ("low flat", "high flat", "high with a valley", "deep valley")


def shape(seed: int, site: int) -> int:
    """Which of SHAPES the site's day has."""
    return draw(key_of(seed, site, Stream.HOURS), 0) >> 62


def load(seed: int, site: int, hour: int) -> float:
    """The site's load in [0.02, 0.95] at an hour of the day (0-23 UTC)."""
    key = key_of(seed, site, Stream.HOURS)
    words = [share(draw(key, number)) for number in range(1, 6)]
    trough = _NORMAL.inv_cdf(words[1]) * 1.5 + 4 if words[0] < _NIGHT_SHARE else words[1] * 24
    swing = (1 - math.cos(2 * math.pi * (hour - trough) / 24)) / 2
    match shape(seed, site):
        case 0:
            level = 0.10 + 0.10 * words[2] + 0.03 * swing
        case 1:
            level = 0.75 + 0.10 * words[2] + 0.03 * swing
        case 2:
            level = 0.42 + 0.10 * words[2] + (0.35 + 0.08 * words[3]) * swing
        case _:
            level = 0.08 + 0.07 * words[2] + (0.50 + 0.15 * words[3]) * swing
    noise = _NORMAL.inv_cdf(share(draw(key, 100 + hour % 24))) * 0.02
    return min(max(level + noise, 0.02), 0.95)


def delay_s(seed: int, site: int, page: int, median_s: float, now: float) -> float:
    """Simulated seconds before the first byte: lognormal around the median, longer when the site is busy."""
    if median_s <= 0:
        return 0.0
    hour = int(now // 3600)
    word = draw(key_of(seed, site, Stream.DELAY, page), hour)
    busy = load(seed, site, hour % 24)
    return median_s * math.exp(_SIGMA * _NORMAL.inv_cdf(share(word))) / (1 - busy)
