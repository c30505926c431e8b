"""The front door of the room: open or resume a crawl folder, collect, and tell what came of it."""

from __future__ import annotations

import asyncio
import json
import logging
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import uvloop

from nephila.config.layers import Layer
from nephila.crawl.coordinator import Coordinator, admission
from nephila.crawl.focusing import check_focus, prepare_focus
from nephila.crawl.forgotten import read_forgotten
from nephila.crawl.hourly import Planner
from nephila.crawl.mending import begun_without_database
from nephila.crawl.opening import Opened, Settings, read_settings, take_folder
from nephila.crawl.report import RUNNING, CrawlReport, SlowestSite, pack, told_of
from nephila.crawl.rounds import Round
from nephila.crawl.scope import scope_of
from nephila.crawl.seeds import RefusedSeed, SeedList, parse_seeds
from nephila.crawl.setup import check_network, make_clock, make_setup, strip_rules
from nephila.crawl.site_list import SiteList
from nephila.crawl.totals import Totals, read_totals
from nephila.engine import Engine
from nephila.errors import DamagedError, DiskFullError, UsageError
from nephila.records import Outcome
from nephila.store.database import sqlite_errors
from nephila.store.durable import replace_file
from nephila.store.folder import CrawlFolder
from nephila.store.plan import planned_pages

_LOG: Final = logging.getLogger("nephila.crawl")
SHOW_EVERY_S: Final = 0.5
LOG_EVERY_S: Final = 60.0
PARCEL_PAGES: Final = 20_000
"""Pages of a plan in one parcel at most: a third of a frame, whatever sites they are of."""


def read_input(
    path: Path, given: Sequence[Layer], lines: Sequence[tuple[str, str]], agents: int
) -> tuple[Settings, SeedList]:
    """What a crawl would begin with. Everything that can be wrong with the input is found, and nothing is touched."""
    settings = read_settings(path, given, agents)
    config = settings.effective.config
    check_network(config.net)
    check_focus(config)
    scope = scope_of(config, forgotten=read_forgotten(CrawlFolder(path)))
    seeds = parse_seeds(lines, strip_rules(config), scope)
    if lines and not seeds.urls:
        first = seeds.refused[0] if seeds.refused else None
        found = f"{first.place}: {first.text!r} {first.reason}" if first else "there is no line with a URL"
        raise UsageError(f"none of the seeds can be collected ({found}); give URLs such as http://www.example.org/.")
    if not seeds.urls and not settings.is_kept:
        raise UsageError(f"there is no crawl in {path} yet; give seeds: `nephila crawl URL…` or `-i FILE`.")
    return settings, seeds


def open_crawl(
    path: Path, given: Sequence[Layer], lines: Sequence[tuple[str, str]], agents: int
) -> tuple[Opened, SeedList]:
    """Make or resume the folder, after a look at the input."""
    settings, seeds = read_input(path, given, lines, agents)
    return take_folder(path, settings, "crawl"), seeds


def run(
    opened: Opened, seeds: SeedList, engine: Engine, agents: int, show: Callable[[CrawlReport], None] | None = None,
    planner: Planner | None = None, round_: Round | None = None,
) -> CrawlReport:  # fmt: skip
    """Collect until done, stopped or limited; blocking.

    A `planner` orders sites by the hour of the day; in a round of refresh its plan is visited first.
    """
    with sqlite_errors(opened.folder.coordinator_database):
        return uvloop.run(_run(opened, seeds, engine, agents, show, planner, round_))


async def _run(
    opened: Opened, seeds: SeedList, engine: Engine, agents: int, show: Callable[[CrawlReport], None] | None,
    planner: Planner | None, round_: Round | None,
) -> CrawlReport:  # fmt: skip
    config = opened.effective.config
    setup = make_setup(config, make_clock(config), read_forgotten(opened.folder))
    prepare_focus(config, opened.folder.state)
    _check_whole(opened.folder)
    sites = SiteList(opened.folder.coordinator_database, config.crawl.slots or agents, sync=config.archive.sync)
    started = time.monotonic()
    before = read_totals(opened.folder)
    shown = _Shown(started, before, opened, seeds.refused, show)
    try:
        now = setup.clock.now()
        sites.add_given(seeds.urls, admission(config), now)
        if not sites.has_any():
            raise UsageError(f"no seed of the crawl in {opened.folder.path} is known yet; give some: URLs, or -i FILE.")
        sites.add_outside(((row.text, row.outcome, f"{row.place}: {row.reason}") for row in seeds.refused), now)
        changes = [f"{change.name}: {change.before} -> {change.after}" for change in opened.changes]
        run_number = sites.begin_run(now, agents, json.dumps(changes))
        _LOG.info("run %d begins: %d seeds given, %d agents", run_number, len(seeds.urls), agents)
        for change in changes:
            _LOG.info("setting changed: %s", change)
        for refused in seeds.refused:
            _LOG.warning("seed refused: %s at %s (%s)", refused.text, refused.place, refused.reason)
        if round_ is not None:
            _post(opened.folder, sites, round_.plan, now)
        coordinator = Coordinator(
            config, setup, sites, engine, opened.folder, agents,
            bytes_before=before.received_bytes, on_progress=shown.update, planner=planner,
            round_=round_,
        )  # fmt: skip
        with _interruptible(coordinator):
            how = await coordinator.run()
        sites.end_run(run_number, setup.clock.now(), how.value)
        replace_file(opened.folder.seeds_out, "".join(f"{url}\n" for url in sites.seeds()).encode())
        report = shown.report(coordinator, how.value)
        _LOG.info("run %d ended: %s; %s", run_number, how.value, _figures(report))
        sites.show(pack(report), time.time())
    finally:
        sites.close()
        await setup.resolver.aclose()
    return report


