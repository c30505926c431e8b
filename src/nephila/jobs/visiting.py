"""A server visited as a browser would: every page is asked for once, over HTTP, and must show what it is for."""

from __future__ import annotations

import http.client
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

import msgspec

from nephila.errors import NephilaError

WITHIN_S = 30.0


@dataclass(frozen=True, slots=True)
class Visited:
    """How many pages were asked for, and what was wrong with them."""

    pages: int
    problems: tuple[str, ...]


def visit_all(url: str, *, top_page: str, words: str) -> Visited:
    """Ask a server, which somebody else runs, for everything; `words` are looked for where they are not empty."""
    port = urlsplit(url).port
    assert port is not None
    problems: list[str] = []
    copy = f"/copy?url={quote(top_page, safe='')}"
    expected: list[tuple[str, Callable[[str], bool]]] = [
        ("/crawl", lambda text: "Nothing is left to collect" in text),
        ("/sites", lambda text: 'href="/site?url=' in text),
        (f"/site?url={quote(_site(top_page), safe='')}", lambda text: "Latest visits" in text),
        (f"/why?url={quote(top_page, safe='')}", lambda text: "asked" in text),
        (copy, lambda text: "A copy from the archive" in text),
        (copy.replace("/copy?", "/copy/content?"), lambda text: "<" in text),
        ("/ranks", lambda text: top_page.partition("?")[0] in text),
        ("/statistics", lambda text: 'src="/report"' in text),
        ("/report", lambda text: "Languages" in text and "<svg" in text),
        ("/api/openapi.json", lambda text: "openapi" in msgspec.json.decode(text)),
        ("/metrics", lambda text: "nephila_pages_total" in text),
    ]
    if words:
        expected.append((f"/search?q={quote(words)}", lambda text: "<mark>" in text))
    for path, shows in expected:
        status, text = _ask(port, path)
        if status != 200 or not shows(text):
            problems.append(f"{path} answered {status} and does not show what it should")
    return Visited(len(expected), tuple(problems))


def _site(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _ask(port: int, path: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=WITHIN_S)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        return response.status, response.read().decode("utf-8", "replace")
    except OSError as problem:
        raise NephilaError(f"The server on this machine does not answer ({problem}); please report this.") from None
    finally:
        connection.close()
