"""What is indexed, what of it is done again, and what a kill leaves."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from nephila.config.sections import Search
from nephila.errors import FolderInUseError, NephilaError
from nephila.search import index as indexing
from nephila.search.searching import Searcher
from nephila.store.folder import CrawlFolder
from nephila.store.lock import FileLock

from .dying import index_and_die
from .tables import Page, found, index, write_ranks, write_tables

PAGES = [
    Page(
        f"http://s{number % 7}.org/{number}", f"Page {number}", f"robot word{number} 검색엔진 even" + "s" * (number % 2)
    )
    for number in range(40)
]
LINKS = [(number, number + 1, f"next {number}") for number in range(39)]
RANKS = {number: float(number + 1) for number in range(40)}
QUERIES = ["robot", "even", "검색", "next 7", "word17", "changed", "page 3 OR fresh", "site:s3.org", '"page 12"']


def answers(path: Path) -> dict[str, list[int]]:
    searcher = Searcher(path)
    return {query: found(searcher, query, everything=True, size=100) for query in QUERIES}


def later() -> list[Page]:
    """The same web some time on: pages new, changed, gone, and forbidden."""
    pages = [*PAGES, *(Page(f"http://new{number}.org/", "Fresh page", "robot even fresh") for number in range(5))]
    pages[3] = dataclasses.replace(pages[3], text="robot changed")
    pages[9] = dataclasses.replace(pages[9], parse="none", text=None, title=None)
    pages[11] = dataclasses.replace(pages[11], flags="noindex")
    return pages


LATER_LINKS = [*LINKS[:20], *LINKS[21:], (2, 30, "changed anchor")]


def test_a_second_run_does_what_is_new_and_finds_the_same_as_one_from_scratch(tmp_path: Path) -> None:
    # given an index, and tables that went on
    path = write_tables(tmp_path / "grown", PAGES, LINKS, RANKS)
    assert index(path).written == 40
    write_tables(path, later(), LATER_LINKS, RANKS)
    # when it is run again
    report = index(path)
    # then it wrote: five new pages, a changed one, two whose links changed; and struck out two
    assert report.written == 8 and report.removed == 2 and report.pages == 43
    # and everything is found as in an index made at once
    scratch = write_tables(tmp_path / "scratch", later(), LATER_LINKS, RANKS)
    index(scratch)
    grown, whole = answers(path), answers(scratch)
    assert {query: set(pages) for query, pages in grown.items()} == {
        query: set(pages) for query, pages in whole.items()
    }
    assert grown["word17"] == whole["word17"] == [17]
    assert 9 not in grown["robot"] and 11 not in grown["robot"]


def test_nothing_new_costs_nothing(tmp_path: Path) -> None:
    path = write_tables(tmp_path / "crawl", PAGES, LINKS, RANKS)
    first = index(path)
    again = index(path)
    assert (again.written, again.removed, again.generation) == (0, 0, first.generation)


def test_a_new_ranking_leaves_pages_alone_whose_rank_moved_little(tmp_path: Path) -> None:
    # given an index with ranks, of which one then grows by far
    path = write_tables(tmp_path / "crawl", PAGES, LINKS, RANKS)
    index(path)
    write_ranks(path, RANKS | {5: 400.0})
    report = index(path)
    # then that page is written, with others that fell by more than half a doubling, and the new ranks count
    assert 1 <= report.written < 40
    assert found(Searcher(path), "robot")[0] == 5
    write_ranks(path, {page: rank * 1.001 for page, rank in (RANKS | {5: 400.0}).items()} | {0: 1.2})
    assert index(path).written == 0


def test_pages_that_forbid_it_have_no_text_or_lie_on_an_alias_are_not_indexed(tmp_path: Path) -> None:
    pages = [
        Page("http://a.org/", "Robot", "robot"),
        Page("http://a.org/no", "Robot", "robot", flags="nofollow noindex"),
        Page("http://a.org/gone", None, None, parse="none"),
        Page("http://alias.org/", "Robot", "robot", alias=True),
    ]
    path = write_tables(tmp_path / "crawl", pages)
    assert index(path).pages == 1
    assert index(path, Search(noindex="ignore")).pages == 2


def test_another_setting_makes_the_index_anew(tmp_path: Path) -> None:
    path = write_tables(tmp_path / "crawl", PAGES, LINKS, RANKS)
    index(path)
    assert index(path, Search(max_text=100)).written == 40
    assert index(path, Search(max_text=100)).written == 0


def test_worker_processes_give_the_same_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexing, "LEAST_PORTION_PAGES", 4)
    path, other = (write_tables(tmp_path / name, PAGES, LINKS, RANKS) for name in ("inline", "local"))
    index(path)
    report = index(other, engine="local")
    assert report.portions == 8
    assert answers(path) == answers(other)


def test_many_portions_are_merged_eight_by_eight(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexing, "LEAST_PORTION_PAGES", 2)
    monkeypatch.setattr(indexing, "MOST_PORTION_PAGES", 2)
    path, other = (write_tables(tmp_path / name, PAGES, LINKS, RANKS) for name in ("many", "one"))
    assert index(path).portions == 20
    monkeypatch.undo()
    assert index(other).portions == 1
    assert answers(path) == answers(other)
    assert not (path / "index" / "building").exists()


@pytest.mark.parametrize(
    "point", ["search.portion:1", "search.assembled:1", "search.published:1", "durable.before_rename:1",
              "durable.after_rename:2"],
)  # fmt: skip
def test_a_killed_run_leaves_the_old_index_whole_and_the_same_command_goes_on(point: str, tmp_path: Path) -> None:
    # given an index, tables that went on, and a run that is killed
    path = write_tables(tmp_path / "crawl", PAGES, LINKS, RANKS)
    index(path)
    before = answers(path)
    write_tables(path, later(), LATER_LINKS, RANKS)
    index_and_die(path, point, "--engine", "inline")
    # then readers have the old index or the new one, whole
    between = answers(path)
    assert between["word17"] == [17]
    assert (sorted(between["robot"]) == sorted(before["robot"])) or len(between["robot"]) == 43
    # and when the same command is run again, it goes on
    report = index(path)
    assert report.pages == 43
    assert report.portions_found == (report.portions if "published" not in point and "before" not in point else 0)
    scratch = write_tables(tmp_path / "scratch", later(), LATER_LINKS, RANKS)
    index(scratch)
    assert {query: set(pages) for query, pages in answers(path).items()} == {
        query: set(pages) for query, pages in answers(scratch).items()
    }
    assert [entry.name for entry in (path / "index").iterdir() if entry.is_dir()] == [f"g{report.generation:06}"]


def test_a_worker_that_is_killed_costs_its_portion_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # given workers that die after their first portion is in place
    path = write_tables(tmp_path / "crawl", PAGES, LINKS, RANKS)
    monkeypatch.setenv("NEPHILA_CRASH_AT", "search.portion:1")
    monkeypatch.setattr(indexing, "LEAST_PORTION_PAGES", 20)
    # when others take over what they had in hand
    report = index(path, engine="local")
    # then every page is there once
    assert report.pages == 40
    assert len(found(Searcher(path), "robot", everything=True, size=100)) == 40


def test_two_runs_at_once_are_refused(tmp_path: Path) -> None:
    path = write_tables(tmp_path / "crawl", PAGES)
    folder = CrawlFolder.open(path)
    folder.index.mkdir()
    with (
        FileLock.take(folder.index / "lock", "nephila index", subject="it"),
        pytest.raises(FolderInUseError, match="The index of"),
    ):
        index(path)


def test_without_tables_there_is_one_sentence(tmp_path: Path) -> None:
    CrawlFolder.create(tmp_path / "crawl")
    with pytest.raises(NephilaError, match="run `nephila convert -C"):
        index(tmp_path / "crawl")
    assert not (tmp_path / "crawl" / "index").exists()


def test_an_empty_crawl_has_an_index_that_finds_nothing(tmp_path: Path) -> None:
    path = write_tables(tmp_path / "crawl", [Page("http://a.org/", None, None, parse="none")])
    assert index(path).pages == 0
    assert found(Searcher(path), "robot") == []
