"""The words that hostile scripts are written in: what was asked, and whole or broken answers to it."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Final

from nephila.lab.wire import End, Script, Step, Wait


@dataclass(frozen=True, slots=True)
class Asked:
    """One request to a hostile site. `label` is what stands before the site's own name: `500` of `500.e3-down.test`."""

    target: str
    label: str
    port: int  # the lab's own; a site with both schemes has its TLS on another
    times: int  # how often this host was asked for this target before
    seen: int  # how often this host was asked at all before
    secure: bool = False  # asked with TLS, of a site with both schemes


Act = Callable[[Asked], Script]

OK: Final = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n"
CHUNKED: Final = OK + b"Transfer-Encoding: chunked\r\n\r\n"
HANG: Final[Script] = (End.HANG,)
EMPTY: Final[Script] = (End.CLOSE,)
RESET: Final[Script] = (End.RESET,)


def answer(body: bytes | str, *lines: str, status: str = "200 OK", kind: str = "text/html; charset=utf-8") -> Script:
    """A whole answer with these further header lines; an empty `kind` leaves the type out."""
    content = body.encode() if isinstance(body, str) else body
    typed = [f"Content-Type: {kind}"] if kind else []
    head = [f"HTTP/1.1 {status}", *typed, *lines, f"Content-Length: {len(content)}"]
    return ("\r\n".join(head).encode("utf-8", "surrogateescape") + b"\r\n\r\n" + content, End.KEEP)


def page(*links: str, title: str = "page", text: str = "", head: str = "") -> str:
    """A page with a title, a text and links."""
    anchors = "".join(f'<p><a href="{html.escape(link, quote=True)}">link</a></p>\n' for link in links)
    return f"<html><head><title>{title}</title>{head}</head><body><p>{text}</p>\n{anchors}</body></html>\n"


def moved(to: str, status: str = "302 Found") -> Script:
    return answer(b"", f"Location: {to}", status=status)


def missing() -> Script:
    return answer("not here\n", status="404 Not Found", kind="text/plain")


def says(*pieces: bytes, then: End = End.CLOSE) -> Script:
    return (*pieces, then)


def for_ever(start: bytes, again: bytes) -> Script:
    """Bytes without end; the client is the one to leave."""
    return chain((start,), repeat(again))


def drips(start: bytes, drop: bytes = b"x", every_s: float = 1.0) -> Iterator[Step]:
    yield start
    while True:
        yield drop
        yield Wait(every_s)


def pieces_of(whole: bytes, piece_bytes: int = 65_536) -> Iterable[bytes]:
    return (whole[start : start + piece_bytes] for start in range(0, len(whole), piece_bytes))


def streamed(head: bytes, body: Iterable[bytes], end: End = End.CLOSE) -> Script:
    """A head and a body made while it is sent: no row keeps gigabytes."""
    return chain((head,), body, (end,))


def at(places: dict[str, Act | Script | str], otherwise: Act | None = None) -> Act:
    """A site of several paths: a text is a page, a script is said as it is."""

    def act(asked: Asked) -> Script:
        found = places.get(asked.target)
        if found is None:
            return otherwise(asked) if otherwise is not None else missing()
        if isinstance(found, str):
            return answer(found)
        return found(asked) if callable(found) else found

    return act


def home(said: Script | Act) -> Act:
    """A site that is one page, said in this way."""
    return at({"/": said})


def index_of(places: dict[str, Act | Script | str], text: str = "") -> Act:
    """A site whose home page links to all of its paths."""
    return at({"/": page(*places, text=text), **places})
