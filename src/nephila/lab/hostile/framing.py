"""A: bodies that drip, hang, never end, and framing that says two things at once (A1-A22)."""

from __future__ import annotations

from itertools import chain, repeat
from typing import Final

from nephila.lab.hostile.scripts import (
    CHUNKED,
    EMPTY,
    HANG,
    OK,
    Act,
    Asked,
    answer,
    drips,
    for_ever,
    home,
    index_of,
    page,
    pieces_of,
    says,
)
from nephila.lab.wire import End, Script

_SOME: Final = bytes(65_536)
_CHUNK: Final = b"4000\r\n" + bytes(0x4000) + b"\r\n"
_LAST: Final = CHUNKED + b"1\r\na\r\n0\r\n"


def _drip(_: Asked) -> Script:
    return drips(OK + b"\r\n")


def _drip_in_the_header(_: Asked) -> Script:
    return drips(OK + b"X-Slow: ")


def _endless_chunks(_: Asked) -> Script:
    return for_ever(CHUNKED, _CHUNK)


def _endless(_: Asked) -> Script:
    return for_ever(OK + b"\r\n", _SOME)


def _ten_gigabytes(_: Asked) -> Script:
    return for_ever(OK + b"Content-Length: 10737418240\r\n\r\n", _SOME)


def _tiny_chunks(_: Asked) -> Script:
    return chain((CHUNKED,), pieces_of(b"1\r\na\r\n" * 200_000), (b"0\r\n\r\n", End.KEEP))


def _endless_extension(_: Asked) -> Script:
    return for_ever(CHUNKED + b"1;", b"e" * 4096)


def _interim(status: bytes) -> Script:
    return says(*repeat(b"HTTP/1.1 " + status + b"\r\n\r\n", 10_000), then=End.CLOSE)


def _endless_trailers(_: Asked) -> Script:
    return for_ever(_LAST, b"X-Trailer: value\r\n" * 64)


DRIP: Final = home(_drip)
DRIP_IN_THE_HEADER: Final = home(_drip_in_the_header)
SILENCE: Final = home(HANG)
SILENCE_AFTER_THE_HEADER: Final = home(says(OK + b"Content-Length: 9\r\n\r\n", then=End.HANG))
ENDLESS_CHUNKS: Final = home(_endless_chunks)
ENDLESS: Final = home(_endless)
TEN_GIGABYTES: Final = home(_ten_gigabytes)
SHORT: Final = home(says(OK + b"Content-Length: 100\r\n\r\n" + b"s" * 50))
LONG: Final[Act] = index_of(
    {"/long": says(OK + b"Content-Length: 10\r\n\r\n" + b"0123456789" + b"x" * 1_000_000, then=End.KEEP),
     "/after": page(text="an answer of its own")},
)  # fmt: skip
TWO_LENGTHS: Final = home(says(OK + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", then=End.HANG))
LENGTH_IN_WORDS: Final = home(says(OK + b"Content-Length: thousand\r\n\r\nab"))
LENGTH_AND_CHUNKS: Final[Act] = index_of(
    {"/both": says(OK + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n", then=End.KEEP),
     "/after": page(text="an answer of its own")},
)  # fmt: skip
BAD_CHUNKS: Final[Act] = index_of(
    {"/size": says(CHUNKED + b"zz\r\nab\r\n", then=End.HANG), "/extension": _endless_extension},
)
TINY_CHUNKS: Final = home(_tiny_chunks)
RESET_IN_THE_BODY: Final = home(says(OK + b"Content-Length: 99\r\n\r\nab", then=End.RESET))
EMPTY_REPLY: Final = home(EMPTY)
NO_STATUS_LINE: Final = home(says(b"<html>hello</html>", then=End.HANG))
STATUSES: Final[Act] = index_of(
    {"/000": answer("nothing", status="000 Nothing"), "/999": answer("denied", status="999 Request denied"),
     "/minus": answer("less", status="-1 Less"), "/bare": answer("fine", status="200 ")},
)  # fmt: skip
INTERIM_FLOOD: Final[Act] = index_of({"/103": _interim(b"103 Early Hints"), "/100": _interim(b"100 Continue")})
BODY_WHERE_NONE_IS: Final[Act] = index_of(
    {"/204": answer("a body", status="204 No Content"), "/304": answer("a body", status="304 Not Modified"),
     "/after": page(text="an answer of its own")},
)  # fmt: skip
ENDLESS_TRAILERS: Final = home(_endless_trailers)
UPGRADE: Final = home(
    says(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n", then=End.HANG)
)
