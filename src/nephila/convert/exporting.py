"""Tables as text: CSV for spreadsheets, JSON Lines for programs.

A cell that a spreadsheet would take for a formula gets an apostrophe in front (RELIABILITY C6), unless `raw`; JSON
Lines stay as they are. Times are ISO 8601, checksums hexadecimal.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Literal, TextIO

import msgspec

from nephila.errors import UsageError
from nephila.store.durable import aside_of, disk_errors, publish
from nephila.store.folder import CrawlFolder
from nephila.store.tables.manifest import files_of
from nephila.store.tables.parts import batches_of
from nephila.store.tables.schemas import TABLES

Format = Literal["csv", "jsonl"]
# The last four are the first four as East Asian keyboards write them; some spreadsheets take them for the same.
_FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def export(folder: CrawlFolder, table: str, target: Path, format: Format, *, raw: bool = False) -> int:
    """Write one table; the file appears when it is whole. Gives the number of rows."""
    if table not in TABLES:
        raise UsageError(f"there is no table {table!r}; the tables are: {', '.join(TABLES)}.")
    files = files_of(folder, table)
    with disk_errors(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        with aside_of(target).open("w", encoding="utf-8", newline="") as file:
            if format == "csv":
                rows = _write_csv(file, TABLES[table].names, _rows(files), raw)
            else:
                rows = _write_json_lines(file, TABLES[table].names, _rows(files))
        publish(aside_of(target), target)
    return rows


def _rows(files: list[Path]) -> Iterator[tuple[Any, ...]]:
    for path in files:
        for batch in batches_of(path):
            yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def _write_csv(file: TextIO, names: tuple[str, ...], rows: Iterator[tuple[Any, ...]], raw: bool) -> int:
    writer = csv.writer(file)
    writer.writerow(names)
    count = 0
    for row in rows:
        values = [_shown(value) for value in row]
        writer.writerow(values if raw else [harmless(value) for value in values])
        count += 1
    return count


def _write_json_lines(file: TextIO, names: tuple[str, ...], rows: Iterator[tuple[Any, ...]]) -> int:
    count = 0
    for row in rows:
        record = dict(zip(names, map(_shown, row), strict=True))
        file.write(msgspec.json.encode(record).decode() + "\n")
        count += 1
    return count


def harmless(value: Any) -> Any:
    """A text that no spreadsheet takes for a formula; numbers are none."""
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return "'" + value
    return value


def _shown(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    return value
