"""A proxy: plain requests name the whole URL, https goes through a tunnel (CONNECT) to the address that was checked.

Names are looked up here all the same, because lanes, countries and the refusal of private addresses need addresses. A
tunnel leads to that very address; a plain request names its site, and the proxy looks that up for itself: whoever runs
one that can reach a private network must refuse such targets there (decision 92).
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from typing import Final, cast

from nephila.crawl.credentials import Login
from nephila.errors import ConfigError

_FORM: Final = re.compile(r"http://(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?/?")
_STATUS: Final = re.compile(rb"HTTP/1\.[01] (\d{3})")
_ANSWER_BYTES: Final = 16 * 2**10


@dataclass(frozen=True, slots=True)
class Proxy:
    host: str
    port: int
    login: Login | None = None

    @property
    def lines(self) -> str:
        return self.login.lines if self.login is not None else ""

    @property
    def masked(self) -> str:
        return self.login.masked if self.login is not None else ""


def parse_proxy(written: str, login: Login | None = None) -> Proxy | None:
    """The proxy of `net.proxy`; None if the key is empty."""
    if not written:
        return None
    if "@" in written:
        raise ConfigError(
            "net.proxy must not hold a login, which would be kept with the crawl; put it into the file of "
            "net.credentials, under [proxy]."
        )
    match = _FORM.fullmatch(written.strip())
    if match is None or not 0 < int(match[2] or 3128) < 65536:
        raise ConfigError(f'net.proxy: {written!r} is no proxy; write it like "http://proxy.example.org:3128".')
    return Proxy(match[1].strip("[]"), int(match[2] or 3128), login)


class Tunnel(asyncio.Protocol):
    """Asks a proxy for a tunnel; `opened` becomes the status of its answer, 0 where it closed without one."""

    def __init__(self, address: str, port: int, proxy: Proxy) -> None:
        target = f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
        self._request = f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{proxy.lines}\r\n".encode("latin-1")
        self._answer = b""
        self.opened: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        cast("asyncio.Transport", transport).write(self._request)

    def data_received(self, data: bytes) -> None:
        self._answer += data
        end = self._answer.find(b"\r\n\r\n")
        if end >= 0 or len(self._answer) > _ANSWER_BYTES:
            status = _STATUS.match(self._answer)
            # Whatever follows the header before our handshake has begun cannot be the server's.
            whole = end == len(self._answer) - 4 and status is not None
            self._end(int(status[1]) if whole and status is not None else 0)

    def connection_lost(self, exc: Exception | None) -> None:
        self._end(0)

    def _end(self, status: int) -> None:
        if not self.opened.done():
            self.opened.set_result(status)
