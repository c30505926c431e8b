"""How a copy from the archive is shown: inert, whatever it is (RELIABILITY C9).

HTML is sent as HTML in UTF-8, with headers under which nothing in it runs, asks, sends or leaves its frame: an opaque
origin, no script, no request, no form. Other text is sent as plain text. Everything else is not shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from nephila.shown import Copy

INERT_POLICY: Final = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'self'"
)
"""The styles written in a page may colour it; nothing is fetched for it, and nothing in it acts."""

_HTML: Final = frozenset({"text/html", "application/xhtml+xml"})


@dataclass(frozen=True, slots=True)
class Content:
    """Bytes and the type they are sent as."""

    body: bytes
    content_type: str


def is_shown(copy: Copy) -> bool:
    return copy.mime in _HTML or _is_text(copy)


def content(copy: Copy, *, as_source: bool) -> Content | None:
    """What the frame gets; None for what is neither HTML nor text."""
    if not is_shown(copy):
        return None
    text = copy.body.decode(copy.charset, "replace").encode("utf-8", "replace")
    if copy.mime in _HTML and not as_source:
        return Content(text, "text/html; charset=utf-8")
    return Content(text, "text/plain; charset=utf-8")


def _is_text(copy: Copy) -> bool:
    if b"\0" in copy.body[:4096]:
        return False
    kinds = ("text/", "application/xml", "application/json", "application/javascript", "application/rss+xml")
    return copy.mime.startswith(kinds) or copy.mime == ""
