"""BlockRank (S0-24, S0-25): rank the pages within each block, rank the blocks, multiply.

    x(p) = l(p) b(J),   p in block J

l is the local PageRank: the formula of `pagerank.py` on the links within the block alone, with teleport 1 / n_J; it
sums to 1 in each block. b is the PageRank of the blocks, each taken as a page. What flows from block J to block K, and
where the block teleport goes, makes the forms (CHECKLIST 2.4):

    as printed     J -> K once, however many links there are; teleport 1 / number of blocks. S0's Fig. 4 literally.
    sized          each link weighted by what its page gives along it, l(u) / C(u), links within the block counted;
                   teleport n_J / n and dangling mass to all pages alike: the aggregated chain of the true one.

The first is a poor approximation (CHECKLIST finding 8), the second a fair one, neither is exact: repeating Fig. 4's
steps changes nothing (I0-8). Kamvar et al. use the product as the start vector of ordinary PageRank; `aggregation.py`
is the form in which repetition means something, and which is exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
from scipy import sparse

from nephila.rank import kernel
from nephila.rank.arrays import Blocks, Ranks
from nephila.rank.extrapolation import Extrapolating
from nephila.rank.gauss_seidel import Sweeping
from nephila.rank.link_file import Links
from nephila.rank.pagerank import THREADS, Pulling
from nephila.rank.stopping import Rule, is_met

_ROWS_AT_ONCE: Final = 1 << 22
_LINKS_AT_ONCE: Final = 1 << 18
"""Local ranks are solved for blocks of so many links at a time: they and their ranks fit into a core's cache."""


@dataclass(frozen=True, slots=True)
class Partition:
    """Rows to blocks 0 … k-1. `number` gives the block's own id."""

    block: Any
    number: Blocks
    sizes: Any

    @classmethod
    def of(cls, blocks: Blocks) -> Partition:
        if len(blocks) and bool((blocks[1:] >= blocks[:-1]).all()):  # in order, as most often: no need to sort
            starts = np.flatnonzero(np.diff(blocks, prepend=blocks[0] - 1))
            sizes = np.diff(starts, append=len(blocks))
            return cls(np.repeat(np.arange(len(starts)), sizes), blocks[starts], sizes)
        number, block = np.unique(blocks, return_inverse=True)
        return cls(block.astype(np.int64), number, np.bincount(block, minlength=len(number)))

    @property
    def count(self) -> int:
        return len(self.number)

    def sums(self, values: Any) -> Ranks:
        return np.bincount(self.block, weights=values, minlength=self.count).astype(np.float64)


@dataclass(frozen=True, slots=True)
class Flows:
    """What flows between blocks: a matrix with the source block as row, and the weight that each block lets go of."""

    matrix: Any
    dangling: Ranks


def local_ranks(links: Links, partition: Partition, damping: float, stop: Rule) -> tuple[Ranks, int]:
    """The PageRank of every page within its block, and the most sweeps that a block took.

    Blocks know nothing of each other, so that some are solved at a time, in the cache and on all cores.
    """
    if not links.pages:
        return np.zeros(0), 0
    if damping >= 1:
        damping = 1 - 1e-12  # a block without circle has no other limit
    local = np.empty(links.pages)
    shares = _shares(links, partition)
    with ThreadPoolExecutor(min(THREADS, len(shares))) as pool:
        tasks = [pool.submit(_solve_share, links, partition, share, damping, stop, local) for share in shares]
        return local, max(task.result() for task in tasks)


