"""Archives that others wrote, read record by record whatever their layout: in comes a path, out come records and gaps.

Files of others differ from ours in all that a strict reader insists on: no compression, one gzip member for the whole
file, many records in a member, no digests, WARC 0.18 to 1.1 or ARC. They are read as one stream of bytes, so that no
layout and no record is larger than memory: of a block at most `most_bytes` are kept, and the record then says that it
was cut. What cannot be read becomes a `Lost` with the bytes it occupies, and reading goes on at the next record that
can. Nothing a file contains makes this raise anything but a sentence about the file itself.
"""

from __future__ import annotations

import mmap
import re
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, cast

from isal import isal_zlib

from nephila.errors import UsageError
from nephila.store.archive.arc import arc_record, is_arc_line
from nephila.store.archive.records import Record

_GZIP: Final = b"\x1f\x8b\x08"
_BAD_GZIP: Final = cast("type[Exception]", isal_zlib.error)
_PIECE_BYTES: Final = 2**16
_MAX_HEADER_BYTES: Final = 2**18
_LARGEST_BLOCK_DIGITS: Final = 15
# A file that went through a text mode has CR CR LF at the ends of its lines.
_HEADER_END: Final = re.compile(rb"\r*\n\r*\n")
_VERSION: Final = re.compile(rb"WARC/(0\.\d+|1\.[01])[ \t]*\r*\n")
_SEVERAL_LINES: Final = re.compile(r"\r*\n")
_BEGINS: Final = (b"WARC/1.", b"WARC/0.")


@dataclass(frozen=True, slots=True)
class Lost:
    """Bytes of a file, from `start` to `end`, that hold no record that can be read."""

    file: str
    start: int
    end: int
    reason: str


class _Broken(Exception):  # noqa: N818 - how a stream tells that it cannot go on; never leaves this file
    def __init__(self, offset: int, reason: str) -> None:
        super().__init__(reason)
        self.offset = offset
        self.reason = reason


def foreign_records(path: Path, most_bytes: int, start: int = 0, stop: int | None = None) -> Iterator[Record | Lost]:
    """The records of a file, or of its bytes from `start` to `stop`; the offset of each is that of its gzip member."""
    try:
        with path.open("rb") as file:
            size_bytes = file.seek(0, 2)
            end = size_bytes if stop is None else min(stop, size_bytes)
            yield from _walk(path, file, start, end, most_bytes)
    except OSError as problem:
        raise UsageError(f"Cannot read {path} ({problem.strerror or problem}); name a file that can be read.") from None


def _walk(path: Path, file: BinaryIO, start: int, end: int, most_bytes: int) -> Iterator[Record | Lost]:
    while start < end:
        stream = _stream(file, start, end)
        try:
            yield from _records(path, stream, most_bytes)
            return
        except _Broken as finding:
            begin = _next_beginning(path, max(finding.offset, start) + 1, end)
            yield Lost(path.name, finding.offset, begin, finding.reason)
            start = begin


def _records(path: Path, stream: _Stream, most_bytes: int) -> Iterator[Record]:
    while stream.skip_line_ends():
        offset = stream.offset
        line = stream.line()
        if is_arc_line(line):
            yield _arc(path, stream, offset, line, most_bytes)
            continue
        if _VERSION.match(line) is None:
            raise _Broken(offset, "no WARC or ARC record begins here")
        fields = _fields(stream.until(_HEADER_END, offset, "the record's header does not end"))
        length = _length(fields, offset)
        block = stream.take(min(length, most_bytes), offset)
        if length > most_bytes:
            stream.drop(length - most_bytes, offset)
            fields = (
                *(field for field in fields if field[0].lower() != "warc-block-digest"),
                ("WARC-Truncated", "length"),
            )
        yield Record(path.name, offset, 0, fields, block)


def _arc(path: Path, stream: _Stream, offset: int, line: bytes, most_bytes: int) -> Record:
    made = arc_record(path.name, offset, line)
    if made is None:
        raise _Broken(offset, "an ARC record without a length")
    record, length = made
    block = stream.take(min(length, most_bytes), offset)
    cut: tuple[tuple[str, str], ...] = ()
    if length > most_bytes:
        stream.drop(length - most_bytes, offset)
        cut = (("WARC-Truncated", "length"),)
    return Record(record.file, record.offset, 0, (*record.fields, *cut), block)


def _fields(head: bytes) -> tuple[tuple[str, str], ...]:
    fields: list[tuple[str, str]] = []
    for line in _SEVERAL_LINES.split(head.decode("utf-8", "surrogateescape")):
        if line[:1] in (" ", "\t") and fields:
            name, value = fields[-1]
            fields[-1] = (name, f"{value} {line.strip()}")
            continue
        name, colon, value = line.partition(":")
        if colon:
            fields.append((name.strip(), value.strip()))
    return tuple(fields)


def _length(fields: tuple[tuple[str, str], ...], offset: int) -> int:
    text = next((value for name, value in fields if name.lower() == "content-length"), "")
    if not (text.isascii() and text.isdecimal()) or len(text) > _LARGEST_BLOCK_DIGITS:
        raise _Broken(offset, f"Content-Length is {text[:20]!r}")
    return int(text)


def _stream(file: BinaryIO, start: int, end: int) -> _Stream:
    file.seek(start)
    compressed = file.read(3) == _GZIP
    file.seek(start)
    pieces = _Unpacked(file, start, end) if compressed else _Plain(file, start, end)
    return _Stream(pieces)


