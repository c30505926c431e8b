"""Speaking to the web: a `Connection` belongs to one site, asks one thing at a time and tells what became of it.

In goes a `FetchRequest`, out comes a `Fetched` with exactly one outcome, whatever the server does: nothing here raises
for what the web does to us. Redirects are never followed, there is no pool, and a credential is sent to no other site
than the one that the user gave it for; what is kept of a request has a mask in its place.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import astuple, dataclass, field
from functools import partial
from typing import Final, Literal

from nephila.clock import Clock
from nephila.config.sections import Content, Crawl, Net
from nephila.crawl.addresses import Allowed
from nephila.crawl.connection import Exchange, Limits, Wire, open_wire
from nephila.crawl.contents import group_of, handling_of, mime_of
from nephila.crawl.credentials import NO_LOGINS, PROXY, Logins, read_credentials
from nephila.crawl.in_hand import NO_MARK, Mark
from nephila.crawl.proxy import Proxy, parse_proxy
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
from nephila.crawl.throttle import Throttle, share_of
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
    skipped: bool = False  # its type is not wanted, so that its body was left on the wire

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
    content: Content | None = None  # None: no type is skipped
    logins: Logins = field(default_factory=lambda: NO_LOGINS)
    proxy: Proxy | None = None
    throttle: Throttle | None = None


def fetching(net: Net, crawl: Crawl, clock: Clock, again_s: float = 0.0, content: Content | None = None) -> Fetching:
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
    logins = read_credentials(net.credentials)
    rate = share_of(net.max_rate, net.max_agent_rate, 1)
    return Fetching(
        limits, Allowed.parse(net.allow_private), user_agent(net), context, clock, again_s,
        content=content if content is not None and "skip" in astuple(content) else None,
        logins=logins,
        proxy=parse_proxy(net.proxy, logins.get(PROXY)),
        throttle=Throttle(rate) if rate is not None else None,
    )  # fmt: skip


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
        self._fixed, self._shown, self._origin = _lines(site, shared)
        self._wire: Wire | None = None
        self._tls: str | None = None
        self._unwanted = partial(unwanted, content=shared.content) if shared.content is not None else None

    async def fetch(self, request: FetchRequest, mark: Mark = NO_MARK) -> Fetched:
        """Ask once. A kept connection that broke before a byte came is opened again, once (N18, H10)."""
        started_at = self._shared.clock.now()
        unsendable = sendable(request)
        if unsendable is not None:
            return Fetched(Outcome.URL_INVALID, unsendable, started_at, self.address)
        if self._shared.throttle is not None:
            await asyncio.sleep(self._shared.throttle.wait_s(time.monotonic()))
        started = time.monotonic()
        sent = request_bytes(request, self._fixed, self._origin)
        shown = sent if self._shown is self._fixed else request_bytes(request, self._shown, self._origin)
        retried = False
        while True:
            reused = self._wire is not None and self._wire.usable
            opened = None if reused else await self._open()
            connected = time.monotonic()
            if opened is not None:
                return Fetched(
                    opened.outcome, opened.reason, started_at, self.address, shown,
                    connect_ms=(connected - started) * 1e3, total_ms=(connected - started) * 1e3, retried=retried,
                )  # fmt: skip
            exchange = await self._ask(request, sent, started, mark)
            if reused and not exchange.received_bytes and _went_stale(exchange.reader):
                retried = True
                await self._shared.clock.sleep(self._shared.again_s)
                started = time.monotonic()  # the wait is ours, not the server's l-time
                continue
            break
        reader = exchange.reader
        received = time.monotonic() - exchange.held_s
        skipped = self._unwanted is not None and self._unwanted(reader) is not None
        wire_body = b"" if skipped else reader.wire_body
        content = b"" if skipped else reader.content(wire_body)
        decoded = await self._decode(reader, content, mark)
        outcome, reason = judge(request, reader, decoded)
        truncated = _TRUNCATED.get(reader.fault.outcome) if reader.fault is not None else None
        if skipped:
            outcome, reason, truncated = Outcome.TRUNCATED_LENGTH, _skip_reason(reader), "length"
        return Fetched(
            outcome=outcome,
            reason=reason,
            started_at=started_at,
            address=self.address,
            request_bytes=shown,
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
            skipped=skipped,
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
        opened = await open_wire(
            self.site, self.address, shared.allowed, shared.limits, shared.context, shared.throttle, shared.proxy
        )
        if isinstance(opened, Fault):
            self._wire = None
            return opened
        self._wire = opened
        self._tls = opened.tls.version() if opened.tls is not None else None
        return None

    async def _ask(self, request: FetchRequest, sent: bytes, started: float, mark: Mark) -> Exchange:
        limits = self._shared.limits
        max_wire_bytes = request.max_wire_bytes or limits.max_wire_bytes
        reader = ResponseReader(
            is_head=request.method == "HEAD", caps=limits.header_caps, max_wire_bytes=max_wire_bytes
        )
        wire = self._wire
        assert wire is not None
        exchange = await wire.exchange(sent, reader, started + limits.total_s, self._unwanted, mark)
        if not wire.usable:
            self._remember(wire)
            self._wire = None
        return exchange

    def _remember(self, wire: Wire) -> None:
        if wire.tls is not None:
            self._shared.context.remember(wire.tls)

    async def _decode(self, reader: ResponseReader, content: bytes, mark: Mark) -> Decoded:
        named = [value for name, value in reader.headers if name == "content-encoding"]
        applied = codings(named) if named else ()
        max_bytes = self._shared.limits.max_decoded_bytes
        if not content or (not applied and len(content) <= max_bytes):
            return Decoded(content, DecodeState.WHOLE)
        decoding = Decoding(content, applied, max_bytes)
        if len(content) <= INLINE_WIRE_BYTES:
            mark.take()
            decoded = decoding.run(INLINE_DECODED_BYTES)
            mark.lay_down()
            if decoded is not None:
                return decoded
        with mark.aside():
            decoded = await asyncio.to_thread(decoding.run)
        assert decoded is not None
        return decoded


def unwanted(reader: ResponseReader, content: Content) -> Fault | None:
    """Why the body of a good answer is left on the wire: its type is one that the configuration skips."""
    if not 200 <= reader.status < 300 or handling_of(_mime(reader), content) != "skip":
        return None
    return Fault(Outcome.TRUNCATED_LENGTH, _skip_reason(reader))


def _skip_reason(reader: ResponseReader) -> str:
    mime = _mime(reader)
    return f"content.{group_of(mime)}=skip: {mime}"


def _mime(reader: ResponseReader) -> str:
    return next((mime_of(value) for name, value in reader.headers if name == "content-type"), "")


def _lines(site: Site, shared: Fetching) -> tuple[str, str, str]:
    """The fixed lines of a site's requests, the same as they are kept and shown, and what a proxy needs before them."""
    login = shared.logins.get(site.url)
    proxy = shared.proxy if site.scheme == "http" else None
    if login is None and proxy is None:
        fixed = fixed_lines(site, shared.user_agent)
        return fixed, fixed, ""
    own, masked = (login.lines, login.masked) if login is not None else ("", "")
    if proxy is not None:
        own, masked = own + proxy.lines, masked + proxy.masked
    origin = site.url if proxy is not None else ""
    fixed = fixed_lines(site, shared.user_agent, own)
    return fixed, fixed if own == masked else fixed_lines(site, shared.user_agent, masked), origin


def _went_stale(reader: ResponseReader) -> bool:
    """Whether the server had given up a kept connection: it broke, which a time-out is not."""
    return reader.fault is not None and reader.fault.outcome in (Outcome.RESET, Outcome.BAD_HTTP)


def _since(started: float, moment: float) -> float:
    return (moment - started) * 1e3 if moment else 0.0
