"""Longest match, wildcards and percent-encoding (RFC 9309 2.2.2, 2.2.3), against a matcher too simple to be wrong."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nephila.crawl.patterns import TOO_MANY, Rule, canonical_path, canonical_pattern, index_rules, whole_glob


def naive_match(pattern: str, path: str) -> bool:
    """By the book: at each sign of the pattern, the set of places in the path where one may stand."""
    anchored = pattern.endswith("$")
    places = {0}
    for sign in pattern.removesuffix("$"):
        if sign == "*":
            places = set(range(min(places), len(path) + 1)) if places else places
        else:
            places = {at + 1 for at in places if at < len(path) and path[at] == sign}
    return len(path) in places if anchored else bool(places)


def naive_winner(rules: list[Rule], path: str) -> bool | None:
    matching = [(len(rule.pattern), rule.allow) for rule in rules if naive_match(rule.pattern, path)]
    return max(matching)[1] if matching else None


patterns = st.builds(
    lambda start, rest, end: start + rest + end,
    st.sampled_from(["/", "*"]),
    st.text("ab/*", max_size=8),
    st.sampled_from(["", "$"]),
)
rules = st.builds(Rule, st.booleans(), patterns)
paths = st.text("ab/", max_size=12).map(lambda rest: "/" + rest)


@given(st.lists(rules, max_size=12), paths)
def test_the_winner_is_that_of_the_naive_matcher(given_rules: list[Rule], path: str) -> None:
    winner = index_rules(given_rules).winner(path)
    assert (None if winner is None else winner.allow) == naive_winner(given_rules, path)


@settings(max_examples=40)  # each draws a hundred rules
@given(st.lists(rules, min_size=60, max_size=120, unique=True), paths)
def test_many_wildcard_rules_found_by_their_pieces_decide_alike(given_rules: list[Rule], path: str) -> None:
    winner = index_rules(given_rules).winner(path)
    assert (None if winner is None else winner.allow) == naive_winner(given_rules, path)


@pytest.mark.parametrize(("one", "other"), [("/abc", "/ab*"), ("/a*c", "/*bc"), ("/ab$", "/a*b")])
def test_allow_wins_a_tie_whatever_the_kind_of_pattern(one: str, other: str) -> None:
    path = "/ab" if one.endswith("$") else "/abc"
    for allowing, forbidding in ((one, other), (other, one)):
        winner = index_rules([Rule(False, forbidding), Rule(True, allowing)]).winner(path)
        assert winner == Rule(True, allowing)


def test_enough_wildcard_rules_are_found_by_their_pieces() -> None:
    index = index_rules([Rule(False, f"/*x{number}y") for number in range(100)])
    assert index.grams
    assert index.winner("/a/x77y/b") == Rule(False, "/*x77y")
    assert index.winner("/a/x77z/b") is None


@given(st.text())
def test_a_canonical_path_stays_as_it_is(text: str) -> None:
    once = canonical_path(text)
    assert canonical_path(once) == once
    assert once.isascii()


@given(st.binary())
def test_a_canonical_pattern_stays_as_it_is(octets: bytes) -> None:
    once = canonical_pattern(octets.decode("latin-1"))
    assert canonical_pattern(once) == once


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("/%7Ejoe", "/~joe"),
        ("/a%3cd", "/a%3Cd"),
        ("/ツ", "/%e3%83%84"),
        ("/a b", "/a%20b"),
        ("/q?u=https%3A", "/q?u=https:"),
        ("", "/"),
    ],
)
def test_two_spellings_of_one_path_are_equal(one: str, other: str) -> None:
    assert canonical_path(one) == canonical_path(other)


@pytest.mark.parametrize(("one", "other"), [("/a%2Fb", "/a/b"), ("/a%3Fb", "/a?b"), ("/a%23", "/a#"), ("/A", "/a")])
def test_two_paths_that_mean_different_things_are_not_equal(one: str, other: str) -> None:
    assert canonical_path(one) != canonical_path(other)


def test_a_rule_without_its_slash_is_read_as_a_path() -> None:
    assert canonical_pattern("private/") == "/private/"
    assert canonical_pattern("*.gif$") == "*.gif$"


@given(st.text("ab*", max_size=8), st.text("ab", max_size=10))
def test_a_whole_glob_covers_the_whole_text(pattern: str, text: str) -> None:
    assert whole_glob(pattern).matches(text) == naive_match(pattern + "$", text)


def seconds_of(action: object, path: str, rounds: int = 1) -> float:
    started = time.process_time()
    for _ in range(rounds):
        action(path)  # type: ignore[operator]
    return (time.process_time() - started) / rounds


def test_e15_two_hundred_stars_on_a_url_of_4_kib_are_decided_at_once() -> None:
    index = index_rules([Rule(False, "/" + "*a" * 200 + "$")])
    path = "/" + "a" * 4095
    assert index.winner(path) is not None
    assert index.winner(path + "b") is None
    assert min(seconds_of(index.winner, path + "b") for _ in range(5)) < 0.005


@pytest.mark.parametrize("shape", ["/p{}/", "/*p{}/*x$", "/p{}$", "/*/p{}", "/a{}*b"])
def test_e16_a_hundred_thousand_rules_answer_a_thousand_urls_in_two_seconds(shape: str) -> None:
    index = index_rules([Rule(False, shape.format(number)) for number in range(100_000)])
    asked = [f"/section/q{number}/a/page-{number}.html?x=1" for number in range(1000)]
    started = time.process_time()
    answers = [index.winner(path) for path in asked]
    assert time.process_time() - started < 2.0
    assert answers == [None] * 1000
    assert index.winner(shape.format(777).replace("*", "").removesuffix("$")) is not None


def test_a_file_written_so_that_everything_nearly_matches_forbids_instead_of_stalling() -> None:
    # given as many such rules as 500 KiB hold, and a URL of the greatest length
    index = index_rules([Rule(False, f"/*aaaaaaaa{number}*b$") for number in range(17_000)])
    path = "/" + "a" * 2047
    # then
    assert index.winner(path) == TOO_MANY
    assert min(seconds_of(index.winner, path) for _ in range(3)) < 0.05
    assert index.winner("/" + "a" * 60) is None


def test_a_path_is_never_empty() -> None:
    assert index_rules([Rule(False, "/*x")]).winner(canonical_path("")) is None
