"""What a page weighs: by its rank, by what users search for, and by whether it has a content.

Ranks are spread over many powers of ten, so they count by their share mixed with an equal share; what users were shown
and opened (`search.log`) is mixed in where there is such a log:

    weight = (1 − s) · (1 − w + w · rank / mean rank) + s · interest / mean interest

with w = refresh.rank_weight and s = refresh.search_weight (0 without a log). Its mean is 1 over pages with a content.
Ten openings by nobody are spread over all pages, so that a few searches do not decide everything.
Redirects and errors are looked at again too, seldom.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from nephila.refresh.columns import Floats
from nephila.refresh.ledger import Array
from nephila.store.folder import CrawlFolder
from nephila.store.search_log import read_interest
from nephila.store.tables.parts import batches_of, values_where

REDIRECT_WEIGHT: Final = 0.1
ERROR_WEIGHT: Final = 0.02
FEW_SEARCHES: Final = 10.0
"""As many pages opened by nobody, spread over all: a log that is much shorter than this says little."""


@dataclass(frozen=True, slots=True)
class Scale:
    """What a mean page has; 0: nothing of the kind is known."""

    mean_rank: float = 0.0
    mean_interest: float = 0.0
    least_interest: float = 0.0  # what every page is given, so that a handful of searches does not decide everything


def weights(
    code: Array, page_id: Array, ranks: Array | None, rank_weight: float, interest: Array | None = None,
    search_weight: float = 0.0,
) -> tuple[Floats, Scale]:  # fmt: skip
    """One weight per page, and the scale; `ranks` and `interest` are by page id, of others they are 0."""
    pages = max(1, int(((code >= 200) & (code < 300)).sum()))
    scale = Scale(float(ranks[ranks > 0].mean()) if ranks is not None and (ranks > 0).any() else 0.0)
    if interest is not None:
        scale = replace(
            scale, mean_interest=(float(interest.sum()) + FEW_SEARCHES) / pages, least_interest=FEW_SEARCHES / pages
        )
    return weigh(code, _of(page_id, ranks), _of(page_id, interest), scale, rank_weight, search_weight), scale


def weigh(
    code: Array, rank: Floats, interest: Floats, scale: Scale, rank_weight: float, search_weight: float
) -> Floats:
    """The weights of some pages, on the scale of all."""
    weight = np.full(len(code), ERROR_WEIGHT, np.float32)
    weight[(code >= 300) & (code < 400)] = REDIRECT_WEIGHT
    weight[(code >= 200) & (code < 300)] = 1.0
    if scale.mean_rank and rank_weight:
        mixed = 1 - rank_weight + rank_weight * rank / scale.mean_rank
    else:
        mixed = np.ones(len(code), np.float32)
    if scale.mean_interest and search_weight:
        share = (interest + scale.least_interest) / scale.mean_interest
        mixed = (1 - search_weight) * mixed + search_weight * share
    weight *= mixed.astype(np.float32)
    return weight


def _of(page_id: Array, by_id: Array | None) -> Floats:
    if by_id is None or not len(by_id):
        return np.zeros(len(page_id), np.float32)
    known = (page_id >= 0) & (page_id < len(by_id))
    result: Floats = np.where(known, by_id[np.where(known, page_id, 0)], np.float32(0))
    return result


def read_ranks(folder: CrawlFolder) -> Array | None:
    """Rank by page id; None where nothing was ranked."""
    path = folder.rank / "ranks.parquet"
    if not path.exists():
        return None
    ids, ranks = [], []
    for batch in batches_of(path, ["page_id", "rank"]):
        ids.append(batch.column(0).to_numpy())
        ranks.append(batch.column(1).to_numpy())
    return _by_id(np.concatenate(ids), np.concatenate(ranks)) if ids else None


def rank_of(folder: CrawlFolder, page_id: int) -> float:
    """The rank of one page, 0 where it has none: of the file only what may hold it is read."""
    path = folder.rank / "ranks.parquet"
    if page_id < 0 or not path.exists():
        return 0.0
    found = values_where(path, "rank", "page_id", page_id)
    return float(found[0]) if found else 0.0


def read_interests(folder: CrawlFolder) -> Array | None:
    """What users look for, by page id; None where no search was logged."""
    found = read_interest(folder)
    if not found:
        return None
    page, interest = zip(*found, strict=True)
    return _by_id(np.array(page), np.array(interest))


def _by_id(page: Array, value: Array) -> Array:
    by_id = np.zeros(int(page.max(initial=-1)) + 1, np.float32)
    by_id[page] = value
    return by_id
