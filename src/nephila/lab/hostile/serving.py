"""Listening for hostile sites: a socket per address, in front of the lab's own, which listens on all of them.

Linux prefers the socket that is bound to the very address; so hostile sites have the same port as all others and a
process of their own, and whatever they do costs the other sites nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import tempfile
from pathlib import Path
from typing import Final, cast

from nephila.errors import NephilaError
from nephila.lab.hostile.certificate import SELF_SIGNED, SIGNED
from nephila.lab.hostile.row import SECURE_PORT
from nephila.lab.hostile.sites import listeners
from nephila.lab.post import Post
from nephila.lab.protocol import SiteProtocol

_BACKLOG: Final = 1024
_GARBAGE: Final = bytes(range(255, 0, -1)) * 4
_CALLERS: Final = 4


class _Mute(asyncio.Protocol):
    """Accepts, says what it was given, and nothing more."""

    def __init__(self, said: bytes = b"") -> None:
        self._said = said

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if self._said:
            cast(asyncio.Transport, transport).write(self._said)


class _Canary(SiteProtocol):
    """Nobody may come here: the very connection is witnessed, before anything is asked."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.witness_arrival()


class HostileListeners:
    """All sockets of the hostile process."""

    def __init__(self, post: Post) -> None:
        self._post = post
        self._servers: list[asyncio.Server] = []
        self._held: list[socket.socket] = []

    async def listen(self, port: int) -> None:
        loop = asyncio.get_running_loop()
        untrusted, signed = _context(SELF_SIGNED), _context(SIGNED)
        for address, kind in listeners():
            bound = _bound(address, port)
            if kind == "backlog":
                self._fill(bound, address, port)
                continue
            places = [(bound, untrusted if kind == "tls" else None)]
            if kind == "both":
                places.append((_bound(address, port + SECURE_PORT), signed))
            for place, tls in places:
                made = await loop.create_server(_protocol(kind, self._post), sock=place, backlog=_BACKLOG, ssl=tls)
                self._servers.append(made)

    def _fill(self, bound: socket.socket, address: str, port: int) -> None:
        """A queue without room: those who come first are ours, and nobody is ever let in (H9)."""
        bound.listen(0)
        self._held.append(bound)
        for _ in range(_CALLERS):
            caller = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            caller.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                caller.connect((address, port))
            self._held.append(caller)

    def close(self) -> None:
        for server in self._servers:
            server.close()
        for held in self._held:
            held.close()


def _protocol(kind: str, post: Post):  # type: ignore[no-untyped-def]  # a factory as asyncio takes it
    match kind:
        case "canary":
            return lambda: _Canary(post)
        case "silent":
            return _Mute
        case "garbage":
            return lambda: _Mute(_GARBAGE)
        case _:
            return lambda: SiteProtocol(post)


def _context(certificate: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:
        file.write(certificate)
        file.flush()
        context.load_cert_chain(Path(file.name))
    return context


def _bound(address: str, port: int) -> socket.socket:
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        bound.bind((address, port))
    except OSError as error:
        bound.close()
        raise NephilaError(
            f"{address} cannot be listened on for the lab's hostile sites ({error.strerror})."
        ) from error
    bound.setblocking(False)
    return bound
