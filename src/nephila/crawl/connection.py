"""The thin shell around the sockets: opening a connection to a checked address, and one exchange at a time on it.

The address is checked before the first packet and again on the open socket (N4, N14). All time-outs of a connection
share one timer, which is set to the earliest of them and looks, when it fires, whether that moment has really come:
a page that arrives in milliseconds costs no timer at all. Times here are real seconds, whatever the crawl's clock.
"""

from __future__ import annotations

import asyncio
import errno
import ssl
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, cast

from nephila.crawl.addresses import Allowed, refusal
from nephila.crawl.in_hand import NO_MARK, Mark
from nephila.crawl.proxy import Proxy, Tunnel
from nephila.crawl.request import Site
from nephila.crawl.response import Fault, HeaderCaps, Phase, ResponseReader
from nephila.crawl.throttle import Throttle
from nephila.crawl.tls import RememberingContext, tls_reason
from nephila.errors import NephilaError
from nephila.records import Outcome

_OURS: Final = {errno.EMFILE, errno.ENFILE}
READ_BYTES: Final = 256 * 2**10
"""The most that is read from a connection at once."""

_rooms: Final = threading.local()
GOODBYE_S: Final = 2.0  # how long a server may take to answer our close (TLS) before we just go


@dataclass(frozen=True, slots=True)
class Limits:
    """How long and how much: real seconds and bytes of one fetch. 0 for `min_rate_bytes_s` means no minimum."""

    connect_s: float = 10.0
    header_s: float = 30.0
    idle_s: float = 20.0
    total_s: float = 120.0
    min_rate_bytes_s: int = 100
    min_rate_after_s: float = 20.0
    max_wire_bytes: int = 16 * 2**20
    max_decoded_bytes: int = 32 * 2**20
    header_caps: HeaderCaps = field(default_factory=HeaderCaps)


Unwanted = Callable[[ResponseReader], Fault | None]
"""Asked when the header has come: why the body is left on the wire, or None."""


@dataclass(slots=True)
class Exchange:
    """One request and its answer in the making, with the moments that are timed (real monotonic seconds)."""

    reader: ResponseReader
    ended: asyncio.Future[None]
    total_until: float
    sent_at: float
    mark: Mark = NO_MARK
    first_byte_at: float = 0.0
    header_at: float = 0.0
    last_byte_at: float = 0.0
    received_bytes: int = 0
    held_s: float = 0.0  # for so long we did not read, because of a cap on bytes per second
    unwanted: Unwanted | None = None


def _room() -> memoryview:
    """Where a loop's connections read into, one after the other: each takes what came before the next one reads."""
    room: memoryview | None = getattr(_rooms, "room", None)
    if room is None:
        room = _rooms.room = memoryview(bytearray(READ_BYTES))
    return room


def expiry(exchange: Exchange, limits: Limits, now: float) -> tuple[float, Fault | None]:
    """When this exchange must next be looked at, and its fault if the moment has come."""
    checks = [(exchange.total_until, Fault(Outcome.TIMEOUT_TOTAL, "total time-out"))]
    if exchange.reader.phase is Phase.HEADER:
        checks.append((exchange.sent_at + limits.header_s, Fault(Outcome.TIMEOUT_HEADERS, "header time-out")))
    else:
        checks = [(exchange.total_until, Fault(Outcome.TRUNCATED_TIME, "total time-out"))]
        checks.append((exchange.last_byte_at + limits.idle_s, Fault(Outcome.TRUNCATED_TIME, "no data for too long")))
        if limits.min_rate_bytes_s:
            # Until then the bytes that came suffice for the mean rate, even if no more come.
            enough_s = max(limits.min_rate_after_s, exchange.reader.wire_bytes / limits.min_rate_bytes_s)
            enough_s += exchange.held_s
            checks.append((exchange.header_at + enough_s, Fault(Outcome.TOO_SLOW, "too slow")))
    when, fault = min(checks, key=lambda check: check[0])
    return when, fault if when <= now else None


