"""Records of others as captures: an answer with its request and what its archive knows beside it.

Archives put a request before its answer (wget) or behind it (Heritrix, warcio), and metadata behind both; they belong
together by `WARC-Concurrent-To`, or by their URL where nobody says so. What is no answer of a server is no capture.

The body of a capture is the payload that the standard's digest speaks of: without chunks. Archives differ in that, too:
some keep the chunks, some have undone them and say so nowhere, so the bytes decide and not the header.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from nephila.decode import decode
from nephila.store.archive.encode import split_block
from nephila.store.archive.exchange import Revisit
from nephila.store.archive.foreign import Lost
from nephila.store.archive.reader import StoredResponse, stored_response
from nephila.store.archive.records import Record
from nephila.store.archive.verify import fits

_ANSWERS: Final = frozenset({"response", "revisit", "resource"})
_LOOSE: Final = 32
"""Requests that wait for their answer; they stand directly before it."""

_DIGESTED_BYTES: Final = 64 * 2**20


class Digests(StrEnum):
    """What a record's digests say about its bytes."""

    FIT = "fit"
    NONE = "none"
    DIFFER = "one of the two digests is wrong and the other is right"
    WRONG = "the digest is wrong"


@dataclass(frozen=True, slots=True)
class Capture:
    """One answer. `header` is empty where the archive has none: a resource, or a file of an ancient server."""

    file: str
    offset: int
    kind: str
    url: str
    fetched_at: float
    address: str
    status: int
    headers: tuple[tuple[str, str], ...]
    header: bytes
    body: bytes
    mime: str  # of the record itself
    truncated: str
    digests: Digests
    payload_digest: str
    record_id: str
    revisit: Revisit | None = None
    request: bytes = b""
    fields: tuple[tuple[str, str], ...] = ()  # of its metadata record

    @property
    def method(self) -> str:
        """GET where nobody says otherwise."""
        word = self.request[:10].split(b" ", 1)[0].decode("latin-1")
        return word.upper() if word.isalpha() else "GET"

    def said(self, name: str) -> str:
        """A field of the metadata; empty where it has none."""
        return next((value for key, value in self.fields if key.lower() == name.lower()), "")


def captures(found: Iterable[Record | Lost]) -> Iterator[Capture | Lost]:
    """The answers among records, each when all that belongs to it was read."""
    pending: Capture | None = None
    loose: OrderedDict[str, bytes] = OrderedDict()  # requests by the id or the URL of the answer they wait for
    for record in found:
        if isinstance(record, Lost):
            if pending is not None:
                yield pending
                pending = None
            yield record
            continue
        if record.kind in _ANSWERS:
            if pending is not None:
                yield pending
            pending = capture_of(record)
            request = loose.pop(pending.record_id, b"") or loose.pop(pending.url, b"")
            pending = replace(pending, request=request)
        elif record.kind in ("request", "metadata"):
            if pending is not None and _belongs(record, pending):
                pending = _with(pending, record)
            elif record.kind == "request":
                loose[record.field("WARC-Concurrent-To") or record.url] = record.block
                while len(loose) > _LOOSE:
                    loose.popitem(last=False)
    if pending is not None:
        yield pending


def _belongs(record: Record, capture: Capture) -> bool:
    stated = record.field("WARC-Concurrent-To") or record.field("WARC-Refers-To")
    return stated == capture.record_id if stated else record.url == capture.url


def _with(capture: Capture, record: Record) -> Capture:
    if record.kind == "request":
        return replace(capture, request=record.block)
    lines = (line.partition(":") for line in record.block.decode("utf-8", "replace").splitlines())
    fields = tuple((name.strip(), value.strip()) for name, colon, value in lines if colon and name.strip() != "outlink")
    return replace(capture, fields=fields)


