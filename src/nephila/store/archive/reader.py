"""What the archive holds, as rows again: in come a place or a slot's directory, out come stored responses.

A walk ends at the committed position: what lies behind it never happened. The content coding is undone by the
`Decode` that the caller gives, within the caller's cap; this file knows no codings.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from nephila.errors import DamagedError
from nephila.store.archive.encode import split_block
from nephila.store.archive.exchange import Position, Revisit, RevisitProfile, StoredLink
from nephila.store.archive.names import archive_files, file_number
from nephila.store.archive.records import Record, Unreadable, record_at, records

Decode = Callable[[bytes, tuple[str, ...], int], bytes]
"""(body, codings in the order they were applied, most bytes to give) -> what the body decodes to, cut at the cap."""


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """A response or revisit record. `body` still has its content coding; a revisit has none of its own."""

    file: str
    offset: int
    length: int
    kind: str
    url: str
    fetched_at: float
    address: str
    status: int
    headers: tuple[tuple[str, str], ...]
    header: bytes
    body: bytes
    truncated: str
    payload_sha1: bytes
    revisit: Revisit | None

    def header_values(self, name: str) -> tuple[str, ...]:
        return tuple(value for key, value in self.headers if key == name)

    @property
    def codings(self) -> tuple[str, ...]:
        """The content codings, in the order they were applied."""
        named = (token.strip().lower() for line in self.header_values("content-encoding") for token in line.split(","))
        return tuple(token for token in named if token not in ("", "identity"))

    def payload(self, decode: Decode, max_bytes: int) -> bytes:
        """The body as a browser would see it, at most `max_bytes` of it."""
        return decode(self.body, self.codings, max_bytes) if self.codings else self.body[:max_bytes]


@dataclass(frozen=True, slots=True)
class StoredExchange:
    """A response with what was asked and what was found in it; the twin of `Exchange`."""

    response: StoredResponse
    request: bytes = b""
    role: str = "page"
    fields: tuple[tuple[str, str], ...] = ()
    outlinks: tuple[StoredLink, ...] = field(default=())


def read(path: Path, offset: int) -> StoredResponse:
    """The response that a page row points to; a revisit gives its own header and no body."""
    try:
        return stored_response(record_at(path, offset))
    except Unreadable as finding:
        raise DamagedError(f"The archive is damaged ({finding}); run `nephila repair`.") from finding


def read_with_body(archive: Path, path: Path, offset: int) -> StoredResponse:
    """Like `read`, and a revisit gives the response that holds its body, where that is known by place."""
    response = read(path, offset)
    if response.revisit is None or not response.revisit.file:
        return response
    number = file_number(response.revisit.file)  # refuses any name that is not one of ours
    assert number > 0
    slot_directory = archive / response.revisit.file.removeprefix("nephila-").rsplit("-", 1)[0]
    return read(slot_directory / response.revisit.file, response.revisit.offset)


def read_exchange(path: Path, offset: int) -> StoredExchange:
    """The response at `offset` with the request and metadata that follow it."""
    try:
        return next(_grouped(records(path, offset)))
    except StopIteration:
        raise DamagedError(f"The archive has nothing at byte {offset} of {path}; run `nephila repair`.") from None
    except Unreadable as finding:
        raise DamagedError(f"The archive is damaged ({finding}); run `nephila repair`.") from finding


def walk(directory: Path, committed: Position | None) -> Iterator[Record]:
    """All records of a slot up to the committed position, in the order of writing."""
    if committed is None:
        return
    last = file_number(committed.file)
    for path in archive_files(directory):
        number = file_number(path.name)
        if number <= last:
            yield from records(path, stop=committed.offset if number == last else None)


def walk_exchanges(directory: Path, committed: Position | None) -> Iterator[StoredExchange]:
    """All exchanges of a slot up to the committed position, in the order of writing."""
    return _grouped(walk(directory, committed))


def exchange_of(found: Iterable[Record]) -> StoredExchange:
    """One exchange from its own records, the answer first."""
    return next(_grouped(iter(found)))


def _grouped(found: Iterator[Record]) -> Iterator[StoredExchange]:
    """The writer puts request and metadata directly behind their response."""
    exchange: StoredExchange | None = None
    request = b""
    for record in found:
        match record.kind:
            case "response" | "revisit":
                if exchange is not None:
                    yield exchange
                exchange, request = StoredExchange(stored_response(record)), b""
            case "request" if exchange is not None:
                request = record.block
            case "metadata" if exchange is not None:
                yield _with_metadata(exchange.response, request, record.block)
                exchange = None
    if exchange is not None:
        yield exchange


def _with_metadata(response: StoredResponse, request: bytes, block: bytes) -> StoredExchange:
    role, fields, links = "page", [], []
    for line in block.decode("utf-8", "replace").split("\r\n"):
        name, _, value = line.partition(": ")
        if name == "outlink":
            url, kind, anchor = value.split(" ", 2)
            links.append(StoredLink(url, kind, anchor))
        elif name == "role":
            role = value
        elif name:
            fields.append((name, value))
    return StoredExchange(response, request, role, tuple(fields), tuple(links))


def stored_response(record: Record) -> StoredResponse:
    header, body = split_block(record.block)
    status, headers = _http_header(header)
    return StoredResponse(
        file=record.file,
        offset=record.offset,
        length=record.length,
        kind=record.kind,
        url=record.url,
        fetched_at=_seconds(record.field("WARC-Date")),
        address=record.field("WARC-IP-Address") or "",
        status=status,
        headers=headers,
        header=header,
        body=body,
        truncated=record.field("WARC-Truncated") or "",
        payload_sha1=sha1_of(record.field("WARC-Payload-Digest")),
        revisit=_revisit(record) if record.kind == "revisit" else None,
    )


def _http_header(header: bytes) -> tuple[int, tuple[tuple[str, str], ...]]:
    """Status (0 if there is none) and headers, their names in lower case, as Latin-1 like HTTP."""
    first, _, rest = header.decode("latin-1").replace("\r\n", "\n").partition("\n")
    parts = first.split(None, 2)
    status = int(parts[1]) if len(parts) > 1 and len(parts[1]) == 3 and parts[1].isdecimal() else 0
    pairs = (line.partition(":") for line in rest.split("\n"))
    return status, tuple((name.strip().lower(), value.strip()) for name, colon, value in pairs if colon)


def _revisit(record: Record) -> Revisit:
    profile = record.field("WARC-Profile") or ""
    offset = record.field("WARC-Refers-To-File-Offset") or ""
    return Revisit(
        RevisitProfile.NOT_MODIFIED if "server-not-modified" in profile else RevisitProfile.IDENTICAL_PAYLOAD,
        record.field("WARC-Refers-To-Target-URI") or "",
        _seconds(record.field("WARC-Refers-To-Date")),
        record.field("WARC-Refers-To-Filename") or "",
        int(offset) if offset.isdecimal() else -1,
    )


def _seconds(date: str | None) -> float:
    try:
        return datetime.fromisoformat(date or "").timestamp()
    except ValueError:
        return 0.0


def sha1_of(stated: str | None) -> bytes:
    """The bytes of a labelled SHA-1; none where it is of another kind."""
    algorithm, _, text = (stated or "").partition(":")
    if algorithm.lower() != "sha1":
        return b""
    try:
        return bytes.fromhex(text) if len(text) == 40 else base64.b32decode(text)
    except (ValueError, binascii.Error):
        return b""
