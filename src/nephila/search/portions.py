"""A worker's share: in come page ids, out comes a folder with a small index of them, which appears by rename.

A portion's name is made from all it depends on, so a run that was killed finds the portions that it had finished.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

import msgspec
import tantivy

from nephila.search.fields import VERSION, Card, create_index, whole_title, words_of
from nephila.search.scoring import tantivy_weight
from nephila.search.wording import Korean, normal, wording
from nephila.store.durable import aside_of, crash_point, publish
from nephila.store.tables.duck import in_list, open_duck
from nephila.urls import hash128, host_of, registrable_domain, site_of, url_hash

_HEAP_BYTES: Final = 192 * 2**20
_DUCK_BYTES: Final = 512 * 2**20
_ROWS_AT_ONCE: Final = 1024
_COLUMNS: Final = "page_id, site_id, url, title, description, text, language, published_at, modified_at, fetched_at"
_TEXTS: Final = ("title", "description", "text")


@dataclass(frozen=True, slots=True)
class Portion:
    """Pages to be indexed together; `ids`, `levels` and `hashes` go side by side."""

    files: tuple[Path, ...]
    """the parts of `pages` that hold them"""
    anchors: Path
    """what pages are called, by page id"""
    ids: tuple[int, ...]
    levels: tuple[int, ...]
    hashes: tuple[tuple[int, int], ...]
    """of what they say and of what they are called, so that another content is another portion"""
    rank_weight: float
    max_text_characters: int
    korean: Korean
    target: Path

    def name(self) -> str:
        settings = (self.rank_weight, self.max_text_characters, self.korean)
        relevant = (VERSION, self.ids, self.levels, self.hashes, settings)
        return hash128(msgspec.json.encode(relevant).decode()).hex()


@dataclass(frozen=True, slots=True)
class Written:
    """A portion on disk; `cpu_s` is 0 where it was there already."""

    folder: Path
    pages: int
    cpu_s: float


def write_portion(portion: Portion) -> Written:
    """Index the pages of a portion."""
    folder = portion.target / portion.name()
    if folder.is_dir():
        return Written(folder, len(portion.ids), 0.0)
    started = time.process_time()
    aside = aside_of(folder)
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir(parents=True)
    index = create_index(aside)
    writer = index.writer(_HEAP_BYTES, 1)
    weights = {
        page: tantivy_weight(level, portion.rank_weight)
        for page, level in zip(portion.ids, portion.levels, strict=True)
    }
    pages = 0
    for row, anchors in _rows(portion):
        writer.add_document(_entry(row, weights[row["page_id"]], anchors, portion))
        pages += 1
    writer.commit()
    writer.wait_merging_threads()
    publish(aside, folder)
    crash_point("search.portion")
    return Written(folder, pages, round(time.process_time() - started, 6))


def _rows(portion: Portion) -> Iterator[tuple[dict[str, Any], str]]:
    """The pages of a portion from the tables, each with what others call it; a few in memory at a time."""
    wanted = frozenset(portion.ids)
    between = "WHERE page_id BETWEEN ? AND ?"
    ends = (portion.ids[0], portion.ids[-1])
    with open_duck(_DUCK_BYTES, 1, aside_of(portion.target / f"{portion.name()}.duck")) as duck:
        called = f"SELECT page_id, words FROM read_parquet({in_list([portion.anchors])}) {between}"  # noqa: S608
        anchors = dict(duck.execute(called, ends).fetchall())
        pages = f"SELECT {_COLUMNS} FROM read_parquet({in_list(portion.files)}) {between}"  # noqa: S608
        for batch in duck.sql(pages, params=list(ends)).to_arrow_reader(_ROWS_AT_ONCE):
            for row in batch.to_pylist():
                if row["page_id"] in wanted:
                    yield row, anchors.get(row["page_id"], "")


def _entry(row: dict[str, Any], weight: float, anchors: str, portion: Portion) -> tantivy.Document:
    """What tantivy gets of a page."""
    url = row["url"]
    title, description, text = (normal((row[name] or "")[: portion.max_text_characters]) for name in _TEXTS)
    published_s, modified_s = _seconds(row["published_at"]), _seconds(row["modified_at"])
    date_s = next((at for at in (published_s, modified_s, _seconds(row["fetched_at"])) if at is not None), 0)
    host, korean = host_of(url), portion.korean
    entry = tantivy.Document()
    entry.add_integer("page_id", row["page_id"])
    entry.add_integer("site_id", row["site_id"])
    entry.add_integer("url_hash", url_hash(url))
    entry.add_integer("date_s", date_s)
    entry.add_float("weight", weight)
    for site in {site_of(url), host}:
        entry.add_text("site", site)
    entry.add_text("domain", registrable_domain(host))
    if row["language"]:
        entry.add_text("language", row["language"])
    if title:
        entry.add_text("title", wording(title, korean))
        entry.add_text("whole_title", whole_title(words_of(title, korean)))
    if anchors:
        entry.add_text("anchors", wording(normal(anchors), korean))
    if description:
        entry.add_text("description", wording(description, korean))
    if text:
        entry.add_text("text", wording(text, korean))
    entry.add_text("url", wording(normal(unquote(url.partition("://")[2])), korean))
    card = Card(url, title, description, text, row["language"] or "", published_s, modified_s)
    entry.add_bytes("card", msgspec.msgpack.encode(card))
    return entry


def _seconds(at: datetime | None) -> int | None:
    return None if at is None else int(at.timestamp())
