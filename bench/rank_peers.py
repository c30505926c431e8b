"""One PageRank library, one run, in a process of its own: prints one JSON line.

    python bench/rank_peers.py PEER LINKS.parquet OUT.npy DAMPING TOLERANCE

Seconds are of three steps: read (Parquet to arrays), build (arrays to the library's graph) and solve, by the clock and
of all cores (on a machine that has other work, the latter say more); peak memory is the process's own. The links are
distinct and without self-links, so that every library ranks the same graph.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

Solve = Callable[[], np.ndarray]


def peak_bytes() -> int:
    """The most memory this process ever held; getrusage would tell that of the process that started it, too."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")))


def now() -> tuple[float, float]:
    """Seconds by the clock, and of all cores."""
    return time.perf_counter(), time.process_time()


def steps(marks: list[tuple[float, float]]) -> dict[str, float]:
    """The seconds between four instants: read, build and solve."""
    found = {}
    for name, before, after in zip(("read", "build", "solve"), marks, marks[1:], strict=False):
        found[f"{name}_s"], found[f"{name}_cpu_s"] = after[0] - before[0], after[1] - before[1]
    return found


def by_scipy(sources: np.ndarray, targets: np.ndarray, pages: int, damping: float, tolerance: float) -> Solve:
    """The power method in a dozen lines on a CSR matrix, as most people write it."""
    from scipy import sparse

    degrees = np.bincount(sources, minlength=pages)
    values = 1.0 / degrees[sources]
    matrix = sparse.csr_matrix((values, (targets, sources)), shape=(pages, pages))
    dangling = np.flatnonzero(degrees == 0)

    def solve() -> np.ndarray:
        ranks = np.full(pages, 1 / pages)
        for _ in range(1000):
            after = damping * (matrix @ ranks) + ((1 - damping) + damping * ranks[dangling].sum()) / pages
            change = np.abs(after - ranks).sum()
            ranks = after
            if change <= tolerance:
                break
        return ranks

    return solve


def by_igraph(sources: np.ndarray, targets: np.ndarray, pages: int, damping: float, tolerance: float) -> Solve:
    """PRPACK, which has a tolerance of its own (1e-10)."""
    import igraph

    graph = igraph.Graph(n=pages, edges=np.stack((sources, targets), axis=1), directed=True)
    return lambda: np.array(graph.pagerank(damping=damping))


def by_networkit(sources: np.ndarray, targets: np.ndarray, pages: int, damping: float, tolerance: float) -> Solve:
    import networkit as nk
    from scipy import sparse

    coo = sparse.coo_matrix((np.ones(len(sources)), (sources, targets)), shape=(pages, pages))
    graph = nk.GraphFromCoo(coo, n=pages, directed=True)

    def solve() -> np.ndarray:
        # Its tolerance is of the maximum norm unless told, and its sinks leak unless told.
        ranking = nk.centrality.PageRank(
            graph, damping, tolerance, distributeSinks=nk.centrality.SinkHandling.DistributeSinks
        )
        ranking.norm = nk.centrality.Norm.l1norm
        ranking.run()
        return np.array(ranking.scores())

    return solve


def by_scikit_network(sources: np.ndarray, targets: np.ndarray, pages: int, damping: float, tolerance: float) -> Solve:
    from scipy import sparse
    from sknetwork.ranking import PageRank

    matrix = sparse.csr_matrix((np.ones(len(sources)), (sources, targets)), shape=(pages, pages))
    return lambda: np.asarray(PageRank(damping, solver="piteration", n_iter=1000, tol=tolerance).fit_predict(matrix))


def by_networkx(sources: np.ndarray, targets: np.ndarray, pages: int, damping: float, tolerance: float) -> Solve:
    import networkx

    graph = networkx.DiGraph()
    graph.add_nodes_from(range(pages))
    graph.add_edges_from(zip(sources.tolist(), targets.tolist(), strict=True))
    # It stops at pages * tol.
    found = lambda: networkx.pagerank(graph, damping, max_iter=1000, tol=tolerance / pages)  # noqa: E731
    return lambda: np.array(list(found().values()))


PEERS = {
    "scipy": by_scipy, "igraph": by_igraph, "networkit": by_networkit, "scikit-network": by_scikit_network,
    "networkx": by_networkx,
}  # fmt: skip


def main() -> None:
    peer, file, out, damping, tolerance = sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4]), float(sys.argv[5])
    import pyarrow.parquet as pq

    __import__({"scikit-network": "sknetwork"}.get(peer, peer))
    empty = peak_bytes()
    marks = [now()]
    table = pq.read_table(file, columns=["source", "resolved"])
    sources, targets = table["source"].to_numpy(), table["resolved"].to_numpy()
    del table
    pages = int(max(sources.max(), targets.max())) + 1
    marks.append(now())
    solve = PEERS[peer](sources, targets, pages, damping, tolerance)
    marks.append(now())
    ranks = solve()
    marks.append(now())
    np.save(out, ranks)
    peak = peak_bytes()
    print(json.dumps(steps(marks) | {"peak_bytes": peak, "empty_bytes": empty}))


if __name__ == "__main__":
    main()
