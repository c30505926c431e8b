"""The web pages of a crawl folder, wired: every source of theirs is a question to the room that knows the answer."""

from __future__ import annotations

import threading
import time
from collections import deque
from dataclasses import replace
from functools import partial
from typing import Final

import msgspec

from nephila.clock import Clock
from nephila.config.layers import lay, read_file
from nephila.config.sections import Config
from nephila.crawl.kept import kept_copy
from nephila.crawl.looking import ORDERS, list_sites, read_queue, show_site
from nephila.crawl.status import Status, read_status
from nephila.crawl.timeline import TimelineReader
from nephila.crawl.why import why
from nephila.errors import NephilaError
from nephila.rank.report import RankReport
from nephila.search.noting import noted, opened
from nephila.search.results import Hit, pieces
from nephila.search.searching import Searcher
from nephila.serve.remembering import Remembered
from nephila.serve.server import Listening, listen
from nephila.serve.sources import Asked, Sources
from nephila.serve.statistics import read_statistics
from nephila.shown import (
    CrawlNow,
    Found,
    Freshness,
    HitShown,
    Piece,
    RankBin,
    Ranked,
    RanksShown,
    ScheduleShown,
    SiteLines,
    SitesByState,
    SiteShown,
    Timeline,
    UrlShown,
)
from nephila.store.control import read_control, write_blocked, write_paused
from nephila.store.folder import CrawlFolder
from nephila.store.hour_figures import has_hours
from nephila.store.plan import read_plan

PACE_OVER_S: Final = 10.0
LOOKED_EVERY_S: Final = 0.5
STATISTICS_HOLD_S: Final = 30.0
SCHEDULE_HOLD_S: Final = 10.0
FRESHNESS_HOLD_S: Final = 20.0
SCHEDULE_ROWS: Final = 60
RANK_REPORT: Final = "report.json"
"""As rank.run names it, whose import would cost half of the start-up."""
_MOST_REPORT_BYTES: Final = 64 * 2**20


def open_server(folder: CrawlFolder, config: Config, token: str | None) -> Listening:
    """A server for this folder, bound and not yet answering."""
    return listen(make_sources(folder, config), config.serve, token)


def make_sources(folder: CrawlFolder, config: Config) -> Sources:
    """The folder's answers. Nothing here locks anything, so that a crawl may start, run and end beside it."""
    lock = threading.Lock()
    timelines = TimelineReader(folder)
    pace = Pace()

    def counted() -> CrawlNow:
        now = time.time()
        return crawl_now(read_status(folder, now), pace, now, paused=False)

    figures = Remembered(counted, LOOKED_EVERY_S / 2)

    def crawl() -> CrawlNow:
        # What a person has just asked for is shown at once, however old the figures beside it may be.
        return replace(figures(), paused=read_control(folder).paused)

    def timeline() -> Timeline:
        with lock:
            return timelines.read()

    def site(url: str) -> SiteShown | None:
        return show_site(folder, url.rstrip("/"), read_control(folder), time.time())

    def block(url: str, on: bool) -> bool:
        known = site(url)
        if known is None and on:
            return False
        name = known.line.url if known is not None else url.rstrip("/")
        with lock:
            before = read_control(folder).blocked
            write_blocked(folder, before | {name} if on else before - {name})
        return True

    # The beginnings of these lists are on the page that moves: counted rarely where there are many sites.
    first = {order: Remembered(partial(list_sites, folder, order, "", "", 1), LOOKED_EVERY_S) for order in ORDERS}

    def sites(order: str, containing: str, state: str, page: int) -> SiteLines:
        if (containing, state, page) == ("", "", 1):
            return first[order]()
        return list_sites(folder, order, containing, state, page)

    return Sources(
        name=folder.path.name or str(folder.path),
        crawl=crawl,
        timeline=Remembered(timeline, LOOKED_EVERY_S),
        queue=Remembered(lambda: read_queue(folder), LOOKED_EVERY_S),
        sites=sites,
        site=site,
        url=lambda url: msgspec.convert(why(folder, config, url), UrlShown, from_attributes=True),
        copy=lambda url: kept_copy(folder, config, url),
        search=Searching(folder, config),
        opened=lambda query, url: opened(config.search, folder, query, url, time.time()),
        ranks=lambda: _ranks(folder),
        statistics=Remembered(lambda: read_statistics(folder), STATISTICS_HOLD_S),
        report=lambda: _report(folder),
        schedule=Remembered(lambda: _schedule(folder, config), SCHEDULE_HOLD_S),
        has_schedule=lambda: has_hours(folder),
        freshness=Remembered(lambda: _freshness(folder, config), FRESHNESS_HOLD_S),
        has_freshness=lambda: read_plan(folder) is not None,
        blocked=lambda: tuple(sorted(read_control(folder).blocked)),
        pause=lambda on: write_paused(folder, on=on),
        block=block,
    )


def _schedule(folder: CrawlFolder, config: Config) -> ScheduleShown | None:
    """Tonight's plan by the crawl's own clock; its room is imported when it is asked, for it is heavy."""
    if not has_hours(folder):
        return None
    from nephila.schedule.showing import tonight

    kept = lay([read_file(folder.config_file)]).config if folder.config_file.exists() else config
    clock = Clock(kept.clock.rate, kept.clock.origin, kept.clock.real_origin)
    places = kept.crawl.active_sites * (kept.crawl.slots or 1)
    return tonight(folder, kept.schedule, kept.politeness, clock.now(), places, SCHEDULE_ROWS)


