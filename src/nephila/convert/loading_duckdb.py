"""The tables as one DuckDB file: built aside, checked, closed, then renamed into place.

A kill leaves the old file or the new one. No keys and no indexes: a file with them was bricked by a kill in the past
(RELIABILITY section 5, row 9), and DuckDB does not need them for scans; order and uniqueness are checked instead.

Beside the tables of docs/tables.md there is `ranks`, as rank wrote it, and `pages` has a column `rank`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nephila.convert.loading import RANKS, LoadReport, check_counts
from nephila.convert.ranked import find_ranks
from nephila.errors import NephilaError
from nephila.store.durable import REAL_DISK, AppendFile, aside_of, publish
from nephila.store.folder import CrawlFolder
from nephila.store.tables.duck import DuckError, in_list, one, open_duck
from nephila.store.tables.manifest import files_of
from nephila.store.tables.schemas import PAGES, TABLES

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
            ranks = find_ranks(folder)
            _fill(duck, RANKS, ranks.schema, [ranks.path] if ranks.path else [], ("page_id",))
            for name, table in TABLES.items():
                _fill(duck, name, table.schema, files_of(folder, name), table.sorted_by)
            for name in (*TABLES, RANKS):
                counts[name] = int(one(duck, f"SELECT count(*) FROM {name}")[0])  # noqa: S608
            check_counts(folder, ranks, counts)
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


def _fill(duck: Any, name: str, schema: Any, files: Sequence[Path], sorted_by: Sequence[str]) -> None:
    """Make a table of some files, pages with their ranks."""
    duck.register("empty", schema.empty_table())
    further, joined = (", r.rank", "LEFT JOIN ranks r USING (page_id)") if name == PAGES.name else ("", "")
    source = f"read_parquet({in_list(files)})" if files else "empty"
    order = ", ".join(sorted_by)
    duck.execute(f"CREATE TABLE {name} AS SELECT t.*{further} FROM empty t {joined}")  # noqa: S608
    duck.execute(f"INSERT INTO {name} SELECT t.*{further} FROM {source} t {joined} ORDER BY {order}")  # noqa: S608
    duck.unregister("empty")


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
