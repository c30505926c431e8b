"""Simhash (Charikar; CHECKLIST 2.7): 64 bits such that texts which share most of their passages differ in few bits.

Each passage of six characters is hashed; bit b of the result is the majority of bit b over the distinct passages.
Passages of characters, not words, because Korean, Japanese and Chinese do not put blanks between words. Only one
passage in eight counts, chosen by its own hash, so that the same passages are chosen in every text.

The steps are compiled (`_simhash.c`) where that was built, else done by numpy; NEPHILA_PURE=1 forces the latter.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final

import numpy as np

PASSAGE: Final = 6
MIN_PASSAGES: Final = 16
MOST_CHARACTERS: Final = 2**13
# Words of 32 bits while there are many passages: they are multiplied eight at a time, those of 64 one by one.
_FACTORS: Final = np.array([0x9E3779B1**power % 2**32 for power in range(1, PASSAGE + 1)], np.uint32)
_MIX_1, _MIX_2 = np.uint32(0x85EBCA6B), np.uint32(0xC2B2AE35)
_SHIFT_1, _SHIFT_2 = np.uint32(16), np.uint32(13)
_HALVES: Final = np.array([0x2545F491, 0x9E3779B1], np.uint32)
_BITS: Final = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little").astype(np.int64)
_CHOSEN: Final = np.uint32(1 << 29)
_BLANK, _NO_BREAK = np.uint32(0x20), np.uint32(0xA0)


def simhash(text: str) -> int | None:
    """The hash as a signed integer; None for texts too short to compare."""
    return _HASHED(text[:MOST_CHARACTERS].strip().lower())


def plain_simhash(lower: str) -> int | None:
    """The same of a text already cut, stripped and in lower case, by numpy."""
    characters = _plain(lower)
    passages = len(characters) - PASSAGE + 1
    if passages <= MIN_PASSAGES:
        return None
    hashes = characters[:passages] * _FACTORS[0]
    for place in range(1, PASSAGE):
        hashes += characters[place : place + passages] * _FACTORS[place]
    _mix(hashes)
    chosen = hashes[hashes < _CHOSEN]
    if len(chosen) < MIN_PASSAGES:
        chosen = hashes
    chosen.sort()  # distinct ones: else the frequent words of a language make all its texts alike
    chosen = chosen[np.flatnonzero(np.r_[True, chosen[1:] != chosen[:-1]])]
    wide = chosen[:, None] * _HALVES  # 64 bits of each, and none of those that chose it
    _mix(wide)
    # Counting each byte's values and then their bits is a tenth of the work of counting bits one by one.
    values = wide.view(np.uint8)
    counts = np.stack([np.bincount(values[:, place], minlength=256) for place in range(8)])
    majority: Any = (counts @ _BITS).ravel() * 2 > len(chosen)
    return int(np.packbits(majority, bitorder="little").view(np.int64)[0])


def _plain(lower: str) -> Any:
    """The code points, each run of blanks as one."""
    characters = np.frombuffer(lower.encode("utf-32-le", "replace"), np.uint32)
    blank = (characters <= _BLANK) | (characters == _NO_BREAK)
    kept = ~blank
    kept[:-1] |= blank[:-1] & ~blank[1:]  # the last of a run
    return np.where(blank, _BLANK, characters)[kept]


def _mix(hashes: Any) -> None:
    """Every bit of a word depends on every other (murmur3's last step), in place."""
    hashes ^= hashes >> _SHIFT_1
    hashes *= _MIX_1
    hashes ^= hashes >> _SHIFT_2
    hashes *= _MIX_2
    hashes ^= hashes >> _SHIFT_1


def _choose() -> Callable[[str], int | None]:
    if os.environ.get("NEPHILA_PURE") != "1":
        try:
            from nephila.convert import _simhash  # type: ignore[attr-defined]
        except ImportError:  # no C compiler where this was installed
            return plain_simhash
        compiled: Callable[[str], int | None] = _simhash.simhash
        return compiled
    return plain_simhash


_HASHED: Final = _choose()
