"""Randomness that is the same for ever: a hash of (seed, site, stream, number), then an inverse distribution.

Nothing is drawn in order, so a page is computed without its neighbours; and no library's generator is used, because
its streams may change between versions. Everything is integers up to the last step; the scalar functions and their
numpy twins agree bit for bit. The hash itself is compiled (`_mixing.c`) where it was built, else plain (`mixing.py`);
NEPHILA_PURE=1 forces the plain one.
"""

from __future__ import annotations

import math
import os
from bisect import bisect_right
from collections.abc import Callable, Sequence
from enum import IntEnum
from functools import lru_cache
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from nephila.lab import mixing
from nephila.lab.mixing import FIRST, GOLDEN, SECOND


class Hash(Protocol):
    """What `mixing` and `_mixing` both are."""

    def draw(self, key: int, number: int, /) -> int: ...

    def key_of(self, *parts: int) -> int: ...

    def site_key(self, seed: int, site: int, stream: int, /) -> int: ...


def _hash() -> tuple[Hash, bool]:
    if os.environ.get("NEPHILA_PURE") != "1":
        try:
            from nephila.lab import _mixing  # type: ignore[attr-defined]
        except ImportError:
            pass
        else:
            return _mixing, True
    return mixing, False


_HASH, COMPILED = _hash()
draw: Final = _HASH.draw
key_of: Final = _HASH.key_of
site_key: Final = _HASH.site_key

Words = NDArray[np.uint64]

# The same as numpy's own scalars: making them for every call costs more than the arithmetic of a small site.
_FIRST_WORD: Final = np.uint64(FIRST)
_SECOND_WORD: Final = np.uint64(SECOND)
_BY_12: Final = np.uint64(12)
_LOW_20: Final = np.uint64(0xFFFFF)
_BY_27: Final = np.uint64(27)
_BY_30: Final = np.uint64(30)
_BY_31: Final = np.uint64(31)
UPPER_HALF: Final = np.uint64(32)
_STEPS_HELD: Final = 1 << 14
_STEPS: Final[Words] = np.arange(_STEPS_HELD, dtype=np.uint64) * np.uint64(GOLDEN)


class Stream(IntEnum):
    """One stream of draws per question, so that a new question never changes an old answer."""

    NAME = 1
    SEED_FATE = 2
    HOST_FACTOR = 3
    OFFSPRING = 4
    FATE = 5
    SIZE = 6
    PATH = 7
    LINKS = 8
    KIND = 9
    CARD = 10
    MIRROR = 11
    ALIAS = 12
    ISLAND = 13
    ROBOTS = 14
    LOOK = 15
    RATE = 16
    CHANGE = 17
    LIVENESS = 18
    HOURS = 19
    DELAY = 20
    SEED_SHARE = 21
    POOL = 22
    CODE = 23
    LISTS = 24
    LIFE = 25
    HOLDER = 26
    AWAY = 27
    TROUBLE = 28


@lru_cache(maxsize=256)
def web_key(*parts: int) -> int:
    """key_of, for the few keys that all sites of a web have in common."""
    return key_of(*parts)


def draws(key: int, first: int, count: int) -> Words:
    """`draw` for the numbers first .. first + count - 1."""
    if first + count <= _STEPS_HELD:
        words = _STEPS[first : first + count] + np.uint64(key)
    else:
        words = np.arange(first, first + count, dtype=np.uint64) * np.uint64(GOLDEN) + np.uint64(key)
    words ^= words >> _BY_30
    words *= _FIRST_WORD
    words ^= words >> _BY_27
    words *= _SECOND_WORD
    words ^= words >> _BY_31
    return words


def share(word: int) -> float:
    """A draw as a number in (0, 1)."""
    return ((word >> 12) + 0.5) / (1 << 52)


def permuted(key: int, number: int, size: int) -> int:
    """The place of a number in a shuffled order of 0 .. size-1: Feistel rounds, repeated until inside (a cycle)."""
    half = (max(size - 1, 1).bit_length() + 1) // 2
    low_bits = (1 << half) - 1
    while True:
        left, right = number >> half, number & low_bits
        for turn in range(4):
            left, right = right, left ^ (draw(key + turn, right) & low_bits)
        number = left << half | right
        if number < size:
            return number


class Table:
    """A distribution over 0 .. n-1 as cumulative thresholds of 32 bits; scalar and numpy picks agree."""

    __slots__ = ("_limits", "thresholds")

    def __init__(self, weights: Sequence[float]) -> None:
        total = math.fsum(weights)
        reached = 0.0
        thresholds: list[int] = []
        for weight in weights[:-1]:
            reached += weight
            thresholds.append(round(reached / total * (1 << 32)))
        self.thresholds = thresholds
        self._limits: NDArray[np.uint64] = np.array(thresholds, dtype=np.uint64)

    def pick(self, word: int) -> int:
        """The value that the upper 32 bits of a draw stand for."""
        return bisect_right(self.thresholds, word >> 32)

    def picks(self, words: Words) -> NDArray[np.int64]:
        return self._limits.searchsorted(words >> UPPER_HALF, side="right")


class Quantiles:
    """A continuous distribution as whole numbers at equal steps of probability, joined by straight lines."""

    __slots__ = ("_known_points", "_points", "_rises", "_steps")

    def __init__(self, inverse: Callable[[float], float], steps: int = 4096) -> None:
        self._steps = np.uint64(steps)
        self._points: NDArray[np.int64] = np.array(
            [round(inverse(i / steps)) for i in range(steps + 1)], dtype=np.int64
        )
        self._rises: NDArray[np.int64] = np.diff(self._points)
        self._known_points: list[int] = self._points.tolist()

    def pick(self, word: int) -> int:
        points = self._known_points
        cell = (word >> 32) * (len(points) - 1) >> 32
        return points[cell] + ((word >> 12 & 0xFFFFF) * (points[cell + 1] - points[cell]) >> 20)

    def picks(self, words: Words) -> NDArray[np.int64]:
        """The upper 32 bits choose the step, the 20 bits below them the place inside it."""
        cells = ((words >> UPPER_HALF) * self._steps >> UPPER_HALF).view(np.int64)
        inside = (words >> _BY_12 & _LOW_20).view(np.int64)
        inside *= self._rises[cells]
        inside >>= 20
        inside += self._points[cells]
        return inside


def geometric(word: int, mean: float) -> int:
    """A geometric number from 0 on with this mean: the negative binomial of dispersion 1 (4.3)."""
    if mean <= 0:
        return 0
    return int(math.log(share(word)) / math.log(mean / (1 + mean)))


def geometric_table(mean: float, largest: int = 400) -> Table:
    """The same as a table, for draws by the thousand."""
    ratio = mean / (1 + mean)
    return Table([(1 - ratio) * ratio**count for count in range(largest)] + [ratio**largest])
