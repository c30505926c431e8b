"""What a search brings: frozen rows for the command line, for JSON and for the web pages."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

Marks = tuple[tuple[int, int], ...]
"""Places of the words looked for in a text: from, and up to but without."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """Where a score comes from: the parts add up to the relevance, which the factor of the rank multiplies."""

    parts: tuple[tuple[str, float], ...]
    """field, and what the words found in it bring"""
    relevance: float
    times_mean: float
    """the page's rank as a multiple of the mean"""
    rank_factor: float
    line: str
    """all of it in one line"""


@dataclass(frozen=True, slots=True)
class Hit:
    place: int
    """from 1"""
    page_id: int
    url: str
    title: str
    title_marks: Marks
    snippet: str
    snippet_marks: Marks
    site: str
    domain: str
    community_id: int
    community: str
    language: str
    published_at: datetime | None
    modified_at: datetime | None
    fetched_at: datetime | None
    times_mean: float
    score: float
    explanation: Explanation | None


@dataclass(frozen=True, slots=True)
class Results:
    """One page of hits; `total` counts all pages that match, also those that give way to a better one."""

    text: str
    page: int
    size: int
    hits: tuple[Hit, ...]
    total: int
    has_more: bool
    """whether a next page has hits"""
    given_way: int
    """better hits of the same cluster or site are shown instead of so many, as far as was looked"""
    remarks: tuple[str, ...]
    """what a person should know, such as a site that is not in the index"""
    seconds: float


@dataclass(frozen=True, slots=True)
class Copy:
    """A page as it was archived."""

    url: str
    page_id: int
    fetched_at: datetime
    mime: str
    charset: str
    """a Python codec"""
    body: bytes
    """content coding undone; never to be shown but inert"""


def pieces(text: str, marks: Marks) -> list[tuple[str, bool]]:
    """A text cut at its marks: each piece, and whether it is one of the words."""
    cut: list[tuple[str, bool]] = []
    place = 0
    for start, end in marks:
        if start > place:
            cut.append((text[place:start], False))
        cut.append((text[start:end], True))
        place = end
    if place < len(text):
        cut.append((text[place:], False))
    return cut
