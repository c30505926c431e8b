"""The map of this room: a portion of pages goes in, two Parquet files come out, rows of pages and rows of links.

The files appear by rename and are named after the portion's content: one that is there already is not made again, so
that a conversion that was killed goes on where it was. Links are those that crawl found and archived with the page;
they are never extracted twice.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec

from nephila.convert.attributes import Attributes, Parse, attributes
from nephila.convert.crawled import CrawledPage
from nephila.convert.guarding import Guard, guard
from nephila.convert.language import load_model
from nephila.convert.staging import LINK_STAGE, NO_KEY, PAGE_STAGE, batch_of, is_home, key_of
from nephila.decode import DecodeState, decode
from nephila.errors import DamagedError
from nephila.markup.text import storable
from nephila.records import Outcome, network_state
from nephila.store.archive.exchange import StoredLink
from nephila.store.archive.reader import StoredResponse, read, read_exchange
from nephila.store.durable import aside_of, crash_point, publish
from nephila.store.folder import slot_name
from nephila.store.tables.parts import batches_of, prepare
from nephila.urls import StripRules, hash128

VERSION: Final = 6
"""Raised when the same bytes would give other rows; files of another version are not used again."""

_ANCHOR_CHARACTERS: Final = 1024


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
    max_parse_s: float
    run: str
    """names the notes of this run; empty: the process must not die"""

    def name(self) -> str:
        """The same for the same work."""
        relevant = (VERSION, self.pages, self.strip, self.max_url_length, self.max_parse_bytes)
        return hash128(msgspec.json.encode(relevant).decode()).hex()


@dataclass(frozen=True, slots=True)
class Extracted:
    """What a portion brought; `cpu_s` is 0 where the files were there already."""

    pages_file: Path
    links_file: Path
    links: int
    parses: dict[str, int]
    cpu_s: float


def extract(portion: Portion) -> Extracted:
    """Read a portion's bodies from the archive, and write what they say."""
    name = portion.name()
    pages_file, links_file = portion.target / f"{name}.pages.parquet", portion.target / f"{name}.links.parquet"
    if pages_file.exists() and links_file.exists():
        return _found(pages_file, links_file)
    load_model()
    started = time.process_time()
    rules = StripRules.of(portion.strip, max_length=portion.max_url_length)
    notes = portion.target / f"{name}.{portion.run}.noted" if portion.run else None
    page_rows: list[tuple[Any, ...]] = []
    link_rows: list[tuple[Any, ...]] = []
    parses: Counter[str] = Counter()
    with guard(notes, portion.max_parse_s) as watched:
        for page in portion.pages:
            found, links = _read(portion, page, rules, watched)
            parses[found.parse.value] += 1
            page_rows.append(_page_row(page, found))
            link_rows += links
    for path, schema, rows in ((links_file, LINK_STAGE, link_rows), (pages_file, PAGE_STAGE, page_rows)):
        prepare(path, schema, [batch_of(schema, rows)])
        publish(aside_of(path), path)
    crash_point("convert.extracted")
    return Extracted(pages_file, links_file, len(link_rows), dict(parses), round(time.process_time() - started, 6))


def _found(pages_file: Path, links_file: Path) -> Extracted:
    parses: Counter[str] = Counter()
    for batch in batches_of(pages_file, ["parse"]):
        parses.update(batch.column(0).to_pylist())
    links = sum(batch.num_rows for batch in batches_of(links_file, ["source"]))
    return Extracted(pages_file, links_file, links, dict(parses), 0.0)


def _read(
    portion: Portion, page: FetchedPage, rules: StripRules, watched: Guard
) -> tuple[Attributes, list[tuple[Any, ...]]]:
    """What a page says, and its links in the order of LINK_STAGE."""
    known = page.crawled
    if page.inherits or known.archive_file is None or known.archive_offset is None or not known.has_content:
        return Attributes(Parse.NONE), []
    try:
        slot = portion.archive / slot_name(page.slot)
        exchange = read_exchange(slot / known.archive_file, known.archive_offset)
        holder = exchange.response
        if holder.revisit is not None and known.body_file is not None and known.body_offset is not None:
            holder = read(slot / known.body_file, known.body_offset)
        links = [_link_row(page.page_id, link) for link in exchange.outlinks]
    except (DamagedError, ValueError):
        return Attributes(Parse.DAMAGED), []
    return _attributes(portion, page, exchange.response, holder, rules, watched), links


def _attributes(
    portion: Portion, page: FetchedPage, response: StoredResponse, holder: StoredResponse, rules: StripRules,
    watched: Guard,
) -> Attributes:  # fmt: skip
    earlier = watched.verdict(page.page_id)
    if earlier is not None:
        return Attributes(earlier)
    decoded = decode(holder.body, holder.codings, portion.max_parse_bytes + 1)
    if decoded.state is DecodeState.BAD:
        return Attributes(Parse.UNDECODABLE)
    content_type = next(iter(response.header_values("content-type")), None)
    watched.note(page.page_id)
    try:
        known = page.crawled
        return attributes(
            page.url, decoded.payload, content_type, known.mime, known.last_modified, rules, portion.max_parse_bytes
        )
    finally:
        watched.clear()


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
