"""URLs: one parser (WHATWG, ada) for what is checked and for what is fetched; no I/O.

A string comes in, its one normal form goes out, or a `Refusal` that says why there is none. The normal form is the
WHATWG serialisation without fragment, user, trailing dot of the host, empty query, session ids and tracking
parameters. The invariant: `normalise(normalise(u)) == normalise(u)`, and no input raises (RELIABILITY U6).

Plain references, nearly all on real pages, take a short way: a pattern proves that resolving them is putting two
strings together. Everything else goes through ada; the tests hold both ways equal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from functools import cache, lru_cache
from ipaddress import ip_address
from typing import Final, Self
from urllib.parse import quote_from_bytes

import ada_url
import xxhash
from publicsuffixlist import PublicSuffixList


class Refusal(Enum):
    """Why a URL has no normal form; the values are those of the outcomes they become."""

    INVALID = "url_invalid"
    SCHEME = "blocked_scheme"
    TOO_LONG = "url_too_long"


@dataclass(frozen=True, slots=True)
class StripRules:
    """What is cut from every URL, compiled once (F2, F3: a session id makes one page look like many).

    A name ending in `*` matches any rest; case does not matter. The names are cut from the query (`?sid=1`) and from
    path parameters (`/a;jsessionid=1`). ASP.NET's session segment `/(S(…))/` is cut whenever there are names at all.
    """

    max_length: int
    sort_query: bool
    query: re.Pattern[str] | None
    path: re.Pattern[str] | None

    @classmethod
    def of(cls, names: Iterable[str], *, max_length: int = 2048, sort_query: bool = False) -> Self:
        alternatives = [
            re.escape(name[:-1]) + "[^=&;/?]*" if name.endswith("*") else re.escape(name) for name in names if name
        ]
        if not alternatives:
            return cls(max_length, sort_query, None, None)
        either = "|".join(alternatives)
        return cls(
            max_length,
            sort_query,
            re.compile(rf"(?:^|(?<=&))(?:{either})(?:=[^&]*)?(?:&|$)", re.IGNORECASE),
            re.compile(rf";(?:{either})(?:=[^;/]*)?(?=[;/]|$)|(?<=/)\((?:[AFS]\([^()/]*\))+\)(?:/|$)", re.IGNORECASE),
        )


NO_RULES: Final = StripRules.of(())

# Characters that the WHATWG serialiser leaves alone in a path and in a query. What matches is plain if it also holds
# no "/.", which may begin a dot segment; the patterns never go back.
_PATH: Final = r"[A-Za-z0-9_~.,=&+!$/-]"
_QUERY: Final = r"(?>(?:\?[A-Za-z0-9_~.,=&+!$%/:;@-]++)?)"
# A last label that starts with a letter is no IPv4 address; "xn--" is left to ada, which checks punycode.
_SITE: Final = (
    r"https?://(?:(?!xn--)[a-z0-9_-]++\.)*(?!xn--)[a-z](?:[a-z0-9-]*[a-z0-9])?(?::(?!80/|443/)[1-9][0-9]{0,3})?"
)
_PLAIN_RELATIVE: Final = re.compile(rf"(/|\./|(?>(?:\.\./)+))?((?![./])(?(1){_PATH}*+|{_PATH}++){_QUERY})")
_PLAIN_ABSOLUTE: Final = re.compile(rf"{_SITE}/{_PATH}*+{_QUERY}")
_NORMAL: Final = re.compile(r"(https?://)([^/?#]*)(/[^?#]*)(\?[^#]*)?")
_SCHEME: Final = re.compile(r"[\x00-\x20]*([A-Za-z][A-Za-z0-9+.\t\r\n-]{0,64}):")
_WEB_SCHEMES: Final = ("http", "https")
_UTF8_LIKE: Final = frozenset({"utf-8", "utf8", "ascii", "us-ascii"})


def normalise(url: str, rules: StripRules) -> str | Refusal:
    """The one normal form of an absolute URL, or why it has none."""
    if len(url) > rules.max_length:
        return _why_refused(url, Refusal.TOO_LONG)
    if _PLAIN_ABSOLUTE.fullmatch(url) and "/." not in url:
        return _strip(url, rules)
    try:
        return _tidy(ada_url.normalize_url(url), rules)
    except ValueError:
        return _why_refused(url, Refusal.INVALID)


def join(base: str, href: str, rules: StripRules, charset: str = "utf-8") -> str | Refusal:
    """The normal form of a reference on the page `base`, which is itself in normal form.

    `charset` is the codec of the page: as in browsers, non-ASCII characters of the query are written in it (검색 is
    %B0%CB%BB%F6 on an EUC-KR page), those of the path always in UTF-8.
    """
    if len(href) > rules.max_length:
        return _why_refused(href, Refusal.TOO_LONG)
    written = href.partition("#")[0] if "#" in href else href
    if not written:
        return base
    plain = _PLAIN_RELATIVE.fullmatch(written)
    if plain and "/." not in plain[2]:
        return _strip(_start(base, plain[1]) + plain[2], rules)
    if _PLAIN_ABSOLUTE.fullmatch(written) and "/." not in written:
        return _strip(written, rules)
    if not written.isascii():
        written = _encode_query(written, charset)
    try:
        return _tidy(ada_url.join_url(base, written), rules)
    except ValueError:
        return _why_refused(href, Refusal.INVALID)


@lru_cache(maxsize=16_384)
def _start(base: str, prefix: str | None) -> str:
    """Where on the site of `base` a plain reference with this prefix (None, "/", "./", "../" …) starts."""
    site, path = split(base)
    if prefix == "/":
        return site + "/"
    directory = path.partition("?")[0].rpartition("/")[0] + "/"
    for _ in range(prefix.count("../") if prefix else 0):
        directory = directory[:-1].rpartition("/")[0] + "/"
    return site + directory


def _encode_query(href: str, charset: str) -> str:
    """WHATWG "percent-encode after encoding": what the charset cannot write becomes &#N;, percent-encoded."""
    path, mark, query = href.partition("?")
    if not mark or query.isascii() or charset.lower() in _UTF8_LIKE:
        return href
    pieces = re.split(r"([^\x00-\x7f]+)", query)
    for place in range(1, len(pieces), 2):
        try:
            encoded = pieces[place].encode(charset, "xmlcharrefreplace")
        except (LookupError, UnicodeError):
            return href
        pieces[place] = quote_from_bytes(encoded, safe="")
    return path + mark + "".join(pieces)


