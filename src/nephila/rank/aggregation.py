"""Exact PageRank by blocks: aggregation and disaggregation, in S0's roles (S0-25, CHECKLIST 2.4).

    y = (1 - d)/n + d P^T y        the linear form of `gauss_seidel.py`; ranks are y / |y|

Each agent holds a range of rows, whole blocks, and the links into them. A round:

 1. every agent sends what its border rows give along each link; the coordinator passes on what others need;
 2. every agent sends what flows from block to block into its own, F(J,K) = sum of z(u) over the links u in J -> v in K,
    the rank of each of its blocks Y(J), and how far its rows are from T(y);
 3. if all together are near enough, stop; else the coordinator solves the block chain
    Y'(K) = (1 - d) n(K)/n + d sum over J of Y'(J) F(J,K)/Y(J)   (n(K): pages of K with links) and sends Y'(J)/Y(J);
 4. every agent multiplies each block by its factor, then sweeps its rows with what comes from outside fixed.

S0's Fig. 4 says "repeat" without anything that changes (I0-8); here it means something: the fixed point is PageRank
itself, and the number of rounds hardly depends on the damping within blocks, because agents solve that alone. One
round costs 8 bytes per border row and per pair of linked blocks each way. Needs d < 1 and blocks that are ranges of
rows. Bytes count everything but the first and the final ranks, which in S0 stay with their agents. A rerun begins with
the last ranks: where little was changed, few rounds are left.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
from scipy import sparse

from nephila.engine import Engine, Handle
from nephila.errors import UsageError
from nephila.rank.arrays import Ranks
from nephila.rank.block_agent import agent
from nephila.rank.block_messages import (
    Border,
    Flow,
    Given,
    Needs,
    Post,
    Result,
    Scale,
    Shard,
    Stop,
    reals,
    whole_numbers,
)
from nephila.rank.blockrank import Partition
from nephila.rank.gauss_seidel import norm_of_leaking
from nephila.rank.link_file import Links
from nephila.rank.methods import Ranking
from nephila.rank.pagerank import Problem
from nephila.rank.stopping import is_met

LOCAL_SWEEPS: Final = 20
_CHAIN_ROUNDS: Final = 1000
_CHAIN_TOLERANCE: Final = 1e-15


def rank_blocks(links: Links, link_file: Path, partition: Partition, problem: Problem, engine: Engine) -> Ranking:
    """Rank with one agent per worker of the engine."""
    if problem.damping >= 1:
        raise UsageError("The method blocks needs a damping below 1; use rank.method=power for damping 1.")
    if not links.pages:
        return Ranking(np.zeros(0), (), 0, 0, 0.0)
    if (np.diff(partition.block) < 0).any():
        raise UsageError("The method blocks needs pages in the order of their blocks; rank with that rank.block first.")
    with TemporaryDirectory(prefix="start-", dir=link_file.parent) as room:
        start = _write_start(Path(room) / "y", links, problem)
        return asyncio.run(_rank(links, link_file, partition, problem, engine, start))


def _write_start(path: Path, links: Links, problem: Problem) -> Path | None:
    """The last ranks as a start for all agents, in a file beside the link file, where these read their links, too."""
    if problem.start is None:
        return None
    (problem.start * norm_of_leaking(problem.start, links, problem.damping)).astype("<f8").tofile(path)
    return path


async def _rank(
    links: Links, link_file: Path, partition: Partition, problem: Problem, engine: Engine, start: Path | None
) -> Ranking:
    starts = np.concatenate(([0], np.cumsum(partition.sizes)))
    cuts = shard_bounds(links, starts, engine.workers)
    shards = [
        Shard(link_file, first, last, starts[:-1].astype(np.int64).tobytes(), problem.damping, LOCAL_SWEEPS, start)
        for first, last in pairwise(cuts)
    ]
    handles = await engine.spawn(agent, shards)
    try:
        posts = [Post(handle) for handle in handles]
        y, residuals, in_the_end = await _coordinate(posts, cuts, partition, links.pages, problem)
    except BaseException:
        for handle in handles:
            handle.kill()
        raise
    finally:
        await _joined(handles)
    exchanged = sum(post.sent_bytes + post.received_bytes for post in posts) - in_the_end
    return Ranking(y / y.sum(), tuple(residuals), len(residuals), exchanged, 0.0)


async def _joined(handles: list[Handle]) -> None:
    for handle in handles:
        handle.finish()
    await asyncio.gather(*(handle.join() for handle in handles))


def shard_bounds(links: Links, starts: Any, agents: int) -> list[int]:
    """Rows that cut the blocks into one share per agent, of about the same number of links; none is empty."""
    work = links.offsets[starts].astype(np.float64) + starts
    wanted = np.linspace(0, work[-1], agents + 1)[1:-1]
    inner = {int(starts[place]) for place in np.searchsorted(work, wanted)}
    return sorted({0, links.pages} | inner)


@dataclass(frozen=True, slots=True)
class _Routes:
    """Which of the lent values each agent needs: places in all border rows, one agent's after the other."""

    border: list[Any]
    wanted: list[Any]


