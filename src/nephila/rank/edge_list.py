"""Any edge list as pieces of links: TSV, CSV or blanks, plain or gzip, and Parquet.

A line is `source target`, separated by tab, comma, semicolon (numbers only) or blanks; further columns (weights, times)
are not read, but every line must have as many as the first. Words between commas may be in quotation marks, as CSV has
them. Lines that begin with # or % are comments, a first line that names the columns is passed over. Ids are numbers
from 0 on, with any gaps; with `IdKind.TEXT` they are any words, such as URLs. What is not so is refused with the number
of its line: a graph that was read wrongly would be ranked wrongly.
"""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import IO, Any, Final, cast

import numpy as np

from nephila.errors import NephilaError, UsageError
from nephila.rank import kernel
from nephila.rank.arrays import Ids

PIECE_BYTES: Final = 4 << 20
PIECE_ROWS: Final = 1 << 17
MAX_LINE_BYTES: Final = 1 << 20
_SHORTEST_LINE: Final = 4
_GAPS: Final = bytes.maketrans(b',;\t"', b"    ")
_QUOTED: Final = re.compile(rb'"(\d+)"')
_HEADS: Final = frozenset(
    [b"source", b"target", b"src", b"dst", b"dest", b"from", b"to", b"resolved", b"fromnodeid", b"tonodeid",
     b"source_id", b"target_id", b"from_id", b"to_id"]
)  # fmt: skip
_WRONG: Final = {
    1: "is not two numbers (ids that are words need --ids text)",
    2: "has a number that is too large for an id",
    3: "has another number of columns than the lines before it",
}

Pair = tuple[Ids, Ids]


class IdKind(StrEnum):
    NUMBER = "number"
    TEXT = "text"


class Names:
    """Words to numbers, in the order in which they are first met."""

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}

    def number(self, word: bytes) -> int:
        return self._numbers.setdefault(word, len(self._numbers))

    def find(self, word: bytes) -> int | None:
        return self._numbers.get(word)

    def texts(self) -> list[str]:
        """The word of each number."""
        return [word.decode("utf-8", "replace") for word in self._numbers]


def read_links(path: Path, names: Names | None = None) -> Iterator[Pair]:
    """The links of a file, piece by piece; with `names` the ids are words, numbered by it."""
    if not path.exists():
        raise UsageError(f"There is no file {path}; name the edge list with --graph FILE.")
    if path.is_dir() or path.suffix in (".parquet", ".pq"):
        yield from _parquet(path, names)
        return
    try:
        with _opened(path) as file:
            yield from _numbers(file, path) if names is None else _words(file, path, names)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise NephilaError(f"{path} is not whole gzip ({error}); fetch it again.") from None


def _opened(path: Path) -> IO[bytes]:
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    return cast("IO[bytes]", gzip.open(path, "rb") if packed else path.open("rb"))


def _texts(file: IO[bytes], path: Path) -> Iterator[bytes]:
    """Whole lines, some at a time, without a byte-order mark and a line of column names."""
    rest, first = b"", True
    while True:
        read = file.read(PIECE_BYTES)
        text = rest + read
        if not read and text and not text.endswith(b"\n"):
            text += b"\n"
        if first:
            text = text.removeprefix(b"\xef\xbb\xbf")
        end = text.rfind(b"\n") + 1
        rest = text[end:]
        if len(rest) > MAX_LINE_BYTES:
            raise NephilaError(f"{path} has a line of more than {MAX_LINE_BYTES:,} bytes; it is no edge list.")
        if end:
            yield _without_heads(text[:end]) if first else text[:end]
            first = False
        if not read:
            return


def _without_heads(text: bytes) -> bytes:
    """The text with the line of column names, if it has one, made a comment; line numbers stay."""
    begin = 0
    while begin < len(text):
        end = text.find(b"\n", begin)
        line = text[begin:end].strip()
        if line and line[:1] not in (b"#", b"%"):
            words = line.lower().translate(_GAPS).split()
            return text[:begin] + b"#" + text[begin:] if len(words) > 1 and set(words[:2]) <= _HEADS else text
        begin = end + 1
    return text


