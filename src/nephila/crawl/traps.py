"""Spaces of URLs without end: what their shape tells, and when a pattern of URLs has nothing more to say (U1-U5).

A *pattern* is a path with its numbers masked and its query cut (`/cal/0/0?`), a *branch* all that lies under the same
first segment (`/cal/`). Both may have as many pages as they like while these bring something new: text that was not
seen there before, another kind of content, or URLs outside of the pattern. Without news they may be large, too, as long
as they do not look endless: a thousand numbered pages that a list names are no trap. What has no end must grow, page
by page, in a way that can go on for ever: by several numbers and nothing else, by ids, by the same words in ever other
orders or switches in ever other positions (`combinations`), or far from every seed.
So a pattern sleeps when `traps.pattern_pages` were asked, of the last 64 hardly one brought news, and several grew it
like that; what waits of it and what is found later is `trap_rejected`, with the figures as the reason. Nothing is lost:
another value of a key of this section, or `traps.let_in`, lets them in.

No function here reads a clock or a database; all memory is bounded.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from nephila.config.sections import Traps
from nephila.crawl.patterns import Glob, whole_glob

LEARN_FROM: Final = 50
"""Pages of a pattern from which on their text is looked at; fewer cost nothing."""

WINDOW: Final = 64
STALE: Final = 61
"""Of the last WINDOW pages so many must have brought nothing new before the pattern sleeps."""

NEW_BYTES: Final = 32
"""Text that was not seen before, in bytes, that makes a page a new one."""

GROWN: Final = 4
"""So many pages must have made it larger in an endless way."""

NEAR: Final = 10
"""Links from a seed within which one number may count as far as it likes: 5,000 pages with five links each are all
nearer, while what only leads on and on (`?page=17`) is not."""

_ALL_RECENT: Final = (1 << WINDOW) - 1
_NUMBERS: Final = re.compile(r"[0-9a-fA-F]{8,}|[0-9]+")  # no part of it ever goes back: paths come from the web
_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{12,}")
_LONG_NUMBER: Final = 9  # digits: a number of pages has fewer, a moment in seconds has more
_DATE: Final = re.compile(r"[0-9_:.-]{1,40}")
_TEXT_BYTES: Final = 256 * 1024
_MAX_RUNS: Final = 400
_HIDDEN: Final = re.compile(rb"<(script|style)\b|<!--")
_DIGIT: Final = re.compile(rb"[0-9]")
_RUN: Final = re.compile(rb">([^<>]{8,})")
_ANY_TAG: Final = re.compile(rb"<[^<>]*>")
_MEASURED: Final = re.compile(rb"[-+]?(?:[0-9]+[.,][0-9]+|(?!(?:19|2[01])[0-9]{2}$)[0-9]{3,})%?")  # no years
_TAG: Final = re.compile(rb"<([a-zA-Z][a-zA-Z0-9]*)")
_FILTER_BITS: Final = 1 << 14
_FULL: Final = 2_000
_LOOKED_AT: Final = 64  # segments; more are too many anyway
_SCATTERED: Final = 2  # more often than in a row may a segment stand in a path in all


@dataclass(frozen=True, slots=True)
class CompiledTraps:
    """The section `traps`, with its patterns compiled."""

    keys: Traps
    let_in: tuple[Glob, ...]

    @classmethod
    def of(cls, keys: Traps) -> CompiledTraps:
        return cls(keys, tuple(map(whole_glob, keys.let_in)))

    def lets_in(self, url: str) -> bool:
        """Whether a person has said that this is no trap."""
        return any(glob.matches(url) for glob in self.let_in)


def pattern_of(path: str) -> str:
    """The path with numbers and long hexadecimal words masked; of a query only that there is one."""
    way, mark, _ = path.partition("?")
    return _masked(way) + mark


def branch_of(path: str) -> str:
    """The first segment of a path with more than one, else the root: one for plain pages, one for queries."""
    way, mark, _ = path.partition("?")
    first, slash, _ = way[1:].partition("/")
    return f"/{_masked(first)}/" if slash else f"/{mark}"


def _masked(text: str) -> str:
    text = _TOKEN.sub(lambda found: "0" if _is_random(found[0]) else found[0], text)
    return _NUMBERS.sub(lambda found: found[0] if found[0].isalpha() else "0", text)


def _is_random(token: str) -> bool:
    """Whether a word looks drawn rather than written: small and large letters and digits, changing all the time."""
    changes = sum(
        (one.isdigit(), one.isupper()) != (other.isdigit(), other.isupper())
        for one, other in itertools.pairwise(token)
        if one not in "-_" and other not in "-_"
    )
    return 3 * changes >= len(token) and token != token.lower() != token.upper() and any(map(str.isdigit, token))


def shape_refusal(path: str, keys: Traps) -> str | None:
    """What is wrong with the mere form of a path: too many segments, or a part of it again and again (U2)."""
    segments = [segment for segment in path.partition("?")[0].split("/") if segment]
    if keys.max_segments is not None and len(segments) > keys.max_segments:
        return f"traps.max_segments: {len(segments)} segments"
    if keys.max_repeats is None or len(set(segments)) == len(segments):
        return None
    repeats = most_repeats(segments)
    if repeats > keys.max_repeats:
        return f"traps.max_repeats: a part of the path stands {repeats} times in a row"
    # Relative links that grow in two ways (x/y/x/x/y) repeat little in a row, and everything in all.
    [(word, times)] = Counter(each for each in segments if not each.isdecimal()).most_common(1) or [("", 0)]
    if times > keys.max_repeats + _SCATTERED:
        return f"traps.max_repeats: {word[:40]!r} stands {times} times in the path"
    return None


def most_repeats(segments: list[str]) -> int:
    """How often the most repeated run of segments stands in a row; runs of numbers alone (dates) do not count."""
    most = 1
    segments = segments[:_LOOKED_AT]
    for length in range(1, len(segments) // 2 + 1):
        equal = 0  # segments in a row that are the same as `length` before
        for place in range(length, len(segments)):
            equal = equal + 1 if segments[place] == segments[place - length] else 0
            if equal and equal % length == 0:
                unit = segments[place - length + 1 : place + 1]
                if not all(segment.isdecimal() for segment in unit):
                    most = max(most, equal // length + 1)
    return most


@dataclass(frozen=True, slots=True)
class PatternRow:
    """How a pattern or branch fares: pages asked, which of the last 64 brought nothing new (1), how many grew it."""

    asked: int = 0
    recent: int = 0
    grown: int = 0


def after_page(row: PatternRow, *, is_new: bool, grew: bool) -> PatternRow:
    return PatternRow(row.asked + 1, (row.recent << 1 | (not is_new)) & _ALL_RECENT, row.grown + grew)


def sleeps(row: PatternRow, keys: Traps) -> bool:
    """Whether nothing more of it is asked. Follows from the row alone, so that another budget wakes it."""
    if keys.pattern_pages is None or row.asked < keys.pattern_pages:
        return False
    return row.grown >= GROWN and row.recent.bit_count() >= STALE


def looks_endless(path: str, depth: int, varying: int) -> bool:
    """Whether URLs like this can go on for ever: made of nothing but numbers, by ids, or far from every seed."""
    return depth > NEAR or _has_id(path) or (varying > 1 and _is_of_numbers(path))


def _is_of_numbers(path: str) -> bool:
    """Dates, coordinates, switches: all that stands behind the first segment, and every value of the query."""
    way, _, query = path.partition("?")
    parts = [segment.partition(".")[0] for segment in way.split("/")[2:] if segment]
    values = [value for name, is_set, value in (part.partition("=") for part in query.split("&") if part) if is_set]
    return len(parts) + len(values) > 1 and all(map(_DATE.fullmatch, [*parts, *values]))


def numbers_of(path: str) -> list[str]:
    """What the pattern masks, and the numbers in the query."""
    return [found for found in _NUMBERS.findall(path) if not found.isalpha()]


def _has_id(path: str) -> bool:
    return any(not number.isdecimal() or len(number) >= _LONG_NUMBER for number in numbers_of(path)) or any(
        map(_is_random, _TOKEN.findall(path))
    )


def sleeping_reason(name: str, row: PatternRow) -> str:
    stale = row.recent.bit_count()
    return (
        f"traps.pattern_pages: {row.asked} pages like {name} were asked, "
        f"and {stale} of the last {WINDOW} brought nothing new"
    )


def text_runs(body: bytes, path: str) -> list[bytes]:
    """Pieces of visible text between tags, without words that hold digits and without the page's own name."""
    seen = _visible(body[:_TEXT_BYTES].lower())  # <SCRIPT> may end with </script>
    own = path.partition("?")[0].rstrip("/").rpartition("/")[2].lower().encode()
    runs = []
    for found in _RUN.finditer(seen):
        run = found[1].replace(own, b"") if len(own) >= 4 else found[1]
        run = b" ".join(word for word in run.split() if not _DIGIT.search(word))
        if len(run) >= 8:
            runs.append(run)
            if len(runs) == _MAX_RUNS:
                break
    return runs


