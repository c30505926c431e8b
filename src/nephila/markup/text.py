"""What a reader sees of a page: the DOM door. In comes decoded HTML, out come title, main text and stated facts.

A tree of hostile HTML can be deep or large and its parser is native code: callers run this in a process that may die
(RELIABILITY C1) and bound the input. NUL and lone surrogates are removed from every text (C3); the lengths are capped
(C2).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from html import unescape
from typing import Any, Final

from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.html import HTMLTree

TITLE_BYTES: Final = 2 * 2**10
DESCRIPTION_CHARACTERS: Final = 500
TEXT_BYTES: Final = 2**20
_SENTENCES: Final = 200  # characters of the first sentences, where no description is stated

_BLANKS: Final = re.compile(r"\s+")
_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")
# Elements whose text no reader sees; an open one hides all that follows. Spelt out in both cases, because patterns
# that ignore case are searched for ten times slower.
_UNSEEN: Final = ("script", "style", "title", "template", "noscript", "textarea", "svg")


def _in_both_cases(name: str) -> str:
    return "".join(f"[{letter}{letter.upper()}]" for letter in name)


_HIDDEN: Final = re.compile(rf"<(!--|(?:{'|'.join(map(_in_both_cases, _UNSEEN))})(?=[\s/>]))")
_CODE: Final = re.compile(rf"<({_in_both_cases('script')}|{_in_both_cases('style')})(?=[\s/>])[^>]*>")
_HIDDEN_ENDS: Final = {"!--": re.compile("-->")} | {
    name: re.compile(f"</{_in_both_cases(name)}[^<>]*>") for name in _UNSEEN
}
_SENTENCE_END: Final = re.compile(r"[.!?。！？](?=\s|$)|[。！？]")
_ISO_DATE: Final = re.compile(
    r"\s*(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?\s*(Z|[+-]\d\d:?\d\d)?)?", re.IGNORECASE
)
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


def read_text(html: str) -> PageText:
    """Parse a decoded page."""
    tree = HTMLTree.parse(html)
    text = extract_plain_text(tree, main_content=True, links=False, alt_texts=False, list_bullets=False)
    text = _cut(storable(text or visible_text(html)), TEXT_BYTES)
    meta, links = _head(tree)
    document = tree.document
    root = document.first_element_child if document is not None else None
    published, modified = _dates(tree, meta, html)
    return PageText(
        title=_title(tree, meta),
        description=_description(meta, text),
        text=text,
        visible_bytes=_visible_bytes(tree, html),
        canonical=links.get("canonical"),
        base=links.get("base"),
        language=(root.getattr("lang") or None) if root is not None else None,
        published=published,
        modified=modified,
    )


def _visible_bytes(tree: Any, html: str) -> int:
    """S1-30: the text of the body, blanks collapsed, without scripts and styles."""
    if tree.body is None:
        return 0
    seen = _collapsed_bytes(tree.body.text)
    at = max(html.find("<body"), html.find("<BODY"), 0)
    while (code := _CODE.search(html, at)) is not None:
        end = _HIDDEN_ENDS[code[1].lower()].search(html, code.end())
        at = len(html) if end is None else end.end()
        seen -= _collapsed_bytes(html[code.end() : at if end is None else end.start()])
    return max(seen, 0)


def _collapsed_bytes(text: str) -> int:
    return len(" ".join(text.split()).encode("utf-8", "surrogatepass"))


def visible_text(html: str) -> str:
    """All text between the tags, blanks collapsed, where the main text cannot be told. One pass, whatever the page.

    The library's own extraction of all text takes a time that grows with the square of the number of paragraphs.
    """
    pieces: list[str] = []
    at = 0
    while (hidden := _HIDDEN.search(html, at)) is not None:
        pieces.append(html[at : hidden.start()])
        end = _HIDDEN_ENDS[hidden[1].lower()].search(html, hidden.end())
        at = len(html) if end is None else end.end()
    pieces.append(html[at:])
    first, *tagged = " ".join(pieces).split("<")
    text = " ".join([first, *(piece.partition(">")[2] for piece in tagged)])
    return " ".join((unescape(text) if "&" in text else text).split())


def storable(text: str) -> str:
    """Text that every database takes: without NUL and lone surrogates (C3, C4)."""
    return _UNSTORABLE.sub("", text) if not text.isascii() or "\0" in text else text


def one_line(text: str) -> str:
    return _BLANKS.sub(" ", storable(text)).strip()


def first_sentences(text: str, characters: int = _SENTENCES) -> str | None:
    """The beginning of a text up to the last end of a sentence within so many characters."""
    start = one_line(text[: characters * 4])[:characters]
    ends = [end.end() for end in _SENTENCE_END.finditer(start)]
    return (start[: ends[-1]] if ends and ends[-1] > 20 else start) or None


def parse_date(stated: str | None) -> datetime | None:
    """ISO 8601 or an HTTP date; nothing that is stated badly raises."""
    if not stated:
        return None
    try:
        iso = _ISO_DATE.match(stated)
        if iso is not None:
            year, month, day, hour, minute, second, zone = iso.groups()
            parts = (int(part or 0) for part in (year, month, day, hour, minute, second))
            offset = "+00:00" if not zone or zone in "Zz" else zone
            found = datetime(*parts)  # type: ignore[arg-type]
            return found.replace(tzinfo=datetime.strptime(offset, "%z").tzinfo).astimezone(UTC)
        found = parsedate_to_datetime(stated[:64])
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def _head(tree: Any) -> tuple[dict[str, str], dict[str, str]]:
    """The first content of every meta name, and the first href of canonical and base."""
    meta: dict[str, str] = {}
    links: dict[str, str] = {}
    document = tree.document
    if document is None:
        return meta, links
    for element in document.get_elements_by_tag_name("meta"):
        name = element.getattr("name") or element.getattr("property") or element.getattr("itemprop")
        content = element.getattr("content")
        if name and content:
            meta.setdefault(name.strip().lower(), content)
    for element in document.get_elements_by_tag_name("link"):
        if "canonical" in (element.getattr("rel") or "").lower().split() and element.getattr("href"):
            links.setdefault("canonical", element.getattr("href"))
    for element in document.get_elements_by_tag_name("base"):
        if element.getattr("href"):
            links.setdefault("base", element.getattr("href"))
    return meta, links


def _title(tree: Any, meta: dict[str, str]) -> str | None:
    title = one_line(tree.title or "") or one_line(meta.get("og:title", ""))
    if not title and tree.body is not None:
        headings = tree.body.get_elements_by_tag_name("h1")
        title = one_line(headings[0].text) if headings else ""
    return _cut(title, TITLE_BYTES) or None


def _description(meta: dict[str, str], text: str) -> str | None:
    for name in _DESCRIPTIONS:
        if stated := one_line(meta.get(name, "")):
            return stated[:DESCRIPTION_CHARACTERS]
    return first_sentences(text)


def _dates(tree: Any, meta: dict[str, str], html: str) -> tuple[datetime | None, datetime | None]:
    """Published and modified: meta elements, then schema.org's JSON, then the first time element."""
    published = next((found for name in _PUBLISHED if (found := parse_date(meta.get(name)))), None)
    modified = next((found for name in _MODIFIED if (found := parse_date(meta.get(name)))), None)
    if (published is None or modified is None) and "ld+json" in html:
        stated: dict[str, str] = {}
        for date in _LD_DATE.finditer(html):
            stated.setdefault(date[1], date[2])
        published = published or parse_date(stated.get("datePublished"))
        modified = modified or parse_date(stated.get("dateModified"))
    if published is None and "<time" in html:
        times = tree.document.get_elements_by_tag_name("time")
        published = parse_date(times[0].getattr("datetime")) if times else None
    return published, modified


def _cut(text: str, most_bytes: int) -> str:
    if len(text) * 4 <= most_bytes:
        return text
    encoded = text.encode()
    return text if len(encoded) <= most_bytes else encoded[:most_bytes].decode("utf-8", "ignore")
