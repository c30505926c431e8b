"""`rank/ranks.parquet`: one row per ranked page, and the ranks of sites and domains beside it.

    page_id      the page, or the id in the edge list
    name         only for edge lists whose ids are words
    rank         PageRank; all ranks sum to 1
    local_rank   PageRank among the pages of its own site, by the links within it; sums to 1 in each site (S0-24)
    site_rank    the rank of its site: the sum of the ranks of the site's pages
    domain_rank  likewise of its domain
    in_links     distinct pages that link to it
    out_links    distinct pages that it links to
    rank_TOPIC   PageRank with the teleport of a topic

Where sites or domains are not known, their columns are absent. Rows are in the order of page_id.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from nephila.rank.arrays import Blocks, Ids, Ranks
from nephila.rank.link_file import LinkFile
from nephila.rank.parquet_columns import ROWS_PER_GROUP, column_names, look_up, read_columns, write_columns
from nephila.rank.report import Bin, TopPage
from nephila.rank.sheet import Groups, Naming

TOP = 20


def write_ranks(
    path: Path, file: LinkFile, ranks: Ranks, local: Ranks | None, groups: Groups, topics: dict[str, Ranks],
    names: list[str] | None, *, single_precision: bool,
) -> None:  # fmt: skip
    """Write the table, some rows at a time; it appears by rename."""
    kind = np.float32 if single_precision else np.float64
    ascending = bool((file.ids[1:] > file.ids[:-1]).all())
    order = None if ascending else np.argsort(file.ids, kind="stable")
    sums = {
        name: _sums_by_place(ranks, blocks)
        for name, blocks in (("site_rank", groups.site), ("domain_rank", groups.domain))
        if blocks is not None
    }

    def some(begin: int) -> dict[str, Any]:
        end = min(begin + ROWS_PER_GROUP, len(file.ids))
        rows: Any = slice(begin, end) if order is None else order[begin:end]
        ids = file.ids[rows]
        columns: dict[str, Any] = {"page_id": ids}
        if names is not None:
            columns["name"] = [names[number] for number in ids]
        columns["rank"] = ranks[rows].astype(kind)
        if local is not None:
            columns["local_rank"] = local[rows].astype(kind)
        columns |= {name: of_block[place[rows]].astype(kind) for name, (place, of_block) in sums.items()}
        first, last = (slice(begin, end), slice(begin + 1, end + 1)) if order is None else (rows, rows + 1)
        columns["in_links"] = (file.links.offsets[last] - file.links.offsets[first]).astype(np.int64)
        columns["out_links"] = file.links.degrees[rows].astype(np.int64)
        return columns | {f"rank_{topic}": values[rows].astype(kind) for topic, values in topics.items()}

    write_columns(path, (some(begin) for begin in range(0, max(len(file.ids), 1), ROWS_PER_GROUP)))


def _sums_by_place(ranks: Ranks, blocks: Blocks) -> tuple[Any, Ranks]:
    """The place of each row's block, and the sum of the ranks at each place."""
    places = np.unique(blocks, return_inverse=True)[1].astype(np.uint32)
    return places, np.bincount(places, weights=ranks).astype(np.float64)


def read_ranks(path: Path, ids: Ids) -> Ranks | None:
    """The ranks of an earlier table as a start for these pages; None where there is none or nothing fits."""
    if not path.exists() or "rank" not in column_names(path):
        return None
    known, ranks = (
        np.asarray(column.to_numpy(zero_copy_only=False)) for column in read_columns(path, ("page_id", "rank"))
    )
    if not len(known) or not len(ids):
        return None
    place = np.minimum(np.searchsorted(known, ids), len(known) - 1)
    found = known[place] == ids
    start = np.where(found, ranks[place], 1 / len(ids)).astype(np.float64)
    total = float(start.sum())
    return start / total if found.any() and np.isfinite(total) and start.min() >= 0 and total > 0 else None


def table_naming(room: Path) -> Naming:
    """The names that an edge list with words left in its table of ranks; numbers where it had none."""
    table = room / "ranks.parquet"
    if not table.exists() or "name" not in column_names(table):
        return Naming()

    def names(numbers: list[int]) -> list[str]:
        found = look_up(table, "page_id", numbers, "name") if numbers else {}
        return [found[number] for number in numbers]

    return Naming(pages=names, find=lambda words: look_up(table, "name", words, "page_id"))


def best(ids: Ids, ranks: Ranks, in_links: Any, names: Any, most: int = TOP) -> tuple[TopPage, ...]:
    """The first `most` by rank, equal ranks by id."""
    if not len(ids):
        return ()
    most = min(most, len(ids))
    candidates = np.flatnonzero(ranks >= np.partition(ranks, len(ranks) - most)[len(ranks) - most])
    order = candidates[np.lexsort((ids[candidates], -ranks[candidates]))][:most]
    return tuple(
        TopPage(place + 1, int(ids[row]), name, float(ranks[row]), int(in_links[row]))
        for place, (row, name) in enumerate(zip(order, names([int(ids[row]) for row in order]), strict=True))
    )


def distribution(ranks: Ranks) -> tuple[Bin, ...]:
    """How many pages have which multiple of the mean rank, by powers of two: the picture of the report."""
    found: Counter[int] = Counter()
    for begin in range(0, len(ranks), ROWS_PER_GROUP):
        part = ranks[begin : begin + ROWS_PER_GROUP]
        powers, pages = np.unique(np.floor(np.log2(part[part > 0] * len(ranks))), return_counts=True)
        found.update({int(power): int(count) for power, count in zip(powers, pages, strict=True)})
    return tuple(Bin(power, found[power]) for power in sorted(found))