class _Plain:
    """The bytes of a file as they are."""

    def __init__(self, file: BinaryIO, start: int, end: int) -> None:
        self._file, self._at, self._end = file, start, end

    def next(self) -> tuple[bytes, int, bool]:
        """A piece, the offset that its bytes are told by, and whether each byte has its own."""
        piece = self._file.read(min(_PIECE_BYTES, self._end - self._at))
        offset, self._at = self._at, self._at + len(piece)
        return piece, offset, True


class _Unpacked:
    """The bytes of all gzip members; each is told by the offset of its member."""

    def __init__(self, file: BinaryIO, start: int, end: int) -> None:
        self._file, self._read, self._end = file, start, end
        self._pending = b""
        self._member: isal_zlib.Decompress | None = None
        self._offset = start  # of the member

    def next(self) -> tuple[bytes, int, bool]:
        while True:
            if not self._pending:
                self._pending = self._file.read(min(_PIECE_BYTES, self._end - self._read))
                self._read += len(self._pending)
                if not self._pending:
                    if self._member is not None:
                        raise _Broken(self._offset, "the gzip member is cut off")
                    return b"", self._offset, False
            if self._member is None:
                self._offset = self._read - len(self._pending)
                if not self._pending.strip(b"\x00"):  # some writers fill blocks of a tape
                    self._pending = b""
                    continue
                self._member = isal_zlib.decompressobj(31)
            offset = self._offset
            try:
                piece: bytes = self._member.decompress(self._pending, 4 * _PIECE_BYTES)
            except _BAD_GZIP as problem:
                raise _Broken(offset, f"not a gzip member ({problem})") from None
            self._pending = self._member.unused_data if self._member.eof else self._member.unconsumed_tail
            if self._member.eof:
                self._member = None
            if piece:
                return piece, offset, False


class _Stream:
    """Bytes that are taken from the front, with the offset in the file that the first of them is told by."""

    def __init__(self, pieces: _Plain | _Unpacked) -> None:
        self._pieces = pieces
        self._buffer = bytearray()
        self._marks: deque[tuple[int, int, bool]] = (
            deque()
        )  # bytes of a piece left, its offset, whether each has its own
        self._fault: _Broken | None = None

    @property
    def offset(self) -> int:
        return self._marks[0][1] if self._marks else 0

    def _more(self) -> bool:
        """One piece more; what is in the buffer is good even where what follows is not."""
        if self._fault is not None:
            return False
        try:
            piece, offset, each = self._pieces.next()
        except _Broken as fault:
            self._fault = fault
            return False
        if not piece:
            return False
        self._buffer += piece
        self._marks.append((len(piece), offset, each))
        return True

    def _has(self, count: int) -> bool:
        while len(self._buffer) < count:
            if not self._more():
                return False
        return True

    def _cut(self, count: int) -> None:
        del self._buffer[:count]
        while count and self._marks:
            left, offset, each = self._marks.popleft()
            used = min(left, count)
            count -= used
            if used < left:
                self._marks.appendleft((left - used, offset + used if each else offset, each))

    def skip_line_ends(self) -> bool:
        """Whether anything but line ends follows."""
        while self._has(1):
            spare = len(self._buffer) - len(self._buffer.lstrip(b"\r\n"))
            if not spare:
                return True
            self._cut(spare)
        if self._fault is not None:
            raise self._fault
        return False

    def line(self) -> bytes:
        """The next line with its end, at most so long as a header; it is taken."""
        searched = 0
        while (at := self._buffer.find(b"\n", searched)) < 0 and len(self._buffer) < _MAX_HEADER_BYTES:
            searched = len(self._buffer)
            if not self._more():
                break
        end = at + 1 if at >= 0 else min(len(self._buffer), _MAX_HEADER_BYTES)
        line = bytes(self._buffer[:end])
        self._cut(end)
        return line

    def until(self, end: re.Pattern[bytes], offset: int, otherwise: str) -> bytes:
        """What comes before `end`; both are taken. A header without any field has its empty line at once."""
        searched = 0
        while True:
            if self._buffer[:2] == b"\r\n" or self._buffer[:1] == b"\n":
                self._cut(2 if self._buffer[:1] == b"\r" else 1)
                return b""
            found = end.search(self._buffer, max(0, searched - 3))
            if found is not None:
                head = bytes(self._buffer[: found.start()])
                self._cut(found.end())
                return head
            searched = len(self._buffer)
            if searched > _MAX_HEADER_BYTES or not self._more():
                raise self._fault or _Broken(offset, otherwise)

    def take(self, count: int, offset: int) -> bytes:
        if not self._has(count):
            raise _Broken(offset, self._why(count))
        taken = bytes(self._buffer[:count])
        self._cut(count)
        return taken

    def drop(self, count: int, offset: int) -> None:
        while count:
            if not self._has(1):
                raise _Broken(offset, self._why(count))
            some = min(count, len(self._buffer))
            self._cut(some)
            count -= some

    def _why(self, count: int) -> str:
        if self._fault is not None:
            return self._fault.reason
        return f"the file ends within the record: {count - len(self._buffer)} bytes of its block are missing"


def _next_beginning(path: Path, start: int, end: int) -> int:
    """Where the next record begins that can be read, as far as its first bytes tell; `end` where there is none."""
    if start >= end:
        return end
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        plain = [content.find(b"\n" + word, start - 1, end) for word in _BEGINS]
        first_plain = min((at + 1 for at in plain if at >= 0), default=end)
        at = content.find(_GZIP, start, end)
        while 0 <= at < first_plain:
            with suppress(_BAD_GZIP):
                head: bytes = isal_zlib.decompressobj(31).decompress(content[at : min(end, at + _PIECE_BYTES)], 4096)
                if head.startswith(_BEGINS) or is_arc_line(head.partition(b"\n")[0] + b"\n"):
                    return at
            at = content.find(_GZIP, at + 1, end)
        return first_plain
