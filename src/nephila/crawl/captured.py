"""A capture of somebody's archive as the answer that a server gave: what the fetcher would have made of it.

Pure. An archive may hold a body with its content coding undone and the header unchanged; then the name in the header
is marked (`X-Crawl-Content-Encoding`), so that no later reader undoes the coding a second time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, cast

from nephila.config.sections import Crawl
from nephila.crawl.fetcher import Fetched, Truncated
from nephila.crawl.group import Role
from nephila.crawl.recording import SEED_KIND
from nephila.decode import Decoded, DecodeState, decode
from nephila.records import Outcome
from nephila.store.archive.captures import Capture, header_of, renamed, whole_header


@dataclass(frozen=True, slots=True)
class Reached:
    """How a page was reached from its seed."""

    depth: int
    referrer: str = ""
    kind: str = SEED_KIND
    hops: int = 0


NOT_TOLD: Final = Reached(0)
ROBOTS_PATH: Final = "/robots.txt"
_ROLES: Final = frozenset({"page", "robots", "sample", "probe"})
_CUT: Final[dict[str, tuple[Outcome, Truncated]]] = {
    "length": (Outcome.TRUNCATED_LENGTH, "length"),
    "time": (Outcome.TRUNCATED_TIME, "time"),
    "disconnect": (Outcome.TRUNCATED_DISCONNECT, "disconnect"),
    "unspecified": (Outcome.TRUNCATED_DISCONNECT, "disconnect"),
}
_VERSION: Final = re.compile(rb"HTTP/(\d(?:\.\d)?)")
_BINARY: Final = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_OWN_REDIRECTS: Final = frozenset({"redirect", "redirect_loop", "redirect_limit"})


def role_of(capture: Capture, path: str) -> Role:
    """What the request was for: our own archives say it, of others a robots.txt tells by its name."""
    said = capture.said("role")
    if said in _ROLES and capture.said("outcome"):
        return cast(Role, said)
    return "robots" if path == ROBOTS_PATH else "page"


def fetched_of(capture: Capture, limits: Crawl, body: bytes | None = None) -> Fetched | None:
    """The answer; `body` is that of the record a revisit refers to. None: there is no answer of a server in it."""
    header, content = capture.header, capture.body if body is None else body
    status, headers = capture.status, capture.headers
    if not header and capture.kind != "revisit" and content:
        mime = _plain_mime(capture)
        header, status, headers = header_of(mime, len(content)), 200, (("content-type", mime),)
    if not header or not status:
        return None
    header = whole_header(header)
    truncated = capture.truncated
    if len(content) > limits.max_page_size:
        content, truncated = content[: limits.max_page_size], "length"
    codings = _codings(headers)
    decoded = decode(content, codings, limits.max_decoded_size)
    if decoded.state is DecodeState.BAD and not _BINARY.search(content[:1024]):
        header = renamed(header, b"content-encoding")
        headers = tuple((name, value) for name, value in headers if name != "content-encoding")
        decoded = decode(content, (), limits.max_decoded_size)
    cut = _CUT.get(truncated) if truncated else None
    outcome, reason = _outcome(capture, status, headers, decoded, cut)
    version = _VERSION.match(header)
    return Fetched(
        outcome, reason, capture.fetched_at, capture.address, capture.request, status,
        version[1].decode() if version is not None else "", headers, header, content, content, decoded.payload,
        cut[1] if cut is not None else None, total_ms=_milliseconds(capture.said("fetchTimeMs")),
        received_bytes=len(header) + len(content),
    )  # fmt: skip


def reached(capture: Capture) -> Reached:
    """What an archive of Heritrix tells: `via`, and a letter per hop: L a link, E what a page embeds, R a redirect."""
    via, hops = capture.said("via"), capture.said("hopsFromSeed")
    if not via.startswith(("http://", "https://")) or not hops.isalpha():
        return NOT_TOLD
    redirects = len(hops) - len(hops.rstrip("R"))
    kind = "r" if redirects else "a" if hops.endswith("L") else "h"
    return Reached(sum(letter != "R" for letter in hops), via, kind, redirects)


def _plain_mime(capture: Capture) -> str:
    mime = capture.mime.partition(";")[0].strip().lower()
    fits = mime.isascii() and mime.count("/") == 1 and not mime.startswith("application/http")
    return capture.mime.strip() if fits and capture.mime.isprintable() else "application/octet-stream"


def _codings(headers: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    named = (token.strip().lower() for name, line in headers if name == "content-encoding" for token in line.split(","))
    return tuple(token for token in named if token not in ("", "identity"))


def _outcome(
    capture: Capture, status: int, headers: tuple[tuple[str, str], ...], decoded: Decoded,
    cut: tuple[Outcome, Truncated] | None,
) -> tuple[Outcome, str]:  # fmt: skip
    """As the fetcher judges: a code that is no success decides, then how the body ended, then what its coding says."""
    own = capture.said("outcome")
    if own in _OWN_REDIRECTS:
        return Outcome.REDIRECT, ""
    if own in Outcome._value2member_map_ and capture.said("role"):
        return Outcome(own), ""
    if status == 304:
        return (Outcome.NOT_MODIFIED if capture.kind == "revisit" else Outcome.HTTP_ERROR), ""
    if 300 <= status < 400:
        has_target = any(name == "location" and value for name, value in headers)
        return (Outcome.REDIRECT if has_target else Outcome.HTTP_ERROR), ""
    if not 200 <= status < 300:
        return Outcome.HTTP_ERROR, ""
    if decoded.state is DecodeState.LIMIT:
        return Outcome.DECODE_LIMIT, decoded.reason
    if cut is not None:
        return cut[0], "cut in the archive it came from"
    if decoded.state is DecodeState.BAD:
        return Outcome.DECODE_ERROR, decoded.reason
    if decoded.state is DecodeState.CUT:
        return Outcome.TRUNCATED_DISCONNECT, decoded.reason
    return Outcome.OK, ""


def _milliseconds(text: str) -> float:
    return float(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0.0
