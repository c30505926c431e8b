"""A proxy, plain and by CONNECT, on real sockets."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from nephila.crawl.credentials import read_credentials
from nephila.crawl.fetcher import Connection, Fetched, Fetching, FetchRequest, Site
from nephila.crawl.proxy import Proxy, parse_proxy
from nephila.crawl.tls import client_context
from nephila.errors import ConfigError
from nephila.lab.hostile.certificate import SELF_SIGNED
from nephila.records import Outcome

sys.path.insert(0, str(Path(__file__).parent))

from raw_web import Visitor, answer, serving, shared


@contextlib.asynccontextmanager
async def tunnelling(status: bytes = b"200 OK") -> AsyncIterator[tuple[int, list[bytes]]]:
    """A proxy that opens tunnels, or answers otherwise."""
    asked: list[bytes] = []

    async def pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
            writer.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            request = await reader.readuntil(b"\r\n\r\n")
            asked.append(request)
            writer.write(b"HTTP/1.1 " + status + b"\r\n\r\n")
            if status.startswith(b"200"):
                address, _, port = request.split()[1].decode().rpartition(":")
                far_reader, far_writer = await asyncio.open_connection(address, int(port))
                await asyncio.gather(pipe(reader, far_writer), pipe(far_reader, writer))
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1], asked
    finally:
        server.close()


async def fetch(site: Site, fetching: Fetching) -> Fetched:
    asked = Connection(site, "127.0.0.1", fetching)
    try:
        return await asked.fetch(FetchRequest("/page"))
    finally:
        await asked.aclose()


async def test_a_plain_request_names_the_whole_url_and_its_proxy_login_is_masked(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text('[proxy]\nbasic = { user = "me", password = "hunter2" }\n')
    login = read_credentials(str(tmp_path / "c.toml"))["proxy"]
    async with serving(answer(b"from the proxy")) as web:
        behind = replace(shared(), proxy=Proxy("127.0.0.1", web.port, login))
        fetched = await fetch(Site("http", "site.test", 8080), behind)
        [request] = web.requests
    assert (fetched.outcome, fetched.payload) == (Outcome.OK, b"from the proxy")
    assert request.startswith(b"GET http://site.test:8080/page HTTP/1.1\r\nHost: site.test:8080\r\n")
    assert b"Proxy-Authorization: Basic bWU6aHVudGVyMg==\r\n" in request
    assert b"Proxy-Authorization: ***\r\n" in fetched.request_bytes and b"bWU6" not in fetched.request_bytes


async def test_https_goes_through_a_tunnel_to_the_address_that_was_checked(tmp_path: Path) -> None:
    (tmp_path / "server.pem").write_text(SELF_SIGNED)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(tmp_path / "server.pem")

    async def act(visitor: Visitor) -> None:
        await visitor.say(answer(b"secret page"))

    async with serving(act, tls=tls) as web, tunnelling() as (port, asked):
        trusting = client_context(verify=False)
        behind = replace(shared(context=trusting), proxy=Proxy("127.0.0.1", port))
        fetched = await fetch(Site("https", "site.test", web.port), behind)
        assert (fetched.outcome, fetched.payload) == (Outcome.OK, b"secret page"), fetched.reason
        assert fetched.tls is not None
        assert asked == [f"CONNECT 127.0.0.1:{web.port} HTTP/1.1\r\nHost: 127.0.0.1:{web.port}\r\n\r\n".encode()]
        assert web.requests[0].startswith(b"GET /page HTTP/1.1\r\n")


async def test_a_proxy_that_opens_no_tunnel_has_refused() -> None:
    async with tunnelling(b"403 Forbidden") as (port, _):
        behind = replace(shared(), proxy=Proxy("127.0.0.1", port))
        fetched = await fetch(Site("https", "site.test", 443), behind)
    assert (fetched.outcome, fetched.reason) == (Outcome.REFUSED, "the proxy said 403")


async def test_private_addresses_are_refused_behind_a_proxy_too() -> None:
    async with serving(answer(b"x")) as web:
        behind = replace(shared(), proxy=Proxy("127.0.0.1", web.port))
        asked = Connection(Site("http", "inner.test", 80), "10.0.0.1", behind)
        fetched = await asked.fetch(FetchRequest("/"))
        assert web.requests == []
    assert fetched.outcome is Outcome.BLOCKED_ADDRESS


@pytest.mark.parametrize("written", ["proxy.test", "ftp://proxy.test", "http://proxy.test:99999", "http://a b:1"])
def test_what_is_no_proxy_is_refused(written: str) -> None:
    with pytest.raises(ConfigError, match=r"net.proxy"):
        parse_proxy(written)


def test_a_proxy_is_named_with_or_without_port() -> None:
    assert parse_proxy("http://proxy.test") == Proxy("proxy.test", 3128)
    assert parse_proxy("http://[::1]:8080/") == Proxy("::1", 8080)
    assert parse_proxy("") is None
