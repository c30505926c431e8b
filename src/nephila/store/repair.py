"""What is damaged in a crawl folder, and how damage is set aside: nothing is ever deleted here (RELIABILITY F10).

The life of a damaged archive file: its whole exchanges (an answer with its request and its metadata) are told from the
bytes that cannot be read. A copy of the file is kept beside it; in the file itself each damaged stretch becomes one
record of exactly its length that says so. Every other record keeps its place, so that rows and revisits still lead
to theirs, and every reader reads the file. A tail that is cut off is cut back to the last whole exchange.
"""

from __future__ import annotations

import mmap
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nephila.store.archive.records import Record, Unreadable, records
from nephila.store.archive.verify import wrong_digests
from nephila.store.database import problems
from nephila.store.durable import AppendFile, aside_of, disk_errors, publish
from nephila.store.folder import CrawlFolder

DAMAGED: Final = ".damaged"
_GZIP: Final = b"\x1f\x8b\x08"
_COMMENT: Final = 0x10
_PIECE_BYTES: Final = 2**20
FILLER_BYTES: Final = 420
"""A gap is at least this long, or it is widened by the exchange that follows it."""


@dataclass(frozen=True, slots=True)
class Exchanged:
    """An answer that is whole, with its request and its metadata: its records, and the bytes they occupy."""

    start: int
    end: int
    records: tuple[Record, ...]


@dataclass(frozen=True, slots=True)
class Gap:
    """Bytes that are no whole exchange."""

    start: int
    end: int
    reason: str


def damaged_databases(folder: CrawlFolder) -> dict[Path, str]:
    """Each database that a full check finds fault with, or that is missing beside others, and why."""
    paths = [folder.coordinator_database, *(folder.agent_database(slot) for slot in folder.slots())]
    found = {}
    for path in paths:
        if not path.exists():
            found[path] = "it is missing"
        elif wrong := problems(path):
            found[path] = wrong[0]
    return found


def set_aside(path: Path) -> Path | None:
    """Give a damaged file, and the journals of a database, another name; None where there is no file."""
    target = _free_name(path)
    with disk_errors(path):
        for suffix in ("-wal", "-shm"):
            with suppress(FileNotFoundError):
                path.with_name(path.name + suffix).rename(target.with_name(target.name + suffix))
        if not path.exists():
            return None
        path.rename(target)
    return target


def _free_name(path: Path) -> Path:
    number = 1
    while (target := path.with_name(f"{path.name}{DAMAGED}-{number}")).exists():
        number += 1
    return target


def stretches(path: Path, stop: int | None = None) -> Iterator[Exchanged | Gap]:
    """The file from its beginning to `stop`, or its end, as exchanges and gaps; a warcinfo is neither."""
    size_bytes = path.stat().st_size
    end = size_bytes if stop is None else min(stop, size_bytes)
    start = 0
    while start < end:
        reached = start
        try:
            for part in _units(path, start, end):
                if not isinstance(part, int):
                    yield part
                    reached = part.end
                else:
                    reached = part
            if reached < end:
                yield Gap(reached, end, "the file ends within an exchange")
            return
        except Unreadable as finding:
            begin = _next_beginning(path, finding.offset + 1, end)
            yield Gap(reached, begin, finding.reason)
            start = begin
    if stop is not None and size_bytes < stop:
        yield Gap(size_bytes, stop, "the file is shorter than what was committed")


def _units(path: Path, start: int, end: int) -> Iterator[Exchanged | int]:
    """Whole exchanges, and the ends of records that stand alone; `Unreadable` at what is neither."""
    open_: list[Record] = []
    for record in records(path, start, end):
        for wrong in wrong_digests(record):
            raise Unreadable(path, record.offset, wrong)
        if record.kind in ("response", "revisit", "warcinfo") and open_:
            raise Unreadable(path, record.offset - 1, "an exchange without its metadata")
        if record.kind == "warcinfo":
            yield record.offset + record.length
            continue
        if not open_ and record.kind not in ("response", "revisit"):
            raise Unreadable(path, record.offset, f"a {record.kind} without its answer")
        open_.append(record)
        if record.kind == "metadata":
            yield Exchanged(open_[0].offset, record.offset + record.length, tuple(open_))
            open_ = []


def _next_beginning(path: Path, start: int, end: int) -> int:
    """Where the next whole answer or warcinfo begins; `end` where there is none."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        at = content.find(_GZIP, start, end)
        while at >= 0:
            with suppress(Unreadable, StopIteration):
                if next(records(path, at, end)).kind in ("response", "revisit", "warcinfo"):
                    return at
            at = content.find(_GZIP, at + 1, end)
    return end


def widened(parts: Iterable[Exchanged | Gap]) -> Iterator[Exchanged | Gap]:
    """The same stretches, where a gap too short for a record has taken the exchange behind it."""
    short: Gap | None = None
    for part in parts:
        whole = part if short is None else Gap(short.start, part.end, short.reason)
        short = None
        if isinstance(whole, Gap) and whole.end - whole.start < FILLER_BYTES:
            short = whole
        else:
            yield whole
    if short is not None:
        yield short


def heal(path: Path, gaps: list[Gap], end: int) -> Path:
    """Make a file readable again without moving a record, and cut it at `end`; the damaged one is kept beside it."""
    kept = _free_name(path)
    with disk_errors(path):
        kept.hardlink_to(path)
        aside = aside_of(path)
        aside.unlink(missing_ok=True)
        file = AppendFile(aside)
        with path.open("rb") as damaged:
            for gap in (*gaps, Gap(end, end, "")):
                while file.size_bytes < gap.start:
                    file.append(damaged.read(min(_PIECE_BYTES, gap.start - file.size_bytes)))
                if gap.end > gap.start:
                    file.append(filler(gap.end - gap.start, kept.name))
                    damaged.seek(gap.end)
        file.sync()
        file.close()
    publish(aside, path)
    return kept


def filler(length: int, kept_as: str, said: str = "") -> bytes:
    """One WARC record in one gzip member of exactly this length; the rest is a comment in the member's header."""
    said = said or f"{length} bytes that could not be read were here; they are in {kept_as}"
    text = f"description: {said}\r\n".encode()
    number = f"{zlib.crc32(kept_as.encode()):08x}{length & 0xFFFF:04x}"
    head = (
        "WARC/1.1\r\nWARC-Type: warcinfo\r\nWARC-Date: 1970-01-01T00:00:00Z\r\n"
        f"WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-{number}>\r\n"
        f"Content-Type: application/warc-fields\r\nContent-Length: {len(text)}\r\n\r\n"
    ).encode()
    record = head + text + b"\r\n\r\n"
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    body = packer.compress(record) + packer.flush()
    tail = zlib.crc32(record).to_bytes(4, "little") + len(record).to_bytes(4, "little")
    start = _GZIP + bytes([_COMMENT]) + bytes(4) + b"\x00\xff"
    space = length - len(start) - 1 - len(body) - len(tail)
    assert space >= 0, "a gap is widened before it is filled"
    return start + b"." * space + b"\x00" + body + tail
