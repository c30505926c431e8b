"""Content-Encoding: in go the bytes of a body and its header lines, out comes what they decode to, within a cap.

Each coding is a generator from pieces to pieces, so that two of them stack, nothing is ever expanded beyond the next
piece, and the work can stop after any piece and go on in a thread (N6, C1-C11). Hostile input ends in a `Decoded`
that says what is wrong; it never raises.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import brotli
import zstandard

ACCEPT_ENCODING: Final = "gzip, br, zstd"
MAX_STACKED: Final = 2  # over all header lines together: curl counted per line (CVE-2023-23916)
MAX_MEMBERS: Final = 1000  # gzip members or zstd frames of one body; 100,000 empty ones are an attack (C7)
ZSTD_MAX_WINDOW_BYTES: Final = 8 * 2**20  # RFC 9659

_PIECE_BYTES: Final = 2**18
_SLICE_BYTES: Final = 2**16
# A run-length block of zstd makes 128 KiB of 4 bytes and the library has no cap on output: 256 bytes give <= 8 MiB.
_ZSTD_SLICE_BYTES: Final = 256

# What servers write there although it is no coding; browsers, too, take such a body as it is.
_NO_CODING: Final = frozenset(
    {"", "identity", "none", "binary", "7bit", "8bit", "utf-8", "utf8", "iso-8859-1", "text/html", "text/plain"}
)


class DecodeState(StrEnum):
    WHOLE = "whole"
    CUT = "cut"  # the coded stream ends too early
    LIMIT = "limit"  # more than the cap, or more members than anyone needs
    BAD = "bad"  # no such coding, too many of them, or damaged


@dataclass(frozen=True, slots=True)
class Decoded:
    """What became of a body; `payload` is what was decoded until then."""

    payload: bytes
    state: DecodeState
    reason: str = ""


class _StopDecoding(Exception):  # noqa: N818 - it is how a coding tells its consumer the state, not an error of ours
    def __init__(self, state: DecodeState, reason: str) -> None:
        super().__init__(reason)
        self.state = state
        self.reason = reason


def _slices(body: bytes, slice_bytes: int = _SLICE_BYTES) -> Iterator[bytes]:
    if len(body) <= slice_bytes:
        yield body
        return
    view = memoryview(body)
    for start in range(0, len(body), slice_bytes):
        yield bytes(view[start : start + slice_bytes])


def _with_start(pieces: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """The first two bytes or more, joined, and the pieces that follow."""
    start = b""
    for piece in pieces:
        start += piece
        if len(start) >= 2:
            break
    return start, pieces


def _inflated(start: bytes, rest: Iterator[bytes], wbits: int, magic: bytes | None) -> Iterator[bytes]:
    """Members of a deflate stream; without `magic` there is one only. What follows the last one is ignored (C8)."""
    members = 0
    pending = start
    while pending:
        members += 1
        if members > MAX_MEMBERS:
            raise _StopDecoding(DecodeState.LIMIT, f"more than {MAX_MEMBERS} gzip members")
        member = zlib.decompressobj(wbits)
        while True:
            try:
                output = member.decompress(pending, _PIECE_BYTES)
            except zlib.error as error:
                raise _StopDecoding(DecodeState.BAD, str(error)) from None
            if output:
                yield output
            if member.eof:
                pending = member.unused_data
                break
            # A full piece may leave output behind in the decoder although all of its input is consumed.
            pending = member.unconsumed_tail
            if not pending and len(output) < _PIECE_BYTES:
                pending = next(rest, b"")
                if not pending:
                    raise _StopDecoding(DecodeState.CUT, "the coded stream ends too early")
        if magic is None:
            return
        while len(pending) < len(magic):
            more = next(rest, b"")
            if not more:
                return
            pending += more
        if not pending.startswith(magic):
            return


def _gzip(pieces: Iterator[bytes]) -> Iterator[bytes]:
    start, rest = _with_start(pieces)
    if start.startswith(b"\x1f\x8b"):
        yield from _inflated(start, rest, wbits=31, magic=b"\x1f\x8b")
        return
    yield start  # it says gzip and is plain (C9)
    yield from rest


def _deflate(pieces: Iterator[bytes]) -> Iterator[bytes]:
    start, rest = _with_start(pieces)
    has_zlib_header = len(start) >= 2 and start[0] & 0x0F == 8 and int.from_bytes(start[:2], "big") % 31 == 0
    yield from _inflated(start, rest, wbits=15 if has_zlib_header else -15, magic=None)


def _brotli(pieces: Iterator[bytes]) -> Iterator[bytes]:
    decoder = brotli.Decompressor()
    began = False
    try:
        for piece in pieces:
            if not piece:
                continue
            began = True
            output = decoder.process(piece, output_buffer_limit=_PIECE_BYTES)
            while output or not decoder.can_accept_more_data():
                if output:
                    yield output
                if decoder.is_finished():
                    return
                output = decoder.process(b"", output_buffer_limit=_PIECE_BYTES)
            if decoder.is_finished():
                return
    except brotli.error as error:
        raise _StopDecoding(DecodeState.BAD, str(error) or "damaged brotli stream") from None
    if began:
        raise _StopDecoding(DecodeState.CUT, "the coded stream ends too early")


def _zstd(pieces: Iterator[bytes]) -> Iterator[bytes]:
    small = (part for piece in pieces for part in _slices(piece, _ZSTD_SLICE_BYTES) if part)
    frames = 0
    pending = next(small, b"")
    try:
        while pending:
            frames += 1
            if frames > MAX_MEMBERS:
                raise _StopDecoding(DecodeState.LIMIT, f"more than {MAX_MEMBERS} zstd frames")
            frame = zstandard.ZstdDecompressor(max_window_size=ZSTD_MAX_WINDOW_BYTES).decompressobj()
            while True:
                output = frame.decompress(pending)
                if output:
                    yield output
                if frame.eof:
                    pending = frame.unused_data or next(small, b"")
                    break
                pending = next(small, b"")
                if not pending:
                    raise _StopDecoding(DecodeState.CUT, "the coded stream ends too early")
    except zstandard.ZstdError as error:
        raise _StopDecoding(DecodeState.BAD, str(error)) from None


_CODINGS: Final[dict[str, Callable[[Iterator[bytes]], Iterator[bytes]]]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}


def codings(header_values: Iterable[str]) -> tuple[str, ...]:
    """The codings that all Content-Encoding lines name, in the order they were applied."""
    named = (token.strip().lower() for value in header_values for token in value.split(","))
    return tuple(token for token in named if token not in _NO_CODING)


def _capped(pieces: Iterator[bytes], max_bytes: int) -> Iterator[bytes]:
    room = max_bytes
    for piece in pieces:
        if len(piece) > room:
            yield piece[:room]
            raise _StopDecoding(DecodeState.LIMIT, f"decodes to more than {max_bytes} bytes")
        room -= len(piece)
        yield piece


class Decoding:
    """One body on its way through its codings; `run` may stop after a budget and be called again elsewhere."""

    __slots__ = ("_pieces", "_refused", "_taken")

    def __init__(self, body: bytes, applied: tuple[str, ...], max_bytes: int) -> None:
        self._taken: list[bytes] = []
        self._refused = ""
        unknown = [coding for coding in applied if coding not in _CODINGS]
        if unknown:
            self._refused = f"unknown content coding {unknown[0][:40]!r}"
        elif len(applied) > MAX_STACKED:
            self._refused = f"{len(applied)} content codings, at most {MAX_STACKED} are undone"
        self._pieces = _capped(_slices(body), max(max_bytes, len(body)) if applied else max_bytes)
        if not self._refused:
            for coding in reversed(applied):
                self._pieces = _capped(_CODINGS[coding](self._pieces), max_bytes)

    def run(self, budget_bytes: int | None = None) -> Decoded | None:
        """Decode on; None when the budget of output is used up and there is more to do."""
        if self._refused:
            return Decoded(b"", DecodeState.BAD, self._refused)
        done = 0
        try:
            for piece in self._pieces:
                self._taken.append(piece)
                done += len(piece)
                if budget_bytes is not None and done >= budget_bytes:
                    return None
        except _StopDecoding as stop:
            return Decoded(b"".join(self._taken), stop.state, stop.reason)
        return Decoded(b"".join(self._taken), DecodeState.WHOLE)


def decode(body: bytes, applied: tuple[str, ...], max_bytes: int) -> Decoded:
    """The whole of a body at once; for callers that are in a thread or a process of their own."""
    decoded = Decoding(body, applied, max_bytes).run()
    assert decoded is not None
    return decoded
