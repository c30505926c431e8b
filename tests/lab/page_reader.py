"""Reads the links of a lab page with an HTML5 parser that is not ours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser

from nephila.lab.card import Card

_SCRIPTED = re.compile(
    r"""location(?:\.href)?\s*=\s*['"]([^'"]+)|(?:window\.open|location\.replace)\(\s*['"]([^'"]+)"""
)
_SESSION = re.compile(r";sessionid=[0-9a-f]+|[?&]sid=[0-9a-f]+$")


def _references(tree: LexborHTMLParser) -> Iterator[tuple[str, str]]:
    """(kind, reference) of everything that S1-46 counts as a link."""
    for node in tree.css("a[href]"):
        href = node.attributes["href"] or ""
        if href.startswith("javascript:"):
            yield from (("h", one or two) for one, two in _SCRIPTED.findall(href))
        elif not href.startswith("mailto:"):
            yield "a", href
    for node in tree.css("frame[src], iframe[src]"):
        yield "f", node.attributes["src"] or ""
    for node in tree.css('area[href], link[rel="next"], link[rel="canonical"]'):
        yield "h", node.attributes["href"] or ""
    for node in tree.css("meta[content]"):
        if (node.attributes.get("http-equiv") or "").lower() == "refresh":
            yield "h", re.split(r"(?i)url=", node.attributes["content"] or "")[1]
    for node in tree.css("script"):
        yield from (("h", one or two) for one, two in _SCRIPTED.findall(node.text() or ""))
    for node in tree.css("[onclick]"):
        yield from (("h", one or two) for one, two in _SCRIPTED.findall(node.attributes["onclick"] or ""))


def _resolved(base: str, reference: str, codec: str) -> str:
    """Resolved by the standard library and percent-encoded as browsers do; fragment and session id cut."""
    url = urljoin(base, reference.strip()).partition("#")[0]
    front, mark, query = url.partition("?")
    front = "".join(sign if sign.isascii() else "".join(f"%{byte:02X}" for byte in sign.encode()) for sign in front)
    query = "".join(
        sign if sign.isascii() else "".join(f"%{byte:02X}" for byte in sign.encode(codec)) for sign in query
    )
    url = _SESSION.sub("", front + mark + query)
    return url if urlsplit(url).path else url + "/"


def links_in(card: Card, body: bytes, path: str) -> set[tuple[str, str]]:
    tree = LexborHTMLParser(body.decode(card.tongue.codec))
    base_node = tree.css_first("base[href]")
    base = card.origin + path if base_node is None else base_node.attributes["href"] or ""
    return {(kind, _resolved(base, written, card.tongue.codec)) for kind, written in _references(tree)}
