"""The truth's links against the pages as written, read by an HTML5 parser that is not ours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urljoin, urlsplit

import pytest
from selectolax.lexbor import LexborHTMLParser

from nephila.config.sections import Lab
from nephila.lab.card import Card
from nephila.lab.pages import original
from nephila.lab.paths import path_of
from nephila.lab.skeleton import KINDS, Fate
from nephila.lab.web import Web

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


def _read(card: Card, body: bytes, path: str) -> set[tuple[str, str]]:
    tree = LexborHTMLParser(body.decode(card.tongue.codec))
    base_node = tree.css_first("base[href]")
    base = card.origin + path if base_node is None else base_node.attributes["href"] or ""
    return {(kind, _resolved(base, written, card.tongue.codec)) for kind, written in _references(tree)}


@pytest.mark.parametrize(("seed", "profile"), [(1, "survey"), (2, "study")])
def test_the_links_of_the_truth_are_the_links_that_an_html5_parser_finds(seed: int, profile: str) -> None:
    # given a web with all its spellings
    web = Web(Lab(seed=seed, sites=150, profile=profile))  # type: ignore[arg-type]
    compared = 0
    for site in range(150):
        card, skeleton = web.card(site), web.skeleton(site)
        for page in [*range(min(6, skeleton.pages)), *range(6, skeleton.pages, 211)]:
            if skeleton.fate[page] != Fate.OK:
                continue
            path = path_of(card.paths, page)
            # when a page is written and read again
            found = _read(card, web.body(card, skeleton, page, 0.0), path)
            # then it holds exactly the links that the model says, each in its kind
            told = {(link.letter, link.origin + link.path) for link in web.linker.links(card, skeleton, page)}
            assert found == told, (site, page)
            kinds = "".join(kind if any(kind == letter for letter, _ in told) else "0" for kind in "haf")
            assert kinds == KINDS[skeleton.kind[original(skeleton, page)]]
            compared += 1
    assert compared > 700
