"""From a body to what it says about itself (S0-16's local attributes): a plain function of one answer.

Whatever the body, there is a result: `parse` says what was found, and why there may be no text.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from nephila import markup
from nephila.convert.simhash import simhash
from nephila.markup import pdf
from nephila.markup.charset import guess
from nephila.markup.dates import parse_date
from nephila.markup.language import language_of
from nephila.markup.text import TEXT_BYTES, first_sentences, one_line, read_text, storable
from nephila.urls import Refusal, StripRules, join

_HTML: Final = frozenset({"text/html", "application/xhtml+xml"})
_SNIFFED_BYTES: Final = 1024
_PDF_SHARE: Final = 0.8
TITLE_CHARACTERS: Final = 500
_UNREADABLE, _UNREADABLE_SHARE = "\ufffd", 100
"""A page of which one character in a hundred cannot be decoded is not in the charset it declares."""
_NO_TEXT: Final = bytes([*range(9), *range(16, 27), *range(28, 32), 127])


class Parse(StrEnum):
    """What convert found in a body (the column `parse`)."""

    OK = "ok"
    EMPTY = "empty"  # no byte, or no text
    BINARY = "binary"  # called HTML or text, and is neither (G9)
    OTHER = "other"  # an image, a style sheet, what is archived only …: nothing is read from it
    CHARSET = "charset"  # its bytes are not in the charset it declares: it was read in the one they look like
    LIMIT = "limit"  # longer than convert.max_parse_size: only its beginning was read
    CRASH = "crash"  # the parser died of it
    TIMEOUT = "timeout"  # the parser did not end
    DAMAGED = "damaged"  # its record in the archive cannot be read
    UNDECODABLE = "undecodable"  # its content coding is unknown or broken
    NONE = "none"  # there is no content: a redirect, an error, no answer


@dataclass(frozen=True, slots=True)
class Attributes:
    """What a page says; empty where `parse` says why."""

    parse: Parse
    charset: str | None = None
    charset_declared: str | None = None
    language: str | None = None
    visible_bytes: int | None = None
    title: str | None = None
    description: str | None = None
    text: str | None = None
    canonical: str | None = None
    published_at: datetime | None = None
    modified_at: datetime | None = None
    simhash: int | None = None


def attributes(
    url: str, body: bytes, content_type: str | None, mime: str, last_modified: str, rules: StripRules, max_bytes: int,
    max_s: float = 5.0,
) -> Attributes:  # fmt: skip
    """Everything convert reads from a decoded body; `url` is the page's own, in normal form."""
    if not body:
        return Attributes(Parse.EMPTY)
    if mime in pdf.TYPES:
        return _pdf(body, last_modified, max_bytes, max_s)
    if mime and mime not in _HTML and mime != "text/plain":
        return Attributes(Parse.OTHER)
    start = body[:_SNIFFED_BYTES]
    if _is_binary(start):
        return Attributes(Parse.BINARY)
    if not mime and b"<" not in start:
        return Attributes(Parse.OTHER)
    parse = Parse.OK if len(body) <= max_bytes else Parse.LIMIT
    read = decoded_text(body, content_type, max_bytes)
    encoding, decoded, declared = read.encoding, read.text, read.declared
    parse = Parse.CHARSET if parse is Parse.OK and read.is_other else parse
    if mime == "text/plain":
        return _plain(decoded, parse, encoding, declared, last_modified)
    page = read_text(decoded, encoding)
    if not page.text and not page.title:
        parse = Parse.EMPTY if parse is Parse.OK else parse
    return Attributes(
        parse=parse,
        charset=encoding,
        charset_declared=declared,
        language=language_of(page.text, page.language),
        visible_bytes=page.visible_bytes,
        title=page.title,
        description=page.description,
        text=page.text,
        canonical=_canonical(url, page.base, page.canonical, rules, encoding),
        published_at=page.published,
        modified_at=page.modified or parse_date(last_modified),
        simhash=simhash(page.text),
    )


