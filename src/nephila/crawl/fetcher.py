"""Speaking to the web: a `Connection` belongs to one site, asks one thing at a time and tells what became of it.

In goes a `FetchRequest`, out comes a `Fetched` with exactly one outcome, whatever the server does: nothing here raises
for what the web does to us. Redirects are never followed, there is no pool, no cookie and no credential.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Final, Literal

from nephila.clock import Clock
from nephila.config.sections import Crawl, Net
from nephila.crawl.addresses import Allowed
from nephila.crawl.connection import Exchange, Limits, Wire, open_wire
from nephila.crawl.request import (
    FetchRequest,
    Site,
    fixed_lines,
    lacks_contact,
    needs_contact,
    request_bytes,
    sendable,
    user_agent,
)
from nephila.crawl.response import Fault, HeaderCaps, ResponseReader
from nephila.crawl.tls import RememberingContext, client_context
from nephila.decode import Decoded, DecodeState, Decoding, codings
from nephila.records import Outcome

__all__ = [
    "Connection",
    "FetchRequest",
    "Fetched",
    "Fetching",
    "Limits",
    "Site",
    "fetching",
    "lacks_contact",
    "needs_contact",
    "user_agent",
]

Truncated = Literal["length", "time", "disconnect"]

# A page of usual size is decoded where it arrives; more than this would hold up all other sites of the agent.
INLINE_WIRE_BYTES: Final = 2**18
INLINE_DECODED_BYTES: Final = 2**20

_TRUNCATED: Final[dict[Outcome, Truncated]] = {
    Outcome.TRUNCATED_LENGTH: "length",
    Outcome.TRUNCATED_TIME: "time",
    Outcome.TOO_SLOW: "time",
    Outcome.TRUNCATED_DISCONNECT: "disconnect",
}


@dataclass(frozen=True, slots=True)
class Fetched:
    """What became of one request. Times are real milliseconds from the start of the fetch; `started_at` is UTC."""

    outcome: Outcome
    reason: str
    started_at: float
    address: str
    request_bytes: bytes = b""
    status: int = 0  # 0: no whole header came
    http_version: str = ""
    headers: tuple[tuple[str, str], ...] = ()  # names in lower case, in the order they came
    raw_header: bytes = b""  # status line to empty line, as sent
    wire_body: bytes = b""  # what followed the header, as sent (chunk framing and content coding included)
    content: bytes = b""  # the same without chunk framing, content coding kept: what the archive stores
    payload: bytes = b""  # the same without framing and content coding, up to the cap
    truncated: Truncated | None = None  # as WARC-Truncated says it
    tls: str | None = None  # such as TLSv1.3
    connect_ms: float = 0.0  # 0 on a reused connection
    first_byte_ms: float = 0.0
    header_ms: float = 0.0
    total_ms: float = 0.0
    reused: bool = False  # the connection had been used before
    retried: bool = False  # a kept connection had gone stale; asked again on a fresh one
    received_bytes: int = 0

    def header(self, name: str) -> str | None:
        """The first value of a header; the name in lower case."""
        return next((value for known, value in self.headers if known == name), None)


@dataclass(frozen=True, slots=True)
class Fetching:
    """What all connections of an agent share; made once by `fetching`."""

    limits: Limits
    allowed: Allowed
    user_agent: str
    context: RememberingContext
    clock: Clock
    again_s: float = 0.0  # simulated; the server may have seen the first of the two requests


def fetching(net: Net, crawl: Crawl, clock: Clock, again_s: float = 0.0) -> Fetching:
    """The shared part of all connections, from the configuration; a stale one is reopened after `again_s`."""
    limits = Limits(
        connect_s=net.connect_timeout,
        header_s=net.header_timeout,
        idle_s=net.idle_timeout,
        total_s=net.total_timeout,
        min_rate_bytes_s=net.min_rate,
        min_rate_after_s=net.min_rate_after,
        max_wire_bytes=crawl.max_page_size,
        max_decoded_bytes=crawl.max_decoded_size,
        header_caps=HeaderCaps(total_bytes=net.max_header_size),
    )
    context = client_context(verify=net.verify_tls)
    return Fetching(limits, Allowed.parse(net.allow_private), user_agent(net), context, clock, again_s)


def judge(request: FetchRequest, reader: ResponseReader, decoded: Decoded) -> tuple[Outcome, str]:
    """The one outcome of an answer whose header came whole.

    A header that is no success decides (S1-11: code comes before the body's states, C10); a bomb is a bomb even if
    its wire was cut (C1); then how the body ended on the wire; then what its coding says.
    """
    fault = reader.fault
    if fault is not None and fault.outcome not in _TRUNCATED:
        return fault.outcome, fault.reason
    ending = fault.reason if fault is not None else decoded.reason
    if reader.status == 304:
        return (Outcome.NOT_MODIFIED if request.conditional else Outcome.HTTP_ERROR), ending
    if 300 <= reader.status < 400:
        has_target = any(name == "location" and value.strip() for name, value in reader.headers)
        return (Outcome.REDIRECT if has_target else Outcome.HTTP_ERROR), ending
    if not 200 <= reader.status < 300:
        return Outcome.HTTP_ERROR, ending
    if decoded.state is DecodeState.LIMIT:
        return Outcome.DECODE_LIMIT, decoded.reason
    if fault is not None:
        return fault.outcome, fault.reason
    if decoded.state is DecodeState.BAD:
        return Outcome.DECODE_ERROR, decoded.reason
    if decoded.state is DecodeState.CUT:
        return Outcome.TRUNCATED_DISCONNECT, decoded.reason
    return Outcome.OK, ""


class Connection:
    """All fetches of one site at one checked address; opens, keeps and reopens its connection as needed."""

    def __init__(self, site: Site, address: str, shared: Fetching) -> None:
        self.site = site
        self.address = address
        self._shared = shared
        self._fixed = fixed_lines(site, shared.user_agent)
        self._wire: Wire | None = None
        self._tls: str | None = None

    async def fetch(self, request: FetchRequest) -> Fetched:
        """Ask once. A kept connection that broke before a byte came is opened again, once (N18, H10)."""
        started_at = self._shared.clock.now()
        unsendable = sendable(request)
        if unsendable is not None:
            return Fetched(Outcome.URL_INVALID, unsendable, started_at, self.address)
        started = time.monotonic()
        sent = request_bytes(request, self._fixed)
        retried = False
        while True:
            reused = self._wire is not None and self._wire.usable
            opened = None if reused else await self._open()
            connected = time.monotonic()
            if opened is not None:
                return Fetched(
                    opened.outcome, opened.reason, started_at, self.address, sent,
                    connect_ms=(connected - started) * 1e3, total_ms=(connected - started) * 1e3, retried=retried,
                )  # fmt: skip
            exchange = await self._ask(request, sent, started)
            if reused and not exchange.received_bytes and _went_stale(exchange.reader):
                retried = True
                await self._shared.clock.sleep(self._shared.again_s)
                started = time.monotonic()  # the wait is ours, not the server's l-time
                continue
            break
        reader = exchange.reader
        received = time.monotonic()
        wire_body = reader.wire_body
        content = reader.content(wire_body)
        decoded = await self._decode(reader, content)
        outcome, reason = judge(request, reader, decoded)
        truncated = _TRUNCATED.get(reader.fault.outcome) if reader.fault is not None else None
        return Fetched(
            outcome=outcome,
            reason=reason,
            started_at=started_at,
            address=self.address,
            request_bytes=sent,
            status=reader.status,
            http_version=reader.http_version,
            headers=reader.headers,
            raw_header=reader.raw_header,
            wire_body=wire_body,
            content=content,
            payload=decoded.payload,
            truncated=truncated if reader.status else None,
            tls=self._tls,
            connect_ms=0.0 if reused else (connected - started) * 1e3,
            first_byte_ms=_since(started, exchange.first_byte_at),
            header_ms=_since(started, exchange.header_at),
            total_ms=(received - started) * 1e3,
            reused=reused,
            retried=retried,
            received_bytes=exchange.received_bytes,
        )

    async def aclose(self) -> None:
        """Close politely; the connection may be used again and would open anew."""
        wire, self._wire = self._wire, None
        if wire is not None:
            self._remember(wire)
            wire.close()
            await wire.wait_closed()

    async def _open(self) -> Fault | None:
        shared = self._shared
        opened = await open_wire(self.site, self.address, shared.allowed, shared.limits, shared.context)
        if isinstance(opened, Fault):
            self._wire = None
            return opened
        self._wire = opened
        self._tls = opened.tls.version() if opened.tls is not None else None
        return None

    async def _ask(self, request: FetchRequest, sent: bytes, started: float) -> Exchange:
        limits = self._shared.limits
        max_wire_bytes = request.max_wire_bytes or limits.max_wire_bytes
        reader = ResponseReader(
            is_head=request.method == "HEAD", caps=limits.header_caps, max_wire_bytes=max_wire_bytes
        )
        wire = self._wire
        assert wire is not None
        exchange = await wire.exchange(sent, reader, started + limits.total_s)
        if not wire.usable:
            self._remember(wire)
            self._wire = None
        return exchange

    def _remember(self, wire: Wire) -> None:
        if wire.tls is not None:
            self._shared.context.remember(wire.tls)

    async def _decode(self, reader: ResponseReader, content: bytes) -> Decoded:
        named = [value for name, value in reader.headers if name == "content-encoding"]
        applied = codings(named) if named else ()
        max_bytes = self._shared.limits.max_decoded_bytes
        if not content or (not applied and len(content) <= max_bytes):
            return Decoded(content, DecodeState.WHOLE)
        decoding = Decoding(content, applied, max_bytes)
        if len(content) <= INLINE_WIRE_BYTES:
            decoded = decoding.run(INLINE_DECODED_BYTES)
            if decoded is not None:
                return decoded
        decoded = await asyncio.to_thread(decoding.run)
        assert decoded is not None
        return decoded


def _went_stale(reader: ResponseReader) -> bool:
    """Whether the server had given up a kept connection: it broke, which a time-out is not."""
    return reader.fault is not None and reader.fault.outcome in (Outcome.RESET, Outcome.BAD_HTTP)


def _since(started: float, moment: float) -> float:
    return (moment - started) * 1e3 if moment else 0.0
