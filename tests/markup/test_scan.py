"""What a page says about itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from real_pages import broken_html

import nephila.markup
from nephila.config.sections import Links
from nephila.markup import Limits, Refresh, Scan, document_base, scan, tokens
from nephila.markup.scan import read_refresh, scan_with
from nephila.markup.script import urls_in
from nephila.records import LinkKind
from nephila.urls import StripRules, join

RULES = StripRules.of(Links().strip_parameters)


def written(found: Scan) -> list[tuple[str, str]]:
    return [(link.origin.name, link.href) for link in found.links]


def test_every_kind_of_link_is_found_with_its_origin() -> None:
    found = scan(
        b"""<html><head><title> Korea &amp;\n the  web </title><base href="/base/">
        <link rel="canonical" href="c"><link rel=NEXT href=n><link rel=prev href=p><link rel=alternate href=l>
        <link rel="alternate stylesheet" href=s.css><link rel=icon href=i.ico>
        <meta http-equiv=refresh content="5; URL='r.html'"><meta name=robots content="NoIndex, follow">
        <script>function go() { location.href = "http://orion.ssu.ac.kr/"; }</script></head>
        <body onload="window.open('o.html')"><a href="a?x=1&amp;y&copy=2">first <i>an</i>chor</a>
        <a href="javascript:location.replace('j.html')">x</a><map><area href=area></map><iframe src=f></iframe>
        http://not.a.link/</body>"""
    )
    assert written(found) == [
        ("CANONICAL", "c"), ("NEXT", "n"), ("PREV", "p"), ("ALTERNATE", "l"), ("REFRESH", "r.html"),
        ("A", "a?x=1&y&copy=2"), ("AREA", "area"), ("IFRAME", "f"),
        ("SCRIPT", "http://orion.ssu.ac.kr/"), ("SCRIPT", "o.html"), ("SCRIPT", "j.html"),
    ]  # fmt: skip
    assert found.title == "Korea & the web"
    assert found.base == "/base/"
    assert found.canonical == "c"
    assert found.refresh == Refresh(5, "r.html")
    assert (found.noindex, found.nofollow) == (True, False)
    assert found.links[5].anchor == "first anchor"
    assert found.link_kinds == "haf"


def test_kinds_are_those_of_s1_46() -> None:
    found = scan(b"<frameset><frame src=f></frameset><a href=a></a><area href=h>")
    assert [(link.href, link.kind) for link in found.links] == [("f", LinkKind.F), ("a", LinkKind.A), ("h", LinkKind.H)]
    assert scan(b"<a href=a>").link_kinds == "0a0"
    assert scan(b"text").link_kinds == "000"


def test_a_script_names_one_page_and_an_image_is_none() -> None:
    """S3-11's document: one URL, defined in a script; who triggers it does not matter."""
    page = b"""<HTML><HEAD><SCRIPT LANGUAGE="JavaScript"><!--
        function move() { location.href = "http://orion.ssu.ac.kr/" }
        //--></SCRIPT></HEAD><BODY><IMG SRC="./images/database.jpg" onClick="move()"></BODY></HTML>"""
    assert written(scan(page)) == [("SCRIPT", "http://orion.ssu.ac.kr/")]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("location = 'a.html'", ["a.html"]),
        ('window.location.href="a.html";', ["a.html"]),
        ("parent.frames[0].location.replace( 'a.html' )", ["a.html"]),
        ("document.location.assign('a.html')", ["a.html"]),
        ("window.open('a.html', '_blank', 'width=3')", ["a.html"]),
        (r'location="http:\/\/a.kr\/\x61\u0062?\"q"', ['http://a.kr/ab?"q']),
        ("location.href = 'view?id=' + id", []),
        ("if (location.href == 'a.html') x()", []),
        ("var location = 'Seoul'; mylocation = 'x'; location.hash = 'h'", []),
        ("location = page", []),
        ("location = 'never closed", []),
        ("location = ''; window.open('')", []),
        ("location='a'; location='b'", ["a", "b"]),
    ],
)
def test_only_whole_literals_in_code_are_urls(code: str, expected: list[str]) -> None:
    assert list(urls_in(code)) == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("0;url=x", Refresh(0, "x")),
        ("5", Refresh(5, None)),
        (" 5 ; URL = 'x y' rest", Refresh(5, "x y")),
        ("5,x", Refresh(5, "x")),
        ("5 x", Refresh(5, "x")),
        (".5;url=x", Refresh(0, "x")),
        ("3.7;url=x", Refresh(3, "x")),
        ("99999999999999999999;url=x", Refresh(10**9, "x")),
        ("5;url", Refresh(5, "url")),
        ("url=x", None),
        ("5x", None),
        ("", None),
    ],
)
def test_a_refresh_is_read_by_the_rules_of_browsers(content: str, expected: Refresh | None) -> None:
    assert read_refresh(content) == expected


