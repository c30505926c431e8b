"""Two names of one site are found, and no virtual host is lost (S0-9, I0-10)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nephila.crawl.aliases import (
    Alias,
    AliasRule,
    CompareHomes,
    Distinct,
    NotYet,
    OnAddress,
    Sample,
    Sampled,
    candidates,
    in_order,
    next_probe,
)

HOME, A, B, C = b"home", b"a", b"b", b"c"

# S0-9's own example: a domain name, a nickname and an address of one site
ORGAN = OnAddress("http://organ.kaist.ac.kr", 0, HOME, {"/": HOME, "/a": A, "/b": B}, done=True)
DBLAB = OnAddress("http://dblab.kaist.ac.kr", 1, HOME, {"/": HOME})
LITERAL = OnAddress("http://143.248.138.163", 2, HOME, {"/": HOME})


def settle(
    one: OnAddress, other: OnAddress, webs: dict[str, dict[str, bytes]], rule: AliasRule = "content"
) -> Alias | Distinct:
    """Act out the probes on sites given as path -> checksum until the pair is settled."""
    sampled: list[Sampled] = []
    for _ in range(10):
        match next_probe(one, other, sampled, rule):
            case CompareHomes(sites):
                one, other = (
                    replace(known, home_checksum=webs[known.site].get("/"), done=True) if known.site in sites else known
                    for known in (one, other)
                )
            case Sample(path=path):
                canonical, second = in_order(one, other)
                sampled.append(Sampled(path, webs[canonical.site].get(path), webs[second.site].get(path)))
            case NotYet():
                raise AssertionError("nothing more will be crawled")
            case settled:
                return settled
    raise AssertionError("a pair must settle within a few probes")


@pytest.mark.parametrize("other", [DBLAB, LITERAL])
def test_s0_9_a_nickname_and_an_address_are_aliases_of_the_earlier_seed(other: OnAddress) -> None:
    web = {"/": HOME, "/a": A, "/b": B}
    settled = settle(other, ORGAN, {ORGAN.site: web, other.site: web})
    assert isinstance(settled, Alias)
    assert (settled.canonical, settled.other) == (ORGAN.site, other.site)


def test_home_pages_are_compared_before_anything_else() -> None:
    unknown = replace(DBLAB, home_checksum=None)
    assert next_probe(ORGAN, unknown, [], "content") == CompareHomes((DBLAB.site,))


def test_a_home_page_without_an_answer_makes_a_site_of_its_own() -> None:
    silent = replace(DBLAB, home_checksum=None, done=True)
    assert isinstance(next_probe(ORGAN, silent, [], "content"), Distinct)


def test_i0_10_a_virtual_host_with_another_home_page_is_distinct_without_sampling() -> None:
    assert next_probe(ORGAN, replace(DBLAB, home_checksum=C), [], "content") == Distinct("the home pages differ")


def test_i0_10_a_virtual_host_with_its_providers_home_page_is_distinct() -> None:
    webs = {ORGAN.site: {"/": HOME, "/a": A, "/b": B}, DBLAB.site: {"/": HOME, "/own": C}}
    assert isinstance(settle(ORGAN, DBLAB, webs), Distinct)


def test_a_page_that_differs_on_each_request_makes_its_site_distinct() -> None:
    webs = {ORGAN.site: {"/": HOME, "/a": A, "/b": B}, DBLAB.site: {"/": HOME, "/a": A, "/b": b"b at 12:01"}}
    assert isinstance(settle(ORGAN, DBLAB, webs), Distinct)


def test_two_sites_with_nothing_but_the_same_home_page_stay_two() -> None:
    parked = replace(ORGAN, crawled={"/": HOME, "/any": HOME})
    assert next_probe(parked, DBLAB, [], "content") == Distinct("nothing but the home page to compare")


def test_a_deep_seed_that_only_the_newer_site_answers_keeps_it_distinct() -> None:
    linked_deep = replace(DBLAB, seed_paths=("/", "/own"))
    web = {"/": HOME, "/a": A, "/b": B}
    assert isinstance(settle(ORGAN, linked_deep, {ORGAN.site: web, DBLAB.site: web | {"/own": C}}), Distinct)
    assert isinstance(settle(ORGAN, linked_deep, {ORGAN.site: web | {"/own": C}, DBLAB.site: web | {"/own": C}}), Alias)


def test_a_dead_seed_of_the_newer_site_speaks_neither_for_nor_against() -> None:
    dead_seed = replace(DBLAB, seed_paths=("/gone",))
    web = {"/": HOME, "/a": A, "/b": B}
    assert isinstance(settle(ORGAN, dead_seed, {ORGAN.site: web, DBLAB.site: web}), Alias)


def test_a_crawled_path_that_neither_answers_any_more_is_no_proof() -> None:
    assert isinstance(next_probe(ORGAN, DBLAB, [Sampled("/a", None, None)], "content"), Distinct)


def test_a_site_half_crawled_is_not_judged_yet() -> None:
    begun = replace(ORGAN, crawled={"/": HOME, "/a": A}, done=False)
    assert next_probe(begun, DBLAB, [], "content") == NotYet()


def test_a_small_site_that_is_done_is_judged_by_what_it_has() -> None:
    small = replace(ORGAN, crawled={"/": HOME, "/a": A})
    web = {"/": HOME, "/a": A}
    assert isinstance(settle(small, DBLAB, {ORGAN.site: web, DBLAB.site: web}), Alias)


def test_the_canonical_site_is_the_earlier_seed_and_then_the_smaller_name() -> None:
    assert in_order(DBLAB, ORGAN)[0] is ORGAN
    twin = replace(DBLAB, site="http://a.kaist.ac.kr")
    assert in_order(DBLAB, twin)[0] is twin


@pytest.mark.parametrize(
    ("other", "is_alias"),
    [
        ("http://dblab.kaist.ac.kr", True),
        ("http://dblab.kaist.ac.kr:8080", False),
        ("https://dblab.kaist.ac.kr", False),
        ("http://[2001:db8::1]", True),
        ("http://[2001:db8::1]:8080", False),
    ],
)
def test_the_papers_rule_asks_for_the_address_alone(other: str, is_alias: bool) -> None:
    known = OnAddress(other, 5)
    assert isinstance(next_probe(ORGAN, known, [], "ip"), Alias) is is_alias
    assert [found.site for found in candidates(known, [ORGAN], "ip")] == [ORGAN.site] * is_alias


def test_off_finds_nothing() -> None:
    assert isinstance(next_probe(ORGAN, DBLAB, [], "off"), Distinct)
    assert candidates(DBLAB, [ORGAN], "off") == []


def test_candidates_are_those_with_the_same_home_page_the_most_canonical_first() -> None:
    crowd = [OnAddress(f"http://v{number}.kr", number + 10, b"%d" % number) for number in range(1000)]
    assert candidates(LITERAL, [*crowd, LITERAL, DBLAB, ORGAN], "content") == [ORGAN, DBLAB]
    assert candidates(replace(LITERAL, home_checksum=None), [ORGAN], "content") == []


webs = st.dictionaries(st.sampled_from(["/a", "/b", "/c", "/d"]), st.sampled_from([HOME, A, B, C]), max_size=4)


@given(webs, webs, st.sampled_from([(), ("/c",)]))
def test_every_pair_settles_and_an_alias_answered_alike_wherever_it_was_asked(
    first: dict[str, bytes], second: dict[str, bytes], seeds: tuple[str, ...]
) -> None:
    first, second = first | {"/": HOME}, second | {"/": HOME}
    one = replace(ORGAN, crawled=first)
    other = replace(DBLAB, crawled=second, seed_paths=seeds)
    settled = settle(one, other, {one.site: first, other.site: second})
    if isinstance(settled, Alias):
        alike = [path for path in first if path != "/" and first[path] == second.get(path)]
        assert alike
        assert all(first.get(path) == second.get(path) for path in seeds)
    if first == second and set(first.values()) != {HOME}:
        assert isinstance(settled, Alias)
