"""An archive copied without some of its exchanges: whole gzip members, into new files behind the old ones.

In come the files of a slot and which exchanges stay, out come their new places. A record that refers to another by its
place is written anew with the new place; everything else is copied byte by byte. The new files have the numbers behind
the last old one, so that a copy that nobody committed is removed as any uncommitted file is.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final, cast

from nephila.store.archive.encode import exchange_members, random_record_id, warcinfo_member
from nephila.store.archive.exchange import Exchange, Position, Revisit, Software, Truncated
from nephila.store.archive.names import file_name
from nephila.store.archive.reader import StoredExchange, exchange_of
from nephila.store.archive.records import Record, Unreadable, records
from nephila.store.durable import AppendFile, disk_errors

_HOLE: Final = b"\x1f\x8b\x08\x10"
_FLUSH_BYTES: Final = 4 * 2**20

Place = tuple[str, int]
"""A file's name and the offset of an exchange."""


@dataclass(slots=True)
class Copied:
    """Where everything is now, and where the archive ends."""

    places: dict[Place, Place] = field(default_factory=dict)
    end: Position | None = None
    files: int = 0
    copied_bytes: int = 0


class Copying:
    """Copies the archive of one slot."""

    def __init__(self, directory: Path, slot: int, first_number: int, rotate_bytes: int, software: Software) -> None:
        self._directory, self._slot, self._number = directory, slot, first_number
        self._rotate_bytes, self._software = rotate_bytes, software
        self._file: AppendFile | None = None
        self._pending: list[bytes] = []
        self._pending_bytes = 0
        self.copied = Copied()

    def run(self, files: Iterable[tuple[Path, int | None]], stays: Callable[[Place], bool]) -> Copied:
        """Copy files, each up to its stop, in their order."""
        for path, stop in files:
            exchange: list[Record] = []
            with path.open("rb") as source:
                for record in records(path, stop=stop):
                    if record.kind in ("response", "revisit", "warcinfo"):
                        self._put(source, exchange, stays)
                        exchange = []
                    if record.kind != "warcinfo":
                        exchange.append(record)
                self._put(source, exchange, stays)
        self._end_file()
        return self.copied

    def _put(self, source: BinaryIO, exchange: list[Record], stays: Callable[[Place], bool]) -> None:
        if not exchange or exchange[0].kind not in ("response", "revisit"):
            return
        first = exchange[0]
        place = (first.file, first.offset)
        if not stays(place):
            return
        stored = exchange_of(exchange)
        revisit = stored.response.revisit
        if revisit is not None and revisit.file:
            members = self._anew(stored, revisit)
        else:
            members = tuple(_bytes_of(source, record) for record in exchange)
        self._begin_file_if_full(stored.response.fetched_at)
        assert self._file is not None
        self.copied.places[place] = (self._file.path.name, self._file.size_bytes + self._pending_bytes)
        for member in members:
            self._pending.append(member)
            self._pending_bytes += len(member)
        if self._pending_bytes >= _FLUSH_BYTES:
            self._flush()

    def _anew(self, stored: StoredExchange, revisit: Revisit) -> tuple[bytes, ...]:
        """With the new place of the record it refers to; that one stays as long as this one does."""
        response = stored.response
        file, offset = self.copied.places.get((revisit.file, revisit.offset), ("", -1))
        moved = Revisit(revisit.profile, revisit.url, revisit.fetched_at, file, offset)
        return exchange_members(
            Exchange(
                url=response.url, fetched_at=response.fetched_at, request=stored.request, header=response.header,
                body=None, address=response.address, payload_sha1=response.payload_sha1 or None, revisit=moved,
                truncated=cast(Truncated, response.truncated), role=stored.role, fields=stored.fields,
                outlinks=stored.outlinks,
            ),
            random_record_id,
        )  # fmt: skip

    def _begin_file_if_full(self, at: float) -> None:
        if self._file is not None and self._file.size_bytes + self._pending_bytes < self._rotate_bytes:
            return
        self._end_file()
        path = self._directory / file_name(self._slot, self._number)
        self._number += 1
        with disk_errors(path):
            path.unlink(missing_ok=True)
        self._file = AppendFile(path)
        self.copied.files += 1
        self._file.append(warcinfo_member(path.name, at, random_record_id(), self._software))

    def _flush(self) -> None:
        if self._file is not None and self._pending:
            self._file.append(b"".join(self._pending), half_point="compact.half_copied")
            self.copied.copied_bytes += self._pending_bytes
            self._pending, self._pending_bytes = [], 0

    def _end_file(self) -> None:
        if self._file is None:
            return
        self._flush()
        self._file.sync()
        self.copied.end = Position(self._file.path.name, self._file.size_bytes)
        self._file.close()
        self._file = None


def _bytes_of(source: BinaryIO, record: Record) -> bytes:
    source.seek(record.offset)
    return source.read(record.length)


def holes(path: Path) -> bool:
    """Whether a file has an empty record in the place of an exchange: a gzip member with a comment in its header."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        at = content.find(_HOLE)
        while at >= 0:
            with suppress(Unreadable, StopIteration):
                if next(records(path, at)).kind == "warcinfo":
                    return True
            at = content.find(_HOLE, at + 1)
    return False
