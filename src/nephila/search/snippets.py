"""The part of a text that shows why it was found, and where the words are in it: plain functions of text.

Words are marked as the index sees them: whole words without regard to case and accents, and Korean, Japanese and
Chinese ones wherever they stand inside longer ones.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from nephila.search.results import Marks
from nephila.search.wording import folded, is_one_sign


def pattern_of(words: Sequence[Sequence[str]]) -> re.Pattern[str] | None:
    """What finds the words of a query in a folded text; None where there are none."""
    spelled = {_spelled(together) for together in words if together}
    if not spelled:
        return None
    return re.compile("|".join(sorted(spelled, key=len, reverse=True)))


def _spelled(words: Sequence[str]) -> str:
    """Words in their order: pairs of signs that overlap are one run again, all others have something between them."""
    runs: list[str] = []
    for word in words:
        if runs and len(word) == 2 and _in_pairs(word) and _in_pairs(runs[-1]) and runs[-1][-1] == word[0]:
            runs[-1] += word[1]
        else:
            runs.append(word)
    return r"[\W_]*".join(_bounded(run) for run in runs)


def _bounded(run: str) -> str:
    return re.escape(run) if _in_pairs(run) else rf"(?<![^\W_]){re.escape(run)}(?![^\W_])"


def _in_pairs(run: str) -> bool:
    return is_one_sign(run[0])


def marks_in(text: str, pattern: re.Pattern[str] | None) -> Marks:
    """Where the words are."""
    return (
        tuple(found.span() for found in pattern.finditer(folded(text)) if found.end() > found.start())
        if pattern
        else ()
    )


def snippet(texts: Sequence[str], pattern: re.Pattern[str] | None, size: int) -> tuple[str, Marks]:
    """The best window of the first text that holds a word, else the beginning of the first that is not empty."""
    best: tuple[int, str, Marks] = (0, "", ())
    for text in texts:
        marks = marks_in(text, pattern)
        if marks:
            worth, start = _densest(text, marks, size)
            if worth > best[0]:
                best = (worth, *_window(text, marks, start, size))
    if best[0]:
        return best[1], best[2]
    first = next((text for text in texts if text.strip()), "")
    return _window(first, (), 0, size)


def _densest(text: str, marks: Marks, size: int) -> tuple[int, int]:
    """How many different words, then how many at all, a window holds at best, and where it starts."""
    starts = [start for start, _ in marks]
    shown = [folded(text[start:end]) for start, end in marks]
    worth, place = 0, 0
    for number, start in enumerate(starts):
        end = bisect_left(starts, start + size - 40, number)
        value = 100 * len(set(shown[number:end])) + min(end - number, 99)
        if value > worth:
            worth, place = value, start
    return worth, place


def _window(text: str, marks: Marks, start: int, size: int) -> tuple[str, Marks]:
    """About `size` characters around `start`, cut at blanks, on one line, with dots where something is left out."""
    low = max(0, start - 40)
    if low:
        blank = text.find(" ", low, start)
        low = blank + 1 if blank >= 0 else low
    high = min(len(text), low + size)
    if high < len(text):
        blank = text.rfind(" ", max(start + 1, high - 30), high)
        high = blank if blank > 0 else high
    before, after = ("… " if low else ""), (" …" if high < len(text) else "")
    inside = "".join(" " if sign.isspace() else sign for sign in text[low:high])
    moved = len(before) - low
    kept = tuple((begin + moved, end + moved) for begin, end in marks if low <= begin and end <= high)
    return before + inside + after, kept
