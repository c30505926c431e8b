"""How far the ways of ranking differ: one table against exact PageRank (CHECKLIST 2.4).

Beside the methods stand two baselines that need no rounds: in-degree, and the rank of the site spread evenly over its
pages (HostRank). Kendall's tau says in how many pairs of pages the order agrees (1 all, -1 none), top-k how many of the
true best k pages are among the best k.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
from scipy.stats import kendalltau

from nephila.engine import Engine
from nephila.rank.arrays import Blocks, Ranks
from nephila.rank.blockrank import Partition, flows, sized_block_ranks
from nephila.rank.link_file import Links
from nephila.rank.methods import Method, Ranking, rank_by
from nephila.rank.pagerank import Problem
from nephila.rank.stopping import L1, Rounds

TOP: Final = (10, 100)
MOST_PAIRED: Final = 200_000
"""Tau is taken over so many pages at most, drawn evenly; it then differs in the third digit."""
_TRUE: Final = L1(1e-13) | Rounds(2000)


@dataclass(frozen=True, slots=True)
class Compared:
    """One method. `rounds` pass over all links, or exchange with the coordinator."""

    method: str
    rounds: int
    exchanged_bytes: int
    seconds: float
    l1: float
    tau: float
    top_10: float
    top_100: float


@dataclass(frozen=True, slots=True)
class CompareReport:
    pages: int
    links: int
    block: str
    blocks: int
    inner_share: float
    damping: float
    tolerance: float
    agents: int
    methods: tuple[Compared, ...]


def compare(
    links: Links, problem: Problem, unit: str, blocks: Blocks | None, engine: Engine, link_file: Path, tolerance: float
) -> CompareReport:
    """Rank by every method and set the results side by side."""
    problem = replace(problem, start=None)
    true = rank_by(Method.PAGERANK, links, replace(problem, stop=_TRUE), None, engine, link_file).ranks
    rows = [_row("in-degree", _in_degree(links), true)]
    if blocks is not None:
        rows.append(_row("site rank spread", _spread(links, Partition.of(blocks), problem), true))
    methods = list(Method) if blocks is not None else [Method.PAGERANK, Method.POWER]
    rows += [_row(name, rank_by(name, links, problem, blocks, engine, link_file), true) for name in methods]
    count, inner = (0, 0.0) if blocks is None else _inner(links, Partition.of(blocks))
    return CompareReport(
        links.pages, links.links, unit if blocks is not None else "", count, inner, problem.damping, tolerance,
        engine.workers, tuple(rows),
    )  # fmt: skip


def _row(name: str, ranking: Ranking, true: Ranks) -> Compared:
    ranks = ranking.ranks
    return Compared(
        name,
        ranking.rounds,
        ranking.exchanged_bytes,
        ranking.seconds,
        float(np.abs(ranks - true).sum()),
        tau(ranks, true),
        top_overlap(ranks, true, TOP[0]),
        top_overlap(ranks, true, TOP[1]),
    )


def tau(ranks: Ranks, true: Ranks) -> float:
    """Kendall's tau-b of two rankings; 1 where there is nothing to order. Ranks that differ by rounding are equal."""
    if len(true) > MOST_PAIRED:
        drawn = np.linspace(0, len(true) - 1, MOST_PAIRED).astype(np.int64)
        ranks, true = ranks[drawn], true[drawn]
    ranks, true = (np.round(values * len(true), 9) for values in (ranks, true))
    found = float(kendalltau(ranks, true).statistic) if len(true) > 1 else 1.0
    return found if np.isfinite(found) else 1.0


def top_overlap(ranks: Ranks, true: Ranks, most: int) -> float:
    """The share of the true best `most` pages that are among the best `most`."""
    most = min(most, len(true))
    if not most:
        return 1.0
    best = np.argsort(-ranks, kind="stable")[:most]
    return len(np.intersect1d(best, np.argsort(-true, kind="stable")[:most])) / most


def _in_degree(links: Links) -> Ranking:
    begun = time.perf_counter()
    degrees = links.lengths().astype(np.float64)
    total = float(degrees.sum())
    return Ranking(degrees / total if total else degrees, (), 0, 0, time.perf_counter() - begun)


def _spread(links: Links, partition: Partition, problem: Problem) -> Ranking:
    begun = time.perf_counter()
    if not links.pages:
        return Ranking(np.zeros(0), (), 0, 0, 0.0)
    even = 1 / partition.sizes[partition.block]
    ranks, _ = sized_block_ranks(flows(links, partition, even), partition, problem.damping, problem.stop)
    return Ranking(even * ranks[partition.block], (), 1, 0, time.perf_counter() - begun)


def _inner(links: Links, partition: Partition) -> tuple[int, float]:
    """How many blocks there are, and which share of the links stays within one."""
    weight = links.degrees.astype(np.float64)
    matrix = flows(links, partition, weight).matrix
    return partition.count, float(matrix.diagonal().sum() / links.links) if links.links else 0.0
