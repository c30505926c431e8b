"""References that are remembered lead where they always lead."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nephila.crawl.joined import LONGEST_HELD, MOST_HELD, Joined, Target
from nephila.urls import NO_RULES, Refusal, StripRules, join

RULES = StripRules.of(("PHPSESSID", "utm_*"))
BASES = (
    "http://a.kr/", "http://a.kr/x", "http://a.kr/d/e.html", "http://a.kr/d/f?q=1/2", "http://a.kr/d/?x",
    "https://a.kr/d/e.html", "http://b.kr:81/d/e.html",
)  # fmt: skip
PIECES = st.sampled_from(
    ["a", "b.html", "/", "//", "..", ".", "?", "#", "q=1", "&", "http:", "https:", "HTTP:", "mailto:", "b.kr", ":81",
     ";PHPSESSID=1", "utm_x=1", " ", "\t", "\n", "\x01", "%2e", "\\", "검색", "@", "[", "é"]
)  # fmt: skip


@given(st.lists(st.tuples(st.sampled_from(BASES), st.lists(PIECES, max_size=7).map("".join)), max_size=12))
def test_a_remembered_reference_leads_where_it_leads_without_memory(pages: list[tuple[str, str]]) -> None:
    joined = Joined(RULES)
    for base, href in pages * 2:
        for charset in ("utf-8", "euc-kr"):
            known = joined.beside(base, charset)
            found = known.get(href) or joined.join(known, base, href, charset)
            assert (found.url if isinstance(found, Target) else found) == join(base, href, RULES, charset)


def test_all_ways_to_write_a_url_have_one_target() -> None:
    joined = Joined(NO_RULES)
    first, second = "http://a.kr/d/x", "http://a.kr/y"
    here, there = joined.beside(first, "utf-8"), joined.beside(second, "utf-8")
    found = {
        joined.join(here, first, "../z", "utf-8"), joined.join(there, second, "z", "utf-8"),
        joined.join(there, second, "http://a.kr/z#top", "utf-8"),
    }  # fmt: skip
    assert len(found) == 1


@pytest.mark.parametrize("href", ["?q", "#top", "", "http:x", "x" * (LONGEST_HELD + 1)])
def test_what_depends_on_its_page_or_is_long_is_not_remembered(href: str) -> None:
    joined = Joined(NO_RULES)
    known = joined.beside("http://a.kr/d/x", "utf-8")
    joined.join(known, "http://a.kr/d/x", href, "utf-8")
    assert known == {}


def test_the_memory_begins_anew_when_it_is_full() -> None:
    # given one more directory, reference and URL again and again
    joined = Joined(NO_RULES)
    page, known = "http://a.kr/d/x", joined.beside("http://a.kr/d/x", "utf-8")
    first = joined.join(known, page, "first", "utf-8")
    for number in range(MOST_HELD // 2):
        joined.join(known, page, str(number), "utf-8")
    # then what was there is no longer held, and leads where it did
    again = joined.beside(page, "utf-8")
    assert again is not known and "first" not in again
    found = joined.join(again, page, "first", "utf-8")
    assert isinstance(found, Target) and isinstance(first, Target)
    assert found is not first and found.url == first.url and not isinstance(found, Refusal)
