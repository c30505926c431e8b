"""Small graphs, and PageRank by dense algebra: an implementation that shares nothing with the package."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from nephila.rank.link_building import build
from nephila.rank.link_file import LinkFile, Links

S3_EXAMPLE = [(0, 2), (1, 0), (1, 2), (1, 3), (1, 4), (2, 4), (3, 1), (3, 2), (4, 2), (4, 3)]  # S3-2, pages from 0


def links_of(edges: list[tuple[int, int]], pages: int, folder: Path) -> Links:
    """The link file of some edges, opened."""
    return file_of(edges, pages, folder).links


def file_of(edges: list[tuple[int, int]], pages: int, folder: Path) -> LinkFile:
    pairs = np.array(edges, np.uint32).reshape(-1, 2)
    path = folder / "pages.links"
    build(path, np.arange(pages), [(pairs[:, 0].copy(), pairs[:, 1].copy())], 1 << 30)
    return LinkFile.open(path)


def dense_pagerank(
    edges: list[tuple[int, int]], pages: int, damping: float, teleport: np.ndarray | None = None,
    dangling_to: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """Solve (I - d (P + w 1_D)^T) x = (1 - d) t directly; damping below 1."""
    uniform = np.full(pages, 1 / pages)
    teleport = uniform if teleport is None else teleport
    dangling_to = uniform if dangling_to is None else dangling_to
    matrix = np.zeros((pages, pages))
    for source, target in set(edges):
        if source != target:
            matrix[target, source] = 1
    out = matrix.sum(axis=0)
    matrix[:, out > 0] /= out[out > 0]
    matrix[:, out == 0] = dangling_to[:, None]
    ranks = np.linalg.solve(np.eye(pages) - damping * matrix, (1 - damping) * teleport)
    return np.asarray(ranks)


def random_edges(seed: int, pages: int, links: int, dangling: float = 0.0) -> list[tuple[int, int]]:
    chance = np.random.default_rng(seed)
    sources = np.flatnonzero(chance.random(pages) >= dangling)
    if not len(sources):
        return []
    pairs = zip(chance.choice(sources, links), (pages * chance.random(links) ** 2).astype(int), strict=True)
    return [(int(source), int(target)) for source, target in pairs]
