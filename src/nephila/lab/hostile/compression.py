"""C: bombs and damaged codings (C1-C12). The bombs are made while they are sent: a block of zeros, again and again."""

from __future__ import annotations

import base64
import gzip
import struct
import zlib
from collections.abc import Iterable
from itertools import chain, repeat
from typing import Final

from nephila.lab.hostile.scripts import Act, Asked, answer, home, index_of, page, streamed
from nephila.lab.wire import Script

_MEBIBYTE: Final = 2**20
_GZIP_HEAD: Final = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03"


def _zero_block() -> bytes:
    """A mebibyte of zeros as deflate blocks that may be repeated: each ends on a byte and refers to nothing before."""
    maker = zlib.compressobj(9, zlib.DEFLATED, -15)
    return maker.compress(bytes(_MEBIBYTE)) + maker.flush(zlib.Z_FULL_FLUSH)


_BLOCK: Final = _zero_block()
# brotli of 64 MiB of zeros
_BROTLI: Final = base64.b64decode(
    "y///P/gnAOKxQCD3/o///3/wTwDEYRGA7v0f////4J8AiMMCAN37P/7//8E/ARCHBQC693/8//+DfwIgDgsAdO//+P//B/8EQBwWAOje//H//w/+"
    "CYA4LADQvf/j//8f/BMAcVgAoHv/Nw=="
)
# A zstd frame by hand: a window of 8 MiB, then blocks of one byte that stand for 128 KiB each.
_ZSTD_HEAD: Final = b"\x28\xb5\x2f\xfd\x00\x68"
_ZSTD_HUGE_WINDOW: Final = b"\x28\xb5\x2f\xfd\x00\xa8"
_ZSTD_BLOCK: Final = struct.pack("<I", (131_072 << 3 | 1 << 1))[:3] + b"\0"


def _head(coding: str, status: str = "200 OK", *lines: str) -> bytes:
    named = [
        f"HTTP/1.1 {status}",
        "Content-Type: text/html",
        f"Content-Encoding: {coding}",
        "Connection: close",
        *lines,
    ]
    return "\r\n".join(named).encode() + b"\r\n\r\n"


def _ten_gibibytes() -> Iterable[bytes]:
    return chain((_GZIP_HEAD,), repeat(_BLOCK * 64, 160))


def gzip_bomb(_: Asked) -> Script:
    """10 MiB on the wire, 10 GiB decoded."""
    return streamed(_head("gzip"), _ten_gibibytes())


def _zstd_bomb(_: Asked) -> Script:
    return streamed(_head("zstd"), chain((_ZSTD_HEAD,), repeat(_ZSTD_BLOCK * 4_096, 20)))


def _empty_members(_: Asked) -> Script:
    return streamed(_head("gzip"), repeat(gzip.compress(b"") * 1_000, 100))


def _bomb_as(status: str, *lines: str) -> Act:
    def act(_: Asked) -> Script:
        return streamed(_head("gzip", status, *lines), _ten_gibibytes())

    return act


def _raw_deflate(text: bytes) -> bytes:
    maker = zlib.compressobj(9, zlib.DEFLATED, -15)
    return maker.compress(text) + maker.flush()


_TEXT: Final = page(text="weave " * 50).encode()

GZIP_BOMB: Final = home(gzip_bomb)
BROTLI_BOMB: Final = home(answer(_BROTLI, "Content-Encoding: br"))
ZSTD_BOMBS: Final[Act] = index_of(
    {"/blocks": _zstd_bomb, "/window": answer(_ZSTD_HUGE_WINDOW + _ZSTD_BLOCK * 10, "Content-Encoding: zstd")}
)
DEFLATE: Final[Act] = index_of(
    {"/raw": answer(_raw_deflate(_TEXT), "Content-Encoding: deflate"),
     "/zlib": answer(zlib.compress(_TEXT), "Content-Encoding: deflate")},
)  # fmt: skip
STACKED: Final = home(answer("x", "Content-Encoding: " + ", ".join(["gzip"] * 10)))
STACKED_IN_LINES: Final = home(answer("x", *["Content-Encoding: gzip"] * 10))
EMPTY_MEMBERS: Final = home(_empty_members)
DAMAGED: Final[Act] = index_of(
    {"/cut": answer(gzip.compress(_TEXT)[:-6], "Content-Encoding: gzip"),
     "/garbage": answer(gzip.compress(_TEXT) + b"garbage after the end", "Content-Encoding: gzip")},
)  # fmt: skip
MISLABELLED: Final[Act] = index_of(
    {"/plain": answer(_TEXT, "Content-Encoding: gzip"), "/untold": answer(gzip.compress(_TEXT))}
)
BOMBS_ELSEWHERE: Final[Act] = index_of(
    {"/moved": _bomb_as("302 Found", "Location: /target"), "/error": _bomb_as("404 Not Found"),
     "/target": page(text="target")},
)  # fmt: skip
NESTED: Final[Act] = index_of(
    {"/once": answer(gzip.compress(gzip.compress(gzip.compress(_TEXT))), "Content-Encoding: gzip"),
     "/twice": answer(gzip.compress(gzip.compress(_TEXT)), "Content-Encoding: gzip, gzip")},
)  # fmt: skip
BOMB_AS_ROBOTS: Final = home(answer(page(text="never asked")))