async def _coordinate(
    posts: list[Post], cuts: list[int], partition: Partition, pages: int, problem: Problem
) -> tuple[Ranks, list[float], int]:
    needs: list[Needs] = await _all(posts)
    routes = _routes([whole_numbers(need.rows) for need in needs], cuts)
    await asyncio.gather(*(post.send(Border(rows.tobytes())) for post, rows in zip(posts, routes.border, strict=True)))
    heads = np.concatenate([whole_numbers(need.source_blocks) for need in needs])
    ends = np.concatenate([whole_numbers(need.target_blocks) for need in needs])
    linked = np.concatenate([whole_numbers(need.block_pages) for need in needs])
    residuals: list[float] = []
    while True:
        lent: list[Given] = await _all(posts)
        values = np.concatenate([reals(given.z) for given in lent])
        await asyncio.gather(
            *(post.send(Given(values[places].tobytes())) for post, places in zip(posts, routes.wanted, strict=True))
        )
        flows: list[Flow] = await _all(posts)
        residuals.append(sum(flow.wrong for flow in flows) / sum(flow.total for flow in flows))
        if is_met(problem.stop, len(residuals), residuals[-1]):
            break
        held = np.concatenate([reals(flow.held) for flow in flows])
        between = np.concatenate([reals(flow.between) for flow in flows])
        factors = _factors(heads, ends, between, held, (1 - problem.damping) * linked / pages, problem.damping)
        await asyncio.gather(*(post.send(Scale(factors.tobytes())) for post in posts))
    await asyncio.gather(*(post.send(Stop()) for post in posts))
    before = sum(post.received_bytes for post in posts)
    results: list[Result] = await _all(posts)
    y = np.concatenate([reals(result.y) for result in results])
    return y, residuals, sum(post.received_bytes for post in posts) - before


async def _all(posts: list[Post]) -> list[Any]:
    return list(await asyncio.gather(*(post.receive() for post in posts)))


def _routes(wanted: list[Any], cuts: list[int]) -> _Routes:
    rows = np.unique(np.concatenate(wanted))
    border = [rows[(rows >= first) & (rows < last)] for first, last in pairwise(cuts)]
    return _Routes(border, [np.searchsorted(rows, own) for own in wanted])


def _factors(heads: Any, ends: Any, between: Ranks, held: Ranks, given: Ranks, damping: float) -> Ranks:
    """Y'(J) / Y(J): solve the block chain by repeated substitution from where it stands."""
    count = len(held)
    share = np.divide(between, held[heads], out=np.zeros(len(between)), where=held[heads] > 0)
    step = sparse.csr_matrix((damping * share, (ends, heads)), shape=(count, count))
    ranks = held
    for _ in range(_CHAIN_ROUNDS):
        after = given + step @ ranks
        change = float(np.abs(after - ranks).sum())
        ranks = after
        if change <= _CHAIN_TOLERANCE * float(ranks.sum()):
            break
    return np.divide(ranks, held, out=np.ones(count), where=held > 0)
