"""What loading into any database tells and checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from nephila.convert.ranked import RanksFile
from nephila.errors import DamagedError
from nephila.store.folder import CrawlFolder
from nephila.store.tables.manifest import read_manifest

RANKS: Final = "ranks"
"""The table of ranks, which belongs to no conversion."""


@dataclass(frozen=True, slots=True)
class LoadReport:
    """Rows in the database by table, and the rows it would not take."""

    target: str
    rows: dict[str, int]
    quarantined: int
    seconds: float


def check_counts(
    folder: CrawlFolder, ranks: RanksFile, rows: Mapping[str, int], quarantined: Mapping[str, int] | None = None
) -> None:
    """Every row of every table is in the database, or in quarantine."""
    manifest = read_manifest(folder)
    assert manifest is not None
    for table in rows:
        expected = ranks.rows if table == RANKS else manifest.rows(table)
        found = rows[table] + (quarantined or {}).get(table, 0)
        if found != expected:
            raise DamagedError(
                f"{found:,} rows of {table} were loaded and there are {expected:,}; "
                f"run `nephila convert -C {folder.path}` and load again."
            )
