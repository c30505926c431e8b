"""The rows of a plan as Parquet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

REVISITS: Final = pa.schema(
    [
        pa.field("slot", pa.int32(), nullable=False),
        pa.field("site", pa.int64(), nullable=False),  # the coordinator's number
        pa.field("hash", pa.int64(), nullable=False),  # of the path
        pa.field("score", pa.float64(), nullable=False),
        pa.field("waited_days", pa.float32(), nullable=False),
        pa.field("rate_per_day", pa.float32(), nullable=False),  # expected changes
    ]
)


def write_rows(path: Path, columns: Sequence[Any]) -> None:
    """`columns` in the order of REVISITS."""
    arrays = [pa.array(values, field.type) for values, field in zip(columns, REVISITS, strict=True)]
    pq.write_table(pa.Table.from_arrays(arrays, schema=REVISITS), path)


def read_rows(path: Path, skip: int, count: int) -> Iterator[list[tuple[int, int]]]:
    """(site, hash) of the rows behind the first `skip`, so many at a time."""
    table = pq.read_table(path, columns=["site", "hash"]).slice(skip)
    for batch in table.to_batches(max_chunksize=count):
        yield list(zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True))
