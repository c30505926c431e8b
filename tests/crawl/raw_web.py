"""A server on loopback that says exactly what a test tells it to, byte for byte, and keeps what it was asked."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field

from nephila.clock import REAL_TIME
from nephila.crawl.addresses import Allowed
from nephila.crawl.connection import Limits
from nephila.crawl.fetcher import Connection, Fetching, Site
from nephila.crawl.response import HeaderCaps
from nephila.crawl.tls import RememberingContext, client_context

LOOPBACK = Allowed.parse(["127.0.0.0/8"])
WIRE_BYTES = 256 * 1024
DECODED_BYTES = 1024 * 1024

# RELIABILITY's test profile with shorter times.
LIMITS = Limits(
    connect_s=2.0, header_s=0.4, idle_s=0.3, total_s=5.0, min_rate_bytes_s=1024, min_rate_after_s=0.4,
    max_wire_bytes=WIRE_BYTES, max_decoded_bytes=DECODED_BYTES, header_caps=HeaderCaps(total_bytes=32 * 1024),
)  # fmt: skip


@dataclass
class Visitor:
    """One connection as the server sees it."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    number: int
    requests: list[bytes] = field(default_factory=list)

    async def say(self, answer: bytes) -> None:
        self.writer.write(answer)
        await self.writer.drain()

    def reset(self) -> None:
        """End with RST instead of FIN."""
        self.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()

    async def until_left(self) -> None:
        """Say nothing more until the other side closes."""
        while await self.reader.read(65536):
            pass


Act = Callable[[Visitor], Awaitable[None]]


@dataclass
class RawWeb:
    """What one test serves: `act` is called for each request; a connection stays open until it closes it."""

    act: Act
    port: int = 0
    visitors: list[Visitor] = field(default_factory=list)
    serving: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def requests(self) -> list[bytes]:
        return [request for visitor in self.visitors for request in visitor.requests]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        visitor = Visitor(reader, writer, number=len(self.visitors))
        self.visitors.append(visitor)
        task = asyncio.current_task()
        assert task is not None
        self.serving.add(task)
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            while not writer.is_closing():
                visitor.requests.append(await reader.readuntil(b"\r\n\r\n"))
                await self.act(visitor)
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            writer.close()
            await writer.wait_closed()


@contextlib.asynccontextmanager
async def serving(act: Act | bytes, *, tls: ssl.SSLContext | None = None) -> AsyncIterator[RawWeb]:
    """Serve one behaviour; bytes are the answer to every request."""

    async def answer(visitor: Visitor) -> None:
        assert isinstance(act, bytes)
        await visitor.say(act)

    web = RawWeb(answer if isinstance(act, bytes) else act)
    server = await asyncio.start_server(web.serve, "127.0.0.1", 0, ssl=tls)
    web.port = server.sockets[0].getsockname()[1]
    try:
        yield web
    finally:
        server.close()
        for visitor in web.visitors:
            if visitor.writer.transport is not None:
                with contextlib.suppress(AttributeError):  # Python 3.11.2: a closed TLS transport has lost its protocol
                    visitor.writer.transport.abort()
        if web.serving:
            await asyncio.wait(web.serving, timeout=2)


@contextlib.asynccontextmanager
async def talking(talk: Act) -> AsyncIterator[int]:
    """A port where `talk` is called once per connection, before anything is read."""
    under_way: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        under_way.add(task)
        with contextlib.suppress(ConnectionError):
            await talk(Visitor(reader, writer, number=len(under_way)))
        with contextlib.suppress(ConnectionError):
            writer.close()
            await writer.wait_closed()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        if under_way:
            await asyncio.wait(under_way, timeout=2)


VERIFYING = client_context(verify=True)


def shared(limits: Limits = LIMITS, allowed: Allowed = LOOPBACK, context: RememberingContext | None = None) -> Fetching:
    return Fetching(limits, allowed, "nephila-test", context or VERIFYING, REAL_TIME)


def connection(port: int, *, scheme: str = "http", host: str = "site.test", **kwargs: object) -> Connection:
    return Connection(Site(scheme, host, port), "127.0.0.1", shared(**kwargs))  # type: ignore[arg-type]


def answer(body: bytes, *lines: str, status: str = "200 OK", length: bool = True) -> bytes:
    """A whole answer with these header lines."""
    all_lines = [f"HTTP/1.1 {status}", *lines, *([f"Content-Length: {len(body)}"] if length else [])]
    return ("\r\n".join(all_lines) + "\r\n\r\n").encode("latin-1") + body
