"""Korean words as morphemes, where the extra is installed."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from nephila.config.sections import Search
from nephila.errors import NephilaError
from nephila.search.fields import words_of
from nephila.search.searching import Searcher

from .tables import Page, found, index, searcher_of, write_tables

INSTALLED = importlib.util.find_spec("mecab_ko") is not None
needs_dictionary = pytest.mark.skipif(not INSTALLED, reason="needs `pip install nephila[korean]`")
PAGES = [
    Page("http://a.kr/", "안내", "인터넷 검색엔진을 만드는 방법", language="ko"),
    Page("http://b.kr/", "안내", "오래된 대학교의 역사 東京大学", language="ko"),
]


@needs_dictionary
def test_korean_words_are_cut_into_morphemes_and_others_as_ever() -> None:
    assert words_of("검색엔진을 LG전자 東京大学 Café", "morphemes") == [
        "검색", "엔진", "을", "lg", "전자", "東京", "京大", "大学", "cafe",
    ]  # fmt: skip


@needs_dictionary
def test_an_index_of_morphemes_is_searched_by_morphemes(tmp_path: Path) -> None:
    path = tmp_path / "crawl"
    write_tables(path, PAGES)
    assert index(path).written == 2
    # when the setting changes, every page is written anew, and the reader goes by the index
    assert index(path, Search(korean="morphemes")).written == 2
    searcher = Searcher(path)
    assert found(searcher, "검색") == [0] and found(searcher, "검색엔진") == [0] and found(searcher, "대학교") == [1]
    assert found(searcher, "색엔") == []
    (hit,) = searcher.search("검색엔진").hits
    assert [hit.snippet[start:end] for start, end in hit.snippet_marks] == ["검색엔진"]


@pytest.mark.skipif(INSTALLED, reason="the extra is installed")
def test_without_the_extra_one_sentence_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(NephilaError, match=r"pip install nephila\[korean\]"):
        searcher_of(tmp_path / "crawl", PAGES, Search(korean="morphemes"))
