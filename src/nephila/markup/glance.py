"""The words of a page at a glance: in come bytes, out comes text without tags, scripts and styles, in one pass.

For deciding while crawling what a page is about, where a tree would be too dear. Every search goes forward from where
the last one ended, and one that finds nothing ends the pass: no page costs more than its length.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from nephila.markup.charset import choose
from nephila.markup.references import decode_text

GLANCE_BYTES: Final = 128 * 2**10
_UNSEEN: Final = {
    name: re.compile(rf"</{name}\b[^>]{{0,100}}>", re.IGNORECASE)
    for name in ("script", "style", "noscript", "template", "textarea")
}
_LANGUAGE: Final = re.compile(
    r"""<html\b[^>]{0,1000}?\s(?:xml:)?lang\s{0,9}=\s{0,9}["']?([A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,8}){0,3})""",
    re.IGNORECASE,
)
_TAG_NAME: Final = re.compile(r"[a-zA-Z]{1,12}")


@dataclass(frozen=True, slots=True)
class Glance:
    """What a reader would see, blanks collapsed, and the language that the page declares."""

    text: str
    language: str | None


def glance(body: bytes, content_type: str | None) -> Glance:
    """The visible text of the first bytes of an HTML body."""
    start = body[:GLANCE_BYTES]
    html = start.decode(choose(start, content_type).encoding, "replace")
    declared = _LANGUAGE.search(html[:4096])
    return Glance(_visible(html), declared[1] if declared is not None else None)


def _visible(html: str) -> str:
    pieces: list[str] = []
    at = 0
    while True:
        tag = html.find("<", at)
        pieces.append(html[at:tag] if tag >= 0 else html[at:])
        if tag < 0:
            break
        if html.startswith("<!--", tag):
            end = html.find("-->", tag + 4)
            end = end + 2 if end >= 0 else -1
        else:
            end = html.find(">", tag)
            name = _TAG_NAME.match(html, tag + 1)
            if end >= 0 and name is not None and name[0].lower() in _UNSEEN:
                close = _UNSEEN[name[0].lower()].search(html, end)
                end = close.end() - 1 if close is not None else -1
        if end < 0:
            break
        at = end + 1
    text = " ".join(pieces)
    return " ".join((decode_text(text) if "&" in text else text).split())
