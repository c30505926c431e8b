"""URLs: published cases, and properties over anything that can be written."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import ada_url
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from nephila import urls
from nephila.config.sections import Links
from nephila.records import Outcome
from nephila.urls import NO_RULES, Refusal, StripRules, join, normalise

CASES = Path(__file__).parents[2] / "shared" / "data" / "urls"
RULES = StripRules.of(Links().strip_parameters)
SORTED = StripRules.of(Links().strip_parameters, sort_query=True)
BASE = "http://a/b/c/d;p?q"

needs_cases = pytest.mark.skipif(not CASES.is_dir(), reason="the published URL cases are not at hand")

URL_PIECES = st.sampled_from(
    ["http:", "https:", "HTTP:", "//", "/", "\\", "..", ".", "%2e", "%2E%2e", ";", "sid=1", "jsessionid", "=", "&", "?",
     "#", "@", ":", ":80", ":443", ":8480", "a", "Host.KR", "xn--", "xn--ida", "[", "]", "[::1]", "127.1", "0x7f", " ",
     "\t", "\n", "\x00", "é", "검색", "\ud800", "😀", "(S(x))", "utm_a=b", "%", "%zz", "'", '"', "|", "^",
     "javascript:", "mailto:", "1", "..."]
)  # fmt: skip
written = st.lists(URL_PIECES, max_size=14).map("".join) | st.text(max_size=40)
plausible = st.builds(
    "{}://{}{}/{}".format,
    st.sampled_from(["http", "https"]),
    st.from_regex(r"[a-zA-Z0-9_.-]{1,20}", fullmatch=True),
    st.sampled_from(["", ":80", ":443", ":8480", ":1", ":99999"]),
    st.from_regex(r"[A-Za-z0-9_~.,=&+!$/;?%:()-]{0,30}", fullmatch=True),
)
anything = written | plausible
rule_sets = st.sampled_from([NO_RULES, RULES, SORTED])


@given(anything, rule_sets)
@example("http://a/..;sid=1/b", RULES)
@example("http://a/(S(x));sid=1/b", RULES)
@example("http://0x7f../", RULES)
@example("http://a/?sid=1&&a", RULES)
@settings(max_examples=100, deadline=None)
def test_the_normal_form_of_a_normal_form_is_itself(url: str, rules: StripRules) -> None:
    once = normalise(url, rules)
    if isinstance(once, str):
        assert normalise(once, rules) == once
        assert once.isascii() and once.startswith(("http://", "https://")) and "#" not in once
        assert len(once) <= rules.max_length


@given(anything, anything, rule_sets, st.sampled_from(["utf-8", "cp949", "shift_jis", "latin-1", "no-such-codec"]))
@settings(max_examples=100, deadline=None)
def test_a_reference_joins_to_a_normal_form_or_a_refusal(base: str, href: str, rules: StripRules, charset: str) -> None:
    at = normalise(base, rules)
    joined = join(at if isinstance(at, str) else "http://a.kr/b/c", href, rules, charset)
    assert isinstance(joined, Refusal) or normalise(joined, rules) == joined


@given(anything)
@settings(max_examples=100, deadline=None)
def test_joining_an_absolute_url_is_normalising_it(url: str) -> None:
    alone = normalise(url, RULES)
    if isinstance(alone, str):
        # "http:x" is absolute alone but relative on a page of the same scheme (WHATWG), hence the other scheme.
        other = "https" if alone.startswith("http:") else "http"
        assert join(f"{other}://elsewhere.example/x", url, RULES) == alone


def without_empty_query(parsed: ada_url.URL) -> str:
    address = str(parsed.href).partition("#")[0]
    return address if parsed.search else address.removesuffix("?")


@given(
    st.sampled_from(["http://a.kr/", "https://b.kr:8480/x/y//z?q/w", "http://[::1]/a/b/c.html", BASE]),
    st.from_regex(r"(/|\./|(\.\./){1,5})?[A-Za-z0-9_~.,=&+!$?%;:#/-]{0,25}", fullmatch=True),
)
@example("http://a.kr/", "??")
@example("http://a.kr/", "?")
@settings(max_examples=100, deadline=None)
def test_the_short_way_gives_what_the_parser_gives(base: str, href: str) -> None:
    joined = join(base, href, NO_RULES)
    try:
        parsed = ada_url.URL(href, base=base)
    except ValueError:
        assert isinstance(joined, Refusal)
        return
    if parsed.protocol not in ("http:", "https:"):
        assert joined is Refusal.SCHEME
        return
    expected = ada_url.replace_url(without_empty_query(parsed), username="", password="")
    host_with_dots = parsed.hostname.endswith(".")
    assert joined == expected or host_with_dots


@given(plausible)
@settings(max_examples=100, deadline=None)
def test_the_short_way_for_absolute_urls_gives_what_the_parser_gives(url: str) -> None:
    normal = normalise(url, NO_RULES)
    if not ada_url.check_url(url):
        assert normal is Refusal.INVALID
    elif not ada_url.URL(url).hostname.endswith("."):
        assert normal == without_empty_query(ada_url.URL(url))


@needs_cases
def test_every_example_of_rfc_3986_resolves() -> None:
    cases = json.loads((CASES / "rfc3986_5.4.json").read_text())
    # WHATWG differs twice: the path of a bare host is "/", and "http:g" is relative on an http page.
    whatwg = {"//g": "http://g/", "http:g": "http://a/b/c/g"}
    checked = 0
    for href, published in [*cases["normal"], *cases["abnormal"]]:
        expected = whatwg.get(href, published.partition("#")[0])
        assert join(BASE, href, NO_RULES) == (Refusal.SCHEME if href == "g:h" else expected), href
        checked += 1
    assert checked == 42


@needs_cases
def test_every_example_of_crawler_commons_resolves() -> None:
    lines = [line for line in (CASES / "url-resolve.csv").read_text().splitlines() if line and line[0] != "#"]
    checked = 0
    for href, base, published in csv.reader(lines, skipinitialspace=True):
        if base.startswith("file:"):  # a page we never have
            continue
        expected = published.partition("#")[0].replace("user:pass@", "")
        assert join(base or "http://a/", href, NO_RULES) == expected, href
        checked += 1
    assert checked == 21


# What w3lib does otherwise than the WHATWG rules, by input, with the reason.
W3LIB_DIFFERS = {
    "https://example.com\\a?b\\c": "w3lib escapes \\ in a query",
    "https://example.com\\a?b\\c#d\\e": "w3lib escapes \\ in a query",
    "https://example.com/[x]": "w3lib escapes brackets",
    "https://example.com/a]b": "w3lib escapes brackets",
    "http://example.com/search?tags[]=a": "w3lib escapes brackets",
    "http://[::1]:8080/p?q=[1]": "w3lib escapes brackets",
    "http://[v6a.ip]": "w3lib takes a bracketed name for a host",
    "http://www.example.com/£": "w3lib was asked to write the path in latin-1",
    "http://www.example.com/£?unit=µ": "w3lib was asked to write the path in latin-1",
    "http://.éxamplé.com:80/?q=a": "w3lib writes the query in UTF-16; browsers never do",
}


def _w3lib_cases(name: str) -> list[tuple[str, str, str]]:
    cases = json.loads((CASES / "w3lib_url_cases.json").read_text())["cases"][name]
    return sorted({triple for case in cases if (triple := _as_triple(case))})


def _as_triple(case: dict[str, Any]) -> tuple[str, str, str] | None:
    """Input, charset and result of a recorded call on an absolute web URL."""
    url, result = case["args"][0], case["result"]
    if not isinstance(url, str) or not isinstance(result, str) or not url.strip().lower().startswith("http"):
        return None
    return url, str(case["kwargs"].get("encoding") or "utf-8"), result


@needs_cases
def test_w3libs_safe_urls_are_ours_but_for_the_known_differences() -> None:
    cases = _w3lib_cases("safe_url_string")
    different = {
        url for url, charset, safe in cases if join("ftp://a/", url, NO_RULES, charset) != normalise(safe, NO_RULES)
    }
    assert different == set(W3LIB_DIFFERS)
    assert len(cases) >= 170


@needs_cases
def test_w3libs_canonical_urls_are_ours_where_it_leaves_escapes_alone() -> None:
    """w3lib also sorts by value, fills in blank values and rewrites escapes; WHATWG, and we, keep them as written."""
    rules = StripRules.of((), sort_query=True)
    cases = [case for case in _w3lib_cases("canonicalize_url") if "%" not in case[0] and "%" not in case[2]]
    different = {
        url for url, charset, result in cases if join("ftp://a/", url, rules, charset) != normalise(result, rules)
    }
    assert different == {
        "http://www.example.com/do?&a=1",
        "http://www.example.com/do?c=1;b=2;a=3",
        "http://www.example.com/do?c=3&b=5&b=2&a=50",
        "http://www.example.com/do?b=&a=2",
        "http://www.example.com/do?b=&c&a=2",
        "http://www.example.com/do?q=a space&a=1",
    }
    assert len(cases) == 41


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("HTTP://www.KAIST.ac.kr:80/", "http://www.kaist.ac.kr/"),
        ("http://user:secret@a.kr./x#part", "http://a.kr/x"),
        ("http://a.kr", "http://a.kr/"),
        ("http://a.kr/x?", "http://a.kr/x"),
        ("http://a.kr/x;jsessionid=0A1B.node?id=3", "http://a.kr/x?id=3"),
        ("http://a.kr/x?PHPSESSID=1&id=3&utm_source=mail&UTM_medium=z", "http://a.kr/x?id=3"),
        ("http://a.kr/(S(lit3py55t21z5v55vlm25s55))/x.aspx", "http://a.kr/x.aspx"),
        ("http://a.kr/x?inside=1&sidney=2", "http://a.kr/x?inside=1&sidney=2"),
        ("http://한국.kr/검색?q=검색", "http://xn--3e0b707e.kr/%EA%B2%80%EC%83%89?q=%EA%B2%80%EC%83%89"),
        ("http://127.1/", "http://127.0.0.1/"),
        ("http:\\\\a.kr\\b", "http://a.kr/b"),
        (" \thttp://a.kr/x\n", "http://a.kr/x"),
        ("http://a.kr/%2e%2e/x", "http://a.kr/x"),
        ("javascript:alert(1)", Refusal.SCHEME),
        ("jav\nascript:alert(1)", Refusal.SCHEME),
        ("mailto:webmaster@a.kr", Refusal.SCHEME),
        ("data:text/html," + "x" * 5000, Refusal.SCHEME),
        ("http://a.kr:99999/", Refusal.INVALID),
        ("http://a b/", Refusal.INVALID),
        ("http://[::1/", Refusal.INVALID),
        ("http://.../", Refusal.INVALID),
        ("/no/base", Refusal.INVALID),
        ("", Refusal.INVALID),
        ("http://" + "가" * 10_000 + ".kr/", Refusal.TOO_LONG),
        ("http://a.kr/" + "x" * 2037, Refusal.TOO_LONG),
        ("http://a.kr/" + "x" * 2036, "http://a.kr/" + "x" * 2036),
        ("http://a.kr/" + "가" * 1000, Refusal.TOO_LONG),
    ],
)
def test_nasty_urls_are_canonical_or_refused_with_their_reason(url: str, expected: str | Refusal) -> None:
    assert normalise(url, RULES) == expected


def test_spellings_of_one_url_are_one_when_the_order_of_parameters_is_declared_free() -> None:
    spellings = [
        "http://a.kr/x?a=1&b=2",
        "HTTP://A.kr/x?a=1&b=2",
        "http://a.kr:80/x?a=1&b=2#f",
        "http://a.kr./x?b=2&a=1",
    ]
    assert {normalise(url, SORTED) for url in spellings} == {"http://a.kr/x?a=1&b=2"}


def test_a_query_is_written_in_the_pages_charset_and_a_path_in_utf8() -> None:
    assert join("http://a.kr/", "검색?q=검색", RULES, "cp949") == "http://a.kr/%EA%B2%80%EC%83%89?q=%B0%CB%BB%F6"
    assert join("http://a.kr/", "?q=é검", RULES, "cp949") == "http://a.kr/?q=%26%23233%3B%B0%CB"


def test_an_empty_reference_and_a_fragment_are_the_page_itself() -> None:
    for href in ("", "#", "#top"):
        assert join("http://a.kr/x?y=1", href, RULES) == "http://a.kr/x?y=1"


def test_every_refusal_is_an_outcome() -> None:
    assert [Outcome(refusal.value) for refusal in Refusal] == [
        Outcome.URL_INVALID,
        Outcome.BLOCKED_SCHEME,
        Outcome.URL_TOO_LONG,
    ]


def test_a_url_falls_into_site_and_path() -> None:
    url = "http://www.kaist.ac.kr:8480/a/b?c=//d"
    assert urls.split(url) == (urls.site_of(url), urls.path_of(url)) == ("http://www.kaist.ac.kr:8480", "/a/b?c=//d")
    assert urls.host_of(url) == urls.host_of(urls.site_of(url)) == "www.kaist.ac.kr"
    assert urls.host_of("http://[::1]:8480/") == "[::1]"


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("www.cs.kaist.ac.kr", "kaist.ac.kr"),
        ("kaist.ac.kr", "kaist.ac.kr"),
        ("ac.kr", "ac.kr"),
        ("www.example.com", "example.com"),
        ("xn--3e0b707e.kr", "xn--3e0b707e.kr"),
        ("127.0.0.1", "127.0.0.1"),
        ("[2001:db8::1]", "[2001:db8::1]"),
        ("localhost", "localhost"),
    ],
)
def test_the_registrable_domain_is_what_somebody_registered(host: str, domain: str) -> None:
    assert urls.registrable_domain(host) == domain


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_a_hash_fits_a_signed_column_and_never_changes(path: str) -> None:
    assert -(2**63) <= urls.url_hash(path) < 2**63
    assert len(urls.hash128(path)) == 16


def test_hashes_are_pinned_because_they_live_on_disk() -> None:
    assert urls.url_hash("/") == 5134827694651168302
    assert urls.url_hash("/index.html") == -6156675040932399064
    assert urls.hash128("/").hex() == "d6f5222ffc6d3eaf474292953285562e"
