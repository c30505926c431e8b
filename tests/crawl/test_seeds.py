"""Seed lists: what is a URL is taken, what is not is named, and nothing raises."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nephila.config.sections import Scope
from nephila.crawl.scope import compile_scope
from nephila.crawl.seeds import parse_seeds, read_seed_file
from nephila.errors import UsageError
from nephila.records import Outcome
from nephila.urls import StripRules

RULES = StripRules.of(["sid"], max_length=2048)
EVERYTHING = compile_scope(Scope(), "web")


def parsed(*lines: str) -> tuple[tuple[str, ...], list[Outcome]]:
    found = parse_seeds([(line, f"line {place}") for place, line in enumerate(lines)], RULES, EVERYTHING)
    return found.urls, [row.outcome for row in found.refused]


@pytest.mark.parametrize(
    ("line", "url"),
    [
        ("http://A.Test", "http://a.test/"),
        ("  https://a.test/x?sid=9  ", "https://a.test/x"),
        ("a.test", "http://a.test/"),
        ("a.test:8080/b", "http://a.test:8080/b"),
        ("localhost:8000", "http://localhost:8000/"),
        ("127.0.0.1", "http://127.0.0.1/"),
        ("[::1]:80/x", "http://[::1]/x"),
        ("한글.kr", "http://xn--bj0bj06e.kr/"),
        ("http://a.test/#part", "http://a.test/"),
    ],
)
def test_urls_and_host_names_are_taken(line: str, url: str) -> None:
    assert parsed(line) == ((url,), [])


@pytest.mark.parametrize(
    ("line", "outcome"),
    [
        ("hello world", Outcome.URL_INVALID),
        ("ftp://a.test/", Outcome.BLOCKED_SCHEME),
        ("mailto:a@b.test", Outcome.BLOCKED_SCHEME),
        ("http://", Outcome.URL_INVALID),
        ("http://a.test/" + "x" * 3000, Outcome.URL_TOO_LONG),
        ("word", Outcome.URL_INVALID),
    ],
)
def test_what_is_no_url_is_refused_with_its_outcome(line: str, outcome: Outcome) -> None:
    assert parsed(line) == ((), [outcome])


def test_blank_lines_and_comments_are_nothing_and_a_url_counts_once() -> None:
    assert parsed("", "  ", "# x", "http://a.test/", "a.test", "b.test") == (("http://a.test/", "http://b.test/"), [])


def test_a_seed_out_of_scope_is_refused_by_its_rule() -> None:
    scope = compile_scope(Scope(exclude_hosts=("*.a.test",)), "web")
    found = parse_seeds([("x.a.test", "the list")], RULES, scope)
    assert found.urls == ()
    assert [(row.outcome, row.reason) for row in found.refused] == [(Outcome.SCOPE_REJECTED, "scope: block_list")]


@given(st.lists(st.text()))
def test_no_line_makes_it_raise(lines: list[str]) -> None:
    found = parse_seeds([(line, "") for line in lines], RULES, EVERYTHING)
    again = parse_seeds([(url, "") for url in found.urls], RULES, EVERYTHING)
    assert again.urls == found.urls  # the output list is an input list (S1-5)


def test_files_of_windows_and_with_odd_bytes_are_read_and_binary_ones_refused(tmp_path: Path) -> None:
    text = tmp_path / "seeds.txt"
    text.write_bytes(b"\xef\xbb\xbfa.test\r\n\xff\xfe\r\nb.test")
    lines = read_seed_file(text)
    assert [line for line, _ in lines] == ["a.test", "��", "b.test"]
    assert lines[2][1] == f"{text}, line 3"
    text.write_bytes(b"a.test\x00")
    with pytest.raises(UsageError, match="binary"):
        read_seed_file(text)
    with pytest.raises(UsageError, match="cannot be read"):
        read_seed_file(tmp_path)
