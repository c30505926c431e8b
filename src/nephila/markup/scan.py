"""What a page says about itself: a body and its charset come in, one `Scan` of decoded text goes out.

The tokenizer (compiled, or its Python twin) finds byte strings; this file gives them their meaning, once for both.
The result is bounded by the limits whatever the page, and no body raises.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from nephila import urls
from nephila.markup.charset import extends_ascii
from nephila.markup.findings import Link, Mark, Origin, Tokens
from nephila.markup.references import decode_attribute, decode_text
from nephila.markup.script import urls_in
from nephila.records import LinkKind


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of a page is kept (RELIABILITY C2); the count of all links is kept anyway."""

    links: int = 5000
    href_bytes: int = 4096
    anchor_bytes: int = 1024
    title_bytes: int = 2048
    code_bytes: int = 256 * 1024


@dataclass(frozen=True, slots=True)
class Refresh:
    """A meta refresh; without an address it loads the page itself again."""

    delay_s: int
    href: str | None


@dataclass(frozen=True, slots=True)
class Scan:
    """All that crawl needs to know of an HTML body."""

    links: tuple[Link, ...]
    """one per href and origin, in the order head, elements, scripts; at most `Limits.links`"""
    link_count: int
    """links written on the page, repeated and dropped ones included"""
    too_long: int
    """links dropped because of `Limits.href_bytes`"""
    base: str | None
    title: str | None
    noindex: bool
    nofollow: bool
    refresh: Refresh | None
    canonical: str | None

    @property
    def link_kinds(self) -> str:
        """S1-46's three characters in the order h, a, f, with 0 for what is absent."""
        present = {link.kind for link in self.links}
        return "".join(kind.value if kind in present else "0" for kind in (LinkKind.H, LinkKind.A, LinkKind.F))


_RELATIONS: Final = (
    (b"canonical", Origin.CANONICAL),
    (b"next", Origin.NEXT),
    (b"prev", Origin.PREV),
    (b"previous", Origin.PREV),
    (b"alternate", Origin.ALTERNATE),
)
_BLANKS: Final = " \t\n\f\r"
_REFRESH: Final = re.compile(
    r"[ \t\n\f\r]*+(?=[0-9.])([0-9]*+)[0-9.]*+"
    r"(?:[ \t\n\f\r]*+\Z|(?:[ \t\n\f\r]*+[;,]|[ \t\n\f\r])[ \t\n\f\r]*+(?>(?:url[ \t\n\f\r]*+=[ \t\n\f\r]*+)?)(.*+))",
    re.IGNORECASE | re.DOTALL,
)
_LONGEST_DELAY_S: Final = 10**9

Tokeniser = Callable[[bytes, int, int, int, int], Tokens | tuple[Any, ...]]
"""`tokens.tokenise`, or its compiled form, which gives the same values as a plain tuple."""


def scan_with(tokenise: Tokeniser, body: bytes, encoding: str, limits: Limits) -> Scan:
    """Scan a body in a Python codec that `charset.choose` named."""
    if not extends_ascii(encoding):
        body, encoding = body.decode(encoding, "replace").encode("utf-8", "replace"), "utf-8"
    found, link_count, too_long, marks, scripts, handlers, title = Tokens._make(
        tokenise(body, limits.links, limits.href_bytes, limits.anchor_bytes, limits.title_bytes)
    )
    code = [script.decode(encoding, "replace") for script in _within(limits.code_bytes, scripts)]
    code += [_attribute(handler, encoding) for handler in _within(limits.code_bytes, handlers)]
    elements: list[Link] = []
    for row in found:
        if row.__class__ is Link:
            elements.append(row)
            continue
        raw, origin, nofollow, raw_anchor = row
        href = raw if isinstance(raw, str) else _attribute(raw, encoding)
        if href[:11].lower() == "javascript:":
            code.append(href)
            continue
        anchor = raw_anchor if isinstance(raw_anchor, str) else _text(raw_anchor, encoding)
        elements.append(Link(href, Origin(origin), nofollow, anchor))
    head = _read_head(marks, encoding)
    kept = _Kept(limits)
    kept.add(head.links)
    kept.links += elements[: limits.links - len(kept.links)]
    kept.add((url, Origin.SCRIPT) for piece in code for url in urls_in(piece))
    return Scan(
        links=tuple(kept.links),
        link_count=link_count + kept.link_count,
        too_long=too_long + kept.too_long,
        base=head.base,
        title=None if title is None else _text(title, encoding),
        noindex="noindex" in head.robots or "none" in head.robots,
        nofollow="nofollow" in head.robots or "none" in head.robots,
        refresh=head.refresh,
        canonical=next((href for href, origin in head.links if origin is Origin.CANONICAL), None),
    )


