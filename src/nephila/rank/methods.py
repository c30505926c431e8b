"""The ways of ranking by name: what `rank.method` chooses, and what `--compare` sets side by side."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

import numpy as np

from nephila.engine import Engine
from nephila.errors import UsageError
from nephila.rank.arrays import Blocks, Ranks
from nephila.rank.blockrank import Partition, flows, local_ranks, printed_block_ranks, sized_block_ranks
from nephila.rank.gauss_seidel import solve
from nephila.rank.link_file import Links
from nephila.rank.pagerank import Dangling, Problem, power


class Method(StrEnum):
    """`blockrank.py` and `aggregation.py` say what the block forms are."""

    PAGERANK = "pagerank"
    POWER = "power"
    PRINTED = "blockrank"
    SIZED = "blockrank-sized"
    START = "blockrank-start"
    BLOCKS = "blocks"


@dataclass(frozen=True, slots=True)
class Ranking:
    """Ranks, and what they cost. `rounds` are passes over all links, or exchanges with the coordinator."""

    ranks: Ranks
    residuals: tuple[float, ...]
    rounds: int
    exchanged_bytes: int
    seconds: float


def rank_by(
    method: Method, links: Links, problem: Problem, blocks: Blocks | None, engine: Engine, link_file: Path
) -> Ranking:
    """Rank the pages by one method."""
    begun = time.perf_counter()
    ranking = _rank(method, links, problem, blocks, engine, link_file)
    return replace(ranking, seconds=time.perf_counter() - begun)


def _rank(
    method: Method, links: Links, problem: Problem, blocks: Blocks | None, engine: Engine, link_file: Path
) -> Ranking:
    if method in (Method.PAGERANK, Method.POWER):
        solution = solve(links, problem) if method is Method.PAGERANK else power(links, problem)
        return Ranking(solution.ranks, solution.residuals, solution.rounds, 0, 0.0)
    if blocks is None:
        raise UsageError(
            f"The method {method} needs to know the block of each page; give --blocks FILE with lines `id block`, "
            "or rank a crawl."
        )
    if problem.teleport is not None or problem.dangling is not Dangling.UNIFORM:
        raise UsageError(f"The method {method} knows no teleport or dangling rule; use rank.method=pagerank.")
    partition = Partition.of(blocks)
    if method is Method.BLOCKS:
        from nephila.rank.aggregation import rank_blocks

        return rank_blocks(links, link_file, partition, problem, engine)
    product, rounds = _product(method, links, problem, partition)
    if method is not Method.START:
        return Ranking(product, (), rounds, 0, 0.0)
    solution = power(links, replace(problem, start=product))
    return Ranking(solution.ranks, solution.residuals, solution.rounds, 0, 0.0)


def _product(method: Method, links: Links, problem: Problem, partition: Partition) -> tuple[Ranks, int]:
    """Local rank times block rank (S0-24, step 4), and the sweeps over the links within blocks."""
    if not links.pages:
        return np.zeros(0), 0
    local, rounds = local_ranks(links, partition, problem.damping, problem.stop)
    flow = flows(links, partition, local)
    if method is Method.PRINTED:
        block, _ = printed_block_ranks(flow, problem.damping, problem.stop)
    else:
        block, _ = sized_block_ranks(flow, partition, problem.damping, problem.stop)
    product = local * block[partition.block]
    return product / product.sum(), rounds
