"""PageRank by the power method: S3's Fig. 4 loop, with damping, teleport and pages without links.

    x'(v) = (1 - d) t(v) + d ( sum over u -> v of x(u) / C(u)  +  D w(v) )

C(u) is the number of links that leave u, t the teleport vector (uniform, or a person's or a topic's; it sums to 1),
and D the rank of all dangling pages (those without links). S3-1 is d = 1. S0-23's equation (1) gives N times these
values. Where D goes is `Dangling`:

    uniform      w = 1/N: Kim & Lee (S3-8). The ranks sum to 1 at every round.
    teleport     w = t: dangling mass follows the personal teleport.
    none         w = 0: the mass leaks and the ranks sum to less than 1 (CHECKLIST 2.5).
    renormalise  w = 0, and the ranks are divided by their sum once at the end. With d < 1 this is `teleport` exactly:
                 both solve (I - d P^T) x ~ t. Dividing at *every* round would be another vector.
    remove       dangling pages are taken out, the others ranked, the dangling ones put back with what their links give
                 them. Fewer links per round; pages near dangling ones are ranked differently.

Rounds: Fig. 4 repeats while the L1 norm of x' - x is above the threshold; a round is one product with the matrix.
Error: with d < 1 the map shrinks L1 distances by d, so that after a round with residual r the distance to the true
ranks is at most r d / (1 - d). With d = 1 there is no such bound, and a periodic graph does not come to rest (I3-7).
`gauss_seidel.py` solves the same system in fewer rounds where the equation allows it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import numpy as np

from nephila.rank import kernel
from nephila.rank.arrays import Ranks, Reals
from nephila.rank.link_file import Links
from nephila.rank.stopping import Rule, is_met

FEW_LINKS: Final = 1 << 19
"""Below so many links a second thread costs more than it brings."""

THREADS: Final = os.cpu_count() or 1
_PARTS: Final = 16
_STREAMED_LINKS: Final = 1 << 22


class Dangling(StrEnum):
    """Where the rank of pages without links goes; the module's text says which is which."""

    UNIFORM = "uniform"
    TELEPORT = "teleport"
    NONE = "none"
    RENORMALISE = "renormalise"
    REMOVE = "remove"


@dataclass(frozen=True, slots=True)
class Problem:
    """What is to be solved: everything but the links."""

    damping: float
    stop: Rule
    dangling: Dangling = Dangling.UNIFORM
    teleport: Ranks | None = None
    start: Ranks | None = None
    single_precision: bool = False

    @property
    def kind(self) -> type[np.float32] | type[np.float64]:
        return np.float32 if self.single_precision else np.float64


@dataclass(frozen=True, slots=True)
class Solution:
    """Ranks, and how they were come by: the residual of each round."""

    ranks: Ranks
    residuals: tuple[float, ...]

    @property
    def rounds(self) -> int:
        return len(self.residuals)


def power(links: Links, problem: Problem) -> Solution:
    """Rounds of the formula above until the stop rule is met."""
    pages = links.pages
    if pages == 0:
        return Solution(np.zeros(0), ())
    if problem.dangling is Dangling.REMOVE:
        return _without_dangling(links, problem)
    damping, kind = problem.damping, problem.kind
    teleport = _teleport(problem, pages)
    degrees = np.maximum(links.degrees, 1).astype(kind)
    dangling = np.flatnonzero(links.degrees == 0)
    ranks: Any = np.full(pages, 1 / pages, kind) if problem.start is None else problem.start.astype(kind)
    residuals: list[float] = []
    with Pulling(links, kind) as pulling:
        while True:
            after = pulling.sums(ranks / degrees)
            after *= damping
            lost = float(ranks[dangling].sum(dtype=np.float64))
            after += _spread(problem, teleport, lost, pages)
            residuals.append(float(np.abs(after - ranks).sum(dtype=np.float64)))
            ranks = after
            if is_met(problem.stop, len(residuals), residuals[-1]):
                break
    return Solution(_finished(ranks, problem.dangling), tuple(residuals))


