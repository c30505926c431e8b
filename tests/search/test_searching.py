"""Searching small webs whose pages say just what is asked."""

from __future__ import annotations

import dataclasses
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nephila.config.sections import Search
from nephila.errors import NephilaError, UsageError
from nephila.search.query import QueryError
from nephila.search.searching import Searcher

from .tables import Page, found, index, searcher_of, write_tables

LANGUAGES = [
    Page("http://ko.kr/1", "한국 대학교", "인터넷 검색엔진을 만드는 방법입니다", language="ko"),
    Page("http://ko.kr/2", "LG전자", "제품 안내와 C언어 책을 읽다", language="ko"),
    Page("http://ja.jp/1", "東京大学", "検索エンジンの作り方", language="ja"),
    Page("http://zh.cn/1", "搜索引擎", "北京大学的搜索引擎技术", language="zh"),
    Page("http://fr.fr/1", "Le café", "Une école près de la forêt", language="fr"),
    Page("http://de.de/1", "Die Straße", "Größe und Übermut", language="de"),
    Page("http://ru.ru/1", "Поиск", "Поисковая система", language="ru"),
]


@pytest.fixture(scope="module")
def languages(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    return searcher_of(tmp_path_factory.mktemp("languages") / "crawl", LANGUAGES)


@pytest.mark.parametrize(
    ("query", "pages"),
    [
        ("검색", [0]), ("엔진", [0]), ("검색엔진", [0]), ("색엔", [0]), ("검색방법", []), ("대학", [0]), ("책", [1]),
        ("을", [0, 1]), ("전자", [1]), ("LG", [1]), ("lg전자", [1]), ("C언어", [1]), ("언어책", []),
        ("検索", [2]), ("エンジン", [2]), ("東京", [2]), ("搜索", [3]), ("北京大学", [3]), ("大学", [2, 3]),
        ("cafe", [4]), ("café", [4]), ("CAFÉ", [4]), ("ecole", [4]), ("foret", [4]), ("caf", []),
        ("strasse", [5]), ("straße", [5]), ("grosse", [5]), ("ubermut", [5]), ("поиск", [6]), ("ПОИСК", [6]),
    ],
)  # fmt: skip
def test_words_are_found_in_the_way_of_their_language(query: str, pages: list[int], languages: Searcher) -> None:
    assert sorted(found(languages, query)) == pages


def test_a_word_inside_a_korean_word_is_marked_in_the_snippet(languages: Searcher) -> None:
    (hit,) = languages.search("검색").hits
    ((start, end),) = hit.snippet_marks
    assert hit.snippet[start:end] == "검색" and "검색엔진을" in hit.snippet


WEB = [
    Page("http://www.a.org/spider", "Spiders", "a robot walks over the web graph", published="2023-12-31"),
    Page("http://www.a.org/robot", "Robots", "robot exclusion and the graph of the web", published="2024-01-01"),
    Page("http://docs.a.org/", "Manual", "the robot manual", language="de", published="2024-06-01"),
    Page("http://www.b.kr:8080/", "Bees", "honey robot bees", fetched="2025-02-03"),
    Page("http://www.c.net/", "Sea", "fish alone", published="2020-01-01"),
]
NAMES = {"www.a.org": "animals", "www.b.kr": "animals"}


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    links = [(4, 3, "the best apiary"), (0, 3, "apiary"), (1, 1, "myself")]
    return searcher_of(tmp_path_factory.mktemp("web") / "crawl", WEB, links=links, communities=NAMES)


@pytest.mark.parametrize(
    ("query", "pages"),
    [
        ("robot", [0, 1, 2, 3]), ("robot graph", [0, 1]), ('"web graph"', [0]), ('"graph of the web"', [1]),
        ("fish OR honey", [3, 4]), ("robot honey OR manual", [2, 3]), ("robot -graph", [2, 3]),
        ('robot -"web graph"', [1, 2, 3]), ("robot -site:www.a.org", [2, 3]),
        ("robot site:www.a.org", [0, 1]), ("robot site:http://www.a.org", [0, 1]), ("robot site:https://www.a.org", []),
        ("robot site:www.b.kr", [3]), ("robot site:www.b.kr:8080", [3]), ("robot site:www.b.kr:81", []),
        ("robot domain:a.org", [0, 1, 2]), ("robot domain:www.a.org", [0, 1, 2]), ("robot domain:b.kr", [3]),
        ("robot community:animals", [0, 1, 3]), ("robot community:0", [0, 1, 3]),
        ("robot community:docs.a.org", [2]), ("robot community:www.b.kr", [0, 1, 3]), ("robot community:none", []),
        ("robot lang:de", [2]), ("robot lang:de-AT", [2]), ("robot -lang:de", [0, 1, 3]),
        ("robot after:2024", [1, 2, 3]), ("robot before:2024", [0]), ("robot after:2024-01-01 before:2024-01-02", [1]),
        ("robot after:2025-02", [3]), ("after:2024 before:2025", [1, 2]), ("site:www.c.net", [4]),
        ("apiary", [3]), ("myself", []), ("spider", [0]), ("docs", [2]), ("robot site:.", []), ("a.org", [0, 1, 2]),
    ],
)  # fmt: skip
def test_a_query_finds_exactly_its_pages(query: str, pages: list[int], web: Searcher) -> None:
    results = web.search(query, everything=True)
    assert sorted(hit.page_id for hit in results.hits) == pages
    assert results.total == len(pages)


def test_a_site_that_is_not_there_is_told(web: Searcher) -> None:
    assert web.search("robot site:www.d.org").remarks == ("no page of the site www.d.org is in the index.",)
    assert "no community nobody" in web.search("robot community:nobody").remarks[0]


@pytest.mark.parametrize(
    "query", ["robot", '"web graph" OR honey', "로봇 OR robot graph", "apiary", "site:www.a.org", "bees"]
)
def test_an_explanation_adds_up_to_the_score(query: str, tmp_path: Path) -> None:
    ranks = {0: 1.0, 1: 2.0, 2: 30.0, 3: 4.0}
    searcher = searcher_of(tmp_path / "crawl", WEB, links=[(4, 3, "apiary robot")], ranks=ranks)
    results = searcher.search(query, explain=True, everything=True)
    assert results.hits
    for hit in results.hits:
        assert hit.explanation is not None
        relevance = sum(value for _, value in hit.explanation.parts)
        assert relevance == pytest.approx(hit.explanation.relevance, rel=1e-4)
        assert relevance * hit.explanation.rank_factor == pytest.approx(hit.score, rel=1e-4)
        assert hit.explanation.line.startswith(f"{hit.score:.2f} = ")


def test_rank_lifts_a_page_among_equals_and_not_over_an_exact_title(tmp_path: Path) -> None:
    # given two pages that say the same, one of them famous, and one whose title is just the words
    pages = [Page(f"http://s{number}.org/", "About the web", "the crawler of the web") for number in range(20)]
    pages.append(Page("http://title.org/", "Crawler", "the crawler of the web"))
    ranks = dict.fromkeys(range(20), 1.0) | {7: 500.0, 20: 0.01}
    searcher = searcher_of(tmp_path / "crawl", pages, ranks=ranks)
    # then rank decides among the equal ones, and the exact title is first
    assert found(searcher, "crawler")[:2] == [20, 7]


def test_the_ranks_of_now_count_even_where_tantivy_knows_older_ones(tmp_path: Path) -> None:
    pages = [Page(f"http://s{number}.org/", "Same", "words") for number in range(4)]
    searcher = searcher_of(tmp_path / "crawl", pages, ranks={0: 1.0, 1: 1.01, 2: 1.02, 3: 1.0})
    assert found(searcher, "words") == [2, 1, 0, 3]


def test_one_of_a_cluster_and_two_of_a_site_are_shown_unless_asked(tmp_path: Path) -> None:
    # given seven pages of one site, three of them near-duplicates of pages elsewhere
    pages = [Page(f"http://a.org/{number}", f"Title {number}", "robot " * (8 - number)) for number in range(5)]
    pages += [Page("http://b.org/", "Twin", "robot", cluster=5), Page("http://c.org/", "Twin", "robot", cluster=5)]
    pages += [Page("http://d.org/1", "Copy", "robot"), Page("http://d.org/2", "Copy", "robot", duplicate_of=7)]
    searcher = searcher_of(tmp_path / "crawl", pages)
    shown = found(searcher, "robot")
    # then
    assert len([page for page in shown if page < 5]) == 2
    assert len(set(shown) & {5, 6}) == 1
    assert len(set(shown) & {7, 8}) == 1
    assert searcher.search("robot").total == 9
    assert sorted(found(searcher, "robot", everything=True)) == list(range(9))
    assert sorted(found(searcher, "robot site:a.org")) == [0, 1, 2, 3, 4]
    more = dataclasses.replace(Search(), per_site=None, per_cluster=2)
    assert len(found(Searcher(tmp_path / "crawl", more), "robot")) == 9


def test_a_crawl_of_one_site_shows_all_its_pages(tmp_path: Path) -> None:
    pages = [Page(f"http://a.org/{number}", f"Title {number}", "robot") for number in range(5)]
    assert len(found(searcher_of(tmp_path / "crawl", pages), "robot")) == 5


def test_pages_of_results_join_without_gap_or_overlap(tmp_path: Path) -> None:
    pages = [Page(f"http://s{number}.org/", f"Page {number}", "robot " * (number % 7 + 1)) for number in range(60)]
    searcher = searcher_of(tmp_path / "crawl", pages, Search(candidates=10))
    whole = found(searcher, "robot", size=60)
    parts = [searcher.search("robot", number, size=25) for number in (1, 2, 3)]
    assert [hit.page_id for part in parts for hit in part.hits] == whole
    assert len(whole) == 60
    assert [part.has_more for part in parts] == [True, True, False]
    assert [hit.place for hit in parts[1].hits] == list(range(26, 51))
    assert searcher.search("robot", 4, size=25).hits == ()
    with pytest.raises(UsageError, match="pages count from 1"):
        searcher.search("robot", 0)


def test_crowds_that_give_way_do_not_empty_a_page_of_results(tmp_path: Path) -> None:
    # given a hundred better pages of one site, more than are looked at first
    pages = [Page(f"http://crowd.org/{number}", "Robot", "robot robot") for number in range(100)]
    pages += [Page(f"http://s{number}.org/", "Other", "a robot among others") for number in range(5)]
    searcher = searcher_of(tmp_path / "crawl", pages, Search(candidates=20))
    assert len(found(searcher, "robot", size=7)) == 7


HOSTILE = [
    "<script>alert(1)</script>", "\x1b[2Jgone", "a\u202eb", "title:(* OR", "'; DROP TABLE pages; --", "\x00nul",
    "*" * 300, "ﷺ" * 50, "\ud7ff\uffff", "[[[", "^~1", "AND NOT OR", "🕷" * 20,
]  # fmt: skip


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    pages = [Page(f"http://h{number}.org/", title, title) for number, title in enumerate(HOSTILE)]
    return searcher_of(tmp_path_factory.mktemp("hostile") / "crawl", pages)


def test_hostile_titles_come_back_as_they_were(hostile: Searcher) -> None:
    assert hostile.search("script alert").hits[0].title == HOSTILE[0]
    assert hostile.search("drop table").hits[0].title == HOSTILE[4]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.one_of(st.text(max_size=50), st.sampled_from(HOSTILE), st.text('"\\()[]{}+-^~*?:/!&| OR검색a', max_size=30)))
