"""PageRank as a linear system, swept by Gauss-Seidel: the same ranks as `pagerank.power` in about half the rounds.

    y = (1 - d) t + d P^T y,        x = y / |y|

Leaving the mass of dangling pages out and dividing once at the end gives exactly the ranks in which that mass follows
the teleport (CHECKLIST 2.5), which is Kim & Lee's rule when the teleport is uniform. Two things follow: a sweep needs
no global sum, so that each page may use the newest values of the others; and dangling pages, which give nothing to
anybody, are computed once at the end instead of in every round.

The state is z(u) = y(u) / C(u), what u gives along each link; a row's new value is ((1-d) t(v) + d sum z(u)) / C(v).

Parallel sweeps. The rows are cut into LANES x STEPS ranges. A step takes one range of every lane at the same time; a
range sees its own newest values and, of all others, those of the end of the step before. So the result depends on the
cut alone, not on threads or luck. Two pages that feed each other from ranges of the same step would see only old
values; lane l therefore begins sweep r at range r x l, so that no pair stays together (measured on shuffled ids: 35
sweeps instead of 46; 32 in one lane).

Extrapolation. Every sixth sweep is followed by the best mixture of the last three (`extrapolation.py`).

Precision. All sweeps run in float32, half the memory traffic. When they have done what float32 can, a power step in
float64 gives what is still wrong, r = T(y) - y, and the same sweeps solve for the correction, e = r + d P^T e, which in
turn need only be right to a few digits: iterative refinement. Two or three such steps reach any tolerance.

Error. That power step also gives the true residual |T(y) - y| / |y|, and it alone decides when to stop. The distance of
the result to the true ranks is at most 2 r d / (1 - d) in L1.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import numpy as np

from nephila.rank import kernel
from nephila.rank.arrays import Degrees, Ranks, Reals
from nephila.rank.extrapolation import Extrapolating
from nephila.rank.link_file import Links
from nephila.rank.pagerank import FEW_LINKS, THREADS, Dangling, Problem, Pulling, Solution, power, run_all
from nephila.rank.stopping import is_met

LANES: Final = 4
STEPS: Final = 16
"""At most; small graphs have fewer."""
ROUGH: Final = 1e-5
"""By so much float32 can be trusted to lessen a residual."""
FINEST: Final = 2e-7
"""The least change that still means something in float32."""
_MOST_ROUGH: Final = 200
_STREAMED_LINKS: Final = 1 << 22
_CHUNK: Final = 1 << 18


def solve(links: Links, problem: Problem) -> Solution:
    """The ranks by the quickest method that gives them."""
    linear = problem.dangling is not Dangling.REMOVE and (
        problem.dangling is not Dangling.UNIFORM or problem.teleport is None
    )
    if problem.damping >= 1 or not linear or links.pages == 0:
        return power(links, problem)
    return gauss_seidel(links, problem)


def gauss_seidel(links: Links, problem: Problem) -> Solution:
    """Sweeps until they change little, then power steps and corrections until the stop rule is met."""
    residuals: list[float] = []
    with Sweeping(links, problem.damping) as sweeping, Pulling(links, np.float64) as pulling:
        if problem.start is None:
            z, norm = _first_guess(links, problem)
            base, weights = (1 - problem.damping) / links.pages, None
            if problem.teleport is not None:
                base, weights = 1 - problem.damping, problem.teleport.astype(np.float32)
            enough = (FINEST if problem.single_precision else ROUGH) * norm
            _sweep_roughly(sweeping, z, base, weights, enough, norm, residuals, problem)
            z = z.astype(np.float64)
        else:
            norm = norm_of_leaking(problem.start, links, problem.damping)
            z = np.divide(problem.start * norm, links.degrees, out=np.zeros(links.pages), where=links.degrees > 0)
            residuals.append(np.inf)
        while True:
            y = _power_step(z, pulling, problem)
            wrong, size = _wrong(y, z, links.degrees)
            norm = float(y.sum())
            residuals[-1] = size / norm
            if problem.single_precision or is_met(problem.stop, len(residuals), residuals[-1]):
                break
            del y
            correction = np.zeros(links.pages, np.float32)
            _sweep_roughly(sweeping, correction, 1.0, wrong, ROUGH * size, norm, residuals, problem)
            z += correction
    if problem.dangling is not Dangling.NONE:
        y /= norm
    return Solution(y, tuple(residuals))


def _sweep_roughly(
    sweeping: Sweeping, z: Reals, base: float, weights: Reals | None, enough: float, norm: float,
    residuals: list[float], problem: Problem,
) -> None:  # fmt: skip
    """Sweep in float32 until that changes less than `enough`, or less than the stop rule asks."""
    extrapolating = Extrapolating(sweeping.links.degrees, sweeping.pool)
    for _ in range(_MOST_ROUGH):
        change = sweeping.sweep(z, len(residuals), base, weights)
        residuals.append(change / norm)
        if change <= enough or is_met(problem.stop, len(residuals), residuals[-1]):
            return
        extrapolating.swept(z)


def _first_guess(links: Links, problem: Problem) -> tuple[Any, float]:
    """What every page gives along each link if all ranks are equal, or are the teleport; and |y| if they were right."""
    degrees, pages = links.degrees, links.pages
    lost = float((degrees == 0).mean()) if problem.teleport is None else float(problem.teleport[degrees == 0].sum())
    norm = _norm(lost, problem.damping)
    given = np.full(pages, norm / pages, np.float32) if problem.teleport is None else norm * problem.teleport
    return np.divide(given, degrees, out=np.zeros(pages, np.float32), where=degrees > 0, casting="same_kind"), norm


def norm_of_leaking(ranks: Ranks, links: Links, damping: float) -> float:
    """|y| if these are the ranks."""
    return _norm(float(ranks[links.degrees == 0].sum()), damping)


def _norm(lost: float, damping: float) -> float:
    """|y| if so much of the rank is that of dangling pages: teleport brings in what damping and they take out."""
    return (1 - damping) / (1 - damping * (1 - lost))


def _power_step(z: Ranks, pulling: Pulling, problem: Problem) -> Ranks:
    """T(y) for all pages, dangling ones too."""
    y: Ranks = pulling.sums(z)
    y *= problem.damping
    y += (1 - problem.damping) * (1 / len(y) if problem.teleport is None else problem.teleport)
    return y


def _wrong(y: Ranks, z: Ranks, degrees: Degrees) -> tuple[Any, float]:
    """T(y) - y of the pages with links, and its L1 norm."""
    wrong = np.empty(len(y), np.float32)
    size = 0.0
    for begin in range(0, len(y), _CHUNK):
        part = slice(begin, begin + _CHUNK)
        gone = np.where(degrees[part] > 0, y[part] - z[part] * degrees[part], 0.0)
        size += float(np.abs(gone).sum())
        wrong[part] = gone
    return wrong, size


class Sweeping:
    """Gauss-Seidel sweeps over all rows, on all cores, with a result that no thread can change."""

    def __init__(self, links: Links, damping: float) -> None:
        self.links = links
        self._damping = damping
        small = links.links < FEW_LINKS
        # A range should be work for longer than it takes to hand it to a thread.
        lanes, steps = (1, 1) if small else (LANES, min(STEPS, max(LANES, links.links // FEW_LINKS)))
        if links.read is not None:
            steps = max(steps, -(-links.links // (lanes * _STREAMED_LINKS)))
        self._lanes, self._steps = lanes, steps
        self._bounds = links.bounds(lanes * steps)
        self.pool = None if small else ThreadPoolExecutor(THREADS)

    def __enter__(self) -> Sweeping:
        return self

    def __exit__(self, *exc: object) -> None:
        if self.pool is not None:
            self.pool.shutdown()

    def sweep(self, z: Reals, number: int, base: float, weights: Reals | None) -> float:
        """Sweep `z` once, in place: z(v) = (base weights(v) + d sum z(u)) / C(v); `number` counts the sweeps.

        Without weights every page has `base`. The L1 change of y is returned.
        """
        change = 0.0

        def one(part: int) -> tuple[int, Any, float]:
            first, last = self._bounds[part], self._bounds[part + 1]
            own = np.empty(last - first, z.dtype)
            sources, edge_base = self.links.part(first, last)
            moved = kernel.LOOPS.sweep(
                self.links.offsets, sources, edge_base, z, own, self.links.degrees, weights, base, self._damping,
                first, last, z.itemsize,
            )  # fmt: skip
            return first, own, moved

        for step in range(self._steps):
            parts = [lane * self._steps + (step + number * lane) % self._steps for lane in range(self._lanes)]
            for first, own, moved in run_all(self.pool, one, parts):
                z[first : first + len(own)] = own
                change += moved
        return change