def document_base(page: str, scan: Scan, rules: urls.StripRules) -> str:
    """The URL that a page's references start from: its base element's if that is a web address (F15), else its own."""
    if scan.base is None:
        return page
    base = urls.join(page, scan.base, rules)
    return base if isinstance(base, str) else page


def _within(room: int, pieces: list[bytes]) -> Iterator[bytes]:
    """The first bytes of all pieces together: code is read slowly, and a page of nothing else must not hold us up."""
    for piece in pieces:
        if room <= 0:
            return
        yield piece[:room]
        room -= len(piece)


def _attribute(raw: bytes, encoding: str) -> str:
    value = raw.decode("ascii") if raw.isascii() else raw.decode(encoding, "replace")
    if "&" in value:
        value = decode_attribute(value)
    if "\0" in value:
        value = value.replace("\0", "\ufffd")
    return value.strip(_BLANKS)


def _text(raw: bytes, encoding: str) -> str:
    """Text as read: references replaced, blanks collapsed, no half character where the limit cut it."""
    text = raw.decode("ascii") if raw.isascii() else raw.decode(encoding, "replace").rstrip("\ufffd")
    if "&" in text:
        text = decode_text(text)
    if "\0" in text:
        text = text.replace("\0", "")
    return " ".join(text.split())


class _Kept:
    """Links within the limits, one per href and origin."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.links: list[Link] = []
        self.link_count = self.too_long = 0
        self._seen: set[tuple[str, Origin]] = set()

    def add(self, written: Iterable[tuple[str, Origin]]) -> None:
        for entry in written:
            self.link_count += 1
            if len(entry[0]) > self.limits.href_bytes:
                self.too_long += 1
            elif entry not in self._seen and len(self.links) < self.limits.links:
                self._seen.add(entry)
                self.links.append(Link(entry[0], entry[1], False, ""))


@dataclass(slots=True)
class _Head:
    links: list[tuple[str, Origin]] = field(default_factory=list)
    base: str | None = None
    robots: set[str] = field(default_factory=set)
    refresh: Refresh | None = None


def _read_head(marks: list[tuple[int, bytes, bytes]], encoding: str) -> _Head:
    head = _Head()
    for mark, value, rel in marks:
        if mark == Mark.LINK:
            origin = _relation(rel)
            if origin is not None:
                head.links.append((_attribute(value, encoding), origin))
        elif mark == Mark.BASE:
            head.base = _attribute(value, encoding) if head.base is None else head.base
        elif mark == Mark.ROBOTS:
            head.robots.update(word.strip() for word in _attribute(value, encoding).lower().split(","))
        elif head.refresh is None:
            head.refresh = read_refresh(_attribute(value, encoding))
            if head.refresh and head.refresh.href is not None:
                head.links.append((head.refresh.href, Origin.REFRESH))
    return head


def _relation(rel: bytes) -> Origin | None:
    """The one relation of a link element to another page; a style sheet is no page, an alternate one neither."""
    words = rel.lower().split()
    if b"stylesheet" in words:
        return None
    return next((origin for word, origin in _RELATIONS if word in words), None)


def read_refresh(content: str) -> Refresh | None:
    """A meta refresh by the WHATWG rules ("shared declarative refresh steps"), the delay cut at 10⁹ s (D17)."""
    match = _REFRESH.match(content)
    if match is None:
        return None
    digits = match[1].lstrip("0") or "0"
    delay_s = int(digits) if len(digits) <= 9 else _LONGEST_DELAY_S
    address = match[2]
    if not address:
        return Refresh(delay_s, None)
    if address[0] in "\"'":
        address = address[1:].partition(address[0])[0]
    return Refresh(delay_s, address.strip(_BLANKS))
