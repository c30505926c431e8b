"""Text as the index takes it: in comes what a page or a person wrote, out goes what tantivy cuts into words.

Korean, Japanese and Chinese write words together, so their runs are written as overlapping pairs (검색엔진: 검색 색엔
엔진), the same as in every other index of this project (`markup.words`), here by arrays, because most of a Korean page
goes this way; or, where that was asked for, Korean ones as morphemes. All other text stays as it is: tantivy cuts it at
what is neither letter nor digit, in lower case and without accents. So `cafe` finds `café`, and `café` finds both.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Any, Final, Literal

import numpy as np

from nephila.search.morphemes import in_morphemes

_BLANK: Final = 0x20
# Hangul, Han and Kana in the form that `normal` gives: the same as in `markup.words`.
_RANGES: Final[tuple[tuple[int, int], ...]] = (
    (0x1100, 0x11FF), (0x2E80, 0x2FDF), (0x3005, 0x3007), (0x3040, 0x30FF), (0x3130, 0x318F), (0x31F0, 0x31FF),
    (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xAC00, 0xD7AF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF),
)  # fmt: skip
_WRITTEN_TOGETHER: Final = re.compile("[" + "".join(f"{chr(low)}-{chr(high)}" for low, high in _RANGES) + "]")


Korean = Literal["pairs", "morphemes"]


def _signs(ranges: Sequence[tuple[int, int]]) -> Any:
    table = np.zeros(0x110000, np.bool_)
    for low, high in ranges:
        table[low : high + 1] = True
    return table


_IS_SIGN: Final = _signs(_RANGES)
_IS_PAIRED: Final = {"pairs": _IS_SIGN, "morphemes": _signs([pair for pair in _RANGES if pair[0] != 0xAC00])}


def wording(text: str, korean: Korean = "pairs") -> str:
    """What is handed to tantivy for a text in normal form (`normal`)."""
    if text.isascii() or not _WRITTEN_TOGETHER.search(text):
        return text
    if korean == "morphemes":
        text = in_morphemes(text)
    codes = np.frombuffer(text.encode("utf-32-le", "replace"), np.uint32)
    sign = _IS_PAIRED[korean][codes]
    begins = np.empty(len(codes), np.bool_)  # a run of signs, or what follows one, begins here
    begins[0] = False
    np.not_equal(sign[1:], sign[:-1], out=begins[1:])
    inside = np.zeros(len(codes), np.bool_)  # between two signs: the end of one pair and the start of the next
    inside[1:-1] = sign[1:-1] & sign[:-2] & sign[2:]
    places = np.cumsum(1 + begins + 2 * inside) - 1
    written = np.full(int(places[-1]) + 1, _BLANK, np.uint32)
    written[places] = codes
    written[places[inside] - 2] = codes[inside]
    return written.tobytes().decode("utf-32-le")


def normal(text: str) -> str:
    """Compatibility form: one way to write each letter (full-width, ligatures, composed Hangul)."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def is_sign(letter: str) -> bool:
    """Whether a character belongs to a script that is indexed in pairs."""
    return bool(_IS_SIGN[ord(letter)])


class _Folding(dict[int, str]):
    """Each letter in lower case and without accents, as one character: places in a text stay where they are."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        plain = letter if "\uac00" <= letter <= "\ud7a3" else unicodedata.normalize("NFD", letter.lower())[:1]
        self[code] = plain or letter
        return self[code]


_FOLDING: Final = _Folding()


def folded(text: str) -> str:
    """A text as long as it was, for finding words in it again."""
    return text.lower() if text.isascii() else text.translate(_FOLDING)
