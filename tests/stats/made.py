"""Crawl folders with tables that a test wrote itself: rows that say just what is counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from nephila.store.folder import CrawlFolder
from nephila.store.tables.manifest import NAME, Manifest, Part
from nephila.store.tables.schemas import TABLES

AT = datetime(2026, 1, 2, 3, tzinfo=UTC)
Rows = Sequence[Mapping[str, Any]]


def made(path: Path, **rows: Rows) -> CrawlFolder:
    """A folder with these rows; what a row does not say is empty, and a table that is not named has no rows."""
    folder = CrawlFolder.create(path)
    parts: dict[str, tuple[Part, ...]] = {}
    for name, table in TABLES.items():
        columns = [
            pa.array([row.get(field.name, _empty(field)) for row in rows.get(name, ())], field.type)
            for field in table.schema
        ]
        file = folder.tables / (f"{name}/part-00000.parquet" if table.parts else f"{name}.parquet")
        file.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_arrays(columns, schema=table.schema), file)
        part = Part(file.relative_to(folder.tables).as_posix(), len(rows.get(name, ())), file.stat().st_size)
        parts[name] = (part,)
    (folder.tables / NAME).write_bytes(msgspec.json.encode(Manifest(parts, 1)))
    return folder


def _empty(field: Any) -> Any:
    if field.nullable:
        return None
    if pa.types.is_timestamp(field.type):
        return AT
    return {pa.string(): "", pa.bool_(): False}.get(field.type, 0)
