"""The map of this room: a portion of pages goes in, two Parquet files come out, rows of pages and rows of links.

The files appear by rename and are named after the portion's content: one that is there already is not made again, so
that a conversion that was killed goes on where it was. Links are those that crawl found and archived with the page;
they are never extracted twice.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec

from nephila.convert.attributes import Attributes, Parse, attributes, decoded_text
from nephila.convert.crawled import CrawledPage
from nephila.convert.guarding import Guard, guard
from nephila.convert.staging import LINK_STAGE, NO_KEY, PAGE_STAGE, batch_of, is_home, key_of
from nephila.decode import DecodeState, decode
from nephila.errors import DamagedError
from nephila.markup import pdf
from nephila.markup.language import load_model
from nephila.markup.text import storable
from nephila.markup.wrappers import Wrappers, extract_fields
from nephila.records import Outcome, network_state
from nephila.store.archive.exchange import StoredLink
from nephila.store.archive.reader import StoredResponse, read, read_exchange
from nephila.store.durable import aside_of, crash_point, publish
from nephila.store.folder import slot_name
from nephila.store.tables.parts import batches_of, prepare, rows_in
from nephila.store.tables.schemas import FIELDS
from nephila.urls import StripRules, hash128

VERSION: Final = 7
"""Raised when the same bytes would give other rows; files of another version are not used again."""

_ANCHOR_CHARACTERS: Final = 1024
_AS_HTML: Final = frozenset({Parse.OK, Parse.CHARSET, Parse.LIMIT, Parse.EMPTY})
_HTML_TYPES: Final = frozenset({"", "text/html", "application/xhtml+xml"})
_ARCHIVE_ONLY: Final = "archive_only"  # crawl's flag of what is kept and not read (section `content`)


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """A page with its ids, and all that crawl knows of it."""

    page_id: int
    site_id: int
    domain_id: int
    slot: int
    url: str
    crawled: CrawledPage
    inherits: bool = False  # its content was read by an earlier conversion, and is what it was


@dataclass(frozen=True, slots=True)
class Portion:
    """Pages of one part of the tables, and where their rows go."""

    pages: tuple[FetchedPage, ...]
    archive: Path
    target: Path
    strip: tuple[str, ...]
    max_url_length: int
    max_parse_bytes: int
    max_pdf_bytes: int
    max_parse_s: float
    wrappers: Wrappers
    run: str
    """names the notes of this run; empty: the process must not die"""

    def name(self) -> str:
        """The same for the same work."""
        limits = (self.max_url_length, self.max_parse_bytes, self.max_pdf_bytes)
        relevant = (VERSION, self.pages, self.strip, *limits, self.wrappers.digest)
        return hash128(msgspec.json.encode(relevant).decode()).hex()


@dataclass(frozen=True, slots=True)
class Extracted:
    """What a portion brought; `cpu_s` is 0 where the files were there already."""

    pages_file: Path
    links_file: Path
    fields_file: Path
    links: int
    fields: int
    parses: dict[str, int]
    cpu_s: float


def extract(portion: Portion) -> Extracted:
    """Read a portion's bodies from the archive, and write what they say."""
    name = portion.name()
    files = [portion.target / f"{name}.{what}.parquet" for what in ("fields", "links", "pages")]
    if all(path.exists() for path in files):
        return _found(*files)
    load_model()
    started = time.process_time()
    rules = StripRules.of(portion.strip, max_length=portion.max_url_length)
    notes = portion.target / f"{name}.{portion.run}.noted" if portion.run else None
    page_rows: list[tuple[Any, ...]] = []
    link_rows: list[tuple[Any, ...]] = []
    field_rows: list[tuple[Any, ...]] = []
    parses: Counter[str] = Counter()
    with guard(notes, portion.max_parse_s) as watched:
        for page in portion.pages:
            read = _read(portion, page, rules, watched)
            parses[read.found.parse.value] += 1
            page_rows.append(_page_row(page, read.found))
            link_rows += read.links
            field_rows += read.fields
    stages = (FIELDS.schema, field_rows), (LINK_STAGE, link_rows), (PAGE_STAGE, page_rows)
    for path, (schema, rows) in zip(files, stages, strict=True):
        prepare(path, schema, [batch_of(schema, rows)])
        publish(aside_of(path), path)
    crash_point("convert.extracted")
    cpu_s = round(time.process_time() - started, 6)
    fields_file, links_file, pages_file = files
    return Extracted(pages_file, links_file, fields_file, len(link_rows), len(field_rows), dict(parses), cpu_s)


def _found(fields_file: Path, links_file: Path, pages_file: Path) -> Extracted:
    parses: Counter[str] = Counter()
    for batch in batches_of(pages_file, ["parse"]):
        parses.update(batch.column(0).to_pylist())
    links = sum(batch.num_rows for batch in batches_of(links_file, ["source"]))
    return Extracted(pages_file, links_file, fields_file, links, rows_in(fields_file), dict(parses), 0.0)


