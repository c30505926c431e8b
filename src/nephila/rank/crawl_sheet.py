"""The sheet of a crawl: the ranked pages of its tables, and the resolved links between them.

Ranked are HTML pages with code 200 that are neither a duplicate nor on an alias (DESIGN: Ranked nodes). A link counts
from its source to the page that it leads to in the end (`resolved`); links from or to anything else are left out, and
counted. With rank.duplicates = "merge" a link to a duplicate counts for the page that it duplicates.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Literal

import numpy as np

from nephila.rank.arrays import NOWHERE
from nephila.rank.edge_list import PIECE_ROWS
from nephila.rank.footing import footing
from nephila.rank.gathering import Rows, as_rows
from nephila.rank.link_building import Piece
from nephila.rank.parquet_columns import batches, is_one_of, look_up, read_columns, row_count
from nephila.rank.sheet import Groups, Naming, Sheet, Unit, grouping_keys, reordered
from nephila.store.folder import CrawlFolder
from nephila.store.tables.manifest import files_of

HTML: Final = ("text/html", "application/xhtml+xml")
ALIAS: Final = ("alias",)


def crawl_sheet(folder: CrawlFolder, unit: Unit, duplicates: Literal["drop", "merge"]) -> Sheet:
    """What the tables of a crawl say; links are read when they are asked for."""
    pages, links = files_of(folder, "pages"), files_of(folder, "links")
    sites = files_of(folder, "sites")
    ids, site, domain, ranked, copy_of = _pages(pages, _aliases(sites))
    table = np.full(int(ids.max(initial=-1)) + 1, NOWHERE, np.uint32)
    table[ids[ranked]] = np.arange(int(ranked.sum()), dtype=np.uint32)
    rows = Rows(ids[ranked], table)
    groups = Groups(site[ranked], domain[ranked], _communities(sites)[site[ranked]] if ranked.any() else None)
    rows, order = rows.in_order_of(list(grouping_keys(groups, unit)))
    groups = reordered(groups, order)
    ends = _with_copies(rows, ids, copy_of) if duplicates == "merge" else rows
    counted = [0]

    def pieces() -> Iterator[Piece]:
        for sources, targets in batches(links, ("source", "resolved"), PIECE_ROWS):
            counted[0] += len(sources)
            heads, tails = sources.to_numpy(), targets.to_numpy()
            if ends is rows:
                yield from as_rows([(heads, tails)], rows)
                continue
            from_rows, to_rows = rows.find(heads), ends.find(tails)
            inside = (from_rows != NOWHERE) & (to_rows != NOWHERE)
            yield from_rows[inside], to_rows[inside]

    copies = int((copy_of >= 0).sum())
    return Sheet(rows, groups, pieces, lambda: counted[0], crawl_naming(folder), lambda: footing(folder, rows, copies))


def _pages(files: Any, alias_sites: Any) -> tuple[Any, Any, Any, Any, Any]:
    """Of every page: its id, site, domain, whether it is ranked, and the page that it duplicates or -1."""
    count = row_count(files)
    # Filled part by part: small arrays joined at the end would stay with the process.
    columns = tuple(np.empty(count, kind) for kind in (np.int64, np.int32, np.int32, np.bool_, np.int64))
    names = ("page_id", "site_id", "domain_id", "code", "mime", "duplicate_of", "outcome")
    begin = 0
    for batch in batches(files, names, PIECE_ROWS):
        page, site, domain = (column.to_numpy() for column in batch[:3])
        code = batch[3].fill_null(0).to_numpy(zero_copy_only=False)
        copy_of = batch[5].fill_null(-1).to_numpy(zero_copy_only=False)
        ranked = (code == 200) & is_one_of(batch[4], HTML) & (copy_of < 0) & ~is_one_of(batch[6], ALIAS)
        ranked &= ~np.isin(site, alias_sites)
        for column, values in zip(columns, (page, site, domain, ranked, copy_of), strict=True):
            column[begin : begin + len(page)] = values
        begin += len(page)
    return columns[0], columns[1], columns[2], columns[3], columns[4]


def _aliases(sites: Any) -> Any:
    site, alias_of = read_columns(sites, ("site_id", "alias_of"))
    return site.to_numpy(zero_copy_only=False)[np.array([alias.as_py() is not None for alias in alias_of], np.bool_)]


def _communities(sites: Any) -> Any:
    """The community of each site id."""
    site, community = (
        column.to_numpy(zero_copy_only=False) for column in read_columns(sites, ("site_id", "community_id"))
    )
    table = np.full(int(site.max(initial=-1)) + 1, -1, np.int32)
    table[site] = community
    return table


def _with_copies(rows: Rows, ids: Any, copy_of: Any) -> Rows:
    """Rows in which a duplicate is found as the page that it duplicates."""
    assert rows.table is not None
    table = rows.table.copy()
    copies = copy_of >= 0
    table[ids[copies]] = rows.find(copy_of[copies])
    return Rows(rows.ids, table)


def crawl_naming(folder: CrawlFolder) -> Naming:
    """URLs of pages and sites, and names of domains, out of the tables."""

    def by_id(table: str, key: str, column: str, numbers: list[int]) -> list[str]:
        found = look_up(files_of(folder, table), key, numbers, column) if numbers else {}
        return [found.get(number) or str(number) for number in numbers]

    def find(words: list[str]) -> dict[str, int]:
        numbers = {word: int(word) for word in words if word.isdecimal()}
        urls = [word for word in words if not word.isdecimal()]
        return numbers | (look_up(files_of(folder, "pages"), "url", urls, "page_id") if urls else {})

    return Naming(
        pages=lambda numbers: by_id("pages", "page_id", "url", numbers),
        sites=lambda numbers: by_id("sites", "site_id", "url", numbers),
        domains=lambda numbers: by_id("domains", "domain_id", "domain", numbers),
        find=find,
    )