def _spread(problem: Problem, teleport: Any, lost: float, pages: int) -> Any:
    """What every page gets besides its links: teleport, and its share of the dangling mass."""
    own = (1 - problem.damping) * teleport
    match problem.dangling:
        case Dangling.UNIFORM:
            return own + problem.damping * lost / pages
        case Dangling.TELEPORT:
            return own + problem.damping * lost * teleport
    return own


def _teleport(problem: Problem, pages: int) -> Any:
    return 1 / pages if problem.teleport is None else problem.teleport.astype(problem.kind)


def _finished(ranks: Reals, dangling: Dangling) -> Ranks:
    """As float64, summing to 1 unless the mass was meant to leak."""
    whole = ranks.astype(np.float64)
    total = float(whole.sum())
    return whole if dangling is Dangling.NONE or total == 0 else whole / total


class Pulling:
    """Sums over in-links for all rows at once, on all cores: `sums(z)(v)` = sum over u -> v of z(u)."""

    def __init__(self, links: Links, kind: Any) -> None:
        self._links = links
        self._kind = kind
        parts = 1 if links.links < FEW_LINKS else max(_PARTS, -(-links.links // _STREAMED_LINKS) if links.read else 0)
        self._bounds = links.bounds(parts)
        self._pool = ThreadPoolExecutor(THREADS) if parts > 1 else None

    def __enter__(self) -> Pulling:
        return self

    def __exit__(self, *exc: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def sums(self, z: Reals) -> Any:
        """A new array of the sums."""
        result = np.empty(self._links.pages, self._kind)

        def one(part: int) -> None:
            first, last = self._bounds[part], self._bounds[part + 1]
            sources, base = self._links.part(first, last)
            kernel.LOOPS.pull(self._links.offsets, sources, base, z, result[first:last], first, last, result.itemsize)

        run_all(self._pool, one, range(len(self._bounds) - 1))
        return result


def run_all(pool: ThreadPoolExecutor | None, job: Callable[[int], Any], numbers: range | list[int]) -> list[Any]:
    """`job` of each number, on the pool if there is one."""
    return [job(number) for number in numbers] if pool is None else list(pool.map(job, numbers))


def _without_dangling(links: Links, problem: Problem) -> Solution:
    """Take the dangling pages out, rank the others, put the dangling ones back (Page & Brin's way)."""
    from dataclasses import replace

    kept = links.degrees > 0
    if kept.all() or not kept.any():
        return power(links, replace(problem, dangling=Dangling.UNIFORM))
    inner = subgraph(links, kept)
    teleport = None if problem.teleport is None else _normalised(problem.teleport[kept])
    start = None if problem.start is None else _normalised(problem.start[kept])
    core = power(inner, replace(problem, dangling=Dangling.UNIFORM, teleport=teleport, start=start))
    ranks = np.zeros(links.pages)
    ranks[kept] = core.ranks
    with Pulling(links, np.float64) as pulling:
        given = pulling.sums(ranks / np.maximum(links.degrees, 1))
    spread = (1 - problem.damping) * (1 / links.pages if problem.teleport is None else problem.teleport)
    ranks = np.where(kept, ranks, spread + problem.damping * given)
    return Solution(ranks / ranks.sum(), core.residuals)


def _normalised(vector: Ranks) -> Ranks | None:
    total = float(vector.sum())
    return vector / total if total > 0 else None


def subgraph(links: Links, kept: Any) -> Links:
    """The links among the kept pages alone, which are numbered anew in their order."""
    whole, _ = links.part(0, links.pages)
    rows = np.repeat(kept, links.lengths())
    chosen = rows & kept[whole]
    number = np.cumsum(kept, dtype=np.int64) - 1
    sources = number[whole[chosen]].astype(np.uint32)
    marks = np.concatenate(([0], np.cumsum(chosen, dtype=np.int64)))
    ends = marks[links.offsets.astype(np.int64)]
    lengths = np.diff(ends)[kept]
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.uint64)
    degrees = np.bincount(sources, minlength=int(kept.sum())).astype(np.uint32)
    return Links(offsets, sources, degrees)
