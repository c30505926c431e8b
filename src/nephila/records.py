"""Rows that cross the border between rooms, and the closed lists their columns draw from."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Outcome(StrEnum):
    """The latest that became of a URL. Written by crawl alone; every URL ever known has exactly one."""

    OK = "ok"
    NOT_MODIFIED = "not_modified"
    HTTP_ERROR = "http_error"
    REDIRECT = "redirect"
    TRUNCATED_LENGTH = "truncated_length"
    TRUNCATED_TIME = "truncated_time"
    TRUNCATED_DISCONNECT = "truncated_disconnect"
    TOO_SLOW = "too_slow"
    TIMEOUT_CONNECT = "timeout_connect"
    TIMEOUT_HEADERS = "timeout_headers"
    TIMEOUT_TOTAL = "timeout_total"
    REFUSED = "refused"
    RESET = "reset"
    BAD_HTTP = "bad_http"
    HEADERS_TOO_LARGE = "headers_too_large"
    DECODE_ERROR = "decode_error"
    DECODE_LIMIT = "decode_limit"
    TLS_ERROR = "tls_error"
    DNS_NXDOMAIN = "dns_nxdomain"
    DNS_FAIL = "dns_fail"
    DNS_TIMEOUT = "dns_timeout"
    BLOCKED_SCHEME = "blocked_scheme"
    BLOCKED_ADDRESS = "blocked_address"
    BLOCKED_ROBOTS = "blocked_robots"
    DEFERRED_ROBOTS = "deferred_robots"
    DEFERRED_HOST = "deferred_host"
    REDIRECT_LOOP = "redirect_loop"
    REDIRECT_LIMIT = "redirect_limit"
    URL_INVALID = "url_invalid"
    URL_TOO_LONG = "url_too_long"
    SCOPE_REJECTED = "scope_rejected"
    TRAP_REJECTED = "trap_rejected"
    HOST_BUDGET = "host_budget"
    WAITING = "waiting"
    LIMIT = "limit"
    ALIAS = "alias"
    FORGOTTEN = "forgotten"


class NetworkState(StrEnum):
    """S1-10's network states of a document."""

    NO_IP = "noIP"
    CONNECT_ERROR = "cErr"
    CONNECT_TIMEOUT = "cTim"
    HEADER_SHORT = "hSht"
    HEADER_NOT_HTTP = "hNpr"
    HEADER_ERROR = "hErr"
    HEADER_TIMEOUT = "hTim"
    CODE = "code"
    BODY_ERROR = "dErr"
    BODY_TIMEOUT = "dTim"
    OK = "OK"
    NOT_REQUESTED = "NULL"


# S1-10. S1's robot opened one connection per document, so a connection that breaks before a header byte is its cErr.
_STATES: Final[dict[Outcome, NetworkState]] = {
    Outcome.OK: NetworkState.OK,
    Outcome.NOT_MODIFIED: NetworkState.OK,
    Outcome.TRUNCATED_LENGTH: NetworkState.OK,  # stored up to the cap, as S1 cut its endless documents (S1-30)
    Outcome.DECODE_LIMIT: NetworkState.OK,
    Outcome.HTTP_ERROR: NetworkState.CODE,
    Outcome.REDIRECT: NetworkState.CODE,
    Outcome.REDIRECT_LOOP: NetworkState.CODE,
    Outcome.REDIRECT_LIMIT: NetworkState.CODE,
    Outcome.TRUNCATED_TIME: NetworkState.BODY_TIMEOUT,
    Outcome.TOO_SLOW: NetworkState.BODY_TIMEOUT,
    Outcome.TIMEOUT_TOTAL: NetworkState.BODY_TIMEOUT,
    Outcome.TRUNCATED_DISCONNECT: NetworkState.BODY_ERROR,
    Outcome.DECODE_ERROR: NetworkState.BODY_ERROR,
    Outcome.TIMEOUT_CONNECT: NetworkState.CONNECT_TIMEOUT,
    Outcome.REFUSED: NetworkState.CONNECT_ERROR,
    Outcome.RESET: NetworkState.CONNECT_ERROR,
    Outcome.TLS_ERROR: NetworkState.CONNECT_ERROR,
    Outcome.TIMEOUT_HEADERS: NetworkState.HEADER_TIMEOUT,
    Outcome.HEADERS_TOO_LARGE: NetworkState.HEADER_ERROR,
    Outcome.BAD_HTTP: NetworkState.HEADER_NOT_HTTP,
    Outcome.DNS_NXDOMAIN: NetworkState.NO_IP,
    Outcome.DNS_FAIL: NetworkState.NO_IP,
    Outcome.DNS_TIMEOUT: NetworkState.NO_IP,
}

_CAUSES: Final = frozenset(outcome.value for outcome in _STATES)

SHORT_HEADER: Final = "short header"
"""The reason that goes with `bad_http` when the connection closed before a whole header had come (S1's hSht)."""


_DEFERRED: Final = (Outcome.DEFERRED_ROBOTS, Outcome.DEFERRED_HOST)


def network_state(outcome: Outcome, reason: str = "") -> NetworkState:
    """S1-10's state of an outcome; what was never requested is NULL and keeps its outcome as the reason.

    A deferred URL has the state of the request that deferred it: S1's robot would have met the same refusal.
    """
    if outcome is Outcome.BAD_HTTP and reason == SHORT_HEADER:
        return NetworkState.HEADER_SHORT
    if outcome in _DEFERRED:
        cause = reason.removeprefix("robots.txt: ").partition(" ")[0].rstrip(":")
        return (
            _STATES.get(Outcome(cause), NetworkState.NOT_REQUESTED) if cause in _CAUSES else NetworkState.NOT_REQUESTED
        )
    return _STATES.get(outcome, NetworkState.NOT_REQUESTED)


@dataclass(frozen=True, slots=True)
class SiteTurn:
    """What an hour's plan says of one site; plans list sites in the order in which they take places (S2-1)."""

    site: int
    slot: int
    quota_s: float  # how long it may keep its place in this hour; infinite = to its end
    stays: bool  # keeps its place at the hour change if it has one (S2-13)
    expected_s: float  # seconds to the first byte that are usual at this hour; 0 = not known


@dataclass(frozen=True, slots=True)
class HourPlan:
    """One hour's order of all sites that are open; made anew at each hour change (S2-12)."""

    hour: int  # since 1970
    turns: tuple[SiteTurn, ...]


class LinkKind(StrEnum):
    """S1-46: f = frame and iframe, a = a, h = everything else on a page; and what sitemaps and feeds list."""

    A = "a"
    F = "f"
    H = "h"
    SITEMAP = "sitemap"
    FEED = "feed"
