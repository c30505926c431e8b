"""One round of refresh: plan what is due within a budget, let crawl visit it, and let the tables follow.

A round that was killed is not planned anew: the plan says that it has not ended, crawl has noted how far it got, and
the same command goes on from there.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from math import ceil
from typing import Final

from nephila.config.sections import Config
from nephila.crawl.opening import Opened
from nephila.crawl.report import CrawlReport
from nephila.crawl.rounds import Round
from nephila.crawl.run import run
from nephila.crawl.seeds import SeedList
from nephila.crawl.setup import make_clock, strip_rules
from nephila.crawl.totals import Totals, read_totals
from nephila.crawl.visited import (
    RequestsOfRound,
    VisitsOfRound,
    last_visits,
    requests_since,
    slot_of,
    url_of,
    visits_since,
)
from nephila.engine import Engine
from nephila.errors import NephilaError
from nephila.jobs.planned import make_planner
from nephila.jobs.refine import Refined
from nephila.records import Outcome
from nephila.refresh.due import read_freshness, when_due
from nephila.refresh.ledger import Array, OlderFolderError
from nephila.refresh.run import PageKey
from nephila.refresh.run import run as plan_round
from nephila.shown import DuePage, Freshness
from nephila.store.folder import CrawlFolder
from nephila.store.plan import PlanHead, read_plan, write_head
from nephila.urls import Refusal, normalise, split, url_hash

_WAIT: Final = (Outcome.WAITING, Outcome.DEFERRED_HOST, Outcome.DEFERRED_ROBOTS)


@dataclass(frozen=True, slots=True)
class Budget:
    """What a round may cost. `requests` None: as many as `refresh.per_day` gives for a day."""

    requests: int | None = None
    max_bytes: int | None = None
    max_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class RoundReport:
    """What a round did; `planned` visits of `due` pages, and what they found."""

    round: int
    policy: str
    how: str
    resumed: bool  # the round had been begun before
    planned: int
    candidates: int
    visited: int
    changed: int
    unchanged: int
    not_modified: int  # of the unchanged, those that cost no body
    missing: int
    gone: int
    failed: int
    new_pages: int
    requests: int
    robots_requests: int  # they and the two below come on top of the budget
    further_tries: int
    samples: int
    received_bytes: int
    freshness_before: float  # expected
    seconds: float


@dataclass(frozen=True, slots=True)
class RefreshReport:
    """A round, and what the further rooms made of it; None where they were left out."""

    round: RoundReport
    refined: Refined | None = None


def refresh(
    opened: Opened, engine: Engine, agents: int, budget: Budget, show: Callable[[CrawlReport], None] | None = None
) -> RoundReport:
    """Plan and visit; blocking. The folder is ours until `opened.lock` is released."""
    started = time.monotonic()
    config, folder = opened.effective.config, opened.folder
    totals = read_totals(folder)
    if not totals.pages:
        raise NephilaError(
            f"no page of {folder.path} was collected yet; `nephila crawl -C {folder.path}` does that first."
        )
    head = read_plan(folder)
    resumed = head is not None and head.ended_at is None
    if head is None or not resumed:
        requests = _requests(config, totals, budget)
        new_pages = _new_pages(config, totals, requests)
        head = plan_round(
            config.refresh, folder, engine, make_clock(config).now(), max(0, requests - new_pages), new_pages
        )
    before = last_visits(folder)
    of_round = _for_round(opened, totals, budget)
    # Which hours are good for a site is the schedule's to say, also in a round (J-2).
    round_ = Round(head.number, head.new_pages)
    crawled = run(of_round, SeedList((), ()), engine, agents, show, make_planner(of_round), round_)
    found, asked = visits_since(folder, before), requests_since(folder, before)
    if crawled.how != "interrupted":
        write_head(folder, replace(head, ended_at=make_clock(config).now()))
    return _report(head, crawled, found, asked, resumed=resumed, seconds=round(time.monotonic() - started, 3))


def _requests(config: Config, totals: Totals, budget: Budget) -> int:
    if budget.requests is not None:
        return budget.requests
    return max(1, round(config.refresh.per_day * totals.pages))


def _new_pages(config: Config, totals: Totals, requests: int) -> int:
    """How many of a round's requests are kept for pages that were never asked; limits of the crawl hold."""
    waiting = sum(totals.outcomes.get(outcome.value, 0) for outcome in _WAIT)
    # Nobody knows what will be found; a part of the share is kept for it where less than the share waits.
    share = min(int(requests * config.refresh.new_share), waiting + ceil(requests * config.refresh.new_share / 4))
    limit = config.crawl.max_pages
    return share if limit is None else max(0, min(share, limit - totals.pages))


def _for_round(opened: Opened, totals: Totals, budget: Budget) -> Opened:
    """The settings of one round: its own limits of bytes and time; new pages are limited by the round itself."""
    config = opened.effective.config
    crawl = replace(config.crawl, max_pages=None)
    if budget.max_seconds is not None:
        crawl = replace(crawl, max_seconds=min(budget.max_seconds, crawl.max_seconds or budget.max_seconds))
    if budget.max_bytes is not None:
        end = totals.received_bytes + budget.max_bytes
        crawl = replace(crawl, max_bytes=min(end, crawl.max_bytes or end))
    return replace(opened, effective=replace(opened.effective, config=replace(config, crawl=crawl)))


def _report(
    head: PlanHead, crawled: CrawlReport, found: VisitsOfRound, asked: RequestsOfRound, *, resumed: bool,
    seconds: float,
) -> RoundReport:  # fmt: skip
    return RoundReport(
        round=head.number, policy=head.policy, how=crawled.how, resumed=resumed, planned=head.rows,
        candidates=head.candidates, visited=found.visited, changed=found.changed, unchanged=found.unchanged,
        not_modified=found.not_modified, missing=found.missing, gone=found.gone, failed=found.failed,
        new_pages=crawled.run_pages, requests=crawled.run_requests, robots_requests=asked.robots,
        further_tries=asked.further_tries, samples=asked.samples, received_bytes=crawled.run_bytes,
        freshness_before=round(head.freshness, 4), seconds=seconds,
    )  # fmt: skip


def when(config: Config, folder: CrawlFolder, url: str) -> DuePage | None:
    """When a page is due again, and why; None where it was never requested."""
    normal = normalise(url, strip_rules(config))
    if isinstance(normal, Refusal):
        return None
    site, path = split(normal)
    found = slot_of(folder, site)
    if found is None:
        return None
    page = PageKey(found[1], found[0], site, url_hash(path))
    with suppress(OlderFolderError):  # a story can be told without its end
        return when_due(config.refresh, folder, page, make_clock(config).now())
    return None


def freshness(config: Config, folder: CrawlFolder) -> Freshness | None:
    """What of the crawl is due, fresh and changing; None where nothing was requested yet."""

    def urls(slots: Array, sites: Array, hashes: Array) -> list[str]:
        keys = zip(slots.tolist(), sites.tolist(), hashes.tolist(), strict=True)
        return [url_of(folder, slot, site, key) for slot, site, key in keys]

    with suppress(OlderFolderError):
        return read_freshness(config.refresh, folder, make_clock(config).now(), urls)
    return None