@dataclass(frozen=True, slots=True)
class DecodedText:
    """A body as text; `is_other`: it is not in the charset that it declares, and was read in what it looks like."""

    text: str
    encoding: str
    declared: str | None
    is_other: bool = False


def decoded_text(body: bytes, content_type: str | None, max_bytes: int) -> DecodedText:
    """The first bytes of a body as text, by what is declared, unless that is plainly wrong."""
    charset = markup.choose(body, content_type)
    declared = storable(charset.declared[:100]) if charset.declared else None
    decoded = body[:max_bytes].decode(charset.encoding, "replace")
    if declared and decoded.count(_UNREADABLE) * _UNREADABLE_SHARE > len(decoded):
        guessed = guess(body)
        again = body[:max_bytes].decode(guessed, "replace")
        if again.count(_UNREADABLE) * 2 < decoded.count(_UNREADABLE):
            return DecodedText(again, guessed, declared, is_other=True)
    return DecodedText(decoded, charset.encoding, declared)


def _pdf(body: bytes, last_modified: str, max_bytes: int, max_s: float) -> Attributes:
    """Read page by page, within most of the time that a page may take; what is cut off has no table of contents."""
    if len(body) > max_bytes or not pdf.can_read():
        return Attributes(Parse.OTHER)
    found = pdf.read_pdf(body, TEXT_BYTES, max_s * _PDF_SHARE)
    if found is None:
        return Attributes(Parse.OTHER)
    text = storable(found.text).encode()[:TEXT_BYTES].decode("utf-8", "ignore")
    if not text.strip():
        return Attributes(Parse.EMPTY)
    return Attributes(
        parse=Parse.OK if found.is_whole else Parse.LIMIT,
        charset="utf-8",
        language=language_of(text, None),
        visible_bytes=len(text.encode()),
        title=(one_line(found.title) or _first_line(text))[:TITLE_CHARACTERS] or None,
        description=first_sentences(text),
        text=text,
        modified_at=found.modified or parse_date(last_modified),
        simhash=simhash(text),
    )


def _first_line(text: str) -> str:
    """What stands in for a title: many a PDF states none, or the name of the program that made it."""
    return next((line for line in map(one_line, text[:2000].splitlines()) if line), "")


def _plain(text: str, parse: Parse, encoding: str, declared: str | None, last_modified: str) -> Attributes:
    text = storable(text)[:TEXT_BYTES]
    visible_bytes = len(text.encode("utf-8" if encoding.startswith("utf") else encoding, "replace"))
    text = text.encode()[:TEXT_BYTES].decode("utf-8", "ignore")
    return Attributes(
        parse=parse if text.strip() else Parse.EMPTY,
        charset=encoding,
        charset_declared=declared,
        language=language_of(text, None),
        visible_bytes=visible_bytes,
        description=first_sentences(text),
        text=text,
        modified_at=parse_date(last_modified),
        simhash=simhash(text),
    )


def _is_binary(start: bytes) -> bool:
    """Bytes that no text has, in number: a tenth of what is compressed, and next to none of a page (G7, G9).

    UTF-16 and UTF-32 hold NUL bytes too. Escape, shift out and shift in are ISO-2022's.
    """
    if start.startswith((b"\xff\xfe", b"\xfe\xff", b"<\x00", b"\x00<", b"\x00\x00\xfe\xff")):
        return False
    return len(start) - len(start.translate(None, _NO_TEXT)) > len(start) // 20


def _canonical(url: str, base: str | None, href: str | None, rules: StripRules, encoding: str) -> str | None:
    if not href:
        return None
    start = url
    if base:
        joined = join(url, base.strip(), rules, encoding)
        start = url if isinstance(joined, Refusal) else joined
    target = join(start, href.strip(), rules, encoding)
    return None if isinstance(target, Refusal) else target
