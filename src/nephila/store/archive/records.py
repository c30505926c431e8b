"""WARC records as they lie in a file: in comes a path, out come records with the bytes they occupy, or a reason.

Strict where it matters: a gzip member must be whole, must hold exactly one record, and the record's block must be as
long as it says. Files of others (`.warc` without compression, a member with several records) can be walked too;
`Unreadable` then tells why a walk ended early. Nothing a file contains makes this raise anything else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, cast

from isal import isal_zlib

_GZIP: Final = b"\x1f\x8b"
_BAD_GZIP: Final = cast("type[Exception]", isal_zlib.error)
_PIECE_BYTES: Final = 64 * 1024  # small, because each member's end copies what is left of the piece
_RECORD_END: Final = b"\r\n\r\n"
_MAX_HEADER_BYTES: Final = 256 * 1024
MAX_RECORD_BYTES: Final = 256 * 2**20
_HEADER_END: Final = re.compile(rb"\r?\n\r?\n")
_VERSION: Final = re.compile(rb"WARC/(0\.\d+|1\.[01])[ \t]*\r?\n?")


class Unreadable(Exception):  # noqa: N818 - a finding about a file, which `verify` reports and repair acts on
    """What is wrong with the bytes at `offset`; everything before them was read."""

    def __init__(self, path: Path, offset: int, reason: str) -> None:
        super().__init__(f"{path.name} at byte {offset}: {reason}")
        self.path = path
        self.offset = offset
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Record:
    """One record; `offset` and `length` are those of its gzip member, or of its bytes in a plain file."""

    file: str
    offset: int
    length: int
    fields: tuple[tuple[str, str], ...]
    block: bytes

    def field(self, name: str) -> str | None:
        """The first field of that name; names do not tell upper from lower case."""
        wanted = name.lower()
        return next((value for key, value in self.fields if key.lower() == wanted), None)

    @property
    def kind(self) -> str:
        return self.field("WARC-Type") or ""

    @property
    def url(self) -> str:
        # wget 1.14 to 1.19 wrote the URL between angle brackets, as an old draft had it.
        stated = self.field("WARC-Target-URI") or ""
        return stated[1:-1] if stated.startswith("<") and stated.endswith(">") else stated


def records(path: Path, start: int = 0, stop: int | None = None, *, strict: bool = True) -> Iterator[Record]:
    """The records of a file from byte `start` on; those that end behind `stop` do not exist."""
    try:
        with path.open("rb") as file:
            file.seek(start)
            compressed = file.read(2) == _GZIP
            file.seek(start)
            if compressed:
                yield from _compressed(path, file, start, stop, strict)
            else:
                yield from _plain(path, file, start, stop)
    except OSError as problem:
        raise Unreadable(path, start, problem.strerror or str(problem)) from problem


def record_at(path: Path, offset: int) -> Record:
    """The one record that begins at `offset`."""
    for record in records(path, offset):
        return record
    raise Unreadable(path, offset, "the file ends here")


def _compressed(path: Path, file: BinaryIO, start: int, stop: int | None, strict: bool) -> Iterator[Record]:
    for offset, length, content in _members(path, file, start, stop):
        if strict:
            record, rest = _parse(path, offset, length, content)
            if not rest.startswith(_RECORD_END):
                raise Unreadable(
                    path, offset, "the block is longer than its Content-Length, or the record does not end"
                )
            if len(rest) > len(_RECORD_END):
                raise Unreadable(path, offset, "the gzip member holds more than one record")
            yield record
            continue
        while content:
            record, rest = _parse(path, offset, length, content)
            yield record
            content = rest.lstrip(b"\r\n")


def _members(path: Path, file: BinaryIO, start: int, stop: int | None) -> Iterator[tuple[int, int, bytes]]:
    """Offset, length and content of each gzip member."""
    offset = start
    pending = file.read(_PIECE_BYTES)
    while pending and (stop is None or offset < stop):
        member = isal_zlib.decompressobj(31)
        pieces: list[bytes] = []
        consumed, produced = 0, 0
        ended = False
        while not ended:
            if not pending:
                raise Unreadable(path, offset, "the gzip member is cut off")
            try:
                piece = member.decompress(pending, MAX_RECORD_BYTES - produced + 1)
            except _BAD_GZIP as problem:
                raise Unreadable(path, offset, f"not a gzip member ({problem})") from None
            produced += len(piece)
            if produced > MAX_RECORD_BYTES:
                raise Unreadable(path, offset, f"the record is larger than {MAX_RECORD_BYTES} bytes")
            pieces.append(piece)
            ended = member.eof
            rest = member.unused_data if ended else member.unconsumed_tail
            consumed += len(pending) - len(rest)
            pending = rest or file.read(_PIECE_BYTES)
        if stop is not None and offset + consumed > stop:
            return
        yield offset, consumed, b"".join(pieces)
        offset += consumed


def _parse(path: Path, offset: int, length: int, content: bytes) -> tuple[Record, bytes]:
    """The record at the head of `content`, and what follows it."""
    fields, start = _parse_header(path, offset, content[:_MAX_HEADER_BYTES])
    block_bytes = _content_length(path, offset, fields)
    end = start + block_bytes
    if len(content) < end:
        raise Unreadable(path, offset, f"the block is {len(content) - start} bytes long and should be {block_bytes}")
    return Record(path.name, offset, length, fields, content[start:end]), content[end:]


def _plain(path: Path, file: BinaryIO, start: int, stop: int | None) -> Iterator[Record]:
    offset = start
    while stop is None or offset < stop:
        file.seek(offset)
        head = file.read(_MAX_HEADER_BYTES)
        gap = len(head) - len(head.lstrip(b"\r\n"))
        if gap == len(head):
            return
        begin = offset + gap
        fields, header_bytes = _parse_header(path, begin, head[gap:])
        block_bytes = _content_length(path, begin, fields)
        file.seek(begin + header_bytes)
        block = file.read(block_bytes)
        if len(block) < block_bytes:
            raise Unreadable(path, begin, f"the block is {len(block)} bytes long and should be {block_bytes}")
        offset = begin + header_bytes + block_bytes
        if stop is not None and offset > stop:
            return
        length = header_bytes + block_bytes + (4 if file.read(4) == _RECORD_END else 0)
        yield Record(path.name, begin, length, fields, block)
        offset = begin + length


def _parse_header(path: Path, offset: int, head: bytes) -> tuple[tuple[tuple[str, str], ...], int]:
    """The named fields and the length of the header with its empty line."""
    version = _VERSION.match(head)
    if version is None:
        raise Unreadable(path, offset, "no WARC record begins here" + (" (ARC is not read)" if _is_arc(head) else ""))
    end = _HEADER_END.search(head, version.end() - 1)
    if end is None:
        raise Unreadable(path, offset, "the record's header does not end")
    text = head[version.end() : end.start()].decode("utf-8", "surrogateescape")
    fields: list[tuple[str, str]] = []
    for line in text.replace("\r\n", "\n").split("\n"):
        if line[:1] in (" ", "\t") and fields:
            name, value = fields[-1]
            fields[-1] = (name, f"{value} {line.strip()}")
            continue
        name, colon, value = line.partition(":")
        if colon:
            fields.append((name.strip(), value.strip()))
    return tuple(fields), end.end()


def _content_length(path: Path, offset: int, fields: tuple[tuple[str, str], ...]) -> int:
    text = next((value for name, value in fields if name.lower() == "content-length"), "")
    if not (text.isascii() and text.isdecimal()) or len(text) > 15:
        raise Unreadable(path, offset, f"Content-Length is {text[:20]!r}")
    if int(text) > MAX_RECORD_BYTES:
        raise Unreadable(path, offset, f"the record is larger than {MAX_RECORD_BYTES} bytes")
    return int(text)


def _is_arc(head: bytes) -> bool:
    return head.startswith(b"filedesc://") or bool(re.match(rb"https?://\S+ [\d.]+ \d{14} ", head))
