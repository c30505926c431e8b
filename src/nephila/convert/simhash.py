"""Simhash (Charikar; CHECKLIST 2.7): 64 bits such that texts which share most of their passages differ in few bits.

Each passage of six characters is hashed; bit b of the result is the majority of bit b over the distinct passages.
Passages of characters, not words, because Korean, Japanese and Chinese do not put blanks between words. Only one
passage in four counts, chosen by its own hash, so that the same passages are chosen in every text.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

PASSAGE: Final = 6
MIN_PASSAGES: Final = 16
MOST_CHARACTERS: Final = 2**13
_FACTORS: Final = np.array([0x9E3779B97F4A7C15**power % 2**64 for power in range(1, PASSAGE + 1)], np.uint64)
_MIX_1: Final = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2: Final = np.uint64(0x94D049BB133111EB)
_SHIFT_1, _SHIFT_2 = np.uint64(30), np.uint64(27)
_BITS: Final = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little").astype(np.int64)
_CHOICE: Final = np.uint64(3 << 62)


def simhash(text: str) -> int | None:
    """The hash as a signed integer; None for texts too short to compare."""
    plain = " ".join(text[:MOST_CHARACTERS].lower().split())
    if len(plain) < PASSAGE + MIN_PASSAGES:
        return None
    characters = np.frombuffer(plain.encode("utf-32-le", "replace"), np.uint32).astype(np.uint64)
    passages = len(characters) - PASSAGE + 1
    hashes = characters[:passages] * _FACTORS[0]
    for place in range(1, PASSAGE):
        hashes += characters[place : place + passages] * _FACTORS[place]
    hashes ^= hashes >> _SHIFT_1
    hashes *= _MIX_1
    hashes ^= hashes >> _SHIFT_2
    hashes *= _MIX_2
    chosen = hashes[(hashes & _CHOICE) == 0]
    if len(chosen) < MIN_PASSAGES:
        chosen = hashes
    chosen = np.unique(chosen)  # else the frequent words of a language make all its texts alike
    # The two bits of the choice are constant in what was chosen: the hash is mixed once more.
    chosen = (chosen ^ (chosen >> _SHIFT_2)) * _MIX_1
    # Counting each byte's values and then their bits is a tenth of the work of counting bits one by one.
    values = chosen.view(np.uint8).reshape(-1, 8)
    counts = np.stack([np.bincount(values[:, place], minlength=256) for place in range(8)])
    majority: Any = (counts @ _BITS).ravel() * 2 > len(chosen)
    return int(np.packbits(majority, bitorder="little").view(np.int64)[0])
