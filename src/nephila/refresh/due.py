"""When one page is due again, and why, in one sentence; and what a whole crawl is waiting for.

A page is due when its score reaches the price of the last plan: what the last visit that the budget bought was worth.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

import numpy as np

from nephila.config.sections import Refresh
from nephila.refresh.ledger import Array
from nephila.refresh.planning import expected_fresh
from nephila.refresh.policies.policy import about, due_days
from nephila.refresh.run import Known, gather, make_policy
from nephila.shown import DuePage, Freshness, SiteFreshness
from nephila.store.folder import CrawlFolder
from nephila.store.plan import PlanHead, read_plan

UrlsOf = Callable[[Array, Array, Array], list[str]]
"""Looks the URLs of a few pages up: slots, sites and hashes go in."""

_DAY_S: Final = 86_400.0
_SOON: Final = 10
_PRICED: Final = 200_000
"""Pages that a price is estimated from where nothing was planned yet."""


def when_due(config: Refresh, folder: CrawlFolder, site: int, key: int, now: float) -> DuePage | None:
    """One page, by the coordinator's number of its site and the hash of its path; None where it was never asked."""
    known = gather(config, folder, now)
    place = np.flatnonzero((known.ledger.site == site) & (known.ledger.hash == key))
    if not len(place):
        return None
    return _due_pages(config, known, place[:1], read_plan(folder), now, [""])[0]


def read_freshness(config: Refresh, folder: CrawlFolder, now: float, urls: UrlsOf) -> Freshness | None:
    """The whole crawl; None where no page was requested. `urls` finds the URLs of a few pages."""
    known = gather(config, folder, now)
    if not len(known.ledger):
        return None
    head = read_plan(folder)
    due = _due(config, known, head, now)
    now_day = now / _DAY_S
    waits = known.ledger.planned | known.ledger.waits
    ahead = np.where(waits, now_day, due) - now_day
    soon = np.argsort(due, kind="stable")[:_SOON]
    names = urls(known.slots[soon], known.ledger.site[soon], known.ledger.hash[soon])
    fresh = expected_fresh(known.columns, now_day)
    weight = known.columns.weight
    return Freshness(
        now=now,
        policy=config.policy,
        pages=len(known.ledger),
        reseen=int((known.ledger.visits > 0).sum()),
        planned=int(known.ledger.planned.sum()),
        due_now=int((ahead <= 0).sum()),
        overdue=int((ahead < -1).sum()),
        fresh=float((fresh * weight).sum() / max(float(weight.sum()), 1e-12)),
        changes_per_day=float(known.columns.mean_rate.sum()),
        round=0 if head is None else head.number,
        round_ended=head is None or head.ended_at is not None,
        by_day=tuple(int(((ahead > day) & (ahead <= day + 1)).sum()) for day in range(14)),
        soon=tuple(_due_pages(config, known, soon, head, now, names)),
        sites=_by_site(known, fresh, ahead),
    )


def _price(config: Refresh, known: Known, head: PlanHead | None, now: float) -> float:
    """That of the last plan; else the one at which `per_day` visits a day are bought."""
    if head is not None and head.policy == config.policy and head.rows:
        return head.price
    policy = make_policy(config)
    some = known.columns.some(np.arange(min(len(known.columns), _PRICED)))
    wanted = config.per_day * len(some)
    settled = policy.settle(some, wanted)
    scores = policy.scores(some, now / _DAY_S, settled)
    low, high = 0.0, float(scores.max(initial=1.0)) * 1e3 + 1.0
    for _ in range(30):
        middle = (low + high) / 2
        waits = due_days(policy, some, settled, middle, now / _DAY_S) - some.last_day
        if float((1 / np.maximum(waits, 1e-6)).sum()) > wanted:
            low = middle
        else:
            high = middle
    return high


def _due(config: Refresh, known: Known, head: PlanHead | None, now: float) -> Array:
    policy = make_policy(config)
    settled = policy.settle(known.columns, config.per_day * len(known.columns))
    return due_days(policy, known.columns, settled, _price(config, known, head, now), now / _DAY_S)


def _due_pages(
    config: Refresh, known: Known, places: Array, head: PlanHead | None, now: float, urls: list[str]
) -> list[DuePage]:
    policy = make_policy(config)
    settled = policy.settle(known.columns, config.per_day * len(known.columns))
    some = known.columns.some(places)
    of_some = None if settled is None else settled[places]
    due = due_days(policy, some, of_some, _price(config, known, head, now), now / _DAY_S)
    pages = []
    for number, place in enumerate(places):
        one = some.some(np.array([number]))
        why = policy.explain(one, None if of_some is None else of_some[number : number + 1])
        last_at = float(known.ledger.last_day[place]) * _DAY_S
        due_at = float(due[number]) * _DAY_S if np.isfinite(due[number]) else None
        planned = bool(known.ledger.planned[place])
        said = sentence(why, last_at, due_at, now, planned=planned)
        rate = max(float(one.mean_rate[0]), 1e-12)
        visits, changed = int(known.ledger.visits[place]), int(known.ledger.changed_visits[place])
        pages.append(DuePage(urls[number], due_at, last_at, 1 / rate, visits, changed, said))
    return pages


def sentence(why: str, last_at: float, due_at: float | None, now: float, *, planned: bool) -> str:
    """Such as "changes about every 6 days, last seen 4 days ago, due tomorrow 16:00"."""
    seen = f"last seen {about(max(0.0, now - last_at) / _DAY_S)} ago"
    if planned:
        return f"{why}, {seen}, planned for the round under way"
    return f"{why}, {seen}, {_due_words(due_at, now)}"


def _due_words(due_at: float | None, now: float) -> str:
    if due_at is None:
        return "not worth another visit at this budget"
    if due_at <= now:
        late = (now - due_at) / _DAY_S
        return "due now" if late < 1 / 24 else f"overdue by {about(late)}"
    day, today = datetime.fromtimestamp(due_at, UTC), datetime.fromtimestamp(now, UTC)
    ahead = (day.date() - today.date()).days
    at = day.strftime("%H:%M")
    if ahead == 0:
        return f"due today {at}"
    if ahead == 1:
        return f"due tomorrow {at}"
    return f"due {day.strftime('%A')} {at}" if ahead < 7 else f"due on {day.strftime('%Y-%m-%d')}"


def _by_site(known: Known, fresh: Array, ahead: Array) -> tuple[SiteFreshness, ...]:
    """The sites with the most due pages first, fifty of them."""
    numbers, place = np.unique(known.ledger.site, return_inverse=True)
    count = len(numbers)
    pages = np.bincount(place, minlength=count)
    due = np.bincount(place, weights=ahead <= 0, minlength=count).astype(int)
    sums = [
        np.bincount(place, weights=values, minlength=count)
        for values in (known.ledger.visits, known.ledger.changed_visits, known.columns.mean_rate, fresh)
    ]
    order = np.lexsort((-pages, -due))[:50]
    return tuple(
        SiteFreshness(
            known.sites[int(numbers[at])].url if int(numbers[at]) in known.sites else "", int(pages[at]),
            int(sums[0][at]), int(sums[1][at]), float(sums[2][at]), float(sums[3][at] / pages[at]), int(due[at]),
        )
        for at in order
    )  # fmt: skip
