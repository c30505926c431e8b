"""S3-25: ranks can be trusted as far as the input is complete, free of duplicates and current. Three metrics of that.

They are counted from the tables that the ranking reads anyway: URLs known against URLs requested, near copies among the
ranked pages (exact copies are not ranked at all), and how far the pages' last fetches lie apart.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

import numpy as np

from nephila.rank.arrays import NOWHERE, Ids
from nephila.rank.edge_list import PIECE_ROWS
from nephila.rank.gathering import Rows
from nephila.rank.parquet_columns import batches
from nephila.rank.report import Footing
from nephila.store.folder import CrawlFolder
from nephila.store.tables.manifest import files_of, read_manifest

_MICROSECONDS: Final = 1_000_000


def footing(folder: CrawlFolder, rows: Rows, duplicates_left_out: int) -> Footing:
    """What the ranks of these rows stand on."""
    manifest = read_manifest(folder)
    requested, unfetched = (manifest.rows(name) if manifest else 0 for name in ("pages", "unfetched"))
    ranked = len(rows.ids)
    near = near_copies(_clusters(folder, rows))
    newest, median_lag_s, longest_lag_s = lags(_fetch_times(folder, rows))
    return Footing(
        urls_known=requested + unfetched,
        urls_requested=requested,
        complete=_share(requested, requested + unfetched),
        duplicates_left_out=duplicates_left_out,
        near_duplicates=near,
        duplicate_free=_share(ranked - near, ranked),
        newest_fetch_at=newest,
        median_lag_s=median_lag_s,
        longest_lag_s=longest_lag_s,
    )


def near_copies(clusters: Ids) -> int:
    """Of pages in clusters, how many are not the first of theirs."""
    return len(clusters) - len(np.unique(clusters))


def lags(fetched_us: Ids) -> tuple[datetime | None, float, float]:
    """When the newest page was fetched, and how long before it the median and the oldest were, in seconds."""
    if not len(fetched_us):
        return None, 0.0, 0.0
    newest = int(fetched_us.max())
    median, longest = newest - float(np.median(fetched_us)), newest - int(fetched_us.min())
    return datetime.fromtimestamp(newest / _MICROSECONDS, UTC), median / _MICROSECONDS, longest / _MICROSECONDS


def _clusters(folder: CrawlFolder, rows: Rows) -> Ids:
    """The near-duplicate cluster of every ranked page that has one."""
    return _of_ranked(folder, rows, "page_counts", "cluster")


def _fetch_times(folder: CrawlFolder, rows: Rows) -> Ids:
    """When each ranked page was last fetched, in microseconds."""
    return _of_ranked(folder, rows, "pages", "fetched_at")


def _of_ranked(folder: CrawlFolder, rows: Rows, table: str, column: str) -> Ids:
    found: list[Any] = [np.zeros(0, np.int64)]
    for page, values in batches(files_of(folder, table), ("page_id", column), PIECE_ROWS):
        present = values.is_valid().to_numpy(zero_copy_only=False)
        ranked = rows.find(page.to_numpy()) != NOWHERE
        whole = values.cast("int64").fill_null(0).to_numpy(zero_copy_only=False)
        found.append(whole[present & ranked])
    return np.concatenate(found)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0
