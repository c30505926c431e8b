"""Where the constants of the lab's `study` profile come from: S1's Tables 8, 11, 12 and 13 solved for them.

    python bench/study_fit.py

Prints what `lab/lives.py`, `lab/holders.py`, `lab/figures.py` and `lab/change.py` hold. First the lives of places: how
many URLs pass daily, last two batches or four, churn or stay, so that nine batches of sites that are up as in Table 8
see Table 11. Then, by depth, the share of passing places and the size of the tree from Table 12. Last the Gamma
distributions of change rates by link kinds and the factors by depth, so that documents looked at as long as their lives
allow show Table 13's changes and intervals, and Table 12's intervals relative to each other. Takes a minute.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, fsolve, nnls
from scipy.special import gammainc, gammaincinv

from nephila.lab import figures

GAP_DAYS = figures.PERIOD_DAYS / (figures.BATCHES - 1)
LEAVES = 0.6  # of lasting pages: only those without children are down at times
LIST_RATE = 1.5
FRAMES = ("00f", "h0f", "haf")
Floats = NDArray[np.float64]
Looks = list[tuple[float, list[int]]]
"""(weight, batches in which a document was seen)"""


def site_looks() -> Looks:
    """The batches in which a site that is ever up is up: bad ones come one after another (S1-37)."""
    alive = np.array(figures.BATCHES_ALIVE[1:], dtype=float) / sum(figures.BATCHES_ALIVE[1:])
    return [
        (alive[up - 1] / 9, [batch for batch in range(9) if (batch - shift) % 9 < up])
        for up in range(1, 10)
        for shift in range(9)
    ]


def lived(spans: Sequence[tuple[float, int, int]]) -> Looks:
    """Documents that live from one batch to another, in sites that are up at times."""
    return [
        (weight * share, [batch for batch in up if first <= batch <= last])
        for weight, first, last in spans
        for share, up in site_looks()
    ]


def churning(survival: float) -> Looks:
    spans = []
    for first in range(9):
        for last in range(first, 9):
            lives = survival ** (last - first) * (1 - survival if last < 8 else 1)
            spans.append((lives if first == 0 else lives * (1 - survival), first, last))
    return lived(spans)


def passing(batches: int) -> Looks:
    spans = [
        (1 / batches, max(first, 0), min(first + batches - 1, 8))
        for phase in range(batches)
        for first in range(-phase, 9, batches)
    ]
    return lived(spans)


def lasting(away: float) -> Looks:
    """With pages without children away in a batch now and then; more than two misses are too rare to matter."""
    looks: Looks = []
    for share, up in site_looks():
        looks.append((share * (1 - LEAVES), up))
        for missed in range(3):
            chance = math.comb(len(up), missed) * away**missed * (1 - away) ** max(len(up) - missed, 0)
            for start in range(max(len(up), 1)):
                kept = [batch for place, batch in enumerate(up) if not start <= place * 7 % len(up) < start + missed]
                looks.append((share * LEAVES * chance / max(len(up), 1), kept if len(up) >= missed else []))
    return looks


def downloads(looks: Looks) -> Floats:
    counts = np.zeros(9)
    for weight, seen in looks:
        if seen:
            counts[len(seen) - 1] += weight
    return counts


def observed(looks: Looks, rates: Floats) -> tuple[Floats, Floats]:
    """(chance of a change seen, expected interval of changed ones) by rate, of documents seen at least twice."""
    gaps: dict[tuple[int, ...], float] = {}
    for weight, seen in looks:
        if len(seen) > 1:
            steps = tuple(sorted(b - a for a, b in pairwise(seen)))
            gaps[steps] = gaps.get(steps, 0.0) + weight
    total = sum(gaps.values())
    changed, days = np.zeros_like(rates), np.zeros_like(rates)
    for steps, weight in gaps.items():
        ways = [np.ones_like(rates)]
        for step in steps:
            chance = 1 - np.exp(-rates * step * GAP_DAYS)
            ways = [
                (ways[n] * (1 - chance) if n < len(ways) else 0) + (ways[n - 1] * chance if n else 0)
                for n in range(len(ways) + 1)
            ]
        changed += weight / total * (1 - ways[0])
        for number in range(1, len(ways)):
            days += weight / total * ways[number] * sum(steps) * GAP_DAYS / number
    return changed, days


def main() -> None:
    table11 = np.array(figures.DOWNLOADS, dtype=float)
    best: tuple[float, float, float, Floats] | None = None
    for survival in np.arange(0.72, 0.84, 0.01):
        for away in np.arange(0.016, 0.034, 0.002):
            columns = [
                downloads(looks) for looks in (passing(1), passing(2), passing(4), churning(survival), lasting(away))
            ]
            weights, error = nnls(np.stack(columns, 1) / np.sqrt(table11)[:, None], np.sqrt(table11))
            if best is None or error < best[0]:
                best = (float(error), float(survival), float(away), weights)
    assert best is not None
    _, survival, away, places = best
    two, four = places[1], places[2]
    places = np.array([places[0], two + four, *places[3:]]) / places.sum()
    print(f"survival {survival:.3f} (per day {-math.log(survival) / GAP_DAYS:.5f}), away {away:.4f}")
    print("places: passing, brief, churning, lasting", places.round(5), "four batches, of brief", four / (two + four))
    brief_looks = [(w * two / (two + four), seen) for w, seen in passing(2)]
    brief_looks += [(w * four / (two + four), seen) for w, seen in passing(4)]
    classes = {"passing": passing(1), "brief": brief_looks, "churning": churning(survival), "lasting": lasting(away)}
    told = np.stack([downloads(looks) for looks in classes.values()], 1) @ places
    print("Table 11", (told / told.sum() * 100).round(2), "paper", (table11 / table11.sum() * 100).round(2))

    # Depths: the share of passing places that gives Table 12's share of documents seen twice, relative to all.
    stay = places[1:] / places[1:].sum()
    per_place = np.array([downloads(looks).sum() for looks in classes.values()])
    twice_per_place = np.array([downloads(looks)[1:].sum() for looks in classes.values()])
    documents = np.array([row[0] for row in figures.BY_DEPTH], dtype=float)
    twice = np.array([row[1] for row in figures.BY_DEPTH], dtype=float)
    aimed = twice / documents * (table11[1:].sum() / table11.sum()) / (twice.sum() / documents.sum())
    passes, changing, brief, tree = [0.0], [0.0], [0.0], [float(figures.SAMPLED_SEEDS * 1096 / 1424)]
    for depth in range(1, 10):
        mix = np.array([0.0, 0.0, 0.0, 1.0]) if depth == 1 else np.array([0.0, *stay])

        def share(one: float, mix: Floats = mix) -> float:
            now = mix * (1 - one) + np.array([one, 0, 0, 0])
            return float(now @ twice_per_place / (now @ per_place))

        top = share(0.0)
        one = 0.001 if aimed[depth] >= top else float(brentq(lambda x, d=depth: share(x) - aimed[d], 0.0, 0.9))
        now = mix * (1 - one) + np.array([one, 0, 0, 0])
        passes.append(one)
        changing.append(1 - now[3])
        brief.append(now[1])
        tree.append(documents[depth] / float(now @ per_place))
    print("PASSING", np.round(passes, 4), "BRIEF", np.round(brief, 4), "CHANGING", np.round(changing, 4))
    ok = figures.STUDY_SUCCESS
    print("OFFSPRING", np.round([tree[d + 1] / tree[d] / ok for d in range(9)], 4), sum(tree))

    # Rates by link kinds. Frames belong to lasting pages alone.
    counts = {kind: float(n) for kind, n in figures.LINK_KINDS.items()}
    all_twice = twice_per_place * places
    lasting_share = all_twice[3] / all_twice.sum()
    frames = sum(counts[kind] for kind in FRAMES) / sum(counts.values())
    others = sum(n for kind, n in counts.items() if kind not in FRAMES)
    weights = {
        kind: (n / sum(counts.values()) / lasting_share, 0.0) if kind in FRAMES
        else (n / others * (1 - frames / lasting_share), n / others)
        for kind, n in counts.items()
    }  # fmt: skip
    print("kinds of lasting and of other pages", {k: (round(a, 5), round(b, 5)) for k, (a, b) in weights.items()})
    steps = (np.arange(600) + 0.5) / 600
    factors = np.ones(9)
    intervals = np.array([row[2] for row in figures.BY_DEPTH])
    by_depth = twice[1:] / twice[1:].sum()
    laws = {"000": (0.19, 0.0074), "00f": (0.094, 0.014), "0a0": (0.15, 14.9), "h00": (1.66, 0.048),
            "h0f": (1.05, 0.013), "ha0": (1.34, 0.196)}  # fmt: skip

    def looks_of(kind: str, alone: bool = False) -> Looks:
        if kind in FRAMES or alone:
            return classes["lasting"]
        a, b = weights[kind]
        return [(w * places[3] * a, seen) for w, seen in classes["lasting"]] + [
            (w * places[place] * b, seen)
            for place, name in ((1, "brief"), (2, "churning"))
            for w, seen in classes[name]
        ]

    for turn in range(3):
        for kind, law in laws.items():
            n, (changed, days) = counts[kind], figures.BY_LINK_KINDS[kind]

            def off(
                x: Floats, kind: str = kind, goal: tuple[float, float] = (changed / n, days), slower: Floats = factors
            ) -> list[float]:
                seen = spell = 0.0
                for factor, weight in zip(slower, by_depth, strict=True):
                    shape, scale = np.exp(x)
                    rates = np.minimum(gammaincinv(shape, steps) * scale / factor, 24.0)
                    p, d = observed(looks_of(kind), rates)
                    seen, spell = seen + weight * p.mean(), spell + weight * d.mean()
                return [seen - goal[0], spell / seen - goal[1]]

            laws[kind] = tuple(np.exp(fsolve(off, np.log(law))))

        def interval(factor: float, alone: bool) -> float:
            seen = spell = 0.0
            for kind, (shape, scale) in laws.items():
                rates = np.minimum(gammaincinv(shape, steps) * scale / factor, 24.0)
                p, d = observed(looks_of(kind, alone), rates)
                seen, spell = seen + counts[kind] * p.mean(), spell + counts[kind] * d.mean()
            return spell / seen

        now = np.array([interval(f, d == 0) for d, f in enumerate(factors)])
        level = float((now * by_depth).sum()) / float((intervals[1:] * by_depth).sum())
        factors = np.array([
            brentq(lambda f, d=d, level=level: interval(f, d == 0) - intervals[d + 1] * level, 0.02, 20)
            for d in range(9)
        ])  # fmt: skip
        print(turn, {k: tuple(float(f"{v:.4g}") for v in law) for k, law in laws.items()}, factors.round(4))
    print("LIST_SHARE_OF_0A0", 1 - gammainc(laws["0a0"][0], LIST_RATE / laws["0a0"][1]))


if __name__ == "__main__":
    main()
