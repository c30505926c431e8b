"""What is expected of a page before its own visits say more (J-4): by suffix, depth and link kinds.

The change study of this crawl says it (`DIR/study/change_model.json`); without one S1's study of the Korean web of 2003
does. Where enough pages of this crawl were visited again, their own histories are believed instead: one prior per
link kinds with pages enough, and one for all.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from nephila.refresh.columns import Floats
from nephila.refresh.ledger import KINDS, Ledger
from nephila.refresh.rates import fit_prior
from nephila.store.change_model import S1_STUDY, ChangeModel, PageFeatures

FITTED_FROM: Final = 200
"""Pages visited again from which on they tell more than any study."""

_SAMPLE: Final = 20_000
_ROUNDS: Final = 15
_DEPTHS: Final = 16


Fitted = tuple[tuple[int, float, float], ...]
"""(link kinds, shape, rate) of priors that the pages' own histories told; kinds −1 stand for all. Later ones win."""


def priors(ledger: Ledger, suffixes: dict[int, str], model: ChangeModel | None) -> tuple[Floats, Floats, Fitted]:
    """Shape and rate of each page's Gamma prior, and which of them were fitted; `suffixes` by site."""
    shape, rate = _by_model(ledger, suffixes, model or S1_STUDY)
    seen = np.flatnonzero(ledger.visits > 0)
    if len(seen) < FITTED_FROM:
        return shape, rate, ()
    all_fitted = []
    chance = np.random.default_rng(0)
    groups = [seen, *(seen[ledger.kinds[seen] == number] for number in range(len(KINDS)))]
    for number, group in enumerate(groups):
        if len(group) < FITTED_FROM:
            continue
        some = chance.choice(group, _SAMPLE, replace=False) if len(group) > _SAMPLE else group
        changes, changed_days, still = (
            column[some].astype(float) for column in (ledger.changes, ledger.changed_days, ledger.unchanged_days)
        )
        start = (float(np.median(shape[some])), float(np.median(rate[some])))
        fitted = fit_prior(changes, changed_days, still, start, _ROUNDS)
        all_fitted.append((number - 1, *fitted))
        shape, rate = _lay_over(ledger, shape, rate, all_fitted[-1])
    return shape, rate, tuple(all_fitted)


def priors_as_fitted(
    ledger: Ledger, suffixes: dict[int, str], model: ChangeModel | None, fitted: Fitted
) -> tuple[Floats, Floats]:
    """The same for a few pages, by what was fitted to all of them before."""
    shape, rate = _by_model(ledger, suffixes, model or S1_STUDY)
    for each in fitted:
        shape, rate = _lay_over(ledger, shape, rate, each)
    return shape, rate


def _lay_over(ledger: Ledger, shape: Floats, rate: Floats, fitted: tuple[int, float, float]) -> tuple[Floats, Floats]:
    kinds, new_shape, new_rate = fitted
    which = np.ones(len(ledger), bool) if kinds < 0 else ledger.kinds == kinds
    shape[which], rate[which] = new_shape, new_rate
    return shape, rate


def _by_model(ledger: Ledger, suffixes: dict[int, str], model: ChangeModel) -> tuple[Floats, Floats]:
    """Each (suffix, depth, link kinds) that occurs is looked up once; a page's number in that list is computed."""
    names = sorted({"", *suffixes.values()})
    numbers = {name: number for number, name in enumerate(names)}
    by_site = np.zeros(int(ledger.site.max(initial=-1)) + 1, np.int32)
    for site, name in suffixes.items():
        if site < len(by_site):
            by_site[site] = numbers[name]
    group = by_site[ledger.site]
    group *= _DEPTHS * len(KINDS)
    group += np.minimum(ledger.depth, _DEPTHS - 1).astype(np.int32) * len(KINDS) + ledger.kinds
    found = np.ones((len(names) * _DEPTHS * len(KINDS), 2), np.float32)
    for key in np.flatnonzero(np.bincount(group, minlength=len(found))):
        suffix, rest = divmod(int(key), _DEPTHS * len(KINDS))
        depth, kinds = divmod(rest, len(KINDS))
        found[key] = model.prior_for(PageFeatures(names[suffix], depth, KINDS[kinds]))
    return found[group, 0], found[group, 1]
