"""The truth as a Parquet file, so that a test, or a user's own script, can compare a crawl with it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple, fields
from itertools import islice
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from nephila.lab.truth import TruthRow, truth
from nephila.lab.web import Web

_ROWS_AT_ONCE: Final = 20_000
_MICROSECONDS: Final = 1_000_000

SCHEMA: Final = pa.schema(
    [
        pa.field("url", pa.string(), nullable=False),
        pa.field("site", pa.string(), nullable=False),
        pa.field("canonical_site", pa.string(), nullable=False),
        pa.field("outcome", pa.string(), nullable=False),
        pa.field("status", pa.int16()),
        pa.field("digest", pa.binary(16)),
        pa.field("links", pa.list_(pa.string()), nullable=False),
        pa.field("redirect_to", pa.string()),
        pa.field("case_of", pa.string()),
        pa.field("depth", pa.int16()),
        pa.field("reachable", pa.bool_(), nullable=False),
        pa.field("valid_from", pa.timestamp("us", "UTC"), nullable=False),
        pa.field("valid_to", pa.timestamp("us", "UTC")),
    ]
)


def write_truth(web: Web, path: Path, now: float | None = None, seeds: Iterable[str] | None = None) -> int:
    """Write all rows (see `truth`) and return how many; the file appears whole or not at all."""
    rows = truth(web, now, seeds)
    unfinished = path.with_name(path.name + ".part")
    written = 0
    with pq.ParquetWriter(unfinished, SCHEMA, compression="zstd") as writer:
        while batch := list(islice(rows, _ROWS_AT_ONCE)):
            writer.write_table(_table(batch))
            written += len(batch)
    unfinished.replace(path)
    return written


def _table(rows: list[TruthRow]) -> Any:
    columns = dict(zip((field.name for field in fields(TruthRow)), zip(*map(astuple, rows), strict=True), strict=True))
    columns["outcome"] = tuple(str(outcome) for outcome in columns["outcome"])
    for name in ("valid_from", "valid_to"):
        columns[name] = tuple(None if at is None else round(at * _MICROSECONDS) for at in columns[name])
    return pa.table({name: pa.array(columns[name], SCHEMA.field(name).type) for name in SCHEMA.names}, schema=SCHEMA)
