"""DuckDB with one set of rules: a memory limit, its own temporary folder, no downloads, UTC.

Values are parameters; names in SQL come from our own code alone (RELIABILITY C5).
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import duckdb

from nephila.errors import NephilaError

DuckError = duckdb.Error
BATCH_ROWS: Final = 2**16
MIN_MEMORY_BYTES: Final = 64 * 2**20


@contextmanager
def open_duck(
    memory_bytes: int,
    threads: int,
    scratch: Path,
    database: Path | None = None,
    *,
    setting: str = "convert.memory_limit",
) -> Iterator[Any]:
    """A connection that spills into `scratch`, which is removed at the end; `setting` is the key of its memory."""
    shutil.rmtree(scratch, ignore_errors=True)
    connection = duckdb.connect(
        str(database) if database else ":memory:",
        config={
            "memory_limit": f"{max(memory_bytes, MIN_MEMORY_BYTES)}B",
            "threads": threads,
            "temp_directory": str(scratch),
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "preserve_insertion_order": False,
        },
    )
    try:
        connection.execute("SET TimeZone = 'UTC'")
        yield connection
    except duckdb.OutOfMemoryException as problem:
        raise NephilaError(
            f"{memory_bytes / 2**20:,.0f} MiB are too little memory for this many rows; "
            f"raise it with --set {setting}=4GiB, or use fewer --agents, and run the same command again."
        ) from problem
    finally:
        connection.close()
        shutil.rmtree(scratch, ignore_errors=True)


def batches(connection: Any, sql: str, values: Any = ()) -> Iterator[Any]:
    """The answer as record batches, a few at a time."""
    yield from connection.sql(sql, params=list(values)).to_arrow_reader(BATCH_ROWS)


def one(connection: Any, sql: str, values: Any = ()) -> tuple[Any, ...]:
    """The only row of an answer, which is read to its end: the connection is busy until then."""
    (row,) = connection.execute(sql, values).fetchall()
    return tuple(row)


def in_list(paths: Iterable[Path]) -> str:
    """Paths as a list in SQL; empty for none."""
    quoted = ", ".join("'" + str(path).replace("'", "''") + "'" for path in paths)
    return f"[{quoted}]" if quoted else ""
