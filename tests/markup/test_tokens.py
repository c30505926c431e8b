"""The compiled tokenizer and its Python twin: equal on everything, and linear in the page."""

from __future__ import annotations

from pathlib import Path

import pytest
import real_pages
from hypothesis import given, settings
from hypothesis import strategies as st
from real_pages import broken_html

from nephila.markup import tokens
from nephila.markup.findings import Link, Mark, Origin, Tokens

try:
    from nephila.markup import _scan
except ImportError:  # the twin alone is still tested below
    _scan = None

LIMITS = (5000, 4096, 1024, 2048)
TIGHT = (3, 5, 4, 4)
MIB = 1 << 20
twins = pytest.mark.skipif(_scan is None, reason="the compiled tokenizer was not built here")


def both(body: bytes, limits: tuple[int, int, int, int] = LIMITS) -> Tokens:
    """What the twin finds, once the compiled form was seen to find the same."""
    found = tokens.tokenise(body, *limits)
    if _scan is not None:
        compiled = Tokens._make(_scan.tokenise(body, *limits))
        assert compiled == found
        assert [type(row) for row in compiled.links] == [type(row) for row in found.links]
    return found


@twins
@given(broken_html, st.sampled_from([LIMITS, TIGHT, (0, 0, 0, 0)]))
@settings(max_examples=250, deadline=None)
def test_the_twins_agree_on_broken_html(body: bytes, limits: tuple[int, int, int, int]) -> None:
    both(body, limits)


@twins
def test_the_twins_agree_on_every_real_and_published_page(data: Path) -> None:
    bodies = [*real_pages.manual_pages().values(), *real_pages.declaration_pages().values()]
    bodies += [*real_pages.charset_samples().values(), *(body for _, body in real_pages.tree_inputs())]
    for body in bodies:
        both(body)
        both(body, TIGHT)
    assert len(bodies) > 1500


@twins
@given(st.data())
@settings(max_examples=100, deadline=None)
def test_the_twins_agree_on_mutations_of_real_pages(data: Path, drawn: st.DataObject) -> None:
    bodies = [*real_pages.manual_pages().values()][:20] + [*real_pages.declaration_pages().values()][:20]
    both(drawn.draw(real_pages.mutated(bodies)))


