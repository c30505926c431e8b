"""What a reader sees of a page: the DOM door. In comes decoded HTML, out come title, main text and stated facts.

A tree of hostile HTML can be deep or large and its parser is native code: callers run this in a process that may die
(RELIABILITY C1) and bound the input. NUL and lone surrogates are removed from every text (C3); the lengths are capped
(C2).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import numpy as np
from turbohtml import Document, parse

from nephila.markup.boilerplate import UNSEEN, main_text
from nephila.markup.dates import parse_date

TITLE_BYTES: Final = 2 * 2**10
DESCRIPTION_CHARACTERS: Final = 500
TEXT_BYTES: Final = 2**20
_SENTENCES: Final = 200  # characters of the first sentences, where no description is stated

_LAST_BLANK: Final = 32
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_SENTENCE_END: Final = re.compile(r"[.!?。！？](?=\s|$)|[。！？]")
_LD_DATE: Final = re.compile(r'"(datePublished|dateModified)"\s*:\s*"([^"]{4,40})"')
_DESCRIPTIONS: Final = ("description", "og:description", "twitter:description", "dc.description", "dcterms.description")
_PUBLISHED: Final = (
    "article:published_time", "datepublished", "date", "dc.date", "dc.date.issued", "dcterms.issued", "dcterms.created",
    "dcterms.date", "pubdate", "publishdate", "parsely-pub-date", "sailthru.date",
)  # fmt: skip
_MODIFIED: Final = (
    "article:modified_time", "og:updated_time", "datemodified", "last-modified", "dc.date.modified",
    "dcterms.modified", "revised",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PageText:
    """What a page says to its readers."""

    title: str | None
    description: str | None
    text: str
    visible_bytes: int
    canonical: str | None
    """the href as written"""
    base: str | None
    language: str | None
    """as the html element declares it"""
    published: datetime | None
    modified: datetime | None


def read_text(html: str, charset: str = "utf-8") -> PageText:
    """Parse a decoded page; `charset` is the one it was in, by which its visible bytes are counted."""
    tree = parse(html)
    meta, links = _head(tree)
    title = _title(tree, meta)
    published, modified = _dates(tree, meta)
    language = tree.root.attrs.get("lang") if tree.root is not None else None
    tree.remove(UNSEEN)
    visible_bytes = _visible_bytes(tree, charset)
    text = _cut(storable(main_text(tree, html)), TEXT_BYTES)
    return PageText(
        title=title,
        description=_description(meta, text),
        text=text,
        visible_bytes=visible_bytes,
        canonical=links.get("canonical"),
        base=links.get("base"),
        language=_one(language) or None,
        published=published,
        modified=modified,
    )


def _visible_bytes(tree: Document, charset: str) -> int:
    """S1-30: the text of the body, blanks collapsed, without scripts and styles, in the bytes that the page has."""
    body = tree.select_one("body")
    if body is None:
        return 0
    if charset.startswith("utf"):  # a blank of UTF-16 or UTF-32 is more than one byte
        encoded = body.text.encode("utf-8", "surrogatepass")
    else:
        encoded = body.text.encode(charset, "replace")
    text = np.frombuffer(encoded, np.uint8)
    blank = text <= _LAST_BLANK
    words = int(np.count_nonzero(blank[:-1] > blank[1:])) + int(len(text) > 0 and not blank[0])
    return len(text) - int(np.count_nonzero(blank)) + max(words - 1, 0)


def storable(text: str) -> str:
    """Text that every database takes: without NUL and lone surrogates (C3, C4)."""
    if "\0" in text:
        text = text.replace("\0", "")
    try:
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub("", text)
    return text


def one_line(text: str) -> str:
    return " ".join(storable(text).split())


def first_sentences(text: str, characters: int = _SENTENCES) -> str | None:
    """The beginning of a text up to the last end of a sentence within so many characters."""
    start = one_line(text[: characters * 4])[:characters]
    ends = [end.end() for end in _SENTENCE_END.finditer(start)]
    return (start[: ends[-1]] if ends and ends[-1] > 20 else start) or None


def _head(tree: Document) -> tuple[dict[str, str], dict[str, str]]:
    """The first content of every meta name, and the first href of canonical and base."""
    meta: dict[str, str] = {}
    links: dict[str, str] = {}
    for element in tree.select("meta[content],link[rel][href],base[href]"):
        stated = element.attrs
        if element.tag == "meta":
            name = _one(stated.get("name")) or _one(stated.get("property")) or _one(stated.get("itemprop"))
            content = _one(stated.get("content"))
            if name and content:
                meta.setdefault(name.strip().lower(), content)
        elif element.tag == "base":
            links.setdefault("base", _one(stated.get("href")))
        elif "canonical" in _one(stated.get("rel")).lower().split():
            links.setdefault("canonical", _one(stated.get("href")))
    return meta, links


def _one(value: str | list[str] | None) -> str:
    """An attribute as it was written; the parser gives lists where names are separated by blanks."""
    return " ".join(value) if isinstance(value, list) else value or ""


def _title(tree: Document, meta: dict[str, str]) -> str | None:
    for selector in ("title", "h1"):
        found = tree.select_one(selector)
        title = one_line(found.text[: TITLE_BYTES * 4]) if found is not None else ""
        title = title or (one_line(meta.get("og:title", "")) if selector == "title" else "")
        if title:
            return _cut(title, TITLE_BYTES)
    return None


def _description(meta: dict[str, str], text: str) -> str | None:
    for name in _DESCRIPTIONS:
        if stated := one_line(meta.get(name, "")):
            return stated[:DESCRIPTION_CHARACTERS]
    return first_sentences(text)


def _dates(tree: Document, meta: dict[str, str]) -> tuple[datetime | None, datetime | None]:
    """Published and modified: meta elements, then schema.org's JSON, then the first time element."""
    published = next((found for name in _PUBLISHED if (found := parse_date(meta.get(name)))), None)
    modified = next((found for name in _MODIFIED if (found := parse_date(meta.get(name)))), None)
    if published is None or modified is None:
        stated: dict[str, str] = {}
        for script in tree.select('script[type="application/ld+json"]'):
            for date in _LD_DATE.finditer(script.text):
                stated.setdefault(date[1], date[2])
        published = published or parse_date(stated.get("datePublished"))
        modified = modified or parse_date(stated.get("dateModified"))
    if published is None:
        first = tree.select_one("time")
        published = parse_date(_one(first.attrs.get("datetime"))) if first is not None else None
    return published, modified


def _cut(text: str, most_bytes: int) -> str:
    if len(text) * 4 <= most_bytes:
        return text
    encoded = text.encode()
    return text if len(encoded) <= most_bytes else encoded[:most_bytes].decode("utf-8", "ignore")
