"""The search log: what it counts, how it fades, and that it stays small."""

from __future__ import annotations

from pathlib import Path

import pytest

from nephila.store.folder import CrawlFolder
from nephila.store.search_log import (
    HALF_LIFE_S,
    MOST_SHOWN,
    SHOWN_WORTH,
    count_of_one,
    forget_shown,
    note_opened,
    note_search,
    read_interest,
    search_log_file,
)

NOW = 1_800_000_000.0
PAGES = [(1, "http://a.kr/1"), (2, "http://a.kr/2")]


def test_what_is_opened_counts_more_than_what_is_shown_however_the_words_are_written(tmp_path: Path) -> None:
    folder = CrawlFolder.create(tmp_path / "crawl")
    assert read_interest(folder) == [] and count_of_one(folder, 1) == (0, 0)
    assert not note_opened(folder, "golden spiders", PAGES[1][1], NOW)
    # when two pages are shown twice for the same words, and one of them is opened
    for words in ("golden  Spiders", "golden spiders "):
        note_search(folder, words, PAGES, NOW, 100)
    assert note_opened(folder, "GOLDEN spiders", PAGES[1][1], NOW)
    assert not note_opened(folder, "golden spiders", "http://a.kr/never-shown", NOW)
    # then
    assert dict(read_interest(folder)) == pytest.approx({1: 2 * SHOWN_WORTH, 2: 2 * SHOWN_WORTH + 1})
    assert read_interest(folder, 2) == [(2, pytest.approx(2 * SHOWN_WORTH + 1))]
    assert count_of_one(folder, 2) == (2, 1)


def test_what_was_searched_for_a_half_life_ago_counts_half(tmp_path: Path) -> None:
    folder = CrawlFolder.create(tmp_path / "crawl")
    note_search(folder, "old", PAGES[:1], NOW - HALF_LIFE_S, 100)
    note_search(folder, "new", PAGES[1:], NOW, 100)
    interest = dict(read_interest(folder))
    assert interest[1] == pytest.approx(interest[2] / 2)
    # and when it is searched for again, the old half stays
    note_search(folder, "old", PAGES[:1], NOW, 100)
    assert dict(read_interest(folder))[1] == pytest.approx(1.5 * SHOWN_WORTH)


def test_the_log_stays_small(tmp_path: Path) -> None:
    # given many pages for one query, and more queries than are kept, one of them without an end
    folder = CrawlFolder.create(tmp_path / "crawl")
    for start in range(0, 100, 10):
        note_search(folder, "all", [(page, f"http://a.kr/{page}") for page in range(start, start + 10)], NOW, 20)
    assert len(read_interest(folder)) == MOST_SHOWN
    for number in range(60):
        note_search(folder, f"query {number} " + "x" * 10_000, PAGES, NOW + number, 20)
    # then the latest ones are there, and what was shown for the others is gone
    assert len(read_interest(folder)) == 2
    assert search_log_file(folder).stat().st_size < 300_000
    assert count_of_one(folder, 1)[0] <= 20


def test_a_forgotten_page_leaves_and_so_do_words_that_only_it_was_shown_for(tmp_path: Path) -> None:
    folder = CrawlFolder.create(tmp_path / "crawl")
    note_search(folder, "spiders", PAGES, NOW, 100)
    note_search(folder, "quicksilver", PAGES[:1], NOW, 100)
    # when the first page is forgotten
    assert forget_shown(folder, lambda url: url == PAGES[0][1]) == 2
    # then
    assert dict(read_interest(folder)) == pytest.approx({2: SHOWN_WORTH})
    assert b"quicksilver" not in search_log_file(folder).read_bytes()
