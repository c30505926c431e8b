"""From a query's rows to a question for tantivy, built of its own objects: no text is ever parsed by it.

Every word must be found in some field; what it brings is BM25, times the weight of the field. A word that is several
words to the index (a Korean word is pairs of syllables, `C++11` is two words) is a phrase. A single sign of a script
that is indexed in pairs is looked for inside the pairs. Limits and dates choose, and bring nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import tantivy

from nephila.config.sections import Search
from nephila.search.columns import Columns
from nephila.search.fields import TEXT_FIELDS, schema, whole_title, words_of
from nephila.search.query import Dated, Limit, Query, Term, Words
from nephila.search.wording import Korean, is_sign
from nephila.urls import NO_RULES, Refusal, host_of, normalise, registrable_domain, site_of

Question = tantivy.Query
_SCHEMA: Final = schema()
_EVER: Final = 2**60


@dataclass(frozen=True, slots=True)
class Asked:
    """A query as tantivy takes it: what must match, and what each field brings, for an explanation."""

    question: Question
    parts: tuple[tuple[str, Question], ...]
    """what a score is made of, where that was asked: name, and the question whose scores are that part"""
    words: tuple[tuple[str, ...], ...]
    """what was looked for, as the index has it, for marking"""
    remarks: tuple[str, ...]


class Matching:
    """Builds questions for one open index."""

    def __init__(self, config: Search, korean: Korean, columns: Columns, searcher: tantivy.Searcher) -> None:
        self._korean, self._columns, self._searcher = korean, columns, searcher
        weights = (
            config.title_weight, config.anchor_weight, config.description_weight, config.text_weight, config.url_weight
        )  # fmt: skip
        self._fields = tuple((name, weight) for name, weight in zip(TEXT_FIELDS, weights, strict=True) if weight > 0)
        self._bonus = config.exact_title_bonus
        self._communities: dict[str, int] | None = None

    def ask(self, query: Query, *, explain: bool) -> Asked:
        remarks: list[str] = []
        must, brings = [], []
        for terms in query.all_of:
            must.append((tantivy.Occur.Must, _any(self._match(term, remarks) for term in terms)))
            brings += [term for term in terms if isinstance(term, Words)]
        if not brings:
            must.append((tantivy.Occur.Must, tantivy.Query.all_query()))
        bonus = self._title_bonus(query)
        if bonus is not None:
            must.append((tantivy.Occur.Should, bonus))
        banned = [(tantivy.Occur.MustNot, self._match(term, remarks)) for term in query.none_of]
        words = tuple(_words(term.text, self._korean) for term in brings)
        parts = self._parts(brings, bonus) if explain else ()
        return Asked(tantivy.Query.boolean_query([*must, *banned]), parts, words, tuple(remarks))

    def _parts(self, brings: Sequence[Words], bonus: Question | None) -> tuple[tuple[str, Question], ...]:
        if not brings:
            return (("any page", tantivy.Query.all_query()),)
        parts = [(name, _any(self._in_field(term, name, weight) for term in brings)) for name, weight in self._fields]
        return tuple(parts) if bonus is None else (*parts, ("exact title", bonus))

    def _match(self, term: Term, remarks: list[str]) -> Question:
        match term:
            case Words():
                return _any(self._in_field(term, name, weight) for name, weight in self._fields)
            case Dated(kind, at_s):
                low, high = (at_s, _EVER) if kind == "after" else (-_EVER, at_s - 1)
                dated = tantivy.Query.range_query(_SCHEMA, "date_s", tantivy.FieldType.Integer, low, high)
                return _choosing(dated)
            case Limit():
                return _choosing(self._limit(term, remarks))

    def _in_field(self, term: Words, field: str, weight: float) -> Question:
        words = _words(term.text, self._korean)
        if not words:
            return tantivy.Query.empty_query()
        if len(words) > 1:
            found = tantivy.Query.phrase_query(_SCHEMA, field, list(words))
        elif len(words[0]) == 1 and is_sign(words[0]):
            sign = words[0]  # one letter of a script without signs of its own in patterns
            found = tantivy.Query.regex_query(_SCHEMA, field, f"{sign}.?|.{sign}")
        else:
            found = tantivy.Query.term_query(_SCHEMA, field, words[0])
        return tantivy.Query.boost_query(found, weight)

    def _title_bonus(self, query: Query) -> Question | None:
        words = [word for term in query.words for word in _words(term.text, self._korean)]
        if not words or self._bonus == 0:
            return None
        exact = tantivy.Query.term_query(_SCHEMA, "whole_title", whole_title(words))
        return tantivy.Query.const_score_query(exact, self._bonus * len(words))

    def _limit(self, term: Limit, remarks: list[str]) -> Question:
        match term.kind:
            case "lang":
                return _terms("language", [term.name.replace("_", "-").partition("-")[0]])
            case "community":
                return self._community(term.name, remarks)
            case "site":
                names = site_names(term.name)
            case _:
                names = [registrable_domain(host_of(name)) for name in site_names(f"http://{term.name}")]
        if not any(self._searcher.doc_freq(term.kind, name) for name in names):
            remarks.append(f"no page of the {term.kind} {term.name} is in the index.")
        return _terms(term.kind, names)

    def _community(self, name: str, remarks: list[str]) -> Question:
        number = self._community_number(name)
        if number is None:
            remarks.append(f"there is no community {name}; name one by its number, its name or one of its sites.")
            return tantivy.Query.empty_query()
        sites = np.flatnonzero(self._columns.community_of_site == number).tolist()
        return tantivy.Query.term_set_query(_SCHEMA, "site_id", sites) if sites else tantivy.Query.empty_query()

    def _community_number(self, name: str) -> int | None:
        """By number, by name, or by the name of a site that belongs to it."""
        if self._communities is None:
            names = enumerate(self._columns.community_names)
            self._communities = {known.lower(): number for number, known in names if known}
        if name in self._communities:
            return self._communities[name]
        if name.isascii() and name.isdecimal() and int(name) < len(self._columns.community_names):
            return int(name)
        found = self._searcher.search(_terms("site", site_names(name)), 1, False).hits
        if not found:
            return None
        page_id = int(self._searcher.fast_field_values("page_id", [found[0][1]])[0] or 0)
        return int(self._columns.community_of_site[self._columns.site[page_id]])


@lru_cache(maxsize=1024)
def _words(text: str, korean: Korean) -> tuple[str, ...]:
    return tuple(words_of(text, korean))


def site_names(name: str) -> list[str]:
    """What a site may be called in the index: itself, or its host alone; IDN names in their ASCII form."""
    given = name if "://" in name else f"http://{name}"
    url = normalise(given if given.endswith("/") else f"{given}/", NO_RULES)
    if isinstance(url, Refusal):
        return []
    site = site_of(url)
    if "://" in name:
        return [site]
    host = host_of(url)
    return [host] if site == f"http://{host}" else [site, site.replace("http:", "https:", 1)]


def _terms(field: str, names: Sequence[str]) -> Question:
    return _any(tantivy.Query.term_query(_SCHEMA, field, name, "basic") for name in names)


def _any(questions: object) -> Question:
    found = list(questions)  # type: ignore[call-overload]
    if not found:
        return tantivy.Query.empty_query()
    return found[0] if len(found) == 1 else tantivy.Query.boolean_query([(tantivy.Occur.Should, one) for one in found])


def _choosing(question: Question) -> Question:
    return tantivy.Query.const_score_query(question, 0.0)