# Each takes seconds or gigabytes where anything is quadratic or kept without bound (RELIABILITY C1, C2, F11).
BOMBS: dict[str, tuple[bytes, int, int, int]] = {
    "nested elements": (b"<div>" * 100_000 + b"<a href=x>", 1, 1, 0),
    "nested anchors": (b"<a href=x>" * 50_000, 1, 50_000, 0),
    "attributes": (b"<a " + b"b=c " * 10**6 + b"href=x>", 1, 1, 0),
    "attributes that never end": (b"<a href=x " + b"b=c " * 10**6, 0, 0, 0),
    "a comment that never ends": (b"<a href=x><!--" + b"-> --!" * (MIB // 6), 1, 1, 0),
    "less-than signs": (b"<" * (MIB // 8) + b"a href=x>", 1, 1, 0),
    "blanks in a tag": (b"<a" + b" " * MIB + b"href" + b" " * MIB + b"=" + b" " * MIB + b"x>", 1, 1, 0),
    "quotes": (b"<a '\"" * (MIB // 5), 0, 0, 0),
    "almost ends of a title": (b"<title>" + b"</titl" * MIB + b"</title><a href=x>", 1, 1, 0),
    "almost ends of a script": (b"<script>" + b"</scrip" * (MIB // 7) + b"</script ><a href=x>", 1, 1, 0),
    "an href of 1 MiB": (b"<a href='" + b"x" * MIB + b"'><a href=x>", 1, 2, 1),
    "tags in an anchor": (b"<a href=x>" + b"<b> " * 50_000, 1, 1, 0),
    "many links": (b"".join(b"<a href=%d>" % number for number in range(60_000)), 5000, 60_000, 0),
    "character data sections": (b"<svg>" + b"<![CDATA[" * 100_000 + b"]]><a href=x>", 1, 1, 0),
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_bomb_is_read_like_any_page(bomb: str) -> None:
    body, kept, count, too_long = BOMBS[bomb]
    found = both(body)
    assert (len(found.links), found.link_count, found.too_long) == (kept, count, too_long)
    assert all(len(anchor) <= 1024 for *_, anchor in found.links)


def hrefs(body: bytes) -> list[str | bytes]:
    return [href for href, *_ in both(body).links]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"<a href=x>", ["x"]),
        (b"<A\nHREF\t=\r\n'x' >", ["x"]),
        (b"<a/href=x>", ["x"]),
        (b"<a href=x/>", ["x/"]),
        (b"<a href==x>", ["=x"]),
        (b"<a href>", [""]),
        (b"<a href='x'href=y>", ["x"]),
        (b"<a href=x", []),
        (b"<a href='x>", []),
        (b"< a href=x>", []),
        (b"<ab href=x>", []),
        (b"<a title='<a href=y>' href=x>", ["x"]),
        (b"<!-- <a href=x> --><a href=y>", ["y"]),
        (b"<!--><a href=x>-->", ["x"]),
        (b"<!--a--!><a href=x>", ["x"]),
        (b"<!-a><a href=x>", ["x"]),
        (b"<?php echo '<a href=x>' ?>", []),
        (b"<?xml ?><a href=x>", ["x"]),
        (b"</ a><a href=x>", ["x"]),
        (b"<![CDATA[<a href=x>]]>", []),
        (b"<svg><![CDATA[<a href=x>]]><a href=y></svg>", ["y"]),
        (b"<svg><style><a href=x></style></svg><style><a href=y></style>", ["x"]),
        (b"<script>'<a href=x>'</script><a href=y>", ["y"]),
        (b"<script><!--<script></script><a href=x>--></script><a href=y>", ["y"]),
        (b"<style><!--</style><a href=x>", ["x"]),
        (b"<title><a href=x></title><textarea><a href=x></textarea><xmp><a href=x></xmp>", []),
        (b"<noframes><a href=x></noframes><iframe src=i><a href=x></iframe>", ["i"]),
        (b"<noscript><a href=x></noscript>", ["x"]),
        (b"<template><a href=x></template><a href=y>", ["y"]),
        (b"<plaintext><a href=x>", []),
        (b"<select><a href=x>", ["x"]),
        (b"<a href=x>1<a href=x>2<a href=y>3", ["x", "y"]),
    ],
)
def test_tags_begin_and_end_where_html5_says(body: bytes, expected: list[str]) -> None:
    assert hrefs(body) == expected


def test_an_anchor_keeps_the_first_text_and_is_nofollow_only_if_always_so() -> None:
    found = both(b"<a href=x rel='me NoFollow'><img></a> <a href=x> the <b>K</b>orea<br>x</a><a href=x>later</a>")
    assert found.links == [("x", Origin.A, False, b"the K\0orea x")]
    assert found.link_count == 3


def test_what_needs_no_decoding_is_a_link_already() -> None:
    found = both(b"<a href=x>text<a href=Journal>text<a href='&amp;'>text<a href=y>&amp;")
    assert [type(row) for row in found.links] == [Link, tuple, tuple, tuple]
    assert [row[1] for row in found.links] == [Origin.A] * 4


def test_the_head_is_reported_as_written() -> None:
    found = both(
        b"<title> T </title><title>U</title><base href=b><link rel='next' href=n><meta name=ROBOTS content=none>"
        b"<meta http-equiv=Refresh content='0'><link href=no-rel><svg><title>S</title></svg>"
    )
    assert found.title == b" T "
    assert found.marks == [
        (Mark.BASE, b"b", b""),
        (Mark.LINK, b"n", b"next"),
        (Mark.ROBOTS, b"none", b""),
        (Mark.REFRESH, b"0", b""),
    ]


def test_only_code_that_may_go_somewhere_is_reported() -> None:
    found = both(b"<script>a=1</script><script>location='x'</script><p onclick=\"window.open('y')\" onblur=nothing>")
    assert found.scripts == [b"location='x'"]
    assert found.handlers == [b"window.open('y')"]
