"""When one page is due again, and why, in one sentence; and what a whole crawl is waiting for.

A page is due when its score reaches the price of the last plan: what the last visit that the budget bought was worth.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

import numpy as np

from nephila.config.sections import Refresh
from nephila.refresh.columns import Columns, Floats
from nephila.refresh.ledger import Array, Ledger
from nephila.refresh.planning import expected_fresh, still
from nephila.refresh.policies.index import Index
from nephila.refresh.policies.multiplier import Paced
from nephila.refresh.policies.policy import Policy, about, due_days
from nephila.refresh.run import Known, PageKey, gather, gather_one, make_policy
from nephila.shown import DuePage, Freshness, SiteFreshness
from nephila.store.folder import CrawlFolder
from nephila.store.plan import PlanHead, read_plan
from nephila.store.search_log import count_of_one

UrlsOf = Callable[[Array, Array, Array], list[str]]
"""Looks the URLs of a few pages up: slots, sites and hashes go in."""

_DAY_S: Final = 86_400.0
_SOON: Final = 10
_UNLIKE_OTHERS: Final = 0.2
"""From so much on a page's weight is worth a word."""

_PRICED: Final = 200_000
"""Pages that a price is estimated from where nothing was planned yet."""


def when_due(config: Refresh, folder: CrawlFolder, page: PageKey, now: float) -> DuePage | None:
    """One page, looked up alone by the figures of the last plan; None where it was never asked.

    Where no plan was made by these settings, all pages are looked at, because the price of a visit is theirs.
    """
    head = read_plan(folder)
    if (
        head is None
        or head.terms is None
        or not head.rows
        or (head.policy, head.change) != (config.policy, config.change)
    ):
        known = gather(config, folder, now)
        place = np.flatnonzero((known.ledger.site == page.site) & (known.ledger.hash == page.hash))
        if not len(place):
            return None
        policy, settled, price = _terms(config, known, head, now)
        one = known.columns.some(place[:1])
        return _due_pages(policy, known.ledger.at(place[:1]), one, _at(settled, place[:1]), price, now, [""])[0]
    ledger, columns = gather_one(config, folder, head, page, now)
    if not len(ledger):
        return None
    policy = make_policy(config, head.hour)
    found = _due_pages(policy, ledger, columns, policy.settle(columns, head.terms), head.price, now, [""])[0]
    said = _searched(folder, int(ledger.page_id[0])) if head.mean_interest and config.search_weight else ""
    return replace(found, sentence=f"{found.sentence}{said}")


def _searched(folder: CrawlFolder, page_id: int) -> str:
    shown, opened = count_of_one(folder, page_id)
    return f"; shown to searchers {shown:,} times and opened {opened:,} times of late" if shown else ""


def read_freshness(config: Refresh, folder: CrawlFolder, now: float, urls: UrlsOf) -> Freshness | None:
    """The whole crawl; None where no page was requested. `urls` finds the URLs of a few pages."""
    known = gather(config, folder, now)
    if not len(known.ledger):
        return None
    head = read_plan(folder)
    policy, settled, price = _terms(config, known, head, now)
    due = due_days(policy, known.columns, settled, price, now / _DAY_S)
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
        change=config.change,
        searched=bool(known.scale.mean_interest and config.search_weight),
        pages=len(known.ledger),
        reseen=int((known.ledger.visits > 0).sum()),
        planned=int(known.ledger.planned.sum()),
        due_now=int((ahead <= 0).sum()),
        overdue=int((ahead < -1).sum()),
        fresh=float((fresh * weight).sum() / max(float(weight.sum()), 1e-12)),
        changing=float((1 - still(known.columns, 1.0)).sum()),
        round=0 if head is None else head.number,
        round_ended=head is None or head.ended_at is not None,
        by_day=tuple(int(((ahead > day) & (ahead <= day + 1)).sum()) for day in range(14)),
        soon=tuple(
            _due_pages(policy, known.ledger.at(soon), known.columns.some(soon), _at(settled, soon), price, now, names)
        ),
        sites=_by_site(known, fresh, ahead),
    )


def _terms(config: Refresh, known: Known, head: PlanHead | None, now: float) -> tuple[Policy, Floats | None, float]:
    """The policy, what it settles for each page, and the price of a visit."""
    policy = make_policy(config, known.hour)
    settled = policy.settle(known.columns, policy.terms(known.columns, config.per_day * len(known.columns)))
    return policy, settled, _price(config, policy, known, head, now)


def _price(config: Refresh, policy: Policy, known: Known, head: PlanHead | None, now: float) -> float:
    """That of the last plan; else the one at which `per_day` visits a day are bought."""
    if head is not None and head.policy == config.policy and head.rows:
        return head.price
    some = known.columns.some(np.arange(min(len(known.columns), _PRICED)))
    wanted = config.per_day * len(some)
    settled = policy.settle(some, policy.terms(some, wanted))
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


def _at(settled: Floats | None, places: Array) -> Floats | None:
    return None if settled is None else settled[places]


def _due_pages(
    policy: Policy, ledger: Ledger, columns: Columns, settled: Floats | None, price: float, now: float, urls: list[str]
) -> list[DuePage]:
    """A few pages, each with its sentence; all rows are those of these pages alone."""
    due = due_days(policy, columns, settled, price, now / _DAY_S)
    pages = []
    for place, url in enumerate(urls):
        one = columns.some(np.array([place]))
        why = policy.explain(one, _at(settled, np.array([place])))
        last_at = float(ledger.last_day[place]) * _DAY_S
        due_at = float(due[place]) * _DAY_S if np.isfinite(due[place]) else None
        weight = float(one.weight[0])
        if isinstance(policy, Index | Paced) and abs(weight - 1) >= _UNLIKE_OTHERS:  # the others weigh nothing
            weighs = f"{weight:,.0f}" if weight >= 10 else f"{weight:.2g}"
            why += f", weighs {weighs} times a mean page"
        said = sentence(why, last_at, due_at, now, planned=bool(ledger.planned[place]))
        rate = max(float(one.mean_rate[0]), 1e-12)
        visits, changed = int(ledger.visits[place]), int(ledger.changed_visits[place])
        pages.append(DuePage(url, due_at, last_at, 1 / rate, visits, changed, weight, said))
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