def _tidy(parsed: str, rules: StripRules) -> str | Refusal:
    """What the WHATWG form keeps and we do not: user, trailing dots of the host, fragment, empty query."""
    parts = _NORMAL.match(parsed)
    if parts is None:
        return Refusal.SCHEME
    scheme, authority, path, query = parts.groups()
    named = authority.rpartition("@")[2]
    host, colon, port = named.partition(":")  # an IPv6 address is cut in two, and neither half ends in a dot
    if host.endswith("."):
        undotted = host.rstrip(".")
        if not undotted:
            return Refusal.INVALID
        # "0x7f.." becomes an address once its dots are gone, so the parser must see it again.
        return normalise(f"{scheme}{undotted}{colon}{port}{path}{query or ''}", rules)
    return _strip(f"{scheme}{named}{path}{'' if query == '?' or query is None else query}", rules)


def _strip(url: str, rules: StripRules) -> str | Refusal:
    """Cut session ids and tracking parameters from a URL that is otherwise in normal form."""
    address, mark, query = url.partition("?")
    if rules.path is not None and (";" in address or "/(" in address):
        start = address.index("/", 8)
        path = rules.path.sub("", address[start:])
        if path != address[start:]:
            # "/a/..;sid=1/b" has a dot segment once the parameter is gone.
            return normalise(address[:start] + path + mark + query, rules)
    if mark:
        if rules.query is not None and rules.query.search(query):
            query = rules.query.sub("", query)
            query = query.removesuffix("&")
        if rules.sort_query and "&" in query:
            query = "&".join(sorted(query.split("&"), key=_parameter_name))
        url = address + mark + query if query else address
    return url if len(url) <= rules.max_length else Refusal.TOO_LONG


def _parameter_name(parameter: str) -> str:
    return parameter.partition("=")[0]


def _why_refused(url: str, otherwise: Refusal) -> Refusal:
    scheme = _SCHEME.match(url)
    if scheme and scheme[1].translate({9: None, 10: None, 13: None}).lower() not in _WEB_SCHEMES:
        return Refusal.SCHEME
    return otherwise


def split(url: str) -> tuple[str, str]:
    """Site and path with query of a URL in normal form."""
    start = url.index("/", url.index("//") + 2)
    return url[:start], url[start:]


def site_of(url: str) -> str:
    """The site, "http://host" or "http://host:port", of a URL in normal form."""
    return split(url)[0]


def path_of(url: str) -> str:
    """Path and query of a URL in normal form; it begins with "/"."""
    return split(url)[1]


def host_of(url: str) -> str:
    """The host, without port, of a site or of a URL in normal form; an IPv6 address keeps its brackets."""
    authority = url.partition("//")[2].partition("/")[0]
    return authority[: authority.index("]") + 1] if authority.startswith("[") else authority.partition(":")[0]


@cache
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList()


@lru_cache(maxsize=65_536)
def registrable_domain(host: str) -> str:
    """The domain somebody registered (public suffix list, offline); an address or a bare suffix is its own domain."""
    try:
        ip_address(host.strip("[]"))
    except ValueError:
        return str(_suffixes().privatesuffix(host) or host)
    return host


@lru_cache(maxsize=65_536)
def public_suffix(host: str) -> str:
    """What names are registered under, such as co.kr or com; an address has none."""
    try:
        ip_address(host.strip("[]"))
    except ValueError:
        return str(_suffixes().publicsuffix(host) or "")
    return ""


def url_hash(path: str) -> int:
    """64 bits of xxh3, signed as SQLite keeps integers."""
    unsigned = xxhash.xxh3_64_intdigest(path.encode())
    return unsigned - (1 << 64) if unsigned >= 1 << 63 else unsigned


def hash128(text: str) -> bytes:
    """128 bits of xxh3, where 64 would collide across a whole web."""
    return xxhash.xxh3_128_digest(text.encode())
