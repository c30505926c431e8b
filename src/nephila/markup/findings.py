"""What a pass over a page finds: the rows that both tokenizers make and `scan.py` reads."""

from __future__ import annotations

from enum import IntEnum
from typing import Final, NamedTuple

from nephila.records import LinkKind


class Origin(IntEnum):
    """The element a link was written in; the first four are told apart by the tokenizer, the others by `scan.py`."""

    A = 0
    AREA = 1
    FRAME = 2
    IFRAME = 3
    CANONICAL = 4
    NEXT = 5
    PREV = 6
    ALTERNATE = 7
    REFRESH = 8
    SCRIPT = 9


KINDS: Final = dict.fromkeys(Origin, LinkKind.H) | {
    Origin.A: LinkKind.A,
    Origin.FRAME: LinkKind.F,
    Origin.IFRAME: LinkKind.F,
}


class Link(NamedTuple):
    """One link of a page; a named tuple, because the compiled tokenizer makes thousands of them per second."""

    href: str
    origin: Origin
    nofollow: bool
    anchor: str

    @property
    def kind(self) -> LinkKind:
        """S1-46."""
        return KINDS[self.origin]


class Mark(IntEnum):
    """Elements of the head that need more than their address."""

    BASE = 0
    LINK = 1
    ROBOTS = 2
    REFRESH = 3


RawLink = tuple[str | bytes, int, bool, str | bytes]
"""A `Link` still to be decoded, or whose href is code. Printable ASCII without "&" is text already, without the
blanks around it."""


class Tokens(NamedTuple):
    """What the tokenizer found; a tuple, because the compiled form builds it."""

    links: list[Link | RawLink]
    """one per href (its fragment cut) and origin, with the first anchor text that is not empty; a `Link` where nothing
    is left to do"""
    link_count: int
    """links written on the page: repeated ones, too long ones and those beyond the limit included"""
    too_long: int
    marks: list[tuple[int, bytes, bytes]]
    """mark, its href or content, its rel"""
    scripts: list[bytes]
    """script elements that speak of a location or open a window"""
    handlers: list[bytes]
    """on… attributes that do"""
    title: bytes | None
