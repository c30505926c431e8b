"""The front door: a crawl folder goes in, the plan of its next round comes out in `DIR/plan/`."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from nephila.config.sections import Refresh
from nephila.engine import Engine
from nephila.errors import NephilaError
from nephila.refresh.columns import Columns
from nephila.refresh.ledger import Ledger, read_ledger
from nephila.refresh.planning import choose, columns_of
from nephila.refresh.policies import policy_named
from nephila.refresh.policies.fixed import Fixed
from nephila.refresh.policies.policy import Policy
from nephila.refresh.priors import priors
from nephila.refresh.weighing import read_ranks, weights
from nephila.store.change_model import read_change_model
from nephila.store.database import database_errors, open_reader
from nephila.store.folder import CrawlFolder
from nephila.store.plan import PlanHead, read_plan, write_plan
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


def run(config: Refresh, folder: CrawlFolder, engine: Engine, now: float, budget: int, new_pages: int) -> PlanHead:
    """Plan one round of so many visits; the plan is in force when this returns."""
    known = gather(config, folder, now, keeps=True)
    if not len(known.ledger):
        raise NephilaError(f"no page of {folder.path} was collected yet; `nephila crawl -C {folder.path}` does that.")
    former = read_plan(folder)
    asleep = frozenset(site.number for site in known.sites.values() if site.state == "asleep")
    price = former.price if former is not None and former.policy == config.policy else None
    per_day = config.per_day * len(known.ledger)
    chosen = choose(
        make_policy(config), known.ledger, known.columns, now / _DAY_S, budget, per_day, price, config.per_site, asleep
    )
    places = chosen.places
    head = PlanHead(
        number=1 if former is None else former.number + 1, made_at=now, policy=config.policy, budget=budget,
        per_day=per_day, new_pages=new_pages, rows=len(places), candidates=chosen.candidates, due=chosen.due,
        price=chosen.price, prior_shape=known.prior[0], prior_rate=known.prior[1], freshness=chosen.freshness,
    )  # fmt: skip
    waited = now / _DAY_S - known.ledger.last_day[places]
    write_plan(
        folder, head,
        [known.slots[places], known.ledger.site[places], known.ledger.hash[places], chosen.scores, waited,
         known.columns.mean_rate[places]],
    )  # fmt: skip
    return head


def make_policy(config: Refresh) -> Policy:
    return Fixed(config.fixed_interval / _DAY_S) if config.policy == "fixed" else policy_named(config.policy)


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
    shape, rate = priors(joined, suffixes, read_change_model(folder))
    prior = (float(np.median(shape)), float(np.median(rate))) if len(joined) else (0.0, 0.0)
    weight = weights(joined.code, joined.page_id, read_ranks(folder), config.rank_weight)
    columns = columns_of(joined, weight, shape, rate, now / _DAY_S)
    slots = np.concatenate(numbers) if numbers else np.zeros(0, np.int32)
    return Known(joined, slots, columns, sites, prior)


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
