"""The part of a text that shows why it was found, and where the words are in it: plain functions of text.

Words are marked as the index sees them: whole words without regard to case and accents, and Korean, Japanese and
Chinese ones wherever they stand inside longer ones.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from nephila.search.results import Marks
from nephila.search.wording import folded, is_sign

_MOST_MARKS: Final = 40
"""of one word in one text: enough to choose a window by"""
_LEAD_CHARACTERS: Final = 40
"""shown in front of the first word"""
_STRETCH_CHARACTERS: Final = 4000
_OVERLAP_CHARACTERS: Final = 500
_MOST_CHARACTERS: Final = 48_000
_EACH: Final = 100
"""what another word in a window is worth, against one more of the same"""
_SPACE: Final = re.compile(r"\s")


@dataclass(frozen=True, slots=True)
class Needle:
    """One word or phrase of a query; `start` is looked for first, because that is quick."""

    start: str
    whole: re.Pattern[str]


def needles_of(words: Sequence[Sequence[str]]) -> tuple[Needle, ...]:
    """What finds the words of a query, each as the index has it, in a folded text."""
    return tuple(dict.fromkeys(_needle(together) for together in words if together))


def _needle(words: Sequence[str]) -> Needle:
    """Words in their order: pairs of signs that overlap are one run again, all others have something between them."""
    runs: list[str] = []
    for word in words:
        if runs and len(word) == 2 and is_sign(word[0]) and is_sign(runs[-1][0]) and runs[-1][-1] == word[0]:
            runs[-1] += word[1]
        else:
            runs.append(word)
    return Needle(runs[0], re.compile(r"[\W_]*".join(map(_bounded, runs))))


def _bounded(run: str) -> str:
    return re.escape(run) if is_sign(run[0]) else rf"(?<![^\W_]){re.escape(run)}(?![^\W_])"


def marks_in(text: str, needles: Sequence[Needle]) -> Marks:
    """Where the words are; of two that overlap, the first."""
    inside = folded(text)
    found: list[tuple[int, int]] = []
    for needle in needles:
        place, left = inside.find(needle.start), _MOST_MARKS
        while place >= 0 and left:
            whole = needle.whole.match(inside, place)
            if whole:
                found.append(whole.span())
                left -= 1
            place = inside.find(needle.start, whole.end() if whole else place + 1)
    marks: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if not marks or start >= marks[-1][1]:
            marks.append((start, end))
    return tuple(marks)


def snippet(texts: Sequence[str], needles: Sequence[Needle], size: int) -> tuple[str, Marks]:
    """The window that shows most of the words, else the beginning of the first text that is not empty.

    A long text is looked through a stretch at a time, only until a window shows them all, and not to its end.
    """
    most = 0
    best: tuple[str, Marks] = ("", ())
    for text in texts:
        for low in range(0, min(len(text), _MOST_CHARACTERS), _STRETCH_CHARACTERS):
            stretch = text[low : low + _STRETCH_CHARACTERS + _OVERLAP_CHARACTERS]
            marks = marks_in(stretch, needles)
            if marks:
                worth, start = _densest(stretch, marks, size)
                if worth > most:
                    most, best = worth, _window(text, _moved(marks, low), low + start, size)
            if most >= _EACH * len(needles):
                return best
    if most:
        return best
    first = next((text for text in texts if text.strip()), "")
    return _window(first, (), 0, size)


def _densest(text: str, marks: Marks, size: int) -> tuple[int, int]:
    """How many different words, then how many at all, a window holds at best, and where it starts."""
    starts = [start for start, _ in marks]
    shown = [folded(text[start:end]) for start, end in marks]
    worth, place = 0, 0
    for number, start in enumerate(starts):
        end = bisect_left(starts, start + size - _LEAD_CHARACTERS, number)
        value = _EACH * len(set(shown[number:end])) + min(end - number, _EACH - 1)
        if value > worth:
            worth, place = value, start
    return worth, place


def _window(text: str, marks: Marks, start: int, size: int) -> tuple[str, Marks]:
    """About `size` characters around `start`, cut at blanks, on one line, with dots where something is left out."""
    low = max(0, start - _LEAD_CHARACTERS)
    if low:
        blank = text.find(" ", low, start)
        low = blank + 1 if blank >= 0 else low
    high = min(len(text), low + size)
    if high < len(text):
        blank = text.rfind(" ", max(start + 1, high - 30), high)
        high = blank if blank > 0 else high
    before, after = ("… " if low else ""), (" …" if high < len(text) else "")
    moved = len(before) - low
    kept = tuple((begin, end) for begin, end in marks if low <= begin and end <= high)
    return before + _SPACE.sub(" ", text[low:high]) + after, _moved(kept, moved)


def _moved(marks: Marks, by: int) -> Marks:
    return tuple((start + by, end + by) for start, end in marks)