def capture_of(record: Record) -> Capture:
    """The answer in a record of type response, revisit or resource."""
    is_http = record.kind != "resource" and _is_http(record)
    if is_http:
        stored = stored_response(record)
        header, stated_body = stored.header, stored.body
    else:
        stored = stored_response(replace(record, block=b""))
        header, stated_body = b"", record.block
    body, cut = stated_body, False
    if any("chunked" in value.lower() for value in stored.header_values("transfer-encoding")):
        undone = without_chunks(stated_body)
        if undone is not None:
            body, cut = undone
    return Capture(
        file=record.file,
        offset=record.offset,
        kind=record.kind,
        url=record.url,
        fetched_at=stored.fetched_at,
        address=stored.address,
        status=stored.status,
        headers=stored.headers,
        header=header,
        body=body,
        mime=record.field("X-ARC-Type") or record.field("Content-Type") or "",
        truncated=stored.truncated or ("disconnect" if cut else ""),
        digests=_digests(record, stored, (stated_body, body)),
        payload_digest=record.field("WARC-Payload-Digest") or "",
        record_id=record.field("WARC-Record-ID") or "",
        revisit=stored.revisit,
    )


def _is_http(record: Record) -> bool:
    mime = (record.field("Content-Type") or "application/http").lower()
    if record.kind == "revisit" or mime.startswith("application/http"):
        return record.kind == "revisit" or record.block[:5].upper() == b"HTTP/"
    return record.block[:5].upper() == b"HTTP/" and record.url.startswith("http")


def _digests(record: Record, stored: StoredResponse, bodies: tuple[bytes, bytes]) -> Digests:
    """Of a revisit and of a block that was cut nothing can be said."""
    if record.kind == "revisit" or stored.truncated == "length":
        return Digests.NONE
    block, payload = record.field("WARC-Block-Digest"), record.field("WARC-Payload-Digest")
    block_fits = block is not None and fits(block, record.block)
    if payload is None:
        return Digests.NONE if block is None else Digests.FIT if block_fits else Digests.WRONG
    # Some archives state the digest of what the browser saw, after the content coding was undone.
    decoded = decode(bodies[1], stored.codings, _DIGESTED_BYTES).payload if stored.codings else b""
    payload_fits = any(fits(payload, body) for body in bodies) or (bool(decoded) and fits(payload, decoded))
    if payload_fits and (block is None or block_fits):
        return Digests.FIT
    # Who computes payloads in a way of his own has whole blocks; who has changed a header has a whole payload.
    return Digests.DIFFER if payload_fits or block_fits else Digests.WRONG


def without_chunks(body: bytes) -> tuple[bytes, bool] | None:
    """The body with its chunks undone, and whether it breaks off; None where there are no chunks at all."""
    pieces: list[bytes] = []
    at = 0
    while True:
        end = body.find(b"\n", at, at + 4096)
        size = _chunk_size(body[at:end]) if end >= 0 else None
        if size is None:
            # The first line decides whether these are chunks; what breaks later is broken.
            return (b"".join(pieces), True) if pieces else None
        if size == 0:
            return b"".join(pieces), False
        pieces.append(body[end + 1 : end + 1 + size])
        at = end + 1 + size
        if at > len(body):
            return b"".join(pieces), True
        if body[at : at + 2] == b"\r\n":
            at += 2
        elif body[at : at + 1] == b"\n":
            at += 1
        elif at < len(body):
            return (b"".join(pieces), True) if len(pieces) > 1 else None


def _chunk_size(line: bytes) -> int | None:
    digits = line.partition(b";")[0].strip()
    if not digits or len(digits) > 12 or digits.strip(b"0123456789abcdefABCDEF"):
        return None
    return int(digits, 16)


def header_of(mime: str, length: int) -> bytes:
    """The header that a resource would have come with."""
    return f"HTTP/1.1 200 OK\r\nContent-Type: {mime}\r\nContent-Length: {length}\r\n\r\n".encode("latin-1", "replace")


def renamed(header: bytes, name: bytes) -> bytes:
    """The header with one name marked as what it was, because the bytes do not have that coding any more."""
    lines = header.split(b"\n")
    return b"\n".join(b"X-Crawl-" + line if line.lower().partition(b":")[0].strip() == name else line for line in lines)


def whole_header(header: bytes) -> bytes:
    """A header block ends with an empty line; one that was cut gets it."""
    return header if split_block(header)[0] == header and header.endswith(b"\n") else header.rstrip() + b"\r\n\r\n"