def test_no_query_raises_anything_but_a_sentence(hostile: Searcher, text: str) -> None:
    try:
        results = hostile.search(text, explain=True)
    except QueryError as problem:
        assert "\n" not in str(problem)
    else:
        assert results.total >= len(results.hits)


def test_tantivys_own_query_language_is_out_of_reach(web: Searcher) -> None:
    for query in ("title:robots", "*", "/rob.*/", "robot~2", "rob*", "page_id:1", "date_s:[0 TO 9]", "text:IN [robot]"):
        try:
            hits = web.search(query, everything=True).hits
        except QueryError:
            continue
        # every word stands for itself: what is found holds it
        for hit in hits:
            text = f"{hit.title} {WEB[hit.page_id].text} {hit.url} apiary".lower()
            assert "robot" in text or "title" in text, query
    assert found(web, "rob*") == [] and found(web, "title:robots") == []


def test_many_threads_search_while_a_new_index_takes_its_place(tmp_path: Path) -> None:
    # given a searcher in use by four threads
    pages = [Page(f"http://s{number}.org/", "Page", "robot") for number in range(8)]
    path = tmp_path / "crawl"
    searcher = searcher_of(path, pages)
    totals: set[int] = set()
    problems: list[BaseException] = []
    done = threading.Event()

    def use() -> None:
        try:
            while not done.is_set():
                totals.add(searcher.search("robot").total)
        except BaseException as problem:  # noqa: BLE001
            problems.append(problem)

    threads = [threading.Thread(target=use) for _ in range(4)]
    for thread in threads:
        thread.start()
    # when more is indexed, twice
    moved = []
    for more in (9, 10):
        write_tables(path, [*pages, *(Page(f"http://t{number}.org/", "Page", "robot") for number in range(more - 8))])
        index(path)
        moved.append(searcher.reopen())
    assert searcher.search("robot").total == 10
    done.set()
    for thread in threads:
        thread.join()
    # then nobody saw anything but whole indexes
    assert not problems
    assert totals <= {8, 9, 10}
    assert moved == [True, True] and not searcher.reopen()


def test_without_an_index_there_is_one_sentence(tmp_path: Path) -> None:
    write_tables(tmp_path / "crawl", WEB)
    with pytest.raises(NephilaError, match="run `nephila index -C"):
        Searcher(tmp_path / "crawl")


def test_a_page_is_found_by_its_url(web: Searcher) -> None:
    assert web.page_id_of("http://docs.a.org/") == 2
    assert web.page_id_of("http://docs.a.org/absent") is None
