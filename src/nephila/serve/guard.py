"""Who may ask, and from where: plain decisions about a request's head (RELIABILITY P1, P2).

A page of another origin can make a browser ask us things: by a name that it points at this machine (DNS rebinding: the
Host is foreign then), or by a form (the Origin is foreign then). The first is refused for every request; the second
for every change, which needs a token as well that only our own pages hold. Nothing changes by GET.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

LOOPBACK_NAMES: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})
COOKIE: Final = "nephila"
OPEN_PATHS: Final = frozenset({"/login", "/assets/style.css", "/assets/icon.svg"})
"""What a person without the token may see: where to give it."""

_READING: Final = frozenset({"GET", "HEAD"})


@dataclass(frozen=True, slots=True)
class Rules:
    """`token` is None on loopback, where whoever can connect may look; `form_token` is in our pages' own forms."""

    names: frozenset[str]
    any_address: bool  # a Host that is a bare address cannot have been rebound
    token: str | None
    form_token: str


@dataclass(frozen=True, slots=True)
class Head:
    """What the guard looks at."""

    method: str
    path: str
    host: str
    origin: str = ""
    fetch_site: str = ""
    cookie: str = ""
    bearer: str = ""


@dataclass(frozen=True, slots=True)
class Refused:
    status: int
    sentence: str
    ask_for_token: bool = False


def is_loopback(host: str) -> bool:
    """Whether only this machine can connect to a server bound there."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def refusal(head: Head, rules: Rules) -> Refused | None:
    """Why a request is not answered; None where it may be."""
    name = host_name(head.host)
    if name not in rules.names and not (rules.any_address and _is_address(name)):
        return Refused(403, "This server does not answer to that name; serve.names lists further ones.")
    if head.method not in _READING:
        if head.origin and head.origin.lower() != "null" and urlsplit(head.origin).netloc != head.host:
            return Refused(403, "A page of another origin may change nothing here.")
        if head.origin.lower() == "null" or head.fetch_site not in ("", "same-origin", "none"):
            return Refused(403, "A page of another origin may change nothing here.")
    if rules.token is not None and head.path not in OPEN_PATHS and not knows_token(head, rules.token):
        return Refused(401, "Give the token that `nephila serve` printed.", ask_for_token=True)
    return None


def knows_token(head: Head, token: str) -> bool:
    return same(head.cookie, session(token)) or same(head.bearer, token)


def may_change(given: str, head: Head, rules: Rules) -> bool:
    """Whether a change brings the token of our own forms, or the server's own."""
    return same(given, rules.form_token) or (rules.token is not None and same(head.bearer, rules.token))


def session(token: str) -> str:
    """What the cookie holds: it proves that the token was given, and is not the token."""
    return hashlib.sha256(b"nephila session " + token.encode()).hexdigest()


def same(given: str, expected: str) -> bool:
    """Compared in a time that tells nothing."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode("utf-8", "replace"))


def host_name(host: str) -> str:
    """The name in a Host header, without its port; an IPv6 address keeps its brackets."""
    lowered = host.strip().lower()
    if lowered.startswith("["):
        return lowered.partition("]")[0] + "]" if "]" in lowered else ""
    return lowered.rpartition(":")[0] if ":" in lowered else lowered


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True
