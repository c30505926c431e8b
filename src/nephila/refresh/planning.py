"""From ledgers to a plan: the pages with the best scores that the budget and the sites' shares allow.

Deciding only. A site that was asleep when the last run ended is asked for one page: if it answers, the next round
takes it up again. Pages that wait for a visit already count against the budget and are not planned twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from nephila.refresh.columns import START_INTERVAL_DAYS, Columns, Floats
from nephila.refresh.ledger import Array, Ledger
from nephila.refresh.policies.nutch import LEAST_DAYS, LONGER, MOST_DAYS, SHORTER
from nephila.refresh.policies.policy import Policy, Terms
from nephila.refresh.rates import learn

_LEAST_WAIT_DAYS: Final = 60 / 86_400
_PIECE: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Chosen:
    """What was chosen, as places in the ledger, the best first; `price` is the score of the last that was paid for."""

    places: Array
    scores: Floats
    price: float
    candidates: int
    due: int  # candidates whose score had reached the former price
    freshness: float  # expected share of current copies, by weight, before the round


def columns_of(ledger: Ledger, weight: Floats, shape: Floats, rate: Floats, now_day: float) -> Columns:
    """The ledger as policies read it; the posteriors are computed piece by piece to bound the memory."""
    count = len(ledger)
    visits, changed = ledger.visits.astype(np.float32), ledger.changed_visits.astype(np.float32)
    interval = START_INTERVAL_DAYS * (1 - SHORTER) ** changed * (1 + LONGER) ** (visits - changed)
    columns = Columns(
        weight=weight,
        last_day=ledger.last_day,
        changes=ledger.changes,
        changed_days=ledger.changed_days,
        unchanged_days=ledger.unchanged_days,
        prior_shape=shape,
        prior_rate=rate,
        shape=np.empty(count, np.float32),
        rate=np.empty(count, np.float32),
        interval_days=np.clip(interval, LEAST_DAYS, MOST_DAYS),
        changed_on=_turned(ledger, int(now_day)),
        today=int(now_day),
        reseen=ledger.visits > 0,
    )
    for start in range(0, count, _PIECE):
        learn(columns, slice(start, start + _PIECE))
    return columns


def _turned(ledger: Ledger, today: int) -> Array:
    """`changed_on` counted back from today instead of from each page's last visit."""
    passed = np.clip(today - np.floor(ledger.last_day), 0, 16).astype(np.uint32)
    result: Array = (np.left_shift(ledger.changed_on.astype(np.uint32), passed) & 0xFFFF).astype(np.uint16)
    return result


def choose(
    policy: Policy, ledger: Ledger, columns: Columns, now_day: float, budget: int, terms: Terms,
    former_price: float | None, per_site: int | None, asleep: frozenset[int],
) -> Chosen:  # fmt: skip
    """The plan; `terms` are the policy's, for all pages."""
    settled = policy.settle(columns, terms)
    scores = _scores(policy, columns, now_day, settled)
    free = ~ledger.waits & ~ledger.planned & (now_day - ledger.last_day >= _LEAST_WAIT_DAYS)
    freshness = _freshness(columns, now_day)
    left = max(0, budget - int(ledger.planned.sum()))
    candidates = np.flatnonzero(free)
    due = int((scores[candidates] >= former_price).sum()) if former_price is not None else len(candidates)
    if per_site is not None or asleep:
        candidates = _within_shares(ledger.site, scores, candidates, per_site, asleep)
    if left < len(candidates):
        best = np.argpartition(-scores[candidates], max(left - 1, 0))[:left]
        candidates = candidates[best]
    order = candidates[np.argsort(-scores[candidates], kind="stable")]
    price = float(scores[order[-1]]) if len(order) else (former_price or 0.0)
    return Chosen(order, scores[order], price, int(free.sum()), due, freshness)


def _scores(policy: Policy, columns: Columns, now_day: float, settled: Floats | None) -> Floats:
    """Scores of all pages, computed piece by piece to bound the memory."""
    scores = np.empty(len(columns), np.float32)
    for start in range(0, len(columns), _PIECE):
        piece = slice(start, start + _PIECE)
        scores[piece] = policy.scores(columns.some(piece), now_day, None if settled is None else settled[piece])
    return scores


def _within_shares(
    site: Array, scores: Floats, candidates: Array, per_site: int | None, asleep: frozenset[int]
) -> Array:
    """Of each site its best pages, as many as it may have."""
    order = np.lexsort((-scores[candidates], site[candidates]))
    sites = site[candidates][order]
    begins = np.flatnonzero(np.concatenate(([True], sites[1:] != sites[:-1]))) if len(sites) else np.zeros(0, int)
    place = np.arange(len(sites)) - np.repeat(begins, np.diff(np.append(begins, len(sites))))
    most = np.full(len(sites), np.iinfo(np.int64).max if per_site is None else per_site)
    if asleep:
        most = np.where(np.isin(sites, np.fromiter(asleep, np.int64)), np.minimum(most, 1), most)
    return candidates[order][place < most]


def _freshness(columns: Columns, now_day: float) -> float:
    """The weighted chance that a copy is current."""
    total = float(columns.weight.sum(dtype=float))
    fresh = 0.0
    for start in range(0, len(columns), _PIECE):
        piece = columns.some(slice(start, start + _PIECE))
        fresh += float((expected_fresh(piece, now_day) * piece.weight).sum(dtype=float))
    return fresh / total if total else 1.0


def expected_fresh(columns: Columns, now_day: float) -> Floats:
    """The chance of each copy to be current."""
    return still(columns, np.maximum(now_day - columns.last_day, 0.0))


def still(columns: Columns, days: Floats | float) -> Floats:
    """The chance of each page to stay as it is for so long: E e^(−λτ) = (b / (b + τ))^a."""
    result: Floats = np.exp(-columns.shape * np.log1p(days / columns.rate))
    return result
