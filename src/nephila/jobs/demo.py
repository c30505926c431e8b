"""The whole circle on a small web served on this machine: every step must really produce its output.

Serve the lab's web, collect it, compare what was collected with the lab's truth, URL by URL, convert it to tables,
rank its pages, index them, look for the first of them by its title, describe them in a report, and serve the web pages,
which are all visited once. Delays are 0 here, because the web is ours; everything else is as in a real crawl.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from nephila.config.layers import Layer
from nephila.config.sections import Lab, Serve
from nephila.convert.report import ConvertReport
from nephila.convert.run import run as convert
from nephila.crawl.pages import read_pages
from nephila.crawl.report import CrawlReport
from nephila.crawl.run import open_crawl, run
from nephila.engine import open_engine
from nephila.errors import NephilaError, UsageError
from nephila.jobs.serve import open_server
from nephila.jobs.visiting import Visited, visit_all
from nephila.lab.serve import LabServer
from nephila.lab.truth import truth
from nephila.lab.web import Web
from nephila.rank.report import RankReport
from nephila.rank.run import run as rank
from nephila.search.index import IndexReport
from nephila.search.index import run as index
from nephila.search.searching import Searcher
from nephila.stats.report.make import ReportReport, make_report
from nephila.store.folder import CrawlFolder
from nephila.store.opened import OpenedCrawl

SITES = 24
DEPTH = 2


@dataclass(frozen=True, slots=True)
class DemoReport:
    """What each step brought."""

    sites: int
    true_urls: int
    collected_urls: int
    missing: int
    unexpected: int
    otherwise: int  # another outcome or another content than the truth's
    crawl: CrawlReport
    convert: ConvertReport
    rank: RankReport
    index: IndexReport
    title_place: int  # of the page that was looked for by its title; 0 where it was not found
    report: ReportReport
    serve: Visited
    seconds: float
    folder: str

    @property
    def ok(self) -> bool:
        """Every step really produced its output, and it is what the truth says."""
        collected = self.true_urls > 0 and not (self.missing or self.unexpected or self.otherwise)
        converted = self.convert.pages == self.crawl.pages and self.convert.links > 0
        ranked = self.rank.pages > 0 and abs(self.rank.total - 1) < 1e-9 and Path(self.rank.file).is_file()
        searched = self.index.pages > 0 and self.title_place == 1
        described = self.report.plots > 0 and Path(self.report.file).is_file()
        return collected and converted and ranked and searched and described and not self.serve.problems


@dataclass(frozen=True, slots=True)
class Step:
    """One step that is done, for whoever watches."""

    name: str
    result: str
    seconds: float


def demo(directory: Path, engine_name: str, agents: int, done: Callable[[Step], None]) -> DemoReport:
    """Run it anew in `directory`, which may only hold an earlier demo."""
    _make_room(directory)
    started = time.monotonic()
    with LabServer(Lab(sites=SITES, max_depth=DEPTH), folder=directory / "lab") as server:
        assert server.lab is not None
        seeds = [(url, "the lab") for url in Web(server.lab).seeds()]
        done(Step("lab", f"{len(seeds)} sites on 127.0.0.0/8, port {server.port}", time.monotonic() - started))
        crawl_started = time.monotonic()
        opened, seed_list = open_crawl(directory / "crawl", [Layer("the demo", _settings(server.dns))], seeds, agents)
        try:
            with open_engine(engine_name, agents) as engine:
                report = run(opened, seed_list, engine, agents)
        finally:
            opened.lock.release()
        result = f"{report.pages:,} pages requested, {report.archive_bytes / 1e6:.1f} MB of WARC"
        done(Step("crawl", result, time.monotonic() - crawl_started))
        truth_started = time.monotonic()
        compared = _compare(server.lab, [url for url, _ in seeds], opened.folder)
    missing, unexpected, otherwise, true_urls, collected = compared
    found = (
        "each of them found once"
        if not any(compared[:3])
        else f"{missing} missing, {unexpected} more, {otherwise} other"
    )
    done(Step("truth", f"{true_urls:,} URLs, {found}", time.monotonic() - truth_started))
    config = opened.effective.config
    with open_engine(engine_name, agents) as engine:
        converted = convert(config.convert, config.links, opened.folder, engine)
        done(Step("convert", f"{converted.pages:,} pages and {converted.links:,} links in tables", converted.seconds))
        ranked = rank(config.rank, opened.folder, engine)
        best = ranked.top[0].name if ranked.top else "none"
        done(Step("rank", f"{ranked.pages:,} pages in {ranked.rounds} rounds; the first is {best}", ranked.seconds))
        indexed = index(config.search, opened.folder, engine)
    top_page = ranked.top[0].name if ranked.top else seeds[0][0]
    place = _place_by_title(opened.folder, top_page)
    result = f"{indexed.pages:,} pages; by its title the first is found at place {place}"
    done(Step("index", result, indexed.seconds))
    with open_engine("inline", agents) as engine:
        described = make_report(config.stats, opened.folder, engine, time.time())
    result = f"{described.tables} tables, {described.plots} plots in {described.size_bytes / 1000:,.0f} KB of HTML"
    done(Step("report", result, described.seconds))
    serve_started = time.monotonic()
    listening = open_server(opened.folder, replace(config, serve=Serve(port=0)), None)
    with listening.in_background() as url:
        visited = visit_all(url, top_page=top_page, words=_title(opened.folder, top_page))
    shown = "; ".join(visited.problems) or f"{visited.pages} pages visited, each shows what it should"
    done(Step("serve", shown, time.monotonic() - serve_started))
    return DemoReport(
        sites=len(seeds),
        true_urls=true_urls,
        collected_urls=collected,
        missing=missing,
        unexpected=unexpected,
        otherwise=otherwise,
        crawl=report,
        convert=converted,
        rank=ranked,
        index=indexed,
        title_place=place,
        report=described,
        serve=visited,
        seconds=round(time.monotonic() - started, 1),
        folder=str(directory),
    )


def _place_by_title(folder: CrawlFolder, url: str) -> int:
    """Where a search for a page's title shows it; 0 for nowhere."""
    title = _title(folder, url)
    hits = Searcher(folder).search(title).hits if title else ()
    return next((hit.place for hit in hits if hit.url == url), 0)


