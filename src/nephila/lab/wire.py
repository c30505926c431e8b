"""How an answer looks on the wire: a script of bytes, pauses and an end, decided here and acted out by `protocol`.

In comes an `Answer` and what the request asked for, out goes an iterable of steps. Nothing here touches a socket, so
a new way to break HTTP is a new script (RELIABILITY section 2), and an endless body is an endless iterator.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from email.utils import formatdate, parsedate_to_datetime
from enum import Enum
from functools import lru_cache
from http import HTTPStatus
from typing import Final, NamedTuple

from nephila.lab.answer import Answer, Manner

PIECE_BYTES: Final = 64 * 2**10
"""A body goes out in pieces of this size, each after the last has left, so that the witness knows the true end."""

_NOT_HTTP: Final = b"220 lab.example ESMTP ready\r\n500 unrecognised command\r\n"
_KEPT_BY_304: Final = frozenset({"etag", "last-modified", "cache-control", "expires", "vary", "content-location"})
_BODILESS: Final = frozenset({204, 304})


class End(Enum):
    """What becomes of the connection after the last byte."""

    KEEP = "keep"
    CLOSE = "close"
    RESET = "reset"
    HANG = "hang"  # stays open and silent until the client leaves


@dataclass(frozen=True, slots=True)
class Wait:
    """A pause in simulated seconds."""

    simulated_s: float


Step = bytes | memoryview | Wait | End
Script = Iterable[Step]


@dataclass(frozen=True, slots=True)
class Scripted:
    """What a hostile site says: the steps themselves; the witness notes no status."""

    steps: Script
    status: int = 0
    manner: str = "scripted"


class Request(NamedTuple):
    """What one request asked for. `host` is lower-case and without port; `target` is the path and query as sent.

    One is made per request, and a frozen dataclass of so many fields would take a twentieth of the server's time.
    """

    method: str
    target: str
    host: str
    port: int
    address: str
    http_version: str
    keep_alive: bool
    if_none_match: str = ""
    if_modified_since: str = ""
    content_type: str = ""
    body: bytes = b""


def plain(status: int, text: str = "", headers: tuple[tuple[str, str], ...] = ()) -> Answer:
    """A short answer of the server's own."""
    body = (text or HTTPStatus(status).phrase).encode() + b"\n"
    return Answer(Manner.WHOLE, status, (("Content-Type", "text/plain; charset=utf-8"), *headers), body)


def conditional(answer: Answer, request: Request) -> Answer:
    """The answer, or 304 where the client already has it (RFC 9110 13.2.2: an ETag wins over a date)."""
    if answer.status != 200 or answer.manner is not Manner.WHOLE:
        return answer
    if not request.if_none_match and not request.if_modified_since:
        return answer
    headers = {name.lower(): value for name, value in answer.headers}
    if request.if_none_match:
        known = _etag_listed(headers.get("etag"), request.if_none_match)
    else:
        known = _unchanged_since(headers.get("last-modified"), request.if_modified_since)
    if not known:
        return answer
    kept = tuple((name, value) for name, value in answer.headers if name.lower() in _KEPT_BY_304)
    return Answer(Manner.WHOLE, 304, kept, b"", answer.delay_s)


def _etag_listed(etag: str | None, listed: str) -> bool:
    if etag is None:
        return False
    if listed.strip() == "*":
        return True
    return etag.removeprefix("W/") in {one.strip().removeprefix("W/") for one in listed.split(",")}


def _unchanged_since(last_modified: str | None, since: str) -> bool:
    if last_modified is None:
        return False
    try:
        return parsedate_to_datetime(last_modified) <= parsedate_to_datetime(since)
    except (ValueError, TypeError):  # a date that is none, or one with and one without a zone
        return False


@lru_cache(maxsize=64)
def _status_line(status: int) -> str:
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = "Unknown"
    return f"HTTP/1.1 {status} {phrase}\r\n"


@lru_cache(maxsize=8)
def _http_date(second: int) -> str:
    return formatdate(second, usegmt=True)


def head(answer: Answer, request: Request, now: float, declared_bytes: int) -> bytes:
    """Status line and header block with what the server adds: Date and framing."""
    text = _status_line(answer.status)
    for name, value in answer.headers:
        text += f"{name}: {value}\r\n"
    text += f"Date: {_http_date(int(now))}\r\n"
    if answer.status not in _BODILESS:
        text += f"Content-Length: {declared_bytes}\r\n"
    if not request.keep_alive:
        text += "Connection: close\r\n"
    elif request.http_version == "1.0":
        text += "Connection: keep-alive\r\n"
    return (text + "\r\n").encode("latin-1", "replace")


def script(answer: Answer, request: Request, now: float) -> Script:
    """The steps that act the answer out. HEAD has no body to break, so its body manners are whole."""
    if answer.manner is Manner.WHOLE and answer.delay_s <= 0.0 and len(answer.body) <= PIECE_BYTES:
        return _at_once(answer, request, now)
    return _step_by_step(answer, request, now)


def _at_once(answer: Answer, request: Request, now: float) -> tuple[Step, ...]:
    # The path nearly every page takes: one write, no generator.
    end = End.KEEP if request.keep_alive else End.CLOSE
    first = head(answer, request, now, len(answer.body))
    if request.method == "HEAD" or answer.status in _BODILESS:
        return (first, end)
    return (first + answer.body, end)


def _step_by_step(answer: Answer, request: Request, now: float) -> Iterator[Step]:
    if answer.delay_s > 0.0:
        yield Wait(answer.delay_s)
    bodiless = request.method == "HEAD" or answer.status in _BODILESS
    manner = answer.manner
    if bodiless and manner in (Manner.CUT_BODY, Manner.STALL_BODY):
        manner = Manner.WHOLE
    end = End.KEEP if request.keep_alive else End.CLOSE
    match manner:
        case Manner.RESET:
            yield End.RESET
        case Manner.HANG:
            yield End.HANG
        case Manner.NOT_HTTP:
            yield answer.body or _NOT_HTTP
            yield End.CLOSE
        case Manner.SHORT_HEADER:
            whole = head(answer, request, now, len(answer.body))
            yield whole[: len(whole) // 2]
            yield End.CLOSE
        case Manner.CUT_BODY | Manner.STALL_BODY:
            # At least one byte is promised and not sent, so that even an empty page is seen to be cut.
            yield head(answer, request, now, max(1, len(answer.body)))
            yield from _pieces(answer.body[: len(answer.body) // 2])
            yield End.CLOSE if manner is Manner.CUT_BODY else End.HANG
        case Manner.WHOLE:
            first = head(answer, request, now, len(answer.body))
            if bodiless:
                yield first
            else:
                yield first + answer.body[:PIECE_BYTES]
                yield from _pieces(answer.body[PIECE_BYTES:])
            yield end


def _pieces(body: bytes) -> Iterator[memoryview]:
    view = memoryview(body)
    for start in range(0, len(body), PIECE_BYTES):
        yield view[start : start + PIECE_BYTES]