def test_hrefs_and_anchors_are_read_in_the_pages_charset() -> None:
    page = "<title>한국</title><a href='검색?q=검색'>검색 &copy;</a>"
    for encoding in ("cp949", "utf-8", "utf-16", "utf-32", "iso2022_kr"):
        body = page.encode(encoding, "xmlcharrefreplace")
        found = scan(body, encoding)
        assert (found.title, found.links[0].href, found.links[0].anchor) == ("한국", "검색?q=검색", "검색 ©"), encoding
    link = scan(page.encode("cp949"), "cp949").links[0]
    assert join("http://a.kr/", link.href, RULES, "cp949") == "http://a.kr/%EA%B2%80%EC%83%89?q=%B0%CB%BB%F6"


@pytest.mark.parametrize(
    ("base", "expected"),
    [
        ("//other.kr/x/", "http://other.kr/x/"),
        ("../up/", "http://a.kr/up/"),
        ("javascript:void(0)", "http://a.kr/b/c"),
        ("data:text/html,x", "http://a.kr/b/c"),
        ("http://[", "http://a.kr/b/c"),
    ],
)
def test_a_base_may_lead_elsewhere_but_not_off_the_web(base: str, expected: str) -> None:
    found = scan(f"<base href='{base}'><base href=/second/>".encode())
    assert document_base("http://a.kr/b/c", found, RULES) == expected


def test_limits_hold_and_everything_is_counted() -> None:
    body = b"<link rel=next href=n>" + b"".join(b"<a href=%d>" % number for number in range(50))
    body += b"<a href='" + b"y" * 99 + b"'><script>location='" + b"z" * 99 + b"';location='s'</script>"
    found = scan(body, limits=Limits(links=10, href_bytes=50))
    assert written(found) == [("NEXT", "n"), *(("A", str(number)) for number in range(9))]
    assert (found.link_count, found.too_long) == (54, 2)


def test_a_page_of_code_is_read_up_to_its_limit() -> None:
    body = b"<script>" + b"location='x';" * 100_000 + b"location='late'</script>"
    assert written(scan(body)) == [("SCRIPT", "x")]


def test_a_number_of_any_length_is_a_character() -> None:
    body = b"<p onclick='location=\"&#" + b"9" * 10_000 + b";\"'><a href='&#0;&#xD55C;&#128;&#xffffffff;'>"
    assert written(scan(body)) == [("A", "\ufffd한€\ufffd"), ("SCRIPT", "\ufffd")]


def test_text_cut_by_a_limit_does_not_end_in_half_a_character() -> None:
    found = scan("<title>한국어</title>".encode(), limits=Limits(title_bytes=5))
    assert found.title == "한"


@given(
    broken_html,
    st.sampled_from(["utf-8", "cp949", "cp932", "utf-16", "utf-32-be", "iso2022_jp", "iso2022_kr", "cp1252"]),
)
@settings(max_examples=125, deadline=None)
def test_no_page_raises_and_both_tokenizers_mean_the_same(body: bytes, encoding: str) -> None:
    assert scan(body, encoding) == scan_with(tokens.tokenise, body, encoding, Limits())


def test_the_twin_can_be_asked_for() -> None:
    asked = "import nephila.markup as m; print(m.COMPILED, m.scan(b'<a href=x>').links[0].href)"
    source = str(Path(nephila.markup.__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-c", asked], env={"PYTHONPATH": source, "NEPHILA_PURE": "1"}, capture_output=True, check=True
    )
    assert done.stdout.split() == [b"False", b"x"]