@dataclass(frozen=True, slots=True)
class _Read:
    """What a page says, its links in the order of LINK_STAGE, and what a wrapper found in the order of FIELDS."""

    found: Attributes
    links: list[tuple[Any, ...]] = field(default_factory=list)
    fields: list[tuple[Any, ...]] = field(default_factory=list)


def _read(portion: Portion, page: FetchedPage, rules: StripRules, watched: Guard) -> _Read:
    known = page.crawled
    if page.inherits or known.archive_file is None or known.archive_offset is None or not known.has_content:
        return _Read(Attributes(Parse.NONE))
    try:
        slot = portion.archive / slot_name(page.slot)
        exchange = read_exchange(slot / known.archive_file, known.archive_offset)
        holder = exchange.response
        if holder.revisit is not None and known.body_file is not None and known.body_offset is not None:
            holder = read(slot / known.body_file, known.body_offset)
        links = [_link_row(page.page_id, link) for link in exchange.outlinks]
    except (DamagedError, ValueError):
        return _Read(Attributes(Parse.DAMAGED))
    found, fields = _attributes(portion, page, exchange.response, holder, rules, watched)
    return _Read(found, links, fields)


def _attributes(
    portion: Portion, page: FetchedPage, response: StoredResponse, holder: StoredResponse, rules: StripRules,
    watched: Guard,
) -> tuple[Attributes, list[tuple[Any, ...]]]:  # fmt: skip
    if _ARCHIVE_ONLY in page.crawled.flags.split():
        return Attributes(Parse.OTHER), []
    earlier = watched.verdict(page.page_id)
    if earlier is not None:
        return Attributes(earlier), []
    is_pdf = page.crawled.mime in pdf.TYPES
    most_bytes = portion.max_pdf_bytes if is_pdf else portion.max_parse_bytes
    decoded = decode(holder.body, holder.codings, most_bytes + 1)
    if decoded.state is DecodeState.BAD:
        return Attributes(Parse.UNDECODABLE), []
    content_type = next(iter(response.header_values("content-type")), None)
    watched.note(page.page_id)
    try:
        known = page.crawled
        found = attributes(
            page.url, decoded.payload, content_type, known.mime, known.last_modified, rules, most_bytes,
            portion.max_parse_s,
        )  # fmt: skip
        fields = _fields(portion, page, decoded.payload, content_type, rules) if found.parse in _AS_HTML else []
        return found, fields
    finally:
        watched.clear()


def _fields(
    portion: Portion, page: FetchedPage, body: bytes, content_type: str | None, rules: StripRules
) -> list[tuple[Any, ...]]:
    """What the page's wrapper finds on it, in the order of FIELDS."""
    wrapper = portion.wrappers.of(page.url)
    if wrapper is None or page.crawled.mime not in _HTML_TYPES:
        return []
    html = decoded_text(body, content_type, portion.max_parse_bytes).text
    return [
        (page.page_id, row.wrapper, row.field, row.place, storable(row.text), row.number, row.moment)
        for row in extract_fields(wrapper, html, page.url, rules)
    ]


def _page_row(page: FetchedPage, found: Attributes) -> tuple[Any, ...]:
    """In the order of PAGE_STAGE."""
    known = page.crawled
    state = network_state(Outcome(known.outcome), known.reason)
    return (
        page.page_id, page.site_id, page.domain_id, page.url, known.depth, known.outcome, storable(known.reason),
        state.value, found.parse.value, known.code, known.redirect_to or None, storable(known.mime) or None,
        found.charset, found.charset_declared, found.language, known.body_bytes, known.wire_bytes, found.visible_bytes,
        known.checksum, _time(known.fetched_at), known.elapsed_ms, found.title, found.description, found.text,
        found.canonical, found.published_at, found.modified_at, known.link_kinds or None, found.simhash, known.flags,
        known.archive_file, known.archive_offset, _text_checksum(found.text), page.inherits, is_home(page.url),
        *key_of(page.url),
        *(key_of(known.redirect_to) if known.redirect_to else NO_KEY),
        *(key_of(found.canonical) if found.canonical else NO_KEY),
    )  # fmt: skip


def _link_row(source: int, link: StoredLink) -> tuple[Any, ...]:
    return source, *key_of(link.url), link.kind, storable(link.anchor[:_ANCHOR_CHARACTERS]), len(link.url)


def _text_checksum(text: str | None) -> bytes | None:
    """As the checksum of a body (S0-14): the first 128 bits of its SHA-1."""
    return None if text is None else hashlib.sha1(text.encode(), usedforsecurity=False).digest()[:16]


def _time(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