def number_rows(body: bytes) -> list[bytes]:
    """The measured numbers of each row of a table: what an archive of figures says in the place of words.

    Days, hours, years and small numbers, of which calendars are made, are none.
    """
    rows = []
    for piece in body[:_TEXT_BYTES].lower().split(b"<tr")[1 : _MAX_RUNS + 1]:
        words = _ANY_TAG.sub(b" ", piece.partition(b"</tr")[0].partition(b">")[2]).split()
        measured = b" ".join(word for word in words if _MEASURED.fullmatch(word))
        if b" " in measured:
            rows.append(measured)
    return rows


def _visible(body: bytes) -> bytes:
    """The body without scripts, styles and comments; one that does not end hides all that follows."""
    pieces, start = [], 0
    while (opened := _HIDDEN.search(body, start)) is not None:
        pieces.append(body[start : opened.start()])
        closing = b"-->" if opened[1] is None else b"</" + opened[1]
        end = body.find(closing, opened.end())
        if end < 0:
            return b"".join(pieces)
        start = end + len(closing)
    return b"".join([*pieces, body[start:]])


@dataclass(slots=True)
class SeenTexts:
    """Which runs of text a pattern has shown before: a filter of 2 KiB that begins anew when it is full."""

    _bits: bytearray = field(default_factory=lambda: bytearray(_FILTER_BITS // 8))
    _held: int = 0

    def new_bytes(self, runs: list[bytes]) -> int:
        """Bytes of text that were not seen before; they are from now on."""
        if self._held > _FULL:
            self._bits, self._held = bytearray(_FILTER_BITS // 8), 0
        new = 0
        bits = self._bits
        for run in runs:
            known = True
            mixed = hash(run)
            for _ in range(3):
                place = mixed & (_FILTER_BITS - 1)
                mixed >>= 14
                byte, bit = place >> 3, 1 << (place & 7)
                if not bits[byte] & bit:
                    known = False
                    bits[byte] |= bit
            if not known:
                self._held += 1
                new += len(run)
        return new


def skeleton(body: bytes) -> int:
    """The order of a page's elements, whatever words are in them: pages of one template have one (U3)."""
    return hash(b" ".join(_TAG.findall(body[: _TEXT_BYTES // 4])).lower())


def worth(*, given: bool, seeds: int) -> float:
    """By how much a site's budget grows: its user named it, others link to it (U4)."""
    return (100.0 if given else 1.0) * (1 + max(0, seeds - 1).bit_length())


def within(pages: int, budget: int | None, value: float) -> bool:
    return budget is None or pages < budget * value
