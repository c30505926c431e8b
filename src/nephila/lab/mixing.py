"""The hash under all draws, in plain Python: the twin of `_mixing.c`, for machines without a C compiler.

`draw` chooses between the two. `mix` is the finaliser of splitmix64 (Steele, Lea, Flood 2014); every number is taken
modulo 2^64.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

MASK: Final = (1 << 64) - 1
GOLDEN: Final = 0x9E3779B97F4A7C15
FIRST: Final = 0xBF58476D1CE4E5B9
SECOND: Final = 0x94D049BB133111EB


def mix(number: int) -> int:
    """One 64-bit number from another; a bijection without visible structure."""
    number = ((number ^ (number >> 30)) * FIRST) & MASK
    number = ((number ^ (number >> 27)) * SECOND) & MASK
    return number ^ (number >> 31)


def draw(key: int, number: int, /) -> int:
    """The 64-bit draw of one number under a key: mix, written out because this is called by the dozen per page."""
    word = (key + number * GOLDEN) & MASK
    word = ((word ^ (word >> 30)) * FIRST) & MASK
    word = ((word ^ (word >> 27)) * SECOND) & MASK
    return word ^ (word >> 31)


def key_of(*parts: int) -> int:
    """The key of a stream of draws, such as key_of(seed, site, stream)."""
    key = 0
    for part in parts:  # mix, written out as in `draw`
        key = (key + GOLDEN + part) & MASK
        key = ((key ^ (key >> 30)) * FIRST) & MASK
        key = ((key ^ (key >> 27)) * SECOND) & MASK
        key ^= key >> 31
    return key


@lru_cache(maxsize=1 << 13)
def _site_root(seed: int, site: int) -> int:
    return key_of(seed, site)


def site_key(seed: int, site: int, stream: int, /) -> int:
    """key_of(seed, site, stream), where several streams of one site are asked for one after another."""
    key = (_site_root(seed, site) + GOLDEN + stream) & MASK
    key = ((key ^ (key >> 30)) * FIRST) & MASK
    key = ((key ^ (key >> 27)) * SECOND) & MASK
    return key ^ (key >> 31)