def _post(folder: CrawlFolder, sites: SiteList, plan: int, now: float) -> None:
    """What of a plan was not posted yet goes into the outbox; the slots get it when they say how far they are."""
    posted = sites.posted(plan)
    for pages in planned_pages(folder, plan, posted, PARCEL_PAGES):
        sites.post_plan(plan, pages, now)


def _check_whole(folder: CrawlFolder) -> None:
    """Never begin anew over what is there: a database that is missing beside others is damage (F10)."""
    lists = folder.coordinator_database
    if lists.exists():
        missing = [folder.agent_database(slot) for slot in begun_without_database(folder)]
    else:
        missing = [lists] if any(folder.agent_database(slot).exists() for slot in folder.slots()) else []
    if missing:
        raise DamagedError(f"{missing[0]} is missing; run `nephila repair -C {folder.path}` to rebuild it.")


def _figures(report: CrawlReport) -> str:
    return (
        f"run_pages={report.run_pages} run_requests={report.run_requests} run_bytes={report.run_bytes} "
        f"seconds={report.seconds:.1f} pages={report.pages} known={report.known} waiting={report.waiting_urls} "
        f"active_sites={report.active_sites} agent_deaths={report.agent_deaths}"
    )


class _Shown:
    """The live figures: made a few times a second, kept in the folder for `nephila status`."""

    def __init__(
        self, started: float, before: Totals, opened: Opened, refused: Sequence[RefusedSeed],
        show: Callable[[CrawlReport], None] | None,
    ) -> None:  # fmt: skip
        self._started = started
        self._before = before
        self._opened = opened
        self._refused = refused
        self._show = show
        self._last = 0.0
        self._logged = started

    def update(self, coordinator: Coordinator) -> None:
        now = time.monotonic()
        if now - self._last < SHOW_EVERY_S:
            return
        self._last = now
        report = self.report(coordinator, RUNNING)
        with suppress(DiskFullError):  # who watches here is told, who asks for the status learns it later
            coordinator.sites.show(pack(report), time.time())
        if self._show is not None:
            self._show(report)
        if now - self._logged >= LOG_EVERY_S:
            self._logged = now
            _LOG.info("%s", _figures(report))

    def report(self, coordinator: Coordinator, how: str) -> CrawlReport:
        totals, before = read_totals(self._opened.folder), self._before
        seconds = time.monotonic() - self._started
        live = [member.progress for member in coordinator.members if member.progress is not None]
        run_pages = totals.pages - before.pages
        slowest = sorted((site for progress in live for site in progress.slowest), key=lambda site: -site.last_ms)
        per_page = 1 / max(1, run_pages)
        return CrawlReport(
            how=how,
            seconds=round(seconds, 3),
            run_pages=run_pages,
            run_requests=totals.requests - before.requests,
            run_bytes=totals.received_bytes - before.received_bytes,
            pages_per_s=round(run_pages / max(seconds, 1e-9), 1),
            pages=totals.pages,
            known=totals.known,
            outcomes=dict(sorted(totals.outcomes.items())),
            received_bytes=totals.received_bytes,
            archive_bytes=totals.archive_bytes,
            sites=coordinator.sites.counts(),
            agents=len(live) or len(coordinator.finished),
            active_sites=sum(progress.active_sites for progress in live),
            sleeping_sites=sum(progress.sleeping_sites for progress in live),
            # Failed pages that will be tried again have another outcome than `waiting`, and wait all the same.
            waiting_urls=max(
                totals.outcomes.get(Outcome.WAITING.value, 0), sum(progress.waiting_urls for progress in live)
            ),
            agent_deaths=coordinator.deaths,
            loop_lag_ms=max((progress.loop_lag_ms for progress in coordinator.progress()), default=0.0),
            loop_work_ms=max((progress.loop_work_ms for progress in coordinator.progress()), default=0.0),
            memory_bytes=sum(progress.memory_bytes for progress in live),
            memory_growth_bytes=max((progress.memory_growth_bytes for progress in coordinator.progress()), default=0),
            paused=coordinator.control.paused,
            no_room=coordinator.no_room,
            dns_queries=coordinator.dns_queries,
            messages_per_page=round(coordinator.traffic.frames * per_page, 4),
            message_bytes_per_page=round(coordinator.traffic.frame_bytes * per_page, 1),
            links_per_page=round(coordinator.traffic.links * per_page, 4),
            refused_seeds=len(self._refused),
            refused_links=dict(sorted(totals.refused_links.items())),
            outside=totals.outside,
            plans=coordinator.hourly.plans if coordinator.hourly is not None else 0,
            suspensions=sum(progress.suspensions for progress in coordinator.progress()),
            surprises=sum(progress.surprises for progress in coordinator.progress()),
            slowest=tuple(SlowestSite(site.url, site.last_ms, site.waiting) for site in slowest[:5]),
            changes=tuple(f"{change.name}: {change.before} -> {change.after}" for change in self._opened.changes),
            **told_of(totals),
        )


@contextmanager
def _interruptible(coordinator: Coordinator) -> Iterator[None]:
    """Ctrl-C and SIGTERM stop the crawl cleanly; a second one ends it at once, which loses nothing either."""
    loop = asyncio.get_running_loop()
    signals = (signal.SIGINT, signal.SIGTERM)
    asked = False

    def stop() -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True
        coordinator.interrupt()

    with suppress(NotImplementedError, ValueError, RuntimeError):  # not in the main thread: nobody to listen to
        for each in signals:
            loop.add_signal_handler(each, stop)
    try:
        yield
    finally:
        with suppress(NotImplementedError, ValueError, RuntimeError):
            for each in signals:
                loop.remove_signal_handler(each)
