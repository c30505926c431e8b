"""A strict walk over archive files: what other readers pass over in silence is a finding here.

`gzip -t` does not look into records, and warcio and FastWARC read a file whose last record is cut off without a word
(RELIABILITY finding 4). Here every member must be whole and hold one record, every block must have the length and
the digests that its header states, and every file must begin with its warcinfo.
"""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nephila.store.archive.encode import split_block
from nephila.store.archive.records import Record, Unreadable, records


@dataclass(frozen=True, slots=True)
class Verified:
    """What a strict walk found: records by their type, and everything that is wrong."""

    file: str
    records: int
    kinds: tuple[tuple[str, int], ...]
    problems: tuple[str, ...]


def verify(path: Path, stop: int | None = None) -> Verified:
    """Walk a file up to byte `stop` (its end by default)."""
    kinds: Counter[str] = Counter()
    problems: list[str] = []
    end = 0
    try:
        for record in records(path, stop=stop):
            if not kinds and record.kind != "warcinfo":
                problems.append(f"{path.name} does not begin with a warcinfo record")
            kinds[record.kind] += 1
            problems += wrong_digests(record)
            end = record.offset + record.length
    except Unreadable as finding:
        problems.append(str(finding))
    else:
        if stop is not None and end != stop:
            problems.append(f"{path.name} has no record that ends at byte {stop}")
    return Verified(path.name, kinds.total(), tuple(sorted(kinds.items())), tuple(problems))


def wrong_digests(record: Record) -> Iterator[str]:
    """A sentence for each digest that the record states and its bytes do not have."""
    block = record.field("WARC-Block-Digest")
    if block is not None and not fits(block, record.block):
        yield f"{record.file} at byte {record.offset}: the block digest is wrong"
    payload = record.field("WARC-Payload-Digest")
    if payload is not None and record.kind == "response" and not fits(payload, split_block(record.block)[1]):
        yield f"{record.file} at byte {record.offset}: the payload digest is wrong"


def fits(stated: str, content: bytes) -> bool:
    """Whether a labelled digest is that of the bytes; one of an unknown kind is no finding."""
    algorithm, _, text = stated.partition(":")
    if algorithm.lower() not in ("sha1", "sha256", "md5"):
        return True  # a digest we cannot compute is no finding
    digest = hashlib.new(algorithm.lower(), content, usedforsecurity=False)
    in_base32 = base64.b32encode(digest.digest()).decode().lower()
    return text.lower() in (digest.hexdigest(), in_base32)