def _title(folder: CrawlFolder, url: str) -> str:
    """The title of a page, to be looked for."""
    pages = OpenedCrawl(folder.path).table("pages", ["url", "title"]).to_pylist()
    return next((row["title"] or "" for row in pages if row["url"] == url), "")


def _settings(name_server: str) -> dict[str, object]:
    return {
        "net.allow_private": ["127.0.0.0/8"],
        "net.nameservers": [name_server],
        "net.header_timeout": 1.0,
        "net.idle_timeout": 1.0,
        "politeness.min_delay": 0.0,
        "politeness.delay_factor": 0.0,
        "crawl.retries": 0,
        "crawl.sleep_min": 0.1,
    }


def _make_room(directory: Path) -> None:
    if not directory.exists():
        directory.mkdir(parents=True)
        return
    if not directory.is_dir() or any(entry.name not in ("lab", "crawl") for entry in directory.iterdir()):
        raise UsageError(
            f"{directory} holds something that is no demo; it was left alone: name another folder with -C."
        )
    if CrawlFolder.is_crawl(directory / "crawl"):
        CrawlFolder.open(directory / "crawl").lock("demo").release()  # nobody else is at work there
    for name in ("lab", "crawl"):
        shutil.rmtree(directory / name, ignore_errors=True)


def _compare(lab: Lab, seeds: list[str], folder: CrawlFolder) -> tuple[int, int, int, int, int]:
    """Missing, unexpected and otherwise, then how many there are in truth and in the crawl."""
    expected = {row.url: (row.outcome.value, row.digest) for row in truth(Web(lab), 0.0, seeds) if row.reachable}
    collected: dict[str, tuple[str, bytes | None]] = {}
    for page in read_pages(folder):
        if page.url in collected:
            raise NephilaError(f"{page.url} was collected twice; please report this.")
        collected[page.url] = (page.outcome.value, page.checksum)
    both = expected.keys() & collected.keys()
    otherwise = sum(not _same(expected[url], collected[url]) for url in both)
    return len(expected) - len(both), len(collected) - len(both), otherwise, len(expected), len(collected)


def _same(true: tuple[str, bytes | None], found: tuple[str, bytes | None]) -> bool:
    return true[0] == found[0] and (true[0] != "ok" or true[1] == found[1])
