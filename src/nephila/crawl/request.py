"""What we say: one request as bytes, and who we say we are.

Nothing that came from the web reaches the wire unchecked: a line end or NUL in any value is refused, so that no
Location header can write a second request (N8, B6). No Referer, no From; cookies and credentials are those alone that
the user gave for the very site (`credentials`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from nephila import VERSION
from nephila.config.sections import Net
from nephila.crawl.addresses import is_loopback
from nephila.decode import ACCEPT_ENCODING
from nephila.errors import UsageError

ACCEPT: Final = "text/html,application/xhtml+xml,application/xml;q=0.9,text/plain;q=0.8,*/*;q=0.5"
DEFAULT_PORTS: Final = {"http": 80, "https": 443}

_TARGET: Final = re.compile(r"/[!-~]*")  # visible ASCII: the URL parser has encoded everything else
_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE: Final = re.compile(r"[\t -~\x80-\xff]*")
_HOST: Final = re.compile(r"[0-9A-Za-z._~-]+|\[[0-9A-Fa-f:.]+\]")
# The framing of a request is ours alone; a caller's header must not make two requests of one.
_RESERVED: Final = frozenset({"host", "content-length", "transfer-encoding", "connection", "accept-encoding"})


@dataclass(frozen=True, slots=True)
class Site:
    """Scheme + host + port; `host` as in a URL (ASCII, IPv6 in brackets)."""

    scheme: Literal["http", "https"]
    host: str
    port: int

    def __post_init__(self) -> None:
        if self.scheme not in DEFAULT_PORTS:
            raise UsageError(f"the scheme {self.scheme!r} cannot be fetched; only http and https can.")
        if not _HOST.fullmatch(self.host) or not 0 < self.port < 65536:
            raise UsageError(
                f"{self.host!r}, port {self.port}, is no site; give a host name and a port from 1 to 65535."
            )

    @property
    def authority(self) -> str:
        """As the Host header has it: the port only where it is not the scheme's own."""
        return self.host if self.port == DEFAULT_PORTS[self.scheme] else f"{self.host}:{self.port}"

    @property
    def url(self) -> str:
        """As crawl knows it: scheme, host and port."""
        return f"{self.scheme}://{self.authority}"


@dataclass(frozen=True, slots=True)
class FetchRequest:
    """One request of a site: `target` is path and query as on the request line.

    With `etag` or `modified_since` it is conditional. `headers` are extra ones for this very origin; they are never
    carried on to another one, because redirects are not followed here (N16). `max_wire_bytes` is a cap of its
    own for the body (RFC 9309: of robots.txt at least 500 KiB are read, however small pages may be); 0 leaves it to
    the limits of the connection.
    """

    target: str
    method: Literal["GET", "HEAD"] = "GET"
    etag: str = ""
    modified_since: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    max_wire_bytes: int = 0

    @property
    def conditional(self) -> bool:
        return bool(self.etag or self.modified_since)


def _checked(name: str, value: str) -> str:
    if not _VALUE.fullmatch(value):
        raise UsageError(f"the request header {name} must not hold line ends or control characters: {value[:80]!r}.")
    return value


def fixed_lines(site: Site, agent: str, own: str = "") -> str:
    """The header lines that all requests of a site share, made once per connection; `own` are the user's for it."""
    return (
        f"Host: {site.authority}\r\n"
        f"User-Agent: {_checked('User-Agent', agent)}\r\n"
        f"Accept: {ACCEPT}\r\n"
        f"Accept-Encoding: {ACCEPT_ENCODING}\r\n"
        f"{own}"
    )


def sendable(request: FetchRequest) -> str | None:
    """Why this request cannot be sent because of what the web put into it, or None.

    The target comes from links, etag and date from earlier answers: what is wrong with them is not our mistake.
    """
    if not _TARGET.fullmatch(request.target):
        return "the path holds characters that must be encoded"
    if not _VALUE.fullmatch(request.etag) or not _VALUE.fullmatch(request.modified_since):
        return "the validator of the last answer holds control characters"
    return None


def request_bytes(request: FetchRequest, fixed: str, origin: str = "") -> bytes:
    """The request as it goes over the wire; `sendable` has been asked before. A proxy is told the `origin`, too."""
    lines = f"{request.method} {origin}{request.target} HTTP/1.1\r\n{fixed}"
    if request.etag:
        lines += f"If-None-Match: {request.etag}\r\n"
    if request.modified_since:
        lines += f"If-Modified-Since: {request.modified_since}\r\n"
    for name, value in request.headers:
        if not _NAME.fullmatch(name) or name.lower() in _RESERVED:
            raise UsageError(f"{name[:80]!r} cannot be given as a request header; leave it out.")
        lines += f"{name}: {_checked(name, value)}\r\n"
    return f"{lines}\r\n".encode("latin-1")


def user_agent(net: Net) -> str:
    """Who we are and where to complain: `nephila/0.1.0 (+https://example.org/robot)`."""
    name = net.user_agent if "/" in net.user_agent else f"{net.user_agent}/{VERSION}"
    return f"{name} (+{net.contact})" if net.contact else name


def lacks_contact(addresses: Sequence[str], net: Net) -> bool:
    """Whether asking these addresses would leave this machine without saying who to turn to."""
    return not net.contact and any(not is_loopback(address) for address in addresses)


def needs_contact(addresses: Sequence[str], net: Net) -> None:
    """Refuse to leave this machine without saying who to turn to."""
    if not lacks_contact(addresses, net):
        return
    outside = next(address for address in addresses if not is_loopback(address))
    raise UsageError(
        f"{outside} is not on this machine: set net.contact to a URL or mail address first, so that those who run "
        'the sites know whom to ask (--set net.contact="https://example.org/our-robot").'
    )
