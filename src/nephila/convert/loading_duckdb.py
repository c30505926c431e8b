"""The tables as one DuckDB file: built aside, checked, closed, then renamed into place.

A kill leaves the old file or the new one. No keys and no indexes: a file with them was bricked by a kill in the past
(RELIABILITY section 5, row 9), and DuckDB does not need them for scans; order and uniqueness are checked instead.
"""

from __future__ import annotations

import time
from pathlib import Path

from nephila.convert.loading import LoadReport, check_counts
from nephila.errors import NephilaError
from nephila.store.durable import REAL_DISK, AppendFile, aside_of, publish
from nephila.store.folder import CrawlFolder
from nephila.store.tables.duck import DuckError, in_list, one, open_duck
from nephila.store.tables.manifest import files_of
from nephila.store.tables.schemas import TABLES

_MAGIC_AT, _MAGIC = 8, b"DUCK"


def load(folder: CrawlFolder, target: Path, memory_bytes: int, threads: int) -> LoadReport:
    """Write all tables into `target`, which must be a DuckDB file or not exist."""
    started = time.monotonic()
    _check_target(target)
    aside = aside_of(target)
    for leftover in (aside, aside.with_name(aside.name + ".wal")):
        leftover.unlink(missing_ok=True)
    counts: dict[str, int] = {}
    scratch = target.with_name(target.name + ".scratch")
    try:
        with open_duck(memory_bytes, threads, scratch, aside) as duck:
            for name, table in TABLES.items():
                files = files_of(folder, name)
                duck.register("empty", table.schema.empty_table())
                duck.execute(f"CREATE TABLE {name} AS SELECT * FROM empty")  # noqa: S608
                duck.unregister("empty")
                if files:
                    order = ", ".join(table.sorted_by)
                    duck.execute(
                        f"INSERT INTO {name} SELECT * FROM read_parquet({in_list(files)}) ORDER BY {order}"  # noqa: S608
                    )
                counts[name] = int(one(duck, f"SELECT count(*) FROM {name}")[0])  # noqa: S608
            check_counts(folder, counts)
            duck.execute("CHECKPOINT")
        file = AppendFile(aside, REAL_DISK)
        file.sync()
        file.close()
    except DuckError as problem:
        aside.unlink(missing_ok=True)
        raise NephilaError(
            f"Cannot write {target} ({problem}); check the disk and run the same command again."
        ) from problem
    publish(aside, target)
    return LoadReport(str(target), counts, 0, round(time.monotonic() - started, 3))


def _check_target(target: Path) -> None:
    """Never overwrite somebody's letter."""
    if not target.exists():
        return
    start = b""
    if target.is_file():
        with target.open("rb") as file:
            start = file.read(_MAGIC_AT + len(_MAGIC))
    if start[_MAGIC_AT:] != _MAGIC:
        raise NephilaError(f"{target} exists and is no DuckDB file; it was left alone: name another file.")
