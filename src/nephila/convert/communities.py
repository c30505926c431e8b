"""Communities of related sites (S0-17): Leiden on the weighted site graph, or a file the user gives.

The weight between two sites is the number of distinct page links between them, either way. Leiden leaves no community
disconnected (CHECKLIST 2.6); its seed is fixed, so the same graph gives the same communities. Ids are dense, in the
order of each community's smallest site id.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from scipy.sparse import coo_array

from nephila.errors import UsageError
from nephila.urls import host_of, registrable_domain

SEED: Final = 1
_ITERATIONS: Final = 4


@dataclass(frozen=True, slots=True)
class Communities:
    """The community of every site, by site id, and each community's name (empty: it has none of its own)."""

    of_site: tuple[int, ...]
    names: tuple[str, ...]


def detect(sites: int, first: Any, second: Any, weights: Any) -> Communities:
    """Leiden on the links between sites; sites without any are a community of their own."""
    if not sites:
        return Communities((), ())
    others = np.asarray(first) != np.asarray(second)
    rows, columns = np.asarray(first)[others], np.asarray(second)[others]
    data = np.asarray(weights, np.float64)[others]
    graph = coo_array((np.r_[data, data], (np.r_[rows, columns], np.r_[columns, rows])), shape=(sites, sites)).tocsr()
    if not graph.nnz:
        return _numbered(list(range(sites)))
    from graspologic_native import leiden_csr

    graph.sort_indices()
    _, found = leiden_csr(
        graph.indptr.astype(np.int64), graph.indices.astype(np.int32), graph.data.astype(np.float64), sites,
        iterations=_ITERATIONS, seed=SEED,
    )  # fmt: skip
    # A site without links is not in the answer.
    return _numbered([found.get(site, -1 - site) for site in range(sites)])


def from_file(path: Path, sites: Sequence[str]) -> Communities:
    """Lines of "site, host or domain <tab or comma> name"; what no line names is a community of its own."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise UsageError(f"convert.communities: {path} cannot be read ({problem}); give a text file.") from problem
    given: dict[str, str] = {}
    for number, line in enumerate(csv.reader(text.splitlines(), delimiter="\t" if "\t" in text else ","), start=1):
        if not line or line[0].lstrip().startswith("#"):
            continue
        if len(line) != 2 or not line[0].strip() or not line[1].strip():
            raise UsageError(
                f'{path}, line {number}: expected "site,community" such as "www.kaist.ac.kr,universities".'
            )
        given[line[0].strip().rstrip("/").lower()] = line[1].strip()
    labels: list[object] = []
    for site_id, url in enumerate(sites):
        host = host_of(url)
        name = given.get(url) or given.get(host) or given.get(registrable_domain(host))
        labels.append(name if name is not None else site_id)
    return _numbered(labels)


def _numbered(labels: Sequence[object]) -> Communities:
    numbers: dict[object, int] = {}
    of_site = tuple(numbers.setdefault(label, len(numbers)) for label in labels)
    return Communities(of_site, tuple(label if isinstance(label, str) else "" for label in numbers))
