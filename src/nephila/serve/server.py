"""The server itself: a socket that is bound before anybody is told its address, and uvicorn on it."""

from __future__ import annotations

import secrets
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import uvicorn

from nephila.config.sections import Serve
from nephila.errors import NephilaError
from nephila.serve.app import make_app
from nephila.serve.guard import LOOPBACK_NAMES, Rules, is_loopback
from nephila.serve.sources import Sources


@dataclass(frozen=True, slots=True)
class Listening:
    """A bound server that nobody was answered by yet; `url` is what a person opens."""

    host: str
    port: int
    token: str | None
    url: str
    server: uvicorn.Server
    socket: socket.socket

    def run(self) -> None:
        """Answer until Ctrl-C, which uvicorn ends upon and then raises again."""
        with suppress(KeyboardInterrupt):
            self.server.run(sockets=[self.socket])

    @contextmanager
    def in_background(self) -> Iterator[str]:
        """Answer from a thread while the block runs; gives the address."""
        thread = threading.Thread(target=self.run, name="serve", daemon=True)
        thread.start()
        try:
            yield self.url
        finally:
            self.server.should_exit = True
            thread.join(10.0)
            self.socket.close()


def listen(sources: Sources, config: Serve, token: str | None) -> Listening:
    """Bind the address. Other machines may connect to any but a loopback one: such a server always has a token."""
    bound = _bind(config.host, config.port)
    host, port = bound.getsockname()[:2]
    local = is_loopback(host)
    if token is None and not local:
        token = secrets.token_urlsafe(24)
    own = f"[{host}]" if ":" in host else host
    names = {*LOOPBACK_NAMES, own, config.host.lower(), *map(str.lower, config.names)}
    if not local:
        names.add(socket.gethostname().lower())
    rules = Rules(frozenset(names), any_address=not local, token=token, form_token=secrets.token_urlsafe(24))
    settings = uvicorn.Config(
        make_app(sources, rules), log_level="warning", access_log=False, lifespan="off", ws="none",
        server_header=False, proxy_headers=False, limit_concurrency=100, timeout_graceful_shutdown=2,
    )  # fmt: skip
    shown = own if host not in ("0.0.0.0", "::") else socket.gethostname()  # noqa: S104  # named, not bound
    url = f"http://{shown}:{port}/" + (f"?token={token}" if token is not None else "")
    return Listening(host, port, token, url, uvicorn.Server(settings), bound)


def _bind(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, reuse_port=False)
    except OSError as problem:
        raise NephilaError(
            f"Cannot listen on {host}, port {port} ({problem.strerror or problem}); "
            "name another address with --host or another port with --port, 0 for any that is free."
        ) from None
