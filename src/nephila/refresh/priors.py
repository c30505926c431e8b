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


def priors(ledger: Ledger, suffixes: dict[int, str], model: ChangeModel | None) -> tuple[Floats, Floats]:
    """Shape and rate of each page's Gamma prior; `suffixes` by site."""
    shape, rate = _by_model(ledger, suffixes, model or S1_STUDY)
    seen = np.flatnonzero(ledger.visits > 0)
    if len(seen) < FITTED_FROM:
        return shape, rate
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
        which = np.ones(len(ledger), bool) if number == 0 else ledger.kinds == number - 1
        shape[which], rate[which] = fitted
    return shape, rate


def _by_model(ledger: Ledger, suffixes: dict[int, str], model: ChangeModel) -> tuple[Floats, Floats]:
    """Each distinct (suffix, depth, link kinds) is looked up once."""
    names = sorted(set(suffixes.values()) | {""})
    numbers = {name: number for number, name in enumerate(names)}
    sites, place = np.unique(ledger.site, return_inverse=True)
    suffix = np.array([numbers[suffixes.get(int(site), "")] for site in sites], np.int64)[place]
    depth = np.minimum(ledger.depth, 15).astype(np.int64)
    group, which = np.unique((suffix * 16 + depth) * len(KINDS) + ledger.kinds, return_inverse=True)
    found = [
        model.prior_for(
            PageFeatures(
                names[int(key) // (16 * len(KINDS))], int(key) // len(KINDS) % 16, KINDS[int(key) % len(KINDS)]
            )
        )
        for key in group
    ]
    both = np.array(found, float).reshape(-1, 2)
    return both[which, 0], both[which, 1]
