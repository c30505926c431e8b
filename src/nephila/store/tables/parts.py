"""One Parquet part: in come record batches in their order, out goes a file under its aside name, synced.

Row groups are cut at fixed numbers of rows, whatever batches come in, so that equal rows give equal bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from nephila.store.durable import REAL_DISK, AppendFile, aside_of, disk_errors
from nephila.store.tables.schemas import Table

GROUP_ROWS: Final = 2**13
NARROW_GROUP_ROWS: Final = 2**17


def prepare(path: Path, schema: Any, batches: Iterable[Any], sorted_by: tuple[str, ...] = ()) -> int:
    """Write `path` aside and sync it; gives the number of rows."""
    group_rows = GROUP_ROWS if "text" in schema.names else NARROW_GROUP_ROWS
    sorting = pq.SortingColumn.from_ordering(schema, [(name, "ascending") for name in sorted_by]) if sorted_by else None
    rows = 0
    with disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with pq.ParquetWriter(aside_of(path), schema, compression="zstd", sorting_columns=sorting) as writer:
            for group in _groups(schema, batches, group_rows):
                rows += group.num_rows
                writer.write_table(group, row_group_size=group_rows)
    _sync(aside_of(path))
    return rows


def prepare_table(path: Path, table: Table, batches: Iterable[Any]) -> int:
    return prepare(path, table.schema, batches, table.sorted_by)


def _groups(schema: Any, batches: Iterable[Any], group_rows: int) -> Iterator[Any]:
    held: list[Any] = []
    held_rows = 0
    for batch in batches:
        start = 0
        while start < batch.num_rows:
            piece = batch.slice(start, group_rows - held_rows)
            held.append(piece)
            held_rows += piece.num_rows
            start += piece.num_rows
            if held_rows == group_rows:
                yield _as(schema, held)
                held, held_rows = [], 0
    if held:
        yield _as(schema, held)


def _as(schema: Any, batches: list[Any]) -> Any:
    """One table with one chunk per column, in the types of the schema; a null where none may be is refused."""
    table = pa.Table.from_batches(batches).select(schema.names).combine_chunks()
    columns = []
    for field in schema:
        column = table.column(field.name).cast(field.type)
        if not field.nullable and column.null_count:
            raise AssertionError(f"{field.name} may not be empty, and is in {column.null_count} rows")
        columns.append(column)
    return pa.Table.from_arrays(columns, schema=schema)


def batches_of(path: Path, columns: list[str] | None = None) -> Iterator[Any]:
    """The rows of a part again."""
    with pq.ParquetFile(path) as file:
        yield from file.iter_batches(columns=columns)


def values_where(path: Path, wanted: str, column: str, value: int) -> list[Any]:
    """One column of the rows with a value in another; groups of rows that cannot have it are not read."""
    found: list[Any] = pq.read_table(path, columns=[wanted], filters=[(column, "==", value)]).column(0).to_pylist()
    return found


def schema_of(path: Path) -> Any:
    return pq.read_schema(path)


def rows_in(path: Path) -> int:
    return int(pq.read_metadata(path).num_rows)


def _sync(path: Path) -> None:
    file = AppendFile(path, REAL_DISK)
    file.sync()
    file.close()
