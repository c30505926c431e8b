"""What people type, and what it means."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nephila.search.query import Dated, Limit, Query, QueryError, Words, parse


def seconds(year: int, month: int = 1, day: int = 1) -> int:
    return int(datetime(year, month, day, tzinfo=UTC).timestamp())


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("web crawler", Query(((Words("web"),), (Words("crawler"),)))),
        ('"web graph" 검색', Query(((Words("web graph"),), (Words("검색"),)))),
        ("“typographic quotes”", Query(((Words("typographic quotes"),),))),
        ('"never closed', Query(((Words("never closed"),),))),
        ("a b OR c d", Query(((Words("a"),), (Words("b"), Words("c")), (Words("d"),)))),
        ("or", Query(((Words("or"),),))),
        ("OR a OR", Query(((Words("a"),),))),
        ('a -b -"c d" -site:x.org', Query(((Words("a"),),), (Words("b"), Words("c d"), Limit("site", "x.org")))),
        ("web-graph", Query(((Words("web-graph"),),))),
        ("SITE:WWW.A.org", Query(((Limit("site", "www.a.org"),),))),
        ('community:"My friends"', Query(((Limit("community", "my friends"),),))),
        ("site:a.org OR site:b.org x", Query(((Limit("site", "a.org"), Limit("site", "b.org")), (Words("x"),)))),
        ("domain:a.org lang:ko", Query(((Limit("domain", "a.org"),), (Limit("lang", "ko"),)))),
        ("after:2024 before:2024-06", Query(((Dated("after", seconds(2024)),), (Dated("before", seconds(2024, 6)),)))),
        ("after:2024-02-29", Query(((Dated("after", seconds(2024, 2, 29)),),))),
        ("12:30 http://a.org/", Query(((Words("12:30"),), (Words("http://a.org/"),)))),
        ("a ! & ( b", Query(((Words("a"),), (Words("b"),)))),
    ],
)  # fmt: skip
def test_a_text_means_rows(text: str, query: Query) -> None:
    assert parse(text) == query


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "nothing to look for"),
        ("  !!  ", "nothing to look for"),
        ("-spam", "a minus alone"),
        ("site:", "site: needs a value right behind it, such as site:www.kaist.ac.kr"),
        ("before:yesterday", "before:yesterday is no date"),
        ("after:2024-02-30", "is no date"),
        ("a " * 1001, "2000 characters"),
        ("a " * 65, "64 words"),
    ],
)
def test_a_bad_query_is_one_sentence(text: str, says: str) -> None:
    with pytest.raises(QueryError, match=says) as caught:
        parse(text)
    assert "\n" not in str(caught.value)


@given(st.text(st.one_of(st.sampled_from('"“-:() OR site:after2024'), st.characters()), max_size=60))
def test_any_text_is_a_query_or_one_sentence(text: str) -> None:
    try:
        query = parse(text)
    except QueryError as problem:
        assert "\n" not in str(problem)
    else:
        assert query.all_of


def test_limits_of_one_kind_are_alternatives() -> None:
    limited = parse("a").limited_to((Limit("site", "x"), Limit("lang", "ko"), Limit("site", "y")))
    assert limited.all_of == ((Words("a"),), (Limit("site", "x"), Limit("site", "y")), (Limit("lang", "ko"),))
