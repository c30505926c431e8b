"""The scanner finds the links an HTML5 parser finds: lexbor is asked about the same pages, resiliparse about real ones.

Known differences, each with its reason, are listed at the end; the corpus holds none of them.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import real_pages
from resiliparse.parse.html import HTMLTree
from selectolax.lexbor import LexborHTMLParser

from nephila.markup import Limits, Origin, choose, scan

WRITTEN_IN = {"a": "href", "area": "href", "frame": "src", "iframe": "src"}
UNLIMITED = Limits(links=10**6, href_bytes=10**6)
Found = set[tuple[str, str]]


def page_named(href: str) -> str:
    """Without the fragment, which the scanner cuts where it can; a parser sees every line end as one character."""
    return href.replace("\r\n", "\n").replace("\r", "\n").strip(" \t\n\f\r").partition("#")[0]


def scanned(body: bytes, encoding: str) -> Found:
    links = scan(body, encoding, UNLIMITED).links
    return {(link.origin.name.lower(), page_named(link.href)) for link in links if link.origin <= Origin.IFRAME}


def parsed(text: str) -> Found:
    tree = LexborHTMLParser(text.removeprefix("\ufeff"))
    found = {
        (element, page_named(node.attributes.get(attribute) or ""))
        for element, attribute in WRITTEN_IN.items()
        for node in tree.css(f"{element}[{attribute}]")
    }
    return {(element, href) for element, href in found if href[:11].lower() != "javascript:"}


def differences(pages: dict[str, bytes]) -> tuple[list[str], int]:
    """Names of the pages where scanner and parser differ, and the number of links compared."""
    different, compared = [], 0
    for name, body in pages.items():
        encoding = choose(body, None).encoding
        expected = parsed(body.decode(encoding, "replace"))
        compared += len(expected)
        if scanned(body, encoding) != expected:
            different.append(name)
    return different, compared


def test_links_of_the_korean_manual_are_a_parsers(data: Path) -> None:
    different, compared = differences(real_pages.manual_pages())
    assert different == []
    assert compared > 1500  # pages, however many places on them


def test_links_of_the_declaration_and_of_texts_in_all_charsets_are_a_parsers(data: Path) -> None:
    assert differences(real_pages.declaration_pages()) == ([], 0)
    assert differences(real_pages.charset_samples())[0] == []


def test_a_link_put_anywhere_into_a_tree_construction_input_is_found_where_a_parser_finds_it(data: Path) -> None:
    """The inputs hold few links themselves, so one is put before every tag and at the end, one at a time."""
    different, compared, with_frames = set(), 0, 0
    for name, body in real_pages.tree_inputs():
        text = body.decode("utf-8", "replace")
        places = [place for place, character in enumerate(text) if character == "<"]
        for place in [*places, len(text)]:
            page = f"{text[:place]}<a href=here>{text[place:]}"
            expected, found = parsed(page), scanned(page.encode(), "utf-8")
            if "<frame" in page:  # what stands beside a frameset is dropped by a parser and kept by the scanner
                with_frames += 1
                assert found >= expected, page
            elif found != expected:
                different.add(Path(name).name)
            compared += 1
    # lexbor moves a link out of a template's object; the scanner takes svg's second integration point for HTML.
    assert different == {"template.dat:98", "webkit02.dat:21"}
    assert compared > 8000 and with_frames < 1000


def test_every_tokenizer_input_is_read_alike_as_text_as_a_value_and_before_a_link(data: Path) -> None:
    frames = ("{}", "<a href='{}'>", '<a href="{}">', "<a href={}>", "{}<a href=x>", "<script>{}<a href=x></script>{}")
    different, compared = [], 0
    for text in real_pages.tokenizer_inputs():
        for frame in frames:
            page = frame.replace("{}", text)
            if page.isprintable() or not any("\ud800" <= character <= "\udfff" for character in page):
                compared += 1
                if scanned(page.encode(), "utf-8") != parsed(page):
                    different.append(page)
    assert different == []
    assert compared > 30_000


def test_resiliparse_finds_the_same_links_in_real_pages(data: Path) -> None:
    compared = 0
    for body in real_pages.manual_pages().values():
        encoding = choose(body, None).encoding
        tree = HTMLTree.parse(body.decode(encoding, "replace"))
        expected = {page_named(node["href"]) for node in tree.body.query_selector_all("a[href]")}
        assert {href for element, href in scanned(body, encoding) if element == "a"} == expected
        compared += len(expected)
    assert compared > 1500  # pages, however many places on them


def test_anchors_and_titles_are_a_parsers_but_for_blanks(data: Path) -> None:
    compared = 0
    for body in real_pages.manual_pages().values():
        encoding = choose(body, None).encoding
        found = scan(body, encoding, UNLIMITED)
        tree = LexborHTMLParser(body.decode(encoding, "replace"))
        texts: dict[str, str] = {}
        for node in tree.css("a[href]"):
            href = page_named(node.attributes.get("href") or "")
            texts[href] = texts.get(href) or "".join(node.text().split())
        for link in found.links:
            if link.origin is Origin.A:
                assert "".join(link.anchor.split()) == texts[page_named(link.href)]
                compared += 1
        title = tree.css_first("title")
        assert title is not None and found.title == " ".join(title.text().split())
    assert compared > 1500  # pages, however many places on them


@pytest.mark.parametrize(
    ("page", "only_ours", "only_the_parsers"),
    [
        # A parser drops a frame outside a frameset and an anchor inside one; old pages mean both.
        ("<body><frame src=x>", {("frame", "x")}, set()),
        ("<frameset><frame src=x><a href=y></frameset>", {("a", "y")}, set()),
        # Inside svg and math the scanner keeps one flag, where a parser keeps a stack of elements.
        ("<math><mi><style><a href=x></style></math>", {("a", "x")}, set()),
        ("<svg></p><style><a href=x></style>", {("a", "x")}, set()),
        ("<svg><font color=x><style><a href=x></style>", {("a", "x")}, set()),
        ("<svg><g><svg></svg><style><a href=x></style></svg>", set(), {("a", "x")}),
    ],
)
def test_the_known_differences_are_these(page: str, only_ours: Found, only_the_parsers: Found) -> None:
    ours, theirs = scanned(page.encode(), "utf-8"), parsed(page)
    assert (ours - theirs, theirs - ours) == (only_ours, only_the_parsers)