def _numbers(file: IO[bytes], path: Path) -> Iterator[Pair]:
    lines = columns = 0
    for text in _texts(file, path):
        text = _QUOTED.sub(rb"\1", text) if b'"' in text else text
        room = len(text) // _SHORTEST_LINE + 1
        sources, targets = np.empty(room, np.int64), np.empty(room, np.int64)
        done, links, read, columns, wrong = kernel.LOOPS.parse(text, sources, targets, columns)
        lines += read
        if wrong:
            raise _refused(path, lines + 1, text[done:], _WRONG[wrong])
        yield sources[:links], targets[:links]


def _words(file: IO[bytes], path: Path, names: Names) -> Iterator[Pair]:
    line_number = columns = 0
    for text in _texts(file, path):
        pairs: list[int] = []
        for line in text.split(b"\n")[:-1]:
            line_number += 1
            if not line.strip() or line[:1] in (b"#", b"%"):
                continue
            words = _cut(line.rstrip(b"\r"))
            if len(words) < 2 or not words[0] or not words[1]:
                raise _refused(path, line_number, line, "is not two words with a tab, comma or blank between them")
            if columns not in (0, len(words)):
                raise _refused(path, line_number, line, _WRONG[3])
            columns = len(words)
            pairs += (names.number(words[0]), names.number(words[1]))
        both = np.array(pairs, np.int64).reshape(-1, 2)
        yield np.ascontiguousarray(both[:, 0]), np.ascontiguousarray(both[:, 1])


def _cut(line: bytes) -> list[bytes]:
    if b"\t" in line:
        return line.split(b"\t")
    if b'"' in line:
        return [word.encode("utf-8", "surrogateescape") for word in _unquoted(line)]
    return line.split() if b" " in line.strip() else line.split(b",")


def _unquoted(line: bytes) -> list[str]:
    """The words of a line of CSV; none if its quotation marks do not match."""
    try:
        return next(csv.reader([line.decode("utf-8", "surrogateescape")], strict=True))
    except csv.Error:
        return []


def _refused(path: Path, number: int, rest: bytes, why: str) -> NephilaError:
    shown = rest.split(b"\n", 1)[0][:80].decode("utf-8", "replace").rstrip("\r")
    return NephilaError(f"{path}, line {number}, {why}: {shown!r}; repair or remove the line.")


def _parquet(path: Path, names: Names | None) -> Iterator[Pair]:
    from nephila.rank.parquet_columns import batches, column_names

    present = column_names(path)
    target = next((name for name in ("resolved", "target", "dst", "to") if name in present), None)
    source = next((name for name in ("source", "src", "from") if name in present), None)
    if source is None or target is None:
        raise NephilaError(f"{path} has the columns {', '.join(present)}; `source` and `target` are needed.")
    for sources, targets in batches(path, (source, target), PIECE_ROWS):
        yield _ids(path, source, sources, names), _ids(path, target, targets, names)


def _ids(path: Path, name: str, column: Any, names: Names | None) -> Ids:
    if column.null_count:
        raise NephilaError(f"{path}, column {name}, has rows without an id; remove them.")
    if names is not None:
        return np.array([names.number(str(word).encode()) for word in column.to_pylist()], np.int64)
    values = column.to_numpy(zero_copy_only=False)
    if values.dtype.kind not in "iu":
        raise NephilaError(f"{path}, column {name}, does not hold whole numbers; ids that are words need --ids text.")
    if len(values) and (values.min() < 0 or values.max() > 2**63 - 1):
        raise NephilaError(f"{path}, column {name}, has an id outside 0 to 2^63 - 1.")
    return cast("Ids", values.astype(np.int64, copy=False))
