"""A small web with hostile pages, collected, converted, ranked and indexed once; and a real server over it."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from nephila.config.layers import Layer
from nephila.config.sections import Config, Serve
from nephila.convert.run import run as convert
from nephila.crawl.run import open_crawl
from nephila.crawl.run import run as crawl
from nephila.engine import open_engine
from nephila.jobs.serve import make_sources
from nephila.rank.run import run as rank
from nephila.search.index import run as index
from nephila.serve.server import listen
from nephila.store.folder import CrawlFolder

from ..circle.odd_web import OddWeb, Said, Site, UrlOf, moved, page, serving
from .payloads import PAYLOADS

HOSTILE_TITLE = (
    "<script>document.body.dataset.pwned=1</script><img src=x onerror='document.body.dataset.pwned=1'> nemesis"
)
ACTING = "\u202egnp.exe\u202c \x1b[2J\x9b31m \x07\u2066isolated\u2069"
HOSTILE_BODY = """
<script>document.body.dataset.pwned = 1; parent.document.body.dataset.pwned = 1;
fetch('/api/control/pause', {method: 'POST'});</script>
<img src="/metrics" onerror="parent.document.body.dataset.pwned=1"><iframe src="javascript:parent.pwned=1"></iframe>
<meta http-equiv="refresh" content="0;url=/site"><base href="http://evil.test:1/">
<form action="/control" method="post"><input name="action" value="pause"><button id="go">go</button></form>
<a id="leave" target="_top" href="http://127.0.0.1:9/">leave</a>
"""


def web(url: UrlOf) -> Mapping[str, Site]:
    """A peaceful site, one that attacks whoever looks at it, and one that is a nuisance."""
    words = "The golden orb weaver spins the largest webs. " * 12
    korean = "이 페이지는 웹 검색 로봇이 수집한 문서입니다. 거미는 그물을 짠다. " * 8
    return {
        "good.test": {
            "/": page("/weaver", "/korean", "/gone", "/moved", url("evil.test", "/"), url("odd.test", "/"), text=words),
            "/weaver": titled("Golden orb weaver", words + "<p>It has a needle in its haystack: nephilaunique.</p>"),
            "/korean": titled("거미와 검색", korean),
            "/moved": moved("/weaver", 301),
            "/private/a": page(),
        },
        "evil.test": {
            "/": titled(
                HOSTILE_TITLE,
                HOSTILE_BODY + words + ACTING,
                url("evil.test", "/bidi"),
                "/gone",
                *(url("evil.test", f"/payload/{n}") for n in range(len(PAYLOADS))),
            ),
            **{
                f"/payload/{n}": titled(f"{text} payload {n}", f"<p>payload {n}</p>") for n, text in enumerate(PAYLOADS)
            },
            "/bidi": titled(ACTING + " acting title", words, "/x?<img src=x onerror=alert(1)>"),
        },
        "odd.test": {
            "/robots.txt": Said("User-agent: *\nDisallow: /private\n", content_type="text/plain"),
            "/": page("/private/a", "/notes.txt", "/bytes", text=words),
            "/notes.txt": Said("plain <b>text</b>\n", content_type="text/plain"),
            "/bytes": Said("\0\1\2", content_type="application/octet-stream"),
        },
    }


def titled(title: str, body: str, *links: str) -> Said:
    anchors = "".join(f'<p><a href="{link}">{link}</a></p>' for link in links)
    shown = escape(title)
    return Said(f"<html><head><title>{shown}</title></head><body><h1>{shown}</h1>{body}{anchors}</body></html>")


@dataclass(frozen=True)
class Collected:
    folder: CrawlFolder
    config: Config
    port: int

    def url(self, host: str, path: str = "/") -> str:
        return f"http://{host}:{self.port}{path}"


def collect(place: Path, served: OddWeb, settings: Mapping[str, object] | None = None) -> Collected:
    """The whole circle over a web on this machine, without delays."""
    layers = [Layer("the test", {
        "net.allow_private": ["127.0.0.0/8"], "net.hosts": str(served.write_hosts(place / "hosts")),
        "politeness.min_delay": 0.0, "politeness.delay_factor": 0.0, "crawl.retries": 0, "crawl.sleep_min": 0.1,
        "archive.sync": False, **(settings or {}),
    })]  # fmt: skip
    first = next(iter(served.addresses))
    opened, seeds = open_crawl(place / "crawl", layers, [(served.url(first), "the test")], 1)
    config = opened.effective.config
    try:
        with open_engine("inline", 1) as engine:
            crawl(opened, seeds, engine, 1)
            convert(config.convert, config.links, opened.folder, engine)
            rank(config.rank, opened.folder, engine)
            index(config.search, opened.folder, engine)
    finally:
        opened.lock.release()
    return Collected(opened.folder, config, served.port)


@pytest.fixture(scope="session")
def collected(tmp_path_factory: pytest.TempPathFactory) -> Collected:
    with serving(web) as served:
        return collect(tmp_path_factory.mktemp("served"), served)


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> Any:
        assert self.headers["content-type"] == "application/json", self.headers
        return json.loads(self.body)


@dataclass(frozen=True)
class Client:
    """Speaks HTTP to a real server; by default as a browser on this machine would."""

    port: int
    token: str | None
    host: str = "127.0.0.1"
    always: dict[str, str] = field(default_factory=dict)

    def ask(self, method: str, path: str, headers: Mapping[str, str] | None = None, body: bytes = b"") -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request(method, path, body or None, {**self.always, **(headers or {})})
            response = connection.getresponse()
            named = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, named, response.read())
        finally:
            connection.close()

    def get(self, path: str, **parameters: object) -> Answer:
        return self.ask("GET", f"{path}?{urlencode(parameters)}" if parameters else path)

    def form_token(self) -> str:
        token: str = self.get("/api/session").json["form_token"]
        return token

    def post(self, path: str, fields: Mapping[str, str], headers: Mapping[str, str] | None = None) -> Answer:
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        return self.ask("POST", path, {**kind, **(headers or {})}, urlencode(fields).encode())


@pytest.fixture(scope="session")
def client(collected: Collected) -> Iterator[Client]:
    """A server on loopback, as `nephila serve` starts it."""
    listening = listen(make_sources(collected.folder, collected.config), Serve(port=0), None)
    with listening.in_background():
        yield Client(listening.port, None)


@pytest.fixture(scope="session")
def guarded(collected: Collected) -> Iterator[Client]:
    """A server that asks for a token."""
    listening = listen(make_sources(collected.folder, collected.config), Serve(port=0), "the-secret-token")
    with listening.in_background():
        yield Client(listening.port, "the-secret-token")
