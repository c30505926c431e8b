"""What the index should hold, and what of it is new: in come tables and ranks, out go arrays and a list of changes.

A page is indexed again only if what it says or what others call it has another hash, or if its rank has moved by more
than half of a doubling since tantivy was told. The hashes of parts of `pages` that were not written since the last
index are taken over; links, which say what pages are called, are read through once, two narrow columns of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from nephila.config.sections import Search
from nephila.search.columns import Columns
from nephila.search.scoring import level_of
from nephila.store.folder import CrawlFolder
from nephila.store.tables.duck import batches, in_list, one
from nephila.store.tables.manifest import files_of
from nephila.store.tables.schemas import PART_IDS

RANKS: Final = "ranks"
_ANCHORS_OF_A_PAGE: Final = 40
_ANCHOR_CHARACTERS: Final = 120

# What a page says, as a hash; the day of its last answer stands in where it names no date.
_SAYS: Final = """hash(url, site_id, title, description, text, language, published_at, modified_at,
    CASE WHEN published_at IS NULL AND modified_at IS NULL THEN date_trunc('day', fetched_at) END)"""


@dataclass(frozen=True, slots=True)
class Changes:
    """Ids in ascending order."""

    write: Any
    """pages to index now"""
    remove: Any
    """pages to strike out: those that are written anew, and those that are gone"""


def input_files(folder: CrawlFolder) -> dict[str, Path]:
    """Everything an index is made from, by a name that stays."""
    found = {
        f"{table}/{path.name}": path
        for table in ("pages", "links", "page_counts", "sites", "communities")
        for path in files_of(folder, table)
    }
    ranks = folder.rank / "ranks.parquet"
    return found | ({RANKS: ranks} if ranks.exists() else {})


def gather(
    duck: Any, config: Search, folder: CrawlFolder, old: Columns, touched: Sequence[Path], ranked: bool
) -> Columns:
    """What the index should hold; the table `anchors` (page_id, words) is left in `duck` for `write_anchors`.

    `touched` are the parts of `pages` that the index in force has not seen.
    """
    pages = files_of(folder, "pages")
    count = one(duck, f"SELECT coalesce(max(page_id) + 1, 0) FROM {_read(pages)}")[0]  # noqa: S608
    content = _enlarged(old.content, count)
    for path in touched:
        _hash_part(duck, config, path, content)
    _find_anchors(duck, folder)
    anchors = np.zeros(count, np.uint64)
    _fill(duck, "SELECT page_id, hash(words) FROM anchors", anchors)
    times_mean = np.zeros(count, np.float32)
    if ranked:
        ranks = _read([folder.rank / "ranks.parquet"])
        _fill(duck, f"SELECT page_id, (rank * count(*) OVER ())::FLOAT FROM {ranks}", times_mean)  # noqa: S608
    rows = _read(pages)
    site, fetched_s, group = np.zeros(count, np.int32), np.full(count, -1, np.int64), np.arange(count, dtype=np.int64)
    _fill(duck, f"SELECT page_id, site_id FROM {rows}", site)  # noqa: S608
    known = f"SELECT page_id, epoch(fetched_at)::BIGINT FROM {rows} WHERE fetched_at IS NOT NULL"  # noqa: S608
    _fill(duck, known, fetched_s)
    copies = f"SELECT page_id, duplicate_of FROM {rows} WHERE duplicate_of IS NOT NULL"  # noqa: S608
    _fill(duck, copies, group)
    counts = _read(files_of(folder, "page_counts"))
    _fill(duck, f"SELECT page_id, cluster FROM {counts} WHERE cluster IS NOT NULL", group)  # noqa: S608
    of_site, names = _communities(duck, folder)
    indexed = (content != 0) & ~np.isin(site, _aliases(duck, folder))
    return Columns(
        indexed,
        content,
        anchors,
        settled_levels(old.level, times_mean),
        times_mean,
        group,
        site,
        fetched_s,
        of_site,
        names,
    )


def settled_levels(old: Any, times_mean: Any) -> Any:
    """Levels by the ranks of now; one that is half a doubling off at most stays, so that its page is left alone."""
    exact = level_of(times_mean)
    wanted = np.round(exact).astype(np.int8)
    known = min(len(old), len(wanted))
    near = np.abs(exact[:known] - old[:known]) <= 1
    wanted[:known][near] = np.asarray(old[:known])[near]
    return wanted


def find_changes(old: Columns, new: Columns) -> Changes:
    """Which pages must be written, and which struck out."""
    both = min(len(old.indexed), len(new.indexed))
    differs = np.ones(len(new.indexed), np.bool_)
    differs[:both] = (
        (old.indexed[:both] != new.indexed[:both])
        | (old.content[:both] != new.content[:both])
        | (old.anchors[:both] != new.anchors[:both])
        | (old.level[:both] != new.level[:both])
    )
    known = np.zeros(len(new.indexed), np.bool_)
    known[:both] = old.indexed[:both]
    return Changes(np.flatnonzero(new.indexed & differs), np.flatnonzero(known & differs))


def _aliases(duck: Any, folder: CrawlFolder) -> Any:
    """Sites whose pages are those of another site (S0-9)."""
    sites = _read(files_of(folder, "sites"))
    found = duck.execute(f"SELECT site_id FROM {sites} WHERE alias_of IS NOT NULL").fetchall()  # noqa: S608
    return np.array([site for (site,) in found], np.int32)


def _hash_part(duck: Any, config: Search, path: Path, content: Any) -> None:
    part = int(path.stem.removeprefix("part-"))
    content[part * PART_IDS : (part + 1) * PART_IDS] = 0
    allowed = "true" if config.noindex == "ignore" else "NOT list_contains(string_split(flags, ' '), 'noindex')"
    _fill(
        duck,
        f"""SELECT page_id, greatest({_SAYS}, 1) FROM {_read([path])}
            WHERE parse IN ('ok', 'limit', 'charset') AND {allowed}""",  # noqa: S608
        content,
    )


def _find_anchors(duck: Any, folder: CrawlFolder) -> None:
    """What other pages call a page: each text once, the most frequent first."""
    links = _read(files_of(folder, "links"))
    duck.execute(
        f"""CREATE TABLE anchors AS
            WITH called AS (
                SELECT resolved AS page_id, left(anchor, {_ANCHOR_CHARACTERS}) AS anchor, count(*) AS times
                FROM {links} WHERE anchor <> '' AND source <> resolved GROUP BY 1, 2),
            placed AS (
                SELECT *, row_number() OVER (PARTITION BY page_id ORDER BY times DESC, anchor) AS place FROM called)
            SELECT page_id, string_agg(anchor, chr(10) ORDER BY place) AS words
            FROM placed WHERE place <= {_ANCHORS_OF_A_PAGE} GROUP BY page_id"""  # noqa: S608
    )


def write_anchors(duck: Any, path: Path) -> None:
    """Put what pages are called where the workers read it."""
    target = in_list([path]).strip("[]")
    rows = "SELECT page_id, words FROM anchors ORDER BY page_id"
    duck.execute(f"COPY ({rows}) TO {target} (FORMAT parquet)")


def _communities(duck: Any, folder: CrawlFolder) -> tuple[Any, tuple[str, ...]]:
    sites, communities = _read(files_of(folder, "sites")), _read(files_of(folder, "communities"))
    count = one(duck, f"SELECT coalesce(max(site_id) + 1, 0) FROM {sites}")[0]  # noqa: S608
    of_site = np.zeros(count, np.int32)
    _fill(duck, f"SELECT site_id, community_id FROM {sites}", of_site)  # noqa: S608
    names = duck.execute(f"SELECT name FROM {communities} ORDER BY community_id").fetchall()  # noqa: S608
    return of_site, tuple(name for (name,) in names)


def _enlarged(array: Any, count: int) -> Any:
    larger = np.zeros(count, array.dtype)
    known = min(len(array), count)
    larger[:known] = array[:known]
    return larger


def _fill(duck: Any, sql: str, into: Any) -> None:
    """Put the second column of an answer to the places that the first names."""
    for batch in batches(duck, sql):
        places = batch.column(0).to_numpy()
        into[places] = batch.column(1).to_numpy(zero_copy_only=False)


def _read(paths: Sequence[Path]) -> str:
    """SQL for the rows of some files."""
    return f"read_parquet({in_list(paths)})"
