"""Answers without a page of the tree, and the header lines of those with one."""

from __future__ import annotations

from email.utils import formatdate
from functools import lru_cache
from typing import Final

from nephila.lab.answer import Answer, Manner
from nephila.lab.card import TONGUES, Card
from nephila.lab.pages import Look

_HTML: Final = ("Content-Type", "text/html")
_KINDS: Final = {tongue.label: ("Content-Type", f"text/html; charset={tongue.label}") for tongue, _ in TONGUES}


def page_headers(card: Card, look: Look, etag: str, since: float) -> tuple[tuple[str, str], ...]:
    """Content type (with its charset where the site says it here), robots rule, validators where there is an etag."""
    kind = _KINDS[card.tongue.label] if card.says_charset_in_header else _HTML
    if not etag:
        return (kind, ("X-Robots-Tag", look.robots_header)) if look.robots_header else (kind,)
    validators = (("ETag", etag), ("Last-Modified", _http_date(max(int(since), 0))))
    return (kind, ("X-Robots-Tag", look.robots_header), *validators) if look.robots_header else (kind, *validators)


@lru_cache(maxsize=4096)
def _http_date(at: int) -> str:
    return formatdate(at, usegmt=True)


def robots_answer(card: Card) -> Answer:
    if card.robots is None:
        return error_answer(404)
    return Answer(Manner.WHOLE, 200, (("Content-Type", "text/plain"),), card.robots.text().encode("ascii"))


def error_answer(status: int, wait_s: float = 0.0) -> Answer:
    """An error page; it holds no links."""
    body = f"<html><head><title>{status}</title></head><body><h1>Error {status}</h1></body></html>\n".encode("ascii")
    return Answer(Manner.WHOLE, status, (_HTML,), body, wait_s)


def redirect_answer(status: int, location: str, wait_s: float) -> Answer:
    body = f"<html><head><title>{status}</title></head><body><h1>Moved</h1></body></html>\n".encode("ascii")
    return Answer(Manner.WHOLE, status, (_HTML, ("Location", location)), body, wait_s)
