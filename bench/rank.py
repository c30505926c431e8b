"""PageRank against the graph libraries, side by side in one run: `make bench-rank`.

A web of 1 million pages and about 10 million distinct links is drawn (--large: 10 million and 100 million), written as
a links table, and ranked by Nephila and by every library that is installed, in turn, --repeats times; the table shows
the least of each step, by the clock and (cpu) of all cores. End to end is from the links table on disk to ranks in
memory. Every library has the same links, damping 0.85 and L1 tolerance 1e-8 where it can be told; the L1 distance to
the true ranks stands beside it. igraph cannot be told, and is far more exact: `nephila-exact` is its match.

    python bench/rank.py [--large] [--repeats 5] [--python PYTHON-WITH-THE-LIBRARIES] [--peers scipy,igraph]

The libraries are no dependencies of Nephila (igraph is GPL): install them elsewhere and name that Python.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from rank_peers import now, peak_bytes, steps

DAMPING, TOLERANCE, EXACT = 0.85, 1e-8, 1e-13
OURS, OURS_EXACT = "nephila", "nephila-exact"
PEERS = ("scipy", "igraph", "networkit", "scikit-network", "networkx")
EXACT_PEERS = frozenset({OURS_EXACT, "igraph"})
NO_LARGE = frozenset({"networkx", "igraph"})  # more than the memory of a small machine at 10^8 links


def draw_web(pages: int, links: int, shuffled: bool, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Sites of Pareto sizes; 80 % of the links within a site, the others to popular pages; 12 % of pages without."""
    chance = np.random.default_rng(seed)
    sizes = np.minimum((chance.pareto(1.2, pages // 10) + 1) * 8, pages // 50 + 2).astype(np.int64) + 1
    starts = np.concatenate(([0], np.cumsum(sizes)))
    starts = np.append(starts[starts < pages], pages)
    site = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    degree = np.minimum(chance.pareto(1.5, pages) + 0.3, 300)
    degree[chance.random(pages) < 0.12] = 0
    degree = chance.poisson(degree * 1.4 * links / degree.sum())
    popular = chance.permutation(pages)
    name = chance.permutation(pages) if shuffled else np.arange(pages)
    parts = []
    for rows in np.array_split(np.arange(pages), max(1, links // 5_000_000)):  # in parts, for the memory's sake
        sources = np.repeat(rows, degree[rows])
        first, size = starts[site[sources]], np.diff(starts)[site[sources]]
        near = first + np.minimum((size * chance.random(len(sources)) ** 2).astype(np.int64), size - 1)
        far = popular[np.minimum((pages * chance.random(len(sources)) ** 4).astype(np.int64), pages - 1)]
        targets = np.where(chance.random(len(sources)) < 0.8, near, far)
        kept = sources != targets
        keys = np.unique(name[sources[kept]] * np.int64(pages) + name[targets[kept]])
        parts.append(keys)
    keys = np.concatenate(parts)
    if shuffled:
        keys.sort()
    sources, targets = keys // pages, keys % pages
    seen = np.zeros(pages, np.bool_)
    seen[sources] = seen[targets] = True
    number = np.cumsum(seen) - 1  # without the pages that have no link at all: a library may not know of them
    return number[sources], number[targets]


def write_links(path: Path, sources: np.ndarray, targets: np.ndarray) -> None:
    """The columns of the links table, as convert writes them."""
    table = pa.table({"source": sources, "target": targets, "resolved": targets})
    pq.write_table(table, path, compression="zstd", row_group_size=2**17)


def rank_ours(file: Path, out: Path, tolerance: float) -> None:
    """Nephila in a process of its own: the same steps as `nephila rank --graph`, without writing the ranks."""
    from nephila.rank.edge_list import IdKind
    from nephila.rank.gauss_seidel import solve
    from nephila.rank.graph_sheet import graph_sheet
    from nephila.rank.link_building import build
    from nephila.rank.link_file import LinkFile
    from nephila.rank.pagerank import Problem
    from nephila.rank.sheet import Unit
    from nephila.rank.stopping import L1, Rounds

    room = out.parent
    empty = peak_bytes()
    marks = [now()]
    with graph_sheet(file, room, 8 << 30, IdKind.NUMBER, Unit.SITE) as sheet:
        marks.append(now())
        built = build(room / "bench.links", sheet.rows.ids, sheet.pieces(), 8 << 30)
        links = LinkFile.open(room / "bench.links").links
        marks.append(now())
        solution = solve(links, Problem(DAMPING, L1(tolerance) | Rounds(1000)))
        marks.append(now())
    peak = peak_bytes()
    np.save(out, solution.ranks)
    counts = {"peak_bytes": peak, "empty_bytes": empty, "rounds": solution.rounds, "links": built.links}
    print(json.dumps(steps(marks) | counts))


def true_ranks(room: Path) -> np.ndarray:
    """The power method far beyond any tolerance; begun at our ranks, for the sake of time alone."""
    from nephila.rank.link_file import LinkFile
    from nephila.rank.pagerank import Problem, power
    from nephila.rank.stopping import L1, Rounds

    start = np.load(room / f"{OURS_EXACT}.npy")
    problem = Problem(DAMPING, L1(1e-15) | Rounds(100), start=start)
    return power(LinkFile.open(room / "bench.links").links, problem).ranks


def one_run(peer: str, python: str, file: Path, out: Path) -> dict[str, float] | str:
    here = Path(__file__).parent
    if peer in (OURS, OURS_EXACT):
        tolerance = TOLERANCE if peer == OURS else EXACT
        command = [sys.executable, str(here / "rank.py"), "--ours", str(file), str(out), str(tolerance)]
    else:
        command = [python, str(here / "rank_peers.py"), peer, str(file), str(out), str(DAMPING), str(TOLERANCE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ)
    if done.returncode:
        return done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit code {done.returncode}"
    found: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", nargs=3, metavar=("LINKS", "OUT", "TOLERANCE"), help=argparse.SUPPRESS)
    parser.add_argument("--large", action="store_true", help="10 million pages, 100 million links")
    parser.add_argument("--pages", type=int, default=1_000_000)
    parser.add_argument("--links", type=int, default=10_000_000)
    parser.add_argument("--shuffled", action="store_true", help="ids without any order, the worst case for caches")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--links-table", type=Path, help="rank this links table instead of drawing one")
    parser.add_argument("--python", default=sys.executable, help="a Python that has the libraries")
    parser.add_argument("--peers", default=",".join(PEERS))
    given = parser.parse_args()
    if given.ours:
        rank_ours(Path(given.ours[0]), Path(given.ours[1]), float(given.ours[2]))
        return
    pages, links = (10_000_000, 100_000_000) if given.large else (given.pages, given.links)
    peers = [peer for peer in given.peers.split(",") if peer and not (given.large and peer in NO_LARGE)]
    with tempfile.TemporaryDirectory(prefix="bench-rank-") as folder:
        room = Path(folder)
        file = given.links_table or room / "links.parquet"
        if given.links_table is None:
            write_links(file, *draw_web(pages, links, given.shuffled))
        count = pq.read_metadata(file).num_rows
        runs: dict[str, list[dict[str, float]]] = {}
        failed: dict[str, str] = {}
        for _ in range(given.repeats):
            for peer in (OURS, OURS_EXACT, *peers):
                if peer not in failed:
                    found = one_run(peer, given.python, file, room / f"{peer}.npy")
                    if isinstance(found, str):
                        failed[peer] = found
                    else:
                        runs.setdefault(peer, []).append(found)
        true = true_ranks(room)
        print(f"{len(true):,} pages, {count:,} links; least of {given.repeats} runs; {os.cpu_count()} cores")
        heads = (
            "read s",
            "build s",
            "solve s",
            "all s",
            "x ours",
            "cpu s",
            "x ours",
            "solve cpu",
            "peak MiB",
            "B/link",
        )
        print(f"{'':<16}" + "".join(f"{head:>10}" for head in (*heads, "L1 error")))
        for peer, found in runs.items():
            # each against ours to the same exactness; B/link is above the memory of the process with its imports
            ours = runs[OURS_EXACT if peer in EXACT_PEERS else OURS]
            read, build, solve, solve_cpu = (
                min(run[key] for run in found) for key in ("read_s", "build_s", "solve_s", "solve_cpu_s")
            )
            ratios = [least(found, kind) / least(ours, kind) for kind in ("s", "cpu_s")]
            peak = min(run["peak_bytes"] for run in found)
            ranks = np.load(room / f"{peer}.npy")
            wrong = np.abs(ranks / ranks.sum() - true).sum() if len(ranks) == len(true) else float("nan")
            print(
                f"{peer:<16}{read:>10.2f}{build:>10.2f}{solve:>10.2f}{least(found, 's'):>10.2f}{ratios[0]:>10.1f}"
                f"{least(found, 'cpu_s'):>10.2f}{ratios[1]:>10.1f}{solve_cpu:>10.2f}{peak / 2**20:>10.0f}"
                f"{(peak - found[0]['empty_bytes']) / count:>10.1f}{wrong:>10.1g}"
            )
        for peer, why in failed.items():
            print(f"{peer:<16}not run: {why}")


def least(runs: list[dict[str, float]], kind: str) -> float:
    """The seconds of the quickest run in all."""
    return min(sum(run[f"{step}_{kind}"] for step in ("read", "build", "solve")) for run in runs)


if __name__ == "__main__":
    main()