class Wire(asyncio.BufferedProtocol):
    """An open connection. Between exchanges it lies idle and closes itself if the server says anything."""

    def __init__(self, limits: Limits, throttle: Throttle | None = None) -> None:
        self._limits = limits
        self._throttle = throttle
        self._resume: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()
        self._exchange: Exchange | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = 0.0
        self._transport: asyncio.Transport | None = None
        self._gone: asyncio.Future[None] = self._loop.create_future()
        self.peer_address: str | None = None  # None: it was gone before anybody could look
        self.tls: ssl.SSLObject | None = None

    @property
    def usable(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    async def exchange(
        self, sent: bytes, reader: ResponseReader, total_until: float, unwanted: Unwanted | None = None,
        mark: Mark = NO_MARK,
    ) -> Exchange:  # fmt: skip
        """Send a request and wait for the end of its answer, good or bad; the reader knows which."""
        assert self._transport is not None and self._exchange is None
        now = time.monotonic()
        exchange = Exchange(reader, self._loop.create_future(), total_until, now, mark, unwanted=unwanted)
        if self._transport.is_closing():  # it was accepted and closed at once
            reader.end(was_reset=False)
            return exchange
        self._exchange = exchange
        self._transport.write(sent)
        self._watch(now, min(total_until, now + self._limits.header_s))
        try:
            await exchange.ended
        except asyncio.CancelledError:
            self.abort()
            raise
        finally:
            self._exchange = None
        if reader.fault is not None or not reader.reusable:
            self.abort() if reader.fault is not None else self.close()
        return exchange

    def close(self) -> None:
        """Say goodbye properly (FIN, TLS close)."""
        self._stop_timer()
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """Stop at once: what still comes is not wanted."""
        self._stop_timer()
        if self._transport is not None:
            self._transport.abort()

    async def wait_closed(self) -> None:
        if self._transport is not None:
            await asyncio.shield(self._gone)

    # What the event loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        # Asked for now: a loop may refuse to tell anything of a socket that was closed meanwhile.
        with suppress(RuntimeError, OSError):
            peer = transport.get_extra_info("peername")
            self.peer_address = str(peer[0]) if peer else None
        self.tls = transport.get_extra_info("ssl_object")

    def get_buffer(self, sizehint: int) -> memoryview:
        """Room for what the answer may still have, and a byte more that tells that there is more (N2)."""
        exchange = self._exchange
        wanted_bytes = 1 if exchange is None else max(1, min(READ_BYTES, exchange.reader.wanted_bytes))
        return _room()[:wanted_bytes]

    def buffer_updated(self, nbytes: int) -> None:
        data = bytes(_room()[:nbytes])
        exchange = self._exchange
        if exchange is None or exchange.ended.done():
            if exchange is None:
                self.abort()  # an answer to a question nobody asked
            else:
                exchange.reader.reusable = False
            return
        now = time.monotonic()
        reader = exchange.reader
        if not exchange.received_bytes:
            exchange.first_byte_at = now
        exchange.received_bytes += len(data)
        exchange.last_byte_at = now
        was_header = reader.phase is Phase.HEADER
        exchange.mark.take()
        reader.feed(data)
        exchange.mark.lay_down()
        if was_header and reader.phase is not Phase.HEADER:
            exchange.header_at = now
        if was_header and reader.phase is Phase.BODY and exchange.unwanted is not None and reader.fault is None:
            fault = exchange.unwanted(reader)
            if fault is not None:
                reader.give_up(fault)
        if reader.phase is Phase.DONE or reader.fault is not None:
            exchange.ended.set_result(None)
        elif was_header and reader.phase is Phase.BODY:
            self._watch(now, expiry(exchange, self._limits, now)[0])
        if self._throttle is not None:
            self._hold(exchange, self._throttle.took(len(data), now), now)

    def _hold(self, exchange: Exchange, wait_s: float, now: float) -> None:
        """Stop reading for so long; what the server does meanwhile is not held against it."""
        if wait_s <= 0 or exchange.ended.done() or self._resume is not None or self._transport is None:
            return
        self._transport.pause_reading()
        exchange.held_s += wait_s
        exchange.total_until += wait_s
        exchange.last_byte_at = now + wait_s
        self._resume = self._loop.call_later(wait_s, self._read_on)

    def _read_on(self) -> None:
        self._resume = None
        if self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()

    def eof_received(self) -> bool:
        self._end(was_reset=False)
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        self._end(was_reset=exc is not None)
        if not self._gone.done():
            self._gone.set_result(None)

    def _end(self, *, was_reset: bool) -> None:
        exchange = self._exchange
        if exchange is not None and not exchange.ended.done():
            exchange.reader.end(was_reset=was_reset)
            exchange.ended.set_result(None)

    def _watch(self, now: float, moment: float) -> None:
        """Have the timer fire at `moment` or earlier; one that is set for an earlier moment sets itself again."""
        if self._timer is not None:
            if self._timer_at <= moment:
                return
            self._timer.cancel()
        self._timer_at = moment
        self._timer = self._loop.call_later(max(0.0, moment - now), self._look)

    def _look(self) -> None:
        self._timer = None
        exchange = self._exchange
        if exchange is None or exchange.ended.done():
            return
        now = time.monotonic()
        moment, fault = expiry(exchange, self._limits, now)
        if fault is None:
            self._watch(now, moment)
            return
        exchange.reader.give_up(fault)
        exchange.ended.set_result(None)

    def _stop_timer(self) -> None:
        if self._resume is not None:
            self._resume.cancel()
            self._resume = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


async def open_wire(
    site: Site, address: str, allowed: Allowed, limits: Limits, context: RememberingContext | None,
    throttle: Throttle | None = None, proxy: Proxy | None = None,
) -> Wire | Fault:  # fmt: skip
    """Connect to the very address that was checked; what the network does about it is a `Fault`."""
    refused = refusal(address, allowed)
    if refused is not None:
        return Fault(Outcome.BLOCKED_ADDRESS, refused)
    loop = asyncio.get_running_loop()
    tls: dict[str, Any] = {}
    if site.scheme == "https":
        assert context is not None
        host = site.host.strip("[]").rstrip(".")
        tls = {"ssl": context, "server_hostname": host, "ssl_shutdown_timeout": GOODBYE_S}
    wire = Wire(limits, throttle)
    try:
        async with asyncio.timeout(limits.connect_s):
            if proxy is None:
                await loop.create_connection(lambda: wire, address, site.port, **tls)
            elif site.scheme == "http":
                await loop.create_connection(lambda: wire, proxy.host, proxy.port)
            else:
                return await _open_tunnel(wire, address, site.port, proxy, tls)
    except TimeoutError:
        wire.abort()
        return Fault(Outcome.TIMEOUT_CONNECT, "connect time-out")
    except ssl.SSLError as error:
        return Fault(Outcome.TLS_ERROR, tls_reason(error))
    except OSError as error:
        return _connect_fault(error, site)
    if proxy is not None:
        return wire  # the peer is the proxy, which the user named
    if wire.peer_address is None:
        wire.abort()  # nobody knows who that was, so nothing is sent; to the exchange it is closed
        return wire
    refused = refusal(wire.peer_address, allowed)
    if refused is not None:
        wire.abort()
        return Fault(Outcome.BLOCKED_ADDRESS, refused)
    return wire


async def _open_tunnel(wire: Wire, address: str, port: int, proxy: Proxy, tls: dict[str, Any]) -> Wire | Fault:
    """TLS through a tunnel to the checked address; a proxy that opens none has refused the connection."""
    loop = asyncio.get_running_loop()
    transport, tunnel = await loop.create_connection(lambda: Tunnel(address, port, proxy), proxy.host, proxy.port)
    status = await tunnel.opened
    if not 200 <= status < 300:
        transport.abort()
        return Fault(Outcome.REFUSED, f"the proxy said {status}" if status else "the proxy closed the connection")
    shutdown_s, host = tls["ssl_shutdown_timeout"], tls["server_hostname"]
    secured = await loop.start_tls(
        transport, wire, tls["ssl"], server_hostname=host, ssl_shutdown_timeout=shutdown_s
    )  # fmt: skip
    if secured is None:
        return Fault(Outcome.TLS_ERROR, "connection closed in the handshake")
    wire.connection_made(secured)
    return wire


def _connect_fault(error: OSError, site: Site) -> Fault:
    if error.errno in _OURS:
        raise NephilaError("Too many open files: raise the limit (ulimit -n) or lower crawl.active_sites.") from error
    if isinstance(error, TimeoutError) or error.errno == errno.ETIMEDOUT:
        return Fault(Outcome.TIMEOUT_CONNECT, "connect time-out")
    if isinstance(error, ConnectionRefusedError):
        return Fault(Outcome.REFUSED, "connection refused")
    if site.scheme == "https" and isinstance(error, ConnectionError):
        return Fault(Outcome.TLS_ERROR, "connection closed in the handshake")
    if isinstance(error, ConnectionResetError):
        return Fault(Outcome.RESET, "connection reset")
    return Fault(Outcome.REFUSED, error.strerror or str(error) or type(error).__name__)
