"""One policy on one web at one budget: who is visited when, and how fresh the copies are.

Time goes in steps; in each the budget's share of visits goes to the pages with the highest scores. Between two visits
everything about a copy is known exactly from the moment of its first change after the visit: it is fresh until then and
ages after. So nothing is sampled but the order of visits.

    freshness       share of time for which a copy is current, mean over pages
    embarrassment   the same weighed by what users look at: 1 − the chance that a user is shown something outdated
    age_days        how long ago the first change that a copy lacks was made, mean over time and pages
    useful          share of visits that found a change; highest for bad policies, so never read alone (2.1)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from nephila.refresh.columns import Columns, Flags, Floats, Whole
from nephila.refresh.forgetting import with_visit
from nephila.refresh.policies import POLICIES
from nephila.refresh.policies.index import index_value
from nephila.refresh.policies.nutch import after_visit
from nephila.refresh.policies.policy import Policy, since_last
from nephila.refresh.rates import fit_prior, learn
from nephila.refresh.webs import KINDS, ChangingWeb

Weighing = Literal["equal", "popularity"]
ORACLE: Final = "oracle"
BY_KIND: Final = "index-kinds"
POOLED: Final = "index"
_REFIT_DAYS: Final = 7
_FITTED_PAGES: Final = 5_000
_START: Final = (0.2, 1.0)
"""A Gamma prior that says next to nothing, until the pages' own histories have said something."""


@dataclass(frozen=True, slots=True)
class Measured:
    freshness: float
    embarrassment: float
    age_days: float
    useful: float
    visits_per_page_day: float


class _Copies:
    """When each copy was made, and the sums of what came after, from `since` on."""

    def __init__(self, web: ChangingWeb, since: float) -> None:
        self._web = web
        self._since = since
        self._stale_from = web.next_change(np.arange(len(web)), np.zeros(len(web)))
        self._made = np.zeros(len(web))
        self.fresh = np.zeros(len(web))
        self.aged = np.zeros(len(web))
        self.visits = self.useful = 0

    def visit(self, pages: Whole, now: float) -> Flags:
        """New copies of some pages; tells which had changed."""
        self._account(pages, now)
        changed: Flags = self._stale_from[pages] <= now
        if now > self._since:
            self.visits += len(pages)
            self.useful += int(changed.sum())
        self._made[pages] = now
        self._stale_from[pages] = self._web.next_change(pages, np.full(len(pages), now))
        return changed

    def _account(self, pages: Whole, now: float) -> None:
        begin = np.maximum(self._made[pages], self._since)
        stale_from = np.clip(self._stale_from[pages], begin, max(now, self._since))
        end = max(now, self._since)
        self.fresh[pages] += stale_from - begin
        # Age is counted from the change itself, also where that was before `since`.
        older = np.minimum(self._stale_from[pages], end)
        at_begin, at_end = np.maximum(begin - older, 0.0), end - older
        self.aged[pages] += (at_end**2 - at_begin**2) / 2

    def measured(self, now: float) -> Measured:
        everything = np.arange(len(self._web))
        self._account(everything, now)
        days = now - self._since
        fresh, age = self.fresh / days, self.aged / days
        popular = self._web.popularity / self._web.popularity.sum()
        return Measured(
            float(fresh.mean()), float(fresh @ popular), float(age.mean()), self.useful / max(1, self.visits),
            self.visits / days / len(self._web),
        )  # fmt: skip


def simulate(
    web: ChangingWeb, name: str, budget: float, weighing: Weighing, warm_up_days: float, steps_per_day: int
) -> Measured:
    """`budget` is visits per page and day; what happens before `warm_up_days` is learnt from and not measured."""
    pages = len(web)
    weight = np.ones(pages) if weighing == "equal" else web.popularity.copy()
    copies = _Copies(web, warm_up_days)
    columns = Columns.new(weight, np.zeros(pages), np.full(pages, _START[0]), np.full(pages, _START[1]))
    policy = POLICIES[POOLED if name in (ORACLE, BY_KIND) else name]
    settled: Floats | None = None
    credit, step_s = 0.0, 1 / steps_per_day
    learns = name not in (ORACLE, "uniform", "fixed", "nutch", "groups", "groups-counts")
    for step in range(1, int(web.days * steps_per_day) + 1):
        now = step * step_s
        today = int(now)
        if step % steps_per_day == 0:
            columns.turn_to(today)
            if learns and today % _REFIT_DAYS == 0:
                _refit(columns, web, by_kind=name == BY_KIND)
            settled = _settled(policy, columns, budget * pages)
        elif settled is None:
            settled = _settled(policy, columns, budget * pages)
        credit += budget * pages * step_s
        count = int(credit)
        if not count:
            continue
        credit -= count
        scores: Floats
        if name == ORACLE:
            scores = columns.weight * index_value(web.rate_at(now), since_last(columns, now))
        else:
            scores = policy.scores(columns, now, settled)
        chosen = np.argpartition(-scores, count - 1)[:count] if count < pages else np.arange(pages)
        changed = copies.visit(chosen, now)
        _record(columns, chosen, changed, now)
        if learns:
            learn(columns, chosen)
        if settled is not None and name.startswith("groups"):
            settled[chosen] = _settled(policy, columns, budget * pages)[chosen]  # type: ignore[index]
    return copies.measured(web.days)


def _settled(policy: Policy, columns: Columns, budget_per_day: float) -> Floats | None:
    return policy.settle(columns, policy.terms(columns, budget_per_day))


def _record(columns: Columns, chosen: Whole, changed: Flags, now: float) -> None:
    """As `store.change_log.saw` does for one page."""
    before = (columns.changes[chosen], columns.changed_days[chosen], columns.unchanged_days[chosen])
    sums = with_visit(before, now - columns.last_day[chosen], changed)
    columns.changes[chosen], columns.changed_days[chosen], columns.unchanged_days[chosen] = sums
    columns.interval_days[chosen] = after_visit(columns.interval_days[chosen], changed)
    columns.changed_on[chosen] |= changed.astype(np.uint16)
    columns.last_day[chosen] = now
    columns.reseen[chosen] = True


def _refit(columns: Columns, web: ChangingWeb, *, by_kind: bool) -> None:
    """The prior anew from what the pages have shown, for all pages or for each link kind (J-4)."""
    groups = [web.kind == number for number in range(len(KINDS))] if by_kind else [np.ones(len(web), bool)]
    for group in groups:
        seen = np.flatnonzero(group & columns.reseen)[:_FITTED_PAGES]
        if len(seen) < 30:
            continue
        start = (float(columns.prior_shape[seen[0]]), float(columns.prior_rate[seen[0]]))
        sums = (columns.changes[seen], columns.changed_days[seen], columns.unchanged_days[seen])
        shape, rate = fit_prior(*sums, start)
        columns.prior_shape[group], columns.prior_rate[group] = shape, rate
    learn(columns, np.ones(len(web), bool))
