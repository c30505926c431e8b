"""The front door: a crawl folder goes in, the plan of its next round comes out in `DIR/plan/`."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from nephila.config.sections import Refresh
from nephila.engine import Engine
from nephila.errors import NephilaError
from nephila.refresh.columns import Columns
from nephila.refresh.ledger import Ledger, read_entry, read_ledger
from nephila.refresh.planning import choose, columns_of
from nephila.refresh.policies import policy_named
from nephila.refresh.policies.fixed import Fixed
from nephila.refresh.policies.groups import Groups
from nephila.refresh.policies.policy import Policy
from nephila.refresh.priors import Fitted, priors, priors_as_fitted
from nephila.refresh.texts import by_texts
from nephila.refresh.update_hours import learned_hour
from nephila.refresh.weighing import Scale, rank_of, read_interests, read_ranks, weigh, weights
from nephila.store.change_model import read_change_model
from nephila.store.database import database_errors, open_reader
from nephila.store.folder import CrawlFolder
from nephila.store.plan import PlanHead, read_plan, write_plan
from nephila.store.search_log import read_interest
from nephila.urls import host_of, registrable_domain

_DAY_S = 86_400.0


@dataclass(frozen=True, slots=True)
class SiteStanding:
    """A site as the coordinator knows it, as far as planning needs it."""

    number: int
    url: str
    state: str


@dataclass(frozen=True, slots=True)
class Known:
    """All that a plan is made from."""

    ledger: Ledger
    slots: Any
    columns: Columns
    sites: dict[int, SiteStanding]
    prior: tuple[float, float]
    fitted: Fitted
    scale: Scale
    hour: int | None


@dataclass(frozen=True, slots=True)
class PageKey:
    """Where one page is found: its slot, the coordinator's number of its site and URL, and the hash of its path."""

    slot: int
    site: int
    site_url: str
    hash: int


def run(config: Refresh, folder: CrawlFolder, engine: Engine, now: float, budget: int, new_pages: int) -> PlanHead:
    """Plan one round of so many visits; the plan is in force when this returns."""
    known = gather(config, folder, now, keeps=True)
    if not len(known.ledger):
        raise NephilaError(f"no page of {folder.path} was collected yet; `nephila crawl -C {folder.path}` does that.")
    former = read_plan(folder)
    asleep = frozenset(site.number for site in known.sites.values() if site.state == "asleep")
    price = former.price if former is not None and former.policy == config.policy else None
    per_day = config.per_day * len(known.ledger)
    policy = make_policy(config, known.hour)
    terms = policy.terms(known.columns, per_day)
    chosen = choose(policy, known.ledger, known.columns, now / _DAY_S, budget, terms, price, config.per_site, asleep)
    places = chosen.places
    head = PlanHead(
        number=1 if former is None else former.number + 1, made_at=now, policy=config.policy, budget=budget,
        per_day=per_day, new_pages=new_pages, rows=len(places), candidates=chosen.candidates, due=chosen.due,
        price=chosen.price, prior_shape=known.prior[0], prior_rate=known.prior[1], freshness=chosen.freshness,
        change=config.change, hour=known.hour, terms=terms, fitted=known.fitted, mean_rank=known.scale.mean_rank,
        mean_interest=known.scale.mean_interest, least_interest=known.scale.least_interest,
    )  # fmt: skip
    waited = now / _DAY_S - known.ledger.last_day[places]
    write_plan(
        folder, head,
        [known.slots[places], known.ledger.site[places], known.ledger.hash[places], chosen.scores, waited,
         known.columns.mean_rate[places]],
    )  # fmt: skip
    return head


def make_policy(config: Refresh, hour: int | None) -> Policy:
    """The policy as the settings and what was learnt make it; `hour` is S4-5's."""
    if config.policy == "fixed":
        return Fixed(config.fixed_interval / _DAY_S)
    policy = policy_named(config.policy)
    return replace(policy, hour=hour) if isinstance(policy, Groups) and hour is not None else policy


def gather(config: Refresh, folder: CrawlFolder, now: float, *, keeps: bool = False) -> Known:
    """Ledgers of all slots with weights and rates; `keeps` is for whoever has the folder to itself."""
    sites = read_standings(folder)
    ledgers, numbers = [], []
    for slot in folder.slots():
        if folder.agent_database(slot).exists():
            ledger = read_ledger(folder, slot, keeps=keeps)
            ledgers.append(ledger)
            numbers.append(np.full(len(ledger), slot, np.int32))
    joined = (
        Ledger(*(np.concatenate([getattr(each, name.name) for each in ledgers]) for name in fields(Ledger)))
        if len(ledgers) > 1
        else ledgers[0] if ledgers else Ledger.empty()
    )  # fmt: skip
    suffixes = {site.number: _suffix(site.url) for site in sites.values()}
    joined = by_texts(joined, folder, config.change)
    shape, rate, fitted = priors(joined, suffixes, read_change_model(folder))
    prior = (float(np.median(shape)), float(np.median(rate))) if len(joined) else (0.0, 0.0)
    interest = read_interests(folder) if config.search_weight else None
    weight, scale = weights(
        joined.code, joined.page_id, read_ranks(folder), config.rank_weight, interest, config.search_weight
    )
    columns = columns_of(joined, weight, shape, rate, now / _DAY_S)
    slots = np.concatenate(numbers) if numbers else np.zeros(0, np.int32)
    hour = learned_hour(folder, now) if config.policy.startswith("groups") else None
    return Known(joined, slots, columns, sites, prior, fitted, scale, hour)


def gather_one(
    config: Refresh, folder: CrawlFolder, head: PlanHead, page: PageKey, now: float
) -> tuple[Ledger, Columns]:
    """The same for one page, by the figures of all that its plan kept; both are empty where it was never asked."""
    ledger = read_entry(folder, page.slot, page.site, page.hash)
    page_id = int(ledger.page_id[0]) if len(ledger) else -1
    ledger = by_texts(ledger, folder, config.change, [page_id])
    suffixes = {page.site: _suffix(page.site_url)}
    shape, rate = priors_as_fitted(ledger, suffixes, read_change_model(folder), head.fitted)
    rank, interest = rank_of(folder, page_id), sum(value for _, value in read_interest(folder, page_id))
    weight = weigh(
        ledger.code, np.full(len(ledger), rank), np.full(len(ledger), interest),
        Scale(head.mean_rank, head.mean_interest, head.least_interest), config.rank_weight, config.search_weight,
    )  # fmt: skip
    return ledger, columns_of(ledger, weight, shape, rate, now / _DAY_S)


def read_standings(folder: CrawlFolder) -> dict[int, SiteStanding]:
    path = folder.coordinator_database
    if not path.exists():
        return {}
    with database_errors(path):
        reader = open_reader(path)
        try:
            return {row[0]: SiteStanding(*row) for row in reader.execute("SELECT site, url, state FROM sites")}
        finally:
            reader.close()


def _suffix(url: str) -> str:
    """The public suffix of a site's name: "co.kr" of www.example.co.kr; empty for addresses."""
    return registrable_domain(host_of(url)).partition(".")[2]
