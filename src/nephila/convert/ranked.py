"""The ranks beside the tables: `rank/ranks.parquet`, where there is one, as loading and exporting take it.

Its columns are page_id, rank and what else rank found (docs/link-file.md); rows are in the order of page_id. Ranks may
be older than the tables: ids never change, and a page that came later has none.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from nephila.errors import NephilaError
from nephila.store.folder import CrawlFolder
from nephila.store.tables.manifest import read_manifest
from nephila.store.tables.parts import batches_of, rows_in, schema_of

NO_RANKS: Final = pa.schema([pa.field("page_id", pa.int64(), nullable=False), pa.field("rank", pa.float64())])
_NAME: Final = re.compile(r"[A-Za-z0-9_]{1,60}")


@dataclass(frozen=True, slots=True)
class RanksFile:
    """`path` is None where nothing is ranked yet."""

    path: Path | None
    rows: int
    schema: Any
    digest: str
    """of its bytes: another ranking is another load"""

    def by_page(self, pages: int) -> Any:
        """The rank of every page id as an array, NaN where it has none."""
        ranks = np.full(pages, np.nan)
        for batch in batches_of(self.path, ["page_id", "rank"]) if self.path else ():
            ranks[batch.column("page_id").to_numpy()] = batch.column("rank").to_numpy()
        return ranks


def find_ranks(folder: CrawlFolder) -> RanksFile:
    """The ranks of a crawl's pages; an error if they are of something else."""
    path = folder.rank / "ranks.parquet"
    manifest = read_manifest(folder)
    if manifest is None or not path.exists():
        return RanksFile(None, 0, NO_RANKS, "")
    schema = schema_of(path)
    ours = {"page_id", "rank"} <= set(schema.names) and "name" not in schema.names
    largest = -1
    for batch in batches_of(path, ["page_id"]) if ours else ():
        largest = max(largest, int(np.max(batch.column(0).to_numpy(), initial=-1)))
    if not ours or largest >= manifest.rows("pages") or not all(map(_NAME.fullmatch, schema.names)):
        raise NephilaError(
            f"{path} does not rank the pages of this crawl; run `nephila rank -C {folder.path}` and then this again."
        )
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha1").hexdigest()
    return RanksFile(path, rows_in(path), schema, digest)
