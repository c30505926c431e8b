"""Which sites and URLs are in, and the name of the rule that says no."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nephila.config.sections import Scope
from nephila.crawl.forgotten import compile_rules
from nephila.crawl.scope import (
    IN,
    RULES,
    Candidate,
    Mode,
    Verdict,
    compile_scope,
    decide,
    site_candidate,
    url_candidate,
)
from nephila.errors import ConfigError, UsageError
from nephila.records import Outcome


def verdict(url: str, scope: Scope, mode: Mode = "web", *, from_seeds: bool = False) -> Verdict:
    return decide(url_candidate(url, from_seeds=from_seeds), compile_scope(scope, mode))


def refused_by(rule: str) -> Verdict:
    return Verdict(False, Outcome.SCOPE_REJECTED, rule)


def test_an_empty_scope_lets_everything_in() -> None:
    assert verdict("http://anything.example/at/all?x", Scope()) is IN


def test_other_schemes_are_out() -> None:
    candidate = Candidate("ftp://x", "x", "/", from_seeds=True)
    assert decide(candidate, compile_scope(Scope(), "web")) == Verdict(False, Outcome.BLOCKED_SCHEME, "scheme")


def test_s0_5_in_mode_sites_only_the_seeds_sites_are_in() -> None:
    assert verdict("http://a.kr/", Scope(), "sites") == refused_by("mode")
    assert verdict("http://a.kr/", Scope(), "sites", from_seeds=True) is IN


@pytest.mark.parametrize(
    ("url", "inside"),
    [
        ("http://www.kaist.ac.kr/", True),
        ("https://a.b.ac.kr:8443/x", True),
        ("http://ac.kr/", False),
        ("http://www.kaist.ac.kr.evil.com/", False),
        ("http://xac.kr/", False),
        ("http://docs.example.org/", True),
        ("http://www.example.org/", False),
    ],
)
def test_hosts_are_included_by_pattern(url: str, inside: bool) -> None:
    assert verdict(url, Scope(include_hosts=("*.ac.kr", "Docs.Example.org"))).inside is inside


@pytest.mark.parametrize(
    ("url", "inside"),
    [
        ("http://kaist.ac.kr/", True),
        ("http://cs.kaist.ac.kr/", True),
        ("http://notkaist.ac.kr/", False),
        ("http://other.ac.kr/", False),
        ("http://www.foo.de/", True),
        ("http://foobar.de/", True),
        ("http://bar.foo.com/", False),
        ("http://a.go.kr/", True),
        ("http://cs.kaist.ac.kr./", True),
        ("http://xn--vk1bm9d9yb.kr/", True),
    ],
)
def test_domains_are_included_with_all_that_is_under_them(url: str, inside: bool) -> None:
    scope = Scope(include_domains=("kaist.ac.kr", "foo*.de", "*.go.kr", "원격.kr", "xn--vk1bm9d9yb.kr"))
    assert verdict(url, scope).inside is inside


def test_hosts_and_domains_to_include_add_up() -> None:
    scope = Scope(include_hosts=("a.example.com",), include_domains=("kaist.ac.kr",))
    assert verdict("http://a.example.com/", scope) is IN
    assert verdict("http://www.kaist.ac.kr/", scope) is IN
    assert verdict("http://b.example.com/", scope) == refused_by("include_hosts_and_domains")


def test_the_block_list_wins_over_includes_and_seeds() -> None:
    scope = Scope(include_domains=("kaist.ac.kr",), exclude_hosts=("ads.*",), exclude_domains=("bad.kaist.ac.kr",))
    assert verdict("http://ads.kaist.ac.kr/", scope, from_seeds=True) == refused_by("block_list")
    assert verdict("http://x.bad.kaist.ac.kr/", scope, from_seeds=True) == refused_by("block_list")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://a/docs/x.html", IN),
        ("http://a/docs/x.html?q=1", IN),
        ("http://a/docs/%EB%AC%B8%EC%84%9C/1", refused_by("exclude_paths")),
        ("http://a/docs/x.pdf", refused_by("exclude_paths")),
        ("http://a/docs/x.pdf?page=2", refused_by("exclude_paths")),
        ("http://a/docs/x?print=1", refused_by("exclude_paths")),
        ("http://a/other", refused_by("include_paths")),
        ("http://a/index", IN),
        ("http://a/index2", refused_by("include_paths")),
    ],
)
def test_paths(url: str, expected: Verdict) -> None:
    scope = Scope(include_paths=("/docs/*", "/index"), exclude_paths=("*.pdf", "*?print=1", "/docs/문서/*"))
    assert verdict(url, scope) == expected


def test_a_site_as_a_whole_is_not_judged_by_paths() -> None:
    scope = compile_scope(Scope(include_paths=("/docs/*",), exclude_paths=("/",)), "web")
    assert decide(site_candidate("http://a.example:8080", from_seeds=False), scope) is IN


def test_addresses_are_hosts() -> None:
    scope = Scope(exclude_hosts=("127.0.0.*", "[::1]"))
    assert verdict("http://127.0.0.9:8480/", scope) == refused_by("block_list")
    assert verdict("http://[::1]:8480/", scope) == refused_by("block_list")
    assert verdict("http://127.0.1.9/", scope) is IN


@pytest.mark.parametrize("name", ["http://x.kr/", "x.kr/docs", "x.kr:8080", "me@x.kr", "", "a b", "*.x/*"])
def test_a_name_that_can_be_no_host_is_refused_by_its_key(name: str) -> None:
    with pytest.raises(ConfigError, match=r"scope\.exclude_hosts: .* is no host; write a name"):
        compile_scope(Scope(exclude_hosts=(name,)), "web")


def test_every_rule_has_a_name_of_its_own_to_print() -> None:
    names = [rule.__name__ for rule in RULES]
    assert len(set(names)) == len(names)
    assert all(rule.__doc__ for rule in RULES)


hosts = st.from_regex(r"[a-c]{1,2}(\.[a-c]{1,2}){0,2}\.kr", fullmatch=True)


@given(hosts, st.lists(hosts, max_size=3), st.lists(hosts, max_size=3))
def test_what_is_blocked_is_never_in_and_what_is_in_was_included(
    host: str, included: list[str], blocked: list[str]
) -> None:
    scope = Scope(include_domains=tuple(included), exclude_domains=tuple(blocked))
    under = [name for name in blocked if ("." + host).endswith("." + name)]
    named = [name for name in included if ("." + host).endswith("." + name)]
    assert verdict(f"http://{host}/", scope).inside is (not under and (bool(named) or not included))


@pytest.mark.parametrize(
    ("rule", "url", "inside"),
    [
        ("http://a.kr/private/*", "http://a.kr/private/x?y", False),
        ("http://a.kr/private/*", "http://b.kr/private/x", True),
        ("http://a.kr/one.html", "http://a.kr/one.html", False),
        ("http://a.kr/one.html", "http://a.kr/", True),
        ("http://a.kr", "http://a.kr/anything", False),
        ("a.kr", "https://a.kr:8443/", False),
        ("*://*.a.kr/*", "https://www.a.kr/x", False),
    ],
)
def test_the_block_list_names_pages_sites_hosts_and_patterns(rule: str, url: str, inside: bool) -> None:
    found = verdict(url, Scope(block=(rule,)), from_seeds=True)
    assert found == (IN if inside else refused_by("block_list"))


def test_a_block_rule_that_names_nothing_is_refused_by_its_key() -> None:
    with pytest.raises(UsageError, match=r"scope\.block: 'hello world'"):
        compile_scope(Scope(block=("hello world",)), "web")


def test_what_was_forgotten_is_out_whatever_else_is_said() -> None:
    scope = compile_scope(Scope(), "web", compile_rules(["http://a.kr/x", "http://b.kr"]))
    refused = Verdict(False, Outcome.FORGOTTEN, "forgotten")
    assert decide(url_candidate("http://a.kr/x", from_seeds=True), scope) == refused
    assert decide(site_candidate("http://b.kr", from_seeds=True), scope) == refused
    assert decide(url_candidate("http://a.kr/y", from_seeds=True), scope) is IN
