"""Sites that say what a test tells them to, on loopback addresses of their own, and a log of what they were asked."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

HTML = "text/html; charset=utf-8"


@dataclass(frozen=True)
class Said:
    """One answer."""

    body: str | bytes = ""
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    content_type: str = HTML


@dataclass(frozen=True)
class Asked:
    host: str
    path: str
    at: float
    ended_at: float
    status: int
    headers: Mapping[str, str] = field(default_factory=dict)


Site = Mapping[str, Said | Callable[[int], Said]]
"""Path -> answer, or a function of how often the path was asked before. What is not there is a 404."""


UrlOf = Callable[[str, str], str]


def page(*links: str, head: str = "", text: str = "") -> Said:
    anchors = "".join(f'<p><a href="{link}">{link}</a></p>' for link in links)
    return Said(f"<html><head><title>t</title>{head}</head><body>{text}{anchors}</body></html>")


def moved(to: str, status: int = 302) -> Said:
    return Said("", status, (("Location", to),))


@dataclass
class OddWeb:
    port: int
    addresses: dict[str, str]
    asked: list[Asked] = field(default_factory=list)

    def url(self, host: str, path: str = "/") -> str:
        return f"http://{host}:{self.port}{path}"

    def paths(self, host: str) -> list[str]:
        return [row.path for row in self.asked if row.host == host]

    def write_hosts(self, file: Path) -> Path:
        file.write_text("".join(f"{address} {host}\n" for host, address in self.addresses.items()))
        return file


@contextmanager
def serving(
    sites: Callable[[Callable[[str, str], str]], Mapping[str, Site]], *, shared: bool = False
) -> Iterator[OddWeb]:
    """Serve sites while the block runs, each on its own address unless they are to share one.

    `sites` gets a function (host, path) -> URL, because the port is known only then.
    """
    servers: list[ThreadingHTTPServer] = []
    web = OddWeb(0, {})
    times: dict[tuple[str, str], int] = {}
    lock = threading.Lock()
    content: dict[str, Site] = {}

    class Answering(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            at = time.monotonic()
            host = self.headers.get("Host", "").partition(":")[0]
            with lock:
                before = times.get((host, self.path), 0)
                times[host, self.path] = before + 1
            said = content.get(host, {}).get(self.path, Said("nothing here", 404))
            said = said(before) if callable(said) else said
            etag = dict(said.headers).get("ETag")
            if etag is not None and self.headers.get("If-None-Match") == etag:
                said = Said("", 304, said.headers)
            body = said.body if isinstance(said.body, bytes) else said.body.encode()
            with lock:
                web.asked.append(Asked(host, self.path, at, time.monotonic(), said.status, dict(self.headers)))
            self.send_response(said.status)
            whole = (("Content-Type", said.content_type), ("Content-Length", str(len(body))))
            for name, value in (*(() if said.status == 304 else whole), *said.headers):
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """The log is `asked`."""

    try:
        first = ThreadingHTTPServer(("127.77.0.1", 0), Answering)
        servers.append(first)
        web.port = first.server_port
        content.update(sites(web.url))
        for place, host in enumerate(content):
            address = "127.77.0.1" if shared else f"127.77.0.{place + 1}"
            web.addresses[host] = address
            if address != "127.77.0.1":
                servers.append(ThreadingHTTPServer((address, web.port), Answering))
        for server in servers:
            server.daemon_threads = True
            threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        yield web
    finally:
        for server in servers:
            server.shutdown()
            server.server_close()
