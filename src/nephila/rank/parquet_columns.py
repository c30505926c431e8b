"""This room's door to Parquet: columns of files in, one file out, synced and renamed into place."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from nephila.errors import DamagedError, NephilaError
from nephila.store.durable import aside_of, disk_errors, make_directory, publish

ROWS_PER_GROUP: Final = 1 << 17


Place = Path | Sequence[Path]
"""A file, a folder of files, or some files."""


def files_below(place: Place) -> list[Path]:
    """The files of a place, in order."""
    if not isinstance(place, Path):
        return list(place)
    return sorted(place.glob("*.parquet")) if place.is_dir() else [place]


def column_names(path: Place) -> list[str]:
    files = files_below(path)
    if not files:
        raise NephilaError(f"There is no Parquet file in {path}; name a file, or a folder with some.")
    return list(_schema(files[0]).names)


def batches(place: Place, columns: Sequence[str], rows: int) -> Iterator[tuple[Any, ...]]:
    """The columns of a file or a folder, some rows at a time, as Arrow arrays; the next ones are read meanwhile."""
    reading = _batches(place, columns, rows)
    with ThreadPoolExecutor(1) as ahead:
        following = ahead.submit(next, reading, None)
        while (batch := following.result()) is not None:
            following = ahead.submit(next, reading, None)
            yield batch


def _batches(place: Place, columns: Sequence[str], rows: int) -> Iterator[tuple[Any, ...]]:
    for file in files_below(place):
        missing = [name for name in columns if name not in _schema(file).names]
        if missing:
            raise NephilaError(f"{file} has no column {missing[0]}; it has {', '.join(_schema(file).names)}.")
        try:
            with pq.ParquetFile(file) as opened:  # not mapped: mapped pages would count as ours
                # Group by group: one iterator over the whole file keeps what it has read. In this one thread: those of
                # Arrow's own pool keep memory that nobody can make them give back, 40 MB for two columns.
                for group in range(opened.num_row_groups):
                    for batch in opened.iter_batches(rows, [group], list(columns), use_threads=False):
                        yield tuple(batch.column(name) for name in columns)
        except (pa.ArrowInvalid, OSError) as error:
            raise DamagedError(f"{file} cannot be read ({_first_line(error)}); make it anew.") from None
        pa.default_memory_pool().release_unused()


def read_columns(place: Place, columns: Sequence[str]) -> tuple[Any, ...]:
    """Whole columns, each as one Arrow array."""
    found = list(batches(place, columns, ROWS_PER_GROUP))
    if not found:
        return tuple(pa.array([]) for _ in columns)
    return tuple(pa.concat_arrays([row[place] for row in found]) for place in range(len(columns)))


def is_one_of(column: Any, texts: Sequence[str]) -> Any:
    """Which rows of a column hold one of these texts; an empty row holds none."""
    return pc.is_in(column, value_set=pa.array(texts)).to_numpy(zero_copy_only=False)


def look_up(place: Place, key: str, wanted: Sequence[Any], column: str) -> dict[Any, Any]:
    """`column` of the rows whose `key` is wanted."""
    values = pa.array(wanted)
    found: dict[Any, Any] = {}
    for keys, texts in batches(place, (key, column), ROWS_PER_GROUP):
        chosen = pc.is_in(keys, value_set=values.cast(keys.type))
        found |= dict(zip(keys.filter(chosen).to_pylist(), texts.filter(chosen).to_pylist(), strict=True))
    return found


def row_count(place: Place) -> int:
    """How many rows the files hold."""
    return sum(_footer(file).num_rows for file in files_below(place))


def write_columns(path: Path, parts: Iterable[dict[str, Any]]) -> None:
    """Write numpy arrays, or lists of texts, a group of rows after the other, as one file that appears by rename."""
    make_directory(path.parent)
    aside = aside_of(path)
    with disk_errors(aside), ExitStack() as stack:
        file = stack.enter_context(aside.open("wb"))
        writer = None
        for part in parts:
            table = pa.table({name: pa.array(values) for name, values in part.items()})
            if writer is None:
                writer = stack.enter_context(
                    pq.ParquetWriter(file, table.schema, compression="zstd", use_dictionary=False)
                )
            writer.write_table(table)
        if writer is not None:
            writer.close()
        file.flush()
        os.fsync(file.fileno())
    publish(aside, path)


def _schema(file: Path) -> Any:
    return _footer(file).schema.to_arrow_schema()


def _footer(file: Path) -> Any:
    try:
        return pq.read_metadata(file, memory_map=True)
    except (pa.ArrowInvalid, OSError) as error:
        raise DamagedError(f"{file} is not a Parquet file ({_first_line(error)}); name another.") from None


def _first_line(error: BaseException) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
