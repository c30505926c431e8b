"""The lab's HTTP server in one process: a listening socket on all of 127.0.0.0/8, a protocol per connection.

Several processes listen on the same port (SO_REUSEPORT) and the kernel deals connections out among them. Every site
has its own 127.x.y.z, so the address that a client asked is part of the request.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from typing import Final

from nephila.errors import NephilaError
from nephila.lab.post import Post
from nephila.lab.protocol import SiteProtocol

_BACKLOG: Final = 4096
_ALL_ADDRESSES: Final = "0.0.0.0"  # noqa: S104  tied to the loopback device, and other addresses are refused


def loopback_socket(port: int) -> socket.socket:
    """A socket bound to `port` on every loopback address, to be shared with the other processes of this lab."""
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        # Not every kernel lets us; `SiteProtocol` refuses foreign addresses in any case.
        with contextlib.suppress(OSError):
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"lo\0")
        bound.bind((_ALL_ADDRESSES, port))
    except OSError as error:
        bound.close()
        raise NephilaError(
            f"Port {port} cannot be used for the lab ({error.strerror}); choose another lab.port."
        ) from error
    bound.setblocking(False)
    return bound


async def listen(post: Post, bound: socket.socket) -> asyncio.Server:
    """Accept connections on a bound socket until the returned server is closed."""
    loop = asyncio.get_running_loop()
    return await loop.create_server(lambda: SiteProtocol(post), sock=bound, backlog=_BACKLOG)