def _freshness(folder: CrawlFolder, config: Config) -> Freshness | None:
    """What is due, by the crawl's own clock; its room is imported when it is asked, for it is heavy."""
    from nephila.jobs.refresh import freshness

    kept = lay([read_file(folder.config_file)]).config if folder.config_file.exists() else config
    return freshness(kept, folder)


class Pace:
    """Pages per second over the last moments: what a report says is an average over its whole run."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def per_second(self, at: float, pages: int) -> float | None:
        """The pace at a report's time; None while too little was seen."""
        if self._seen and (at < self._seen[-1][0] or pages < self._seen[-1][1]):
            self._seen.clear()  # another run
        if not self._seen or at > self._seen[-1][0]:
            self._seen.append((at, pages))
        while len(self._seen) > 2 and at - self._seen[1][0] >= PACE_OVER_S:
            self._seen.popleft()
        first_at, first_pages = self._seen[0]
        return (pages - first_pages) / (at - first_at) if at - first_at >= 1.0 else None


def crawl_now(status: Status | None, pace: Pace, now: float, *, paused: bool) -> CrawlNow:
    """The status as the pages show it; a crawl that has not begun is one of zeroes."""
    if status is None:
        return CrawlNow(
            begun=False, running=False, paused=paused, how="not begun", shown_at=now, seconds=0.0, pages=0, known=0,
            waiting_urls=0, pages_per_s=0.0, received_bytes=0, archive_bytes=0, agents=0, agent_deaths=0,
            active_sites=0, sleeping_sites=0, dns_queries=0, outside=0, outcomes={}, sites=SitesByState(),
        )  # fmt: skip
    report = status.report
    measured = pace.per_second(status.shown_at, report.pages) if status.running else None
    return CrawlNow(
        begun=True,
        running=status.running,
        paused=paused,
        how=report.how,
        shown_at=status.shown_at,
        seconds=report.seconds,
        pages=report.pages,
        known=report.known,
        waiting_urls=report.waiting_urls,
        pages_per_s=report.pages_per_s if measured is None else round(measured, 1),
        received_bytes=report.received_bytes,
        archive_bytes=report.archive_bytes,
        agents=report.agents if status.running else 0,
        agent_deaths=report.agent_deaths,
        active_sites=report.active_sites,
        sleeping_sites=report.sleeping_sites,
        dns_queries=report.dns_queries,
        outside=report.outside,
        outcomes={name: count for name, count in report.outcomes.items() if count},
        sites=msgspec.convert(report.sites, SitesByState, from_attributes=True),
    )


class Searching:
    """The folder's index, opened at the first search, and anew whenever another one was published."""

    def __init__(self, folder: CrawlFolder, config: Config) -> None:
        self._folder = folder
        self._config = config.search
        self._lock = threading.Lock()
        self._searcher: Searcher | None = None

    def __call__(self, asked: Asked) -> Found:
        found = self._open().search(asked.text, asked.page, everything=asked.show_all, explain=asked.explain)
        results = noted(self._config, self._folder, found, time.time())
        return Found(
            asked.text, results.page, tuple(map(_hit, results.hits)), results.total, results.has_more,
            results.given_way, results.remarks, results.seconds,
        )  # fmt: skip

    def _open(self) -> Searcher:
        with self._lock:
            if self._searcher is None:
                self._searcher = Searcher(self._folder, self._config)
            else:
                self._searcher.reopen()
            return self._searcher


def _hit(hit: Hit) -> HitShown:
    dated_at = hit.published_at or hit.modified_at
    return HitShown(
        place=hit.place,
        url=hit.url,
        title=tuple(Piece(text, marked) for text, marked in pieces(hit.title, hit.title_marks)),
        snippet=tuple(Piece(text, marked) for text, marked in pieces(hit.snippet, hit.snippet_marks)),
        site=hit.site,
        domain=hit.domain,
        community=hit.community,
        language=hit.language,
        dated_at=None if dated_at is None else dated_at.timestamp(),
        fetched_at=None if hit.fetched_at is None else hit.fetched_at.timestamp(),
        times_mean=hit.times_mean,
        score=hit.score,
        explanation="" if hit.explanation is None else hit.explanation.line,
    )


def _ranks(folder: CrawlFolder) -> RanksShown | None:
    path = folder.rank / RANK_REPORT
    if not path.exists():
        return None
    try:
        report = msgspec.json.decode(path.read_bytes(), type=RankReport)
    except (msgspec.MsgspecError, OSError) as problem:
        raise NephilaError(f"{path} cannot be read ({problem}); run `nephila rank -C {folder.path}` again.") from None
    return RanksShown(
        method=report.method,
        damping=report.damping,
        pages=report.pages,
        links=report.links,
        dangling=report.dangling,
        rounds=report.rounds,
        residual=report.residual,
        seconds=report.seconds,
        residuals=report.residuals,
        distribution=tuple(RankBin(each.power, each.pages) for each in report.distribution),
        top=tuple(Ranked(each.place, each.name, each.rank, each.in_links) for each in report.top),
        top_sites=tuple(Ranked(each.place, each.name, each.rank, each.in_links) for each in report.top_sites),
        top_domains=tuple(Ranked(each.place, each.name, each.rank, each.in_links) for each in report.top_domains),
    )


def _report(folder: CrawlFolder) -> bytes | None:
    """The report's own file, whose name is ours."""
    path = folder.report / "index.html"
    if not path.is_file() or path.stat().st_size > _MOST_REPORT_BYTES:
        return None
    return path.read_bytes()
