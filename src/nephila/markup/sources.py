"""Sitemaps and feeds: a body goes in, the URLs that it lists come out, with the dates it states.

XML is read by expat as a stream, never as a tree: an entity that a document declares ends the reading before it could
be expanded (billion laughs), nothing outside is ever loaded, and reading stops at the limit of entries, so that no
document costs more than its length. What is not well-formed keeps what stood before the fault; the `loc` elements
behind it are found by a plain search, as other robots do.

Known roots: `urlset` and `sitemapindex` (with the image, video, news and alternate-language kinds, whatever their
namespace says), `rss` 0.9x and 2, `RDF` (RSS 1.0) and Atom's `feed`; and sitemaps of plain text, a URL per line.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, field
from enum import StrEnum
from html import unescape
from typing import Final
from xml.parsers import expat

from nephila.markup.charset import choose
from nephila.markup.dates import parse_date

_PIECE_BYTES: Final = 2**16
_VALUE_CHARACTERS: Final = 4096
_DEEPEST: Final = 64
_SNIFFED_BYTES: Final = 1024
_LOC: Final = re.compile(rb"<(?:[a-z0-9]{1,20}:)?loc\s{0,20}>\s{0,200}(?:<!\[CDATA\[)?([^<>\]]{1,4096})", re.IGNORECASE)
_ROOT: Final = re.compile(rb"<(?:[A-Za-z0-9_.-]{1,40}:)?(urlset|sitemapindex|rss|RDF|feed)[\s>]")
_DECLARED: Final = re.compile(rb"<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9._-]{1,40})")
_UTF_8: Final = frozenset({b"utf-8", b"utf8", b"us-ascii", b"ascii"})


class SourceKind(StrEnum):
    """What a document lists."""

    SITEMAP = "sitemap"
    INDEX = "index"  # further sitemaps
    FEED = "feed"


@dataclass(frozen=True, slots=True)
class Entry:
    """One URL of a source as written; `stated_at` is when it says that the page was changed (UTC seconds)."""

    url: str
    stated_at: float | None = None
    picture: bool = False  # a picture or video of a page, no page
    title: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """All that a document lists, each URL once, in its order."""

    kind: SourceKind
    entries: tuple[Entry, ...]
    problem: str = ""  # why it was not read to its end


_ROOTS: Final = {
    "urlset": SourceKind.SITEMAP,
    "sitemapindex": SourceKind.INDEX,
    "rss": SourceKind.FEED,
    "RDF": SourceKind.FEED,
    "feed": SourceKind.FEED,
}


def looks_like_source(body: bytes) -> bool:
    """Whether a body begins like a sitemap or feed: one look at its first bytes."""
    return _ROOT.search(body[:_SNIFFED_BYTES]) is not None


def read_source(body: bytes, max_entries: int, *, lines: bool = False) -> Source | None:
    """What a sitemap or feed lists; None where it is neither. With `lines` a plain text of URLs is a sitemap, too."""
    start = body[:_SNIFFED_BYTES].lstrip(b"\xef\xbb\xbf \t\r\n")
    if not start.startswith(b"<") and not body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return _plain(body, max_entries) if lines else None
    reading = _Reading(max_entries)
    reading.read(_as_utf_8(body))
    if reading.kind is None:
        return None
    if reading.problem and reading.kind is not SourceKind.FEED and not reading.is_full():
        for found in _LOC.finditer(body):
            reading.add(Entry(unescape(found[1].decode("utf-8", "replace")).strip()))
            if reading.is_full():
                break
    return Source(reading.kind, tuple(reading.entries.values()), reading.problem)


def _plain(body: bytes, max_entries: int) -> Source | None:
    """Sitemaps may be lists of URLs, one per line; a text that holds none is no sitemap."""
    entries: dict[str, Entry] = {}
    for line in body.decode("utf-8-sig", "replace").splitlines():
        url = line.strip()
        if url.startswith(("http://", "https://")) and len(url) <= _VALUE_CHARACTERS:
            entries.setdefault(url, Entry(url))
        if len(entries) >= max_entries:
            break
    return Source(SourceKind.SITEMAP, tuple(entries.values())) if entries else None


def _as_utf_8(body: bytes) -> bytes:
    """expat knows UTF-8, UTF-16 and Latin-1; a document in another charset (EUC-KR) is decoded for it."""
    body = body.lstrip(b" \t\r\n")
    declared = _DECLARED.match(body[:_SNIFFED_BYTES].removeprefix(codecs.BOM_UTF8))
    if declared is None or declared[1].lower() in _UTF_8:
        return body
    text = body.decode(choose(body, f"text/xml; charset={declared[1].decode('ascii')}").encoding, "replace")
    return re.sub(r"\A\s*<\?xml[^>]{0,300}\?>", "", text, count=1).encode("utf-8", "replace")


class _Stop(Exception):  # noqa: N818 - the way out of a parser's callback, no error
    pass


@dataclass(slots=True)
class _Item:
    """One `url`, `item` or `entry` while it is read."""

    url: str = ""
    guid: str = ""
    stated: str = ""
    title: str = ""
    pictures: list[str] = field(default_factory=list)
    alternates: list[str] = field(default_factory=list)


class _Reading:
    """The state of one pass: the path of open elements, and the item that is being read."""

    kind: SourceKind | None

    def __init__(self, max_entries: int) -> None:
        self.kind = None
        self.entries: dict[str, Entry] = {}
        self.problem = ""
        self._max = max_entries
        self._path: list[str] = []
        self._item: _Item | None = None
        self._text: list[str] | None = None
        self._room = 0

    def is_full(self) -> bool:
        return len(self.entries) >= self._max

    def add(self, entry: Entry) -> None:
        if entry.url and len(entry.url) <= _VALUE_CHARACTERS:
            self.entries.setdefault(entry.url, entry)

    def read(self, body: bytes) -> None:
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._begin
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.EntityDeclHandler = self._entity
        try:
            for start in range(0, len(body), _PIECE_BYTES):
                parser.Parse(body[start : start + _PIECE_BYTES], False)
            parser.Parse(b"", True)
        except _Stop as why:
            self.problem = str(why)
        except expat.ExpatError as problem:
            self.problem = f"no well-formed XML: {problem}"
        except (ValueError, LookupError) as problem:
            self.problem = f"unreadable: {problem}"

    def _entity(self, *_: object) -> None:
        raise _Stop("it declares entities")

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(":")[2]
        if self.kind is None:
            self.kind = _ROOTS.get(local)
            if self.kind is None:
                raise _Stop("no sitemap or feed")
        if len(self._path) >= _DEEPEST:
            raise _Stop("elements nested too deeply")
        self._path.append(local)
        if local in ("url", "sitemap", "item", "entry") and self._item is None and len(self._path) <= 3:
            self._item = _Item()
        elif self._item is not None and local == "link" and attributes.get("href"):
            relation = attributes.get("rel", "alternate")
            if self.kind is SourceKind.FEED and relation == "alternate" and not self._item.url:
                self._item.url = attributes["href"][:_VALUE_CHARACTERS]
            elif self.kind is SourceKind.SITEMAP and relation == "alternate":
                self._item.alternates.append(attributes["href"][:_VALUE_CHARACTERS])
        if self._item is not None:
            self._text, self._room = [], _VALUE_CHARACTERS

    def _characters(self, text: str) -> None:
        if self._text is not None and self._room > 0:
            self._text.append(text[: self._room])
            self._room -= len(text)

    def _end(self, name: str) -> None:
        local = self._path.pop()
        item = self._item
        if item is None:
            return
        parent = self._path[-1] if self._path else ""
        value = "".join(self._text or ()).strip()
        if local in ("url", "sitemap", "item", "entry") and len(self._path) <= 2:
            if not item.url and local == "sitemap":
                item.url = value  # seen in the wild: the address without its loc element
            self._item = self._text = None
            self._finish(item)
            return
        self._text = None if local != "sitemap" else self._text
        if not value:
            return
        match local:
            case "loc" if parent in ("url", "sitemap"):
                item.url = item.url or value
            case "loc" | "content_loc" if parent in ("image", "video"):
                item.pictures.append(value)
            case "link" if parent in ("item", "entry"):
                item.url = item.url or value
            case "guid" if value.startswith(("http://", "https://")):
                item.guid = value
            case "lastmod" | "updated" | "modified":
                item.stated = value
            case "publication_date" | "pubDate" | "date" | "published" | "issued":
                item.stated = item.stated or value
            case "title" if parent in ("item", "entry"):
                item.title = " ".join(value.split())
            case _:
                pass

    def _finish(self, item: _Item) -> None:
        stated = parse_date(item.stated)
        stated_at = stated.timestamp() if stated is not None else None
        self.add(Entry(item.url or item.guid, stated_at, title=item.title))
        for alternate in item.alternates:
            self.add(Entry(alternate, stated_at))
        for picture in item.pictures:
            self.add(Entry(picture, picture=True))
        if self.is_full():
            raise _Stop("more entries than are taken")
