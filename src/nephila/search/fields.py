"""The fields of the index, and how their text is cut into words; the only place that names them to tantivy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec
import tantivy

from nephila.search.wording import Korean, normal, wording

VERSION: Final = 1
"""Another number makes every index anew: raise it with any change of fields, of their words or of tantivy's form."""

TEXT_FIELDS: Final = ("title", "anchors", "description", "text", "url")
_WORDS: Final = "words"
_LONGEST_WORD_BYTES: Final = 128
_WORDS_OF_A_TITLE: Final = 40


class Card(msgspec.Struct, frozen=True, array_like=True):
    """What is shown of a page, stored with it."""

    url: str
    title: str
    description: str
    text: str
    language: str
    published_s: int | None
    modified_s: int | None


def schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_integer_field("page_id", indexed=True, fast=True)
    builder.add_integer_field("site_id", indexed=True)
    builder.add_integer_field("url_hash", indexed=True)
    builder.add_integer_field("date_s", fast=True, indexed=True)
    builder.add_float_field("weight", fast=True)
    for name in ("site", "domain", "language", "whole_title"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    for name in TEXT_FIELDS:
        builder.add_text_field(name, tokenizer_name=_WORDS, index_option="position")
    builder.add_bytes_field("card", stored=True)
    return builder.build()


def analyzer() -> tantivy.TextAnalyzer:
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    builder = builder.filter(tantivy.Filter.remove_long(_LONGEST_WORD_BYTES))
    return builder.filter(tantivy.Filter.lowercase()).filter(tantivy.Filter.ascii_fold()).build()


_ANALYZER: Final = analyzer()


def words_of(text: str, korean: Korean = "pairs") -> list[str]:
    """The words of a text as the index has them."""
    return _ANALYZER.analyze(wording(normal(text), korean))


def whole_title(words: Sequence[str]) -> str:
    """A title by its words alone, for finding it exactly; a long one by its beginning."""
    return " ".join(words[:_WORDS_OF_A_TITLE])


def create_index(path: Path) -> tantivy.Index:
    return _ready(tantivy.Index(schema(), path=str(path)))


def open_index(path: Path) -> tantivy.Index:
    return _ready(tantivy.Index.open(str(path)))


def _ready(index: tantivy.Index) -> tantivy.Index:
    index.register_tokenizer(_WORDS, analyzer())
    return index
