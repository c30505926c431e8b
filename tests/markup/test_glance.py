"""The words of a page without a tree."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from nephila.markup.glance import glance


def test_tags_scripts_styles_and_comments_are_not_seen() -> None:
    page = b"""<html lang="ko-KR"><head><title>A &amp; B</title><style>x { y }</style><SCRIPT>if (a < b) c</script >
    <!-- no <b>more</b> --></head><body>one<b>two</b> three"""
    seen = glance(page, None)
    assert seen.text == "A & B one two three"
    assert seen.language == "ko-KR"


def test_the_charset_is_the_pages_own() -> None:
    assert glance("<meta charset=euc-kr>한글".encode("euc-kr"), None).text == "한글"
    assert glance("한글".encode("euc-kr"), "text/html; charset=euc-kr").text == "한글"


@given(st.binary(max_size=400))
def test_no_page_raises(body: bytes) -> None:
    assert isinstance(glance(b"<" + body, "text/html; charset=x-none").text, str)


def test_no_page_costs_more_than_its_length() -> None:
    started = time.process_time()
    for piece in (b"<script>", b"<!--", b"<", b"<a ", b"</script", b"&", b"<style ><"):
        glance(piece * (200_000 // len(piece)), None)
    assert time.process_time() - started < 2
