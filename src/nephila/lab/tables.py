"""S1's Tables 1-6 counted on the lab's own web, by walking the model (S1-26 .. S1-32).

S1's robot asked for every page of the tree once and knew no robots.txt; so do these counts: tree pages only, case
variants, islands and robots rules left out. Sums are kept per site, because pages of one site are not independent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from nephila.lab import figures
from nephila.lab.fates import RESPONSE_OF, Fate, seed_fate
from nephila.lab.paths import path_lengths
from nephila.lab.skeleton import Skeleton
from nephila.lab.web import Web

_SEED_ROWS: Final = tuple(figures.SEED_RESPONSES)
_DOCUMENT_ROWS: Final = tuple(figures.DOCUMENT_RESPONSES)
_DEPTHS: Final = len(figures.REQUESTED)

_SEED_ROW_OF: Final = {
    Fate.OK: "OK",
    Fate.NO_NAME: "noIP",
    Fate.NAME_FAILS: "noIP",
    Fate.STALL_BODY: "dTim/hTim",
    Fate.HANG: "dTim/hTim",
}
_DOCUMENT_ROW: Final = np.array([_DOCUMENT_ROWS.index(RESPONSE_OF[fate]) for fate in Fate], dtype=np.int64)

Counts = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Tally:
    """Sums per site (first axis), for every row of the tables."""

    seed_responses: Counts  # Table 1
    document_responses: Counts  # Table 2
    host_lengths: Counts  # Table 3
    path_lengths: Counts  # Table 3: sum, number, largest
    labels: Counts  # Table 4: 2 .. 6
    size_steps: Counts  # Table 5
    size_bytes: Counts  # Table 5: sum, number
    requested: Counts  # Table 6
    downloaded: Counts  # Table 6


def tally(web: Web) -> Tally:
    """Walk all sites of the web."""
    sites = web.number_of_sites
    made = Tally(
        *(np.zeros((sites, width)) for width in (len(_SEED_ROWS), len(_DOCUMENT_ROWS), 1, 3, 5, 8, 2, _DEPTHS, _DEPTHS))
    )
    for site in range(sites):
        _count(web, site, made)
    return made


def seed_row(fate: Fate) -> str:
    """Table 1's row of a home page's fate."""
    if fate in _SEED_ROW_OF:
        return _SEED_ROW_OF[fate]
    return "code" if RESPONSE_OF[fate] == "code" else "rest"


def _count(web: Web, site: int, made: Tally) -> None:
    model = web.cards.model(site)
    host = web.cards.names.name(site)
    skeleton: Skeleton = web.skeletons.of(model)
    tree = skeleton.tree_pages
    fate = skeleton.fate[:tree]
    made.seed_responses[site, _SEED_ROWS.index(seed_row(seed_fate(web.law, model)))] = 1
    made.document_responses[site] = np.bincount(_DOCUMENT_ROW[fate], minlength=len(_DOCUMENT_ROWS))
    made.host_lengths[site, 0] = len(host)
    lengths = path_lengths(web.law.seed, model, tree)
    made.path_lengths[site] = lengths.sum(), tree, lengths.max()
    made.labels[site, host.count(".") - 1] = 1
    sizes = skeleton.size_bytes[:tree][fate == Fate.OK].astype(np.int64)
    made.size_steps[site] = np.bincount(np.minimum(sizes // figures.SIZE_STEP_BYTES, 7), minlength=8)
    made.size_bytes[site] = sizes.sum(), len(sizes)
    for depth, (first, last) in enumerate(zip(skeleton.level_starts, skeleton.level_starts[1:], strict=False)):
        if depth < _DEPTHS:
            made.requested[site, depth] = last - first
            made.downloaded[site, depth] = np.count_nonzero(fate[first:last] == Fate.OK)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A ratio of two sums over sites, with its standard error when whole sites are drawn (clusters)."""

    value: float
    error: float


def ratio(over: Counts, under: Counts) -> Estimate:
    """sum(over) / sum(under) by the linearised variance of a ratio of cluster totals."""
    total = float(under.sum())
    if total == 0:
        return Estimate(0.0, 0.0)
    value = float(over.sum()) / total
    residuals = over - value * under
    count = len(over)
    spread = float((residuals**2).sum()) * count / max(count - 1, 1)
    return Estimate(value, spread**0.5 / total)
