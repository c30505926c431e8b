"""Servers that fail or slow down for a while, by the lab's clock (S2-17): down for a day, or slow for some hours.

Drawn for each site and each day, so that the same seed has the same troubles; on the first day there are none, and
what was learnt then is wrong for the sites that have trouble later.
"""

from __future__ import annotations

from typing import Final

from nephila.lab.draw import Stream, draw, key_of

DAY_S: Final = 86_400.0
SLUMP_H: Final = 6
SLOWER: Final = 20.0
_SLUMPS: Final = 1 << 20  # numbers of draws, apart from those of outages


def is_down(seed: int, site: int, day: int, share: float) -> bool:
    """Whether the site answers nobody on a day."""
    return day >= 1 and draw(key_of(seed, site, Stream.TROUBLE), day) < share * 2.0**64


def slowed(seed: int, site: int, since_s: float, share: float) -> float:
    """How many times slower than usual the site is, so many seconds after the beginning: 1, or SLOWER in a slump."""
    day, second = divmod(since_s, DAY_S)
    key = key_of(seed, site, Stream.TROUBLE)
    if day < 1 or draw(key, _SLUMPS + int(day)) >= share * 2.0**64:
        return 1.0
    begins_h = draw(key, 2 * _SLUMPS + int(day)) % (24 - SLUMP_H + 1)
    return SLOWER if begins_h <= second / 3600 < begins_h + SLUMP_H else 1.0
