"""The change study: batches of the same sites at an interval, each a whole crawl, then the tables of change (S1-34).

A batch is collected, converted and observed; only then is it done. Killed anywhere, the same command goes on: the log
says which batch is unfinished, its folder resumes like any crawl, and its conversion and observation are done again.
Batches never share anything but the seeds, so that none learns from another what is there.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from nephila.clock import Clock
from nephila.config.layers import Layer, lay
from nephila.config.sections import Config
from nephila.convert.run import run as convert
from nephila.crawl.report import CrawlReport
from nephila.crawl.run import open_crawl, run
from nephila.crawl.scope import scope_of
from nephila.crawl.seeds import parse_seeds
from nephila.crawl.setup import make_clock, strip_rules
from nephila.engine import open_engine
from nephila.errors import UsageError
from nephila.jobs.lab_clock import LabClock
from nephila.jobs.study_log import BatchRow, StudyLog, read_log, write_log
from nephila.stats.change.observing import observe
from nephila.stats.change.run import run as count_changes
from nephila.stats.change.visits import Measure
from nephila.stats.section import Section
from nephila.store.folder import CrawlFolder
from nephila.store.lock import FileLock

DEFAULTS: Final = Layer(
    "study",
    {
        "crawl.mode": "parties",  # a link from another site would make a page one of depth 0
        "crawl.max_pages_per_site": 3_000,
        "crawl.max_depth": 9,
        "crawl.retries": 0,  # a page that fails has failed in this batch, as S1's did
        "net.idle_timeout": 5.0,
    },
)
"""S1-34, unless the user says otherwise."""

_LOOK_EVERY_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class StudyOrder:
    """What the user asks for; None takes what the study had, or the paper's."""

    directory: Path
    lines: tuple[tuple[str, str], ...]  # seeds with their places
    layers: tuple[Layer, ...]
    batches: int | None
    every_s: float | None
    measure: Measure
    clock: LabClock | None
    engine: str
    agents: int


@dataclass(frozen=True, slots=True)
class Watching:
    """Who is told what: that the study waits, that a step of a batch begins, how its crawl goes."""

    waits: Callable[[int, int, float, float], None] = lambda batch, of, due_at, wait_s: None
    begins: Callable[[int, int, str], None] = lambda batch, of, step: None
    crawls: Callable[[CrawlReport], None] = lambda report: None


@dataclass(frozen=True, slots=True)
class StudyReport:
    """How it ended (done or interrupted), the batches, and the tables."""

    how: str
    seconds: float
    folder: str
    measure: str
    batches_planned: int
    every_s: float
    batches: tuple[BatchRow, ...]
    tables: tuple[Section, ...] = ()


class _InterruptedError(Exception):
    """Ctrl-C in the middle of a batch or of the wait; everything is kept."""


def study(order: StudyOrder, watching: Watching) -> StudyReport:
    """Make all batches that are not there yet, waiting between them, then count. Blocking, for days perhaps."""
    started = time.monotonic()
    config = lay([DEFAULTS, *order.layers]).config
    log = _begin(order, config)
    folder = CrawlFolder.create(order.directory)
    how = "done"
    with FileLock.take(folder.state / "study.lock", "study", subject=f"The study in {folder.path}"):
        write_log(folder, log)
        try:
            while len(log.done) < log.batches_planned:
                log = _one_batch(order, folder, log, config, watching)
        except (_InterruptedError, KeyboardInterrupt):
            how = "interrupted"
        tables: tuple[Section, ...] = ()
        if how == "done":
            watching.begins(len(log.done), log.batches_planned, "counting")
            tables = count_changes(config.convert.memory_limit, folder, order.agents, order.measure)
    seconds = round(time.monotonic() - started, 3)
    return StudyReport(
        how, seconds, str(folder.path), order.measure, log.batches_planned, log.every_s, log.batches, tables
    )


def _begin(order: StudyOrder, config: Config) -> StudyLog:
    """The study to make or to go on with; everything that can be wrong is found before anything is touched."""
    known = read_log(CrawlFolder(order.directory)) if CrawlFolder.is_crawl(order.directory) else None
    seeds = parse_seeds(order.lines, strip_rules(config), scope_of(config))
    if known is None:
        if not seeds.urls:
            raise UsageError(
                f"there is no study in {order.directory} yet; name its sites: `nephila study URL…` or `-i FILE`."
            )
        return StudyLog(order.batches or 9, order.every_s or 2 * 86_400.0, seeds.urls)
    if seeds.urls and set(seeds.urls) != set(known.seeds):
        raise UsageError(
            f"the study in {order.directory} looks at {len(known.seeds):,} seeds, and these are others; a study keeps "
            "its sites: leave the seeds out to go on, or name another folder with -C."
        )
    planned = order.batches or known.batches_planned
    if planned < len(known.batches):
        raise UsageError(f"the study in {order.directory} has {len(known.batches)} batches; ask for as many, or more.")
    return replace(known, batches_planned=planned, every_s=order.every_s or known.every_s)


def _one_batch(order: StudyOrder, folder: CrawlFolder, log: StudyLog, config: Config, watching: Watching) -> StudyLog:
    clock = order.clock.read() if order.clock is not None else make_clock(config)
    batch = log.unfinished
    if batch is None:
        clock = _wait(order, log, clock, watching)
        log = log.begun(clock.now())
        write_log(folder, log)
        batch = log.batches[-1]
    of = log.batches_planned
    watching.begins(batch.number, of, "crawl")
    path = folder.batch(batch.number)
    folder.batches.mkdir(exist_ok=True)
    own = [] if (path / "nephila.toml").exists() else [DEFAULTS, _clock_layer(clock)]
    lines = [(seed, "the study's seeds") for seed in log.seeds]
    opened, seed_list = open_crawl(path, [*own, *order.layers], lines, order.agents)
    try:
        with open_engine(order.engine, order.agents) as engine:
            crawled = run(opened, seed_list, engine, order.agents, watching.crawls)
            if crawled.how == "interrupted":
                raise _InterruptedError
            watching.begins(batch.number, of, "convert")
            effective = opened.effective.config
            convert(effective.convert, effective.links, opened.folder, engine)
    finally:
        opened.lock.release()
    watching.begins(batch.number, of, "observe")
    downloaded = observe(opened.folder, batch.number, batch.began_at, log.seeds, folder.study)
    ended_at = make_clock(opened.effective.config).now()
    log = log.ended(replace(batch, ended_at=ended_at, requests=crawled.pages, downloaded=downloaded))
    write_log(folder, log)
    return log


def _wait(order: StudyOrder, log: StudyLog, clock: Clock, watching: Watching) -> Clock:
    """Until the next batch is due; with a lab's clock the lab is moved there instead."""
    due_at = log.due_at(clock.now())
    number = len(log.batches) + 1
    if order.clock is not None:
        return order.clock.set(due_at) if due_at > clock.now() else clock
    while (left_s := due_at - clock.now()) > 0:
        watching.waits(number, log.batches_planned, due_at, left_s)
        time.sleep(min(_LOOK_EVERY_S, left_s / clock.rate))
    return clock


def _clock_layer(clock: Clock) -> Layer:
    values = {"clock.rate": clock.rate, "clock.origin": clock.simulated_at, "clock.real_origin": clock.real_at}
    return Layer("study", values)
