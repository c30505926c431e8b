"""`X-Robots-Tag` and meta robots: the stricter word wins, and words for other robots are not ours."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nephila.crawl.page_robots import PageRobots, from_headers, from_meta


@pytest.mark.parametrize(
    ("headers", "index", "follow"),
    [
        ([], True, True),
        (["noindex"], False, True),
        (["NoFollow , noarchive"], True, False),
        (["none"], False, False),
        (["all"], True, True),
        (["noindex", "nofollow"], False, False),
        (["googlebot: noindex, nofollow"], True, True),
        (["nephila: nofollow"], True, False),
        (["Nephila: nofollow", "noindex"], False, False),
        (["badbot: noindex, nofollow, nephila: nofollow"], True, False),
        (["badbot: none", "noindex"], False, True),
        (["*: nofollow"], True, False),
        (["unavailable_after: Wed, 25 Jun 2031 15:00:00 PST, noindex"], False, True),
        (["max-snippet: 50, nofollow"], True, False),
        (["noindex follow"], True, True),
        (["", ",,:", ": noindex"], True, True),
    ],
)
def test_headers(headers: list[str], index: bool, follow: bool) -> None:
    assert from_headers(headers, "nephila/0.1") == PageRobots(index, follow)


def test_meta_elements() -> None:
    assert from_meta([]) == PageRobots()
    assert from_meta(["NOINDEX,nofollow"]) == PageRobots(index=False, follow=False)
    assert from_meta(["index", "none"]) == PageRobots(index=False, follow=False)


def test_header_and_meta_together_forbid_what_either_forbids() -> None:
    assert from_headers(["noindex"], "nephila") & from_meta(["nofollow"]) == PageRobots(index=False, follow=False)


@given(st.lists(st.text(max_size=40), max_size=4))
def test_no_header_makes_it_raise(values: list[str]) -> None:
    assert isinstance(from_headers(values, "nephila"), PageRobots)
