"""The rows between the two passes: page rows with the keys that other rows look for, and links whose target is a key.

A URL's key is its site's hash, its path's hash and the hash of its path without regard to case. The pair of the first
two is as good as the URL (128 bits); the third serves the meaning match (S3-18). S3's ancestor of this is the disk
hash index (S3-12).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import pyarrow as pa

from nephila.store.tables.schemas import PAGES
from nephila.urls import path_of, split, url_hash

KEY_SUFFIXES: Final = ("site", "path", "folded")
_KEYS: Final = [
    pa.field(f"{whose}_{suffix}", pa.int64(), nullable=whose != "own")
    for whose in ("own", "redirect", "canonical")
    for suffix in KEY_SUFFIXES
]

TEXT_CHECKSUM: Final = pa.field("text_checksum", pa.binary(16))  # of the main text, as in `visits`

PAGE_STAGE: Final = pa.schema(
    [
        *(field for field in PAGES.schema if field.name != "duplicate_of"),
        TEXT_CHECKSUM,
        pa.field("inherits", pa.bool_(), nullable=False),  # a server said that nothing changed
        pa.field("is_home", pa.bool_(), nullable=False),
        *_KEYS,
    ]
)
LINK_STAGE: Final = pa.schema(
    [
        pa.field("source", pa.int64(), nullable=False),
        pa.field("target_site", pa.int64(), nullable=False),
        pa.field("target_path", pa.int64(), nullable=False),
        pa.field("target_folded", pa.int64(), nullable=False),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("anchor", pa.string(), nullable=False),
        pa.field("url_bytes", pa.int32(), nullable=False),  # of the target, for the ratio of S0-22
    ]
)
KEYS: Final = pa.schema(
    [
        *(PAGES.schema.field(name) for name in ("page_id", "site_id", "domain_id", "checksum", "simhash")),
        TEXT_CHECKSUM,
        pa.field("has_content", pa.bool_(), nullable=False),
        *_KEYS,
        pa.field("duplicate_of", pa.int64()),
        pa.field("home_title", pa.string()),  # of a site's index page alone (S0-21)
        pa.field("home_description", pa.string()),
        pa.field("is_home", pa.bool_(), nullable=False),
    ]
)
"""What is kept of every page for the joins of later conversions (`state/convert/keys`)."""

NO_KEY: Final = (None, None, None)


def key_of(url: str) -> tuple[int, int, int]:
    """The key of a URL in normal form."""
    site, path = split(url)
    hashed = url_hash(path)
    folded = path.lower()
    return url_hash(site), hashed, hashed if folded == path else url_hash(folded)


def is_home(url: str) -> bool:
    """Whether a URL is the index page of its site (S0-21)."""
    return path_of(url) == "/"


def batch_of(schema: Any, rows: Sequence[tuple[Any, ...]]) -> Any:
    """Rows in the order of the schema's columns as one record batch."""
    columns = zip(*rows, strict=True) if rows else ([] for _ in schema)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
