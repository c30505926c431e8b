"""Rounds of refresh over real HTTP: what is asked, what is kept, and what a kill or a site that is down costs."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

import nephila
from nephila.config.layers import Layer
from nephila.config.sections import Config, Refresh
from nephila.convert.run import run as convert
from nephila.crawl.run import open_crawl
from nephila.crawl.run import run as collect
from nephila.engine import open_engine
from nephila.jobs.refresh import Budget, RoundReport, refresh
from nephila.jobs.serve import make_sources
from nephila.jobs.watch import watch
from nephila.refresh.run import gather
from nephila.store.folder import CrawlFolder
from nephila.store.plan import read_watch

from .archives import assert_rows_lead_to_their_bodies, files, kinds_by_fastwarc, kinds_by_warcio
from .odd_web import OddWeb, Said, Site, UrlOf, page, serving
from .webs import LONG, QUICK, assert_counted, environment, run, site_rows, slot_rows

FAST = 100_000.0
"""A real second is more than a day: rounds are days apart."""


@dataclass
class Mood:
    """What the sites do now."""

    down: bool = False
    gone: bool = False
    edition: int = 0
    ticks: int = 0  # in a remark that no reader sees
    opened: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Crawled:
    web: OddWeb
    folder: Path
    mood: Mood

    def refresh(self, requests: int = 40, *, refines: bool = False, **settings: object) -> RoundReport:
        """A round as `nephila refresh` makes it, in this process, which starts sooner."""
        given = Layer("the test", {f"refresh.{name}": value for name, value in settings.items()})
        opened, _ = open_crawl(self.folder, [given], [], 1)
        try:
            with open_engine("inline", 1) as engine:
                report = refresh(opened, engine, 1, Budget(requests))
                if refines:
                    config = opened.effective.config
                    convert(config.convert, config.links, opened.folder, engine)
        finally:
            opened.lock.release()
        return report

    def convert(self) -> None:
        config = Config()
        with open_engine("inline", 1) as engine:
            convert(config.convert, config.links, CrawlFolder.open(self.folder), engine)


def _sites(mood: Mood) -> Callable[[UrlOf], dict[str, Site]]:
    def while_up(said: Said) -> Callable[[int], Said]:
        return lambda before: Said("down", 503) if mood.down else said

    def news(before: int) -> Said:
        links = ["/first"] + (["/new"] if mood.edition else [])
        return page(*links, text=f"edition {mood.edition}")

    def plain(before: int) -> Said:
        return page(text=f"plain <!-- {mood.ticks} -->")

    def vanishing(before: int) -> Said:
        return Said("no longer", 404) if mood.gone else page(text="here today")

    def sites(url: UrlOf) -> dict[str, Site]:
        down = {
            "/": while_up(page("/a", text="home")), "/a": while_up(page(text="a page of a site that sleeps a day")),
            "/robots.txt": while_up(Said("User-agent: *\nDisallow:\n", content_type="text/plain")),
        }  # fmt: skip
        return {
            "news.test": {
                "/": page("/news", "/same", "/plain", "/vanishing"), "/news": news, "/first": page(text="first"),
                "/same": Said(page(text="the same").body, 200, (("ETag", '"v1"'),)), "/plain": plain,
                "/vanishing": vanishing, "/new": page(text="new in edition 1"),
            },
            "down.test": down,
        }  # fmt: skip

    return sites


@pytest.fixture
def crawled(tmp_path: Path) -> Iterator[Crawled]:
    mood = Mood()
    with serving(_sites(mood)) as web:
        folder = tmp_path / "crawl"
        hosts = web.write_hosts(tmp_path / "hosts")
        clock = {"clock.rate": FAST, "clock.origin": time.time(), "clock.real_origin": time.time()}
        quick = {name: value == "true" if value in ("true", "false") else value for name, value in QUICK.items()}
        settings = {**quick, "net.allow_private": ["127.0.0.0/8"], "net.hosts": str(hosts), **clock}
        seeds = [(web.url(host), "the test") for host in ("news.test", "down.test")]
        opened, seed_list = open_crawl(folder, [Layer("the test", settings)], seeds, 1)
        with open_engine("inline", 1) as engine:
            collect(opened, seed_list, engine, 1)
        opened.lock.release()
        yield Crawled(web, folder, mood)


def _rows(folder: Path) -> dict[str, tuple[str, int, str]]:
    """URL path -> outcome, code, flags."""
    return {
        path: (outcome, code, flags)
        for path, outcome, code, flags in slot_rows(folder, "SELECT path, outcome, code, flags FROM pages")
    }


def _asked_again(crawled: Crawled) -> list[str]:
    """Paths asked for more than once, as the servers saw it."""
    counts = Counter((row.host, row.path) for row in crawled.web.asked if row.path != "/robots.txt")
    return sorted(path for (_, path), count in counts.items() if count > 1)


def test_a_round_visits_what_is_planned_once_and_the_archive_repeats_no_body(crawled: Crawled) -> None:
    # given a crawl of eight pages, one of which changes and gets a link to a new one
    before, seen = kinds_by_warcio(crawled.folder), len(crawled.web.asked)
    crawled.mood.edition = 1
    # when
    report = crawled.refresh(20)
    # then every page was visited, the unchanged ones are revisit records, the new one was collected
    assert (report.visited, report.changed, report.unchanged, report.new_pages) == (8, 1, 7, 1)
    assert report.not_modified == 1
    # and what was asked on top of the budget is told, as the server saw it
    asked = crawled.web.asked[seen:]
    assert report.robots_requests == sum(row.path == "/robots.txt" for row in asked)
    assert report.requests == len(asked) == 8 + 1 + report.robots_requests
    assert (report.further_tries, report.samples) == (0, 0)
    after = kinds_by_warcio(crawled.folder)
    assert after == kinds_by_fastwarc(crawled.folder)
    assert after["revisit"] - before["revisit"] == 7
    assert [row.status for row in crawled.web.asked if row.path == "/same"] == [200, 304]
    assert _rows(crawled.folder)["/same"][:2] == ("not_modified", 200)
    assert _rows(crawled.folder)["/new"][0] == "ok"
    assert_rows_lead_to_their_bodies(crawled.folder)
    assert_counted(crawled.folder)
    # and the revisit of what the server did not send again names the first answer (WARC 1.1)
    profiles = Counter()
    for file in files(crawled.folder):
        with file.open("rb") as stream:
            for record in ArchiveIterator(stream):
                if record.rec_type == "revisit":
                    profiles[record.rec_headers.get_header("WARC-Profile").rpartition("/")[2]] += 1
                    assert record.rec_headers.get_header("WARC-Refers-To-Date")
    assert profiles == {"server-not-modified": 1, "identical-payload-digest": 6}


def test_the_tables_show_the_newest_content_under_the_same_ids(crawled: Crawled) -> None:
    # given tables of the first edition
    crawled.convert()
    first = {row["url"]: row for row in nephila.open(crawled.folder).pages().to_pylist()}
    crawled.mood.edition = 1
    # when a round follows, with all rooms
    crawled.refresh(20, refines=True)
    # then
    second = {row["url"]: row for row in nephila.open(crawled.folder).pages().to_pylist()}
    news, same = crawled.web.url("news.test", "/news"), crawled.web.url("news.test", "/same")
    assert "edition 0" in first[news]["text"] and "edition 1" in second[news]["text"]
    assert {url: row["page_id"] for url, row in first.items()}.items() <= {
        url: row["page_id"] for url, row in second.items()
    }.items()
    stays = ("title", "text", "checksum", "code", "archive_file", "archive_offset", "link_kinds", "simhash")
    assert {name: second[same][name] for name in stays} == {name: first[same][name] for name in stays}
    assert second[same]["fetched_at"] > first[same]["fetched_at"]
    # and the links are those of the newest content, each once
    links = nephila.open(crawled.folder).links().to_pylist()
    new = second[crawled.web.url("news.test", "/new")]["page_id"]
    assert (second[news]["page_id"], new) in {(row["source"], row["target"]) for row in links}
    assert len({(row["source"], row["target"], row["kind"]) for row in links}) == len(links)
    # and the change log has S4's record of every visit
    log = [row for row in nephila.open(crawled.folder).table("visits").to_pylist() if row["url"] == news]
    assert [row["changed"] for row in log] == [None, True]
    assert log[1]["compare_bytes"] == log[1]["body_bytes"] - log[0]["body_bytes"]


def test_what_counts_as_a_change_is_a_choice(crawled: Crawled) -> None:
    # given a page whose bytes change with every visit, though no reader would see it, and one with a new edition
    crawled.convert()
    for tick in (1, 2, 3):
        crawled.mood.ticks, crawled.mood.edition = tick, min(tick, 2)
        crawled.refresh(refines=True)
    urls = {name: crawled.web.url("news.test", f"/{name}") for name in ("plain", "news", "same")}
    log = nephila.open(crawled.folder).table("visits").to_pylist()
    of = {name: [row for row in log if row["url"] == url] for name, url in urls.items()}
    # then the log has the text of every visit, also of those that brought no body
    assert [row["changed"] for row in of["plain"]] == [None, True, True, True]
    assert len({row["text_checksum"] for row in of["plain"]}) == 1 and of["plain"][0]["text_checksum"]
    assert len({row["simhash"] for row in of["plain"]}) == 1
    assert [row["outcome"] for row in of["same"]] == ["ok", "not_modified", "not_modified", "not_modified"]
    assert len({row["text_checksum"] for row in of["same"]}) == 1 and of["same"][3]["text_checksum"]
    texts = [row["text_checksum"] for row in of["news"]]
    assert len(set(texts)) == 3 and texts[2] == texts[3]
    # and what the rates are made from follows the choice
    folder, counted = CrawlFolder.open(crawled.folder), {}
    for change in ("bytes", "text"):
        ledger = gather(Refresh(change=change), folder, time.time()).ledger
        for name, rows in of.items():
            place = list(ledger.page_id).index(rows[0]["page_id"])
            counted[change, name] = (int(ledger.visits[place]), int(ledger.changed_visits[place]))
    assert [counted["bytes", name] for name in ("plain", "news", "same")] == [(3, 3), (3, 2), (3, 0)]
    assert [counted["text", name] for name in ("plain", "news", "same")] == [(3, 0), (3, 2), (3, 0)]
    by_simhash = gather(Refresh(change="simhash"), folder, time.time()).ledger
    assert by_simhash.changed_visits[list(by_simhash.page_id).index(of["plain"][0]["page_id"])] == 0


def test_a_page_that_is_missing_is_kept_and_marked_after_three_times(crawled: Crawled) -> None:
    url = crawled.web.url("news.test", "/vanishing")
    crawled.convert()
    crawled.mood.gone = True
    # when it is missing once and twice, it stays what it was
    for missing in (1, 2):
        report = crawled.refresh(refines=missing == 2)
        assert (report.missing, report.gone) == (1, 0), missing
        assert _rows(crawled.folder)["/vanishing"] == ("http_error", 200, "")
    kept = next(row for row in nephila.open(crawled.folder).pages().to_pylist() if row["url"] == url)
    assert (kept["code"], kept["outcome"]) == (200, "http_error") and "here today" in kept["text"]
    # when it is missing the third time, it is marked, and its last content is still there
    assert crawled.refresh(refines=True).gone == 1
    row = next(row for row in nephila.open(crawled.folder).pages().to_pylist() if row["url"] == url)
    assert (row["code"], row["flags"]) == (404, "gone") and "here today" in row["text"]
    # and when it is there again, it is no longer gone
    crawled.mood.gone = False
    for _ in range(3):
        crawled.refresh(policy="uniform")
    assert _rows(crawled.folder)["/vanishing"][1:] == (200, "")


def test_a_site_that_is_down_loses_no_page_and_is_taken_up_again(crawled: Crawled) -> None:
    before = _rows(crawled.folder)
    # given a site that answers 503 to everything, robots.txt too
    crawled.mood.down = True
    for _ in range(2):
        crawled.refresh()
    # then all its pages are as they were, but for their outcome
    during = _rows(crawled.folder)
    assert during.keys() == before.keys()
    assert during["/a"][1:] == before["/a"][1:]
    # and when it is up again, a round finds that out with one page, and the next visits the rest
    crawled.mood.down = False
    for _ in range(2):
        crawled.refresh()
    assert _rows(crawled.folder)["/a"][0] in ("ok", "not_modified")
    assert site_rows(crawled.folder, "SELECT state FROM sites WHERE url LIKE '%down.test%'") == [("done",)]
    assert_counted(crawled.folder)


def test_a_round_stays_within_its_budget_and_its_share_per_site(crawled: Crawled) -> None:
    # when
    report = crawled.refresh(4, new_share=0.0)
    # then
    assert report.planned == report.visited == 4
    assert len(_asked_again(crawled)) == 4
    assert crawled.refresh(per_site=1).planned == 2


@pytest.mark.parametrize("instant", ["coordinator.planned:1", "slot.half_written:2", *(["slot.committed:2"] * LONG)])
def test_a_round_that_is_killed_goes_on_and_visits_nothing_twice(crawled: Crawled, instant: str) -> None:
    # given a round that is killed while its plan is handed over, or while its visits are kept
    words = ["refresh", "-C", str(crawled.folder), "-q", "--engine", "inline", "--agents", "1", "--budget", "40"]
    done = subprocess.run(
        [sys.executable, "-m", "nephila", *words, "--only-collect"],
        env={**environment(), "NEPHILA_CRASH_AT": instant}, capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL, done.stderr
    # when the same command is given again
    report = crawled.refresh()
    # then it is the same round, and every page was visited once in it
    assert report.resumed and report.round == 1
    kept = Counter(slot_rows(crawled.folder, "SELECT site, hash FROM visits WHERE role = 'page'"))
    assert len(kept) == 8 and set(kept.values()) == {2}
    assert slot_rows(crawled.folder, "SELECT 1 FROM pages WHERE revisit = 1 OR todo = 1") == []
    assert kinds_by_warcio(crawled.folder) == kinds_by_fastwarc(crawled.folder)
    # and the next one is another round
    assert crawled.refresh().round == 2


def test_a_watch_makes_its_rounds_says_what_it_does_next_and_goes_on_after_a_restart(crawled: Crawled) -> None:
    # given a watch of two rounds
    given = Layer("the test", {"refresh.every": 6 * 3600.0, "refresh.per_day": 20.0})
    opened, _ = open_crawl(crawled.folder, [given], [], 1)
    told: list[str] = []
    try:
        with open_engine("inline", 1) as engine:
            report = watch(opened, engine, 1, 2, told.append)
            # then it visited pages twice, and the tables followed
            assert (report.how, report.rounds) == ("done", 2)
            assert report.visited >= 8
            assert [line for line in told if line.startswith("round 2: ")]
            assert nephila.open(crawled.folder).pages().num_rows >= 8
            note = read_watch(opened.folder)
            assert note is not None and note.ended and note.rounds == 2
            # and the page Freshness has something to show
            shown = make_sources(opened.folder, opened.effective.config).freshness()
            assert shown is not None and shown.pages == 8 and shown.reseen == 8 and shown.round == 2
            assert all(page.url.startswith("http://") and ", last seen " in page.sentence for page in shown.soon)
            assert {site.url for site in shown.sites} == {
                crawled.web.url(host, "") for host in ("news.test", "down.test")
            }
            # and started again it goes on counting
            assert watch(opened, engine, 1, 1).last.round == 3  # type: ignore[union-attr]
    finally:
        opened.lock.release()
    assert "A watch was stopped after 1 rounds" in run("status", "-C", crawled.folder).out
    # and why says when a page is due
    said = run("why", crawled.web.url("news.test", "/same"), "-C", crawled.folder).out
    assert re.search(
        r"refresh +(changes about every|has not changed yet).*, last seen .* ago, (due|overdue|not worth)", said
    )


def test_a_folder_without_a_page_is_refused_with_a_sentence(tmp_path: Path) -> None:
    ran = run("refresh", "-C", tmp_path / "nothing")
    assert ran.code == 2 and "There is no crawl" in ran.err
