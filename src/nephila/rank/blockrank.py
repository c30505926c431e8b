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
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
from scipy import sparse

from nephila.rank import kernel
from nephila.rank.arrays import Blocks, Ranks
from nephila.rank.gauss_seidel import Sweeping
from nephila.rank.link_file import Links
from nephila.rank.pagerank import Pulling
from nephila.rank.stopping import Rule, is_met

_ROWS_AT_ONCE: Final = 1 << 22


@dataclass(frozen=True, slots=True)
class Partition:
    """Rows to blocks 0 … k-1. `number` gives the block's own id."""

    block: Any
    number: Blocks
    sizes: Any

    @classmethod
    def of(cls, blocks: Blocks) -> Partition:
        number, block = np.unique(blocks, return_inverse=True)
        return cls(block.astype(np.int64), number, np.bincount(block, minlength=len(number)))

    @property
    def count(self) -> int:
        return len(self.number)

    def sums(self, values: Ranks) -> Ranks:
        return np.bincount(self.block, weights=values, minlength=self.count).astype(np.float64)


@dataclass(frozen=True, slots=True)
class Flows:
    """What flows between blocks: a matrix with the source block as row, and the weight that each block lets go of."""

    matrix: Any
    dangling: Ranks


def inner_links(links: Links, partition: Partition) -> Links:
    """The links within blocks alone, with the degrees that they give."""
    lengths, kept = [np.zeros(1, np.int64)], [np.zeros(0, np.uint32)]
    degrees = np.zeros(links.pages, np.uint64)
    for first, last, rows, sources in _pieces(links):
        chosen = partition.block[rows] == partition.block[sources]
        lengths.append(np.bincount(rows[chosen] - first, minlength=last - first))
        kept.append(sources[chosen])
        kernel.LOOPS.count(kept[-1], degrees)
    offsets = np.cumsum(np.concatenate(lengths)).astype(np.uint64)
    return Links(offsets, np.concatenate(kept), degrees.astype(np.uint32))


def local_ranks(links: Links, partition: Partition, damping: float, stop: Rule) -> tuple[Ranks, int]:
    """The PageRank of every page within its block, all blocks at once, and the sweeps it took."""
    inner = inner_links(links, partition)
    teleport = 1 / partition.sizes[partition.block]
    pages = links.pages
    if not pages:
        return np.zeros(0), 0
    if damping >= 1:
        damping = 1 - 1e-12  # a block without circle has no other limit
    z = np.divide(teleport, inner.degrees, out=np.zeros(pages), where=inner.degrees > 0)
    rounds = 0
    with Sweeping(inner, damping, teleport) as sweeping, Pulling(inner, np.float64) as pulling:
        while True:
            change = sweeping.sweep(z, rounds) / partition.count
            rounds += 1
            if is_met(stop, rounds, change):
                break
        local: Ranks = damping * pulling.sums(z) + (1 - damping) * teleport
    return local / partition.sums(local)[partition.block], rounds


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