def _shares(links: Links, partition: Partition) -> list[tuple[int, int]]:
    """Ranges of rows that are whole blocks, of some links each; all rows at once where blocks are no ranges."""
    starts = np.flatnonzero(np.diff(partition.block)) + 1
    if len(starts) + 1 != partition.count:
        return [(0, links.pages)]
    parts = max(1, links.links // _LINKS_AT_ONCE)
    wanted = np.array([links.links * part // parts for part in range(1, parts)], np.uint64)
    cuts = (
        starts[np.minimum(np.searchsorted(links.offsets[starts], wanted), len(starts) - 1)] if len(starts) else starts
    )
    return list(pairwise(sorted({0, links.pages, *(int(row) for row in cuts)})))


def _solve_share(
    links: Links, partition: Partition, share: tuple[int, int], damping: float, stop: Rule, local: Ranks
) -> int:
    """Rank the blocks of a range of rows, which are whole, into `local`; the sweeps it took."""
    first, last = share
    inner, members = _inner_links(links, partition, first, last)
    block, count = _renumbered(members)
    teleport = 1 / partition.sizes[members]
    degrees = inner.degrees
    z = np.divide(teleport, degrees, out=np.zeros(len(teleport)), where=degrees > 0)
    sweeps = 0
    with Sweeping(inner, damping) as sweeping, Pulling(inner, np.float64) as pulling:
        extrapolating = Extrapolating(degrees, None)
        while True:
            change = sweeping.sweep(z, sweeps, 1 - damping, teleport) / count
            sweeps += 1
            if is_met(stop, sweeps, change):
                break
            extrapolating.swept(z)
        ranks = damping * pulling.sums(z) + (1 - damping) * teleport
    local[first:last] = ranks / np.bincount(block, weights=ranks)[block]
    return sweeps


def _inner_links(links: Links, partition: Partition, first: int, last: int) -> tuple[Links, Any]:
    """The links within the blocks of the rows [first, last), numbered from `first` on; and the block of each row."""
    offsets = links.offsets[first : last + 1].astype(np.int64)
    sources, base = links.part(first, last)
    sources = sources[offsets[0] - base : offsets[-1] - base]
    members = partition.block[first:last]
    rows = np.repeat(np.arange(last - first, dtype=np.uint32), np.diff(offsets))
    chosen = partition.block[sources] == members[rows]
    kept = sources[chosen] - np.uint32(first)
    ends = np.concatenate(([0], np.cumsum(np.bincount(rows[chosen], minlength=last - first))))
    degrees = np.zeros(last - first, np.uint32)
    kernel.LOOPS.count(kept, degrees)
    return Links(ends.astype(np.uint64), kept, degrees), members


def _renumbered(members: Any) -> tuple[Any, int]:
    """Blocks by numbers from 0 on, and how many there are."""
    numbers, places = np.unique(members, return_inverse=True)
    return places, len(numbers)


def flows(links: Links, partition: Partition, weight: Ranks) -> Flows:
    """Sum `weight(u)` / C(u) over the links from block to block; what dangling pages hold goes nowhere."""
    given = np.divide(weight, links.degrees, out=np.zeros(links.pages), where=links.degrees > 0)
    count = partition.count
    matrix = sparse.csr_matrix((count, count))
    for _, _, rows, sources in _pieces(links):
        heads, ends = partition.block[sources], partition.block[rows]
        matrix = matrix + sparse.csr_matrix((given[sources], (heads, ends)), shape=(count, count))
    return Flows(matrix, partition.sums(np.where(links.degrees == 0, weight, 0.0)))


def printed_block_ranks(flow: Flows, damping: float, stop: Rule) -> tuple[Ranks, int]:
    """S0's block PageRank: a set of block links, every block teleported to alike."""
    matrix = flow.matrix.copy()
    matrix.setdiag(0)
    matrix.eliminate_zeros()
    matrix.data[:] = 1.0
    out = np.asarray(matrix.sum(axis=1)).ravel()
    count = len(out)
    return _chain(matrix, out, np.full(count, 1 / count), damping, stop)


def sized_block_ranks(flow: Flows, partition: Partition, damping: float, stop: Rule) -> tuple[Ranks, int]:
    """The aggregated chain: weighted flows, teleport and dangling mass in proportion to the size of a block."""
    out = np.asarray(flow.matrix.sum(axis=1)).ravel() + flow.dangling
    return _chain(flow.matrix, out, partition.sizes / partition.sizes.sum(), damping, stop)


def _chain(matrix: Any, out: Ranks, teleport: Ranks, damping: float, stop: Rule) -> tuple[Ranks, int]:
    """The power method on a small weighted graph; what a row does not pass on follows the teleport."""
    share = matrix.multiply(np.divide(1.0, out, out=np.zeros(len(out)), where=out > 0)[:, None]).tocsr()
    step = share.T.tocsr()
    ranks = teleport.copy()
    rounds = 0
    while True:
        after = damping * (step @ ranks)
        after += (1 - after.sum()) * teleport
        change = float(np.abs(after - ranks).sum())
        ranks = after
        rounds += 1
        if is_met(stop, rounds, change):
            return ranks, rounds


def _pieces(links: Links) -> Iterator[tuple[int, int, Any, Any]]:
    """(first row, last row, target row and source row of each link) of all links, some at a time."""
    offsets = links.offsets.astype(np.int64)
    bounds = links.bounds(max(1, -(-links.links // _ROWS_AT_ONCE)))
    for first, last in pairwise(bounds):
        sources, base = links.part(first, last)
        begin, end = int(offsets[first]) - base, int(offsets[last]) - base
        yield first, last, np.repeat(np.arange(first, last), np.diff(offsets[first : last + 1])), sources[begin:end]
