"""What a page weighs: by its rank, as far as `refresh.rank_weight` says, and by whether it has a content.

Ranks are spread over many powers of ten, so they count by their share mixed with an equal share: weight =
(1 − w) + w · rank / mean rank. Redirects and errors are looked at again too, seldom.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from nephila.refresh.columns import Floats
from nephila.refresh.ledger import Array
from nephila.store.folder import CrawlFolder
from nephila.store.tables.parts import batches_of

REDIRECT_WEIGHT: Final = 0.1
ERROR_WEIGHT: Final = 0.02


def weights(code: Array, page_id: Array, ranks: Array | None, rank_weight: float) -> Floats:
    """One weight per page; of pages without a rank that of the lowest."""
    weight = np.full(len(code), ERROR_WEIGHT, np.float32)
    weight[(code >= 300) & (code < 400)] = REDIRECT_WEIGHT
    weight[(code >= 200) & (code < 300)] = 1.0
    if ranks is None or not len(ranks) or rank_weight == 0:
        return weight
    mean = float(ranks[ranks > 0].mean()) if (ranks > 0).any() else 1.0
    known = (page_id >= 0) & (page_id < len(ranks))
    own = np.where(known, ranks[np.where(known, page_id, 0)], 0.0) / mean
    weight *= (1 - rank_weight + rank_weight * own).astype(np.float32)
    return weight


def read_ranks(folder: CrawlFolder) -> Array | None:
    """Rank by page id; None where nothing was ranked."""
    path = folder.rank / "ranks.parquet"
    if not path.exists():
        return None
    ids, ranks = [], []
    for batch in batches_of(path, ["page_id", "rank"]):
        ids.append(batch.column(0).to_numpy())
        ranks.append(batch.column(1).to_numpy())
    if not ids:
        return None
    page, rank = np.concatenate(ids), np.concatenate(ranks)
    by_id = np.zeros(int(page.max(initial=-1)) + 1, np.float32)
    by_id[page] = rank
    return by_id
