"""From what a person types to a query: in comes any text, out go frozen rows, or one sentence about what is wrong.

    crawler "web graph"          all words, and the phrase
    검색 OR search -spam         either of two neighbours; not this one
    site:www.kaist.ac.kr domain:kaist.ac.kr community:universities lang:ko
    after:2024 before:2024-06    on or after the first day of 2024, and before the first of June

Nothing of the text reaches tantivy's own query language: rows hold words, and `matching` builds the question.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal

from nephila.errors import UsageError

MOST_CHARACTERS: Final = 2000
MOST_TERMS: Final = 64


class QueryError(UsageError):
    """A query that cannot be understood."""


@dataclass(frozen=True, slots=True)
class Words:
    """Words in their order: a phrase, or one word as typed."""

    text: str


@dataclass(frozen=True, slots=True)
class Limit:
    """Pages of one site, domain, community or language alone."""

    kind: Literal["site", "domain", "community", "lang"]
    name: str


@dataclass(frozen=True, slots=True)
class Dated:
    """Pages from a time on, or before it; UTC seconds."""

    kind: Literal["before", "after"]
    at_s: int


Term = Words | Limit | Dated


@dataclass(frozen=True, slots=True)
class Query:
    """One of each of `all_of`, and none of `none_of`."""

    all_of: tuple[tuple[Term, ...], ...] = ()
    none_of: tuple[Term, ...] = ()

    def limited_to(self, limits: tuple[Limit, ...]) -> Query:
        """The same within these limits; several of one kind are alternatives."""
        kinds = dict.fromkeys(limit.kind for limit in limits)
        groups = tuple(tuple(limit for limit in limits if limit.kind == kind) for kind in kinds)
        return Query(self.all_of + groups, self.none_of)

    @property
    def words(self) -> tuple[Words, ...]:
        """What is looked for, in the order typed."""
        return tuple(term for terms in self.all_of for term in terms if isinstance(term, Words))

    @property
    def names_a_site(self) -> bool:
        return any(isinstance(term, Limit) and term.kind == "site" for terms in self.all_of for term in terms)


_QUOTES: Final = '"“”„‟«»'
_TOKEN: Final = re.compile(
    rf"(?P<minus>[-−](?=\S))?(?:(?P<operator>site|domain|community|lang|before|after):)?"
    rf"(?:[{_QUOTES}](?P<phrase>[^{_QUOTES}]*)(?:[{_QUOTES}]|$)|(?P<bare>[^\s{_QUOTES}]+))?",
    re.IGNORECASE,
)
_SPACE: Final = re.compile(r"\s+")
_DATE: Final = re.compile(r"([0-9]{4})(?:[-/.]([0-9]{1,2})(?:[-/.]([0-9]{1,2}))?)?")


def parse(text: str) -> Query:
    """The query that a text means."""
    if len(text) > MOST_CHARACTERS:
        raise QueryError(f"a query may have {MOST_CHARACTERS} characters, not {len(text)}; leave some words out.")
    groups: list[list[Term]] = []
    none_of: list[Term] = []
    joins = False
    place = 0
    while place < len(text):
        space = _SPACE.match(text, place)
        if space:
            place = space.end()
            continue
        found = _TOKEN.match(text, place)
        if found is None or found.end() == place:
            place += 1
            continue
        place = found.end()
        if found["bare"] == "OR" and not found["minus"] and not found["operator"]:
            joins = bool(groups)
            continue
        term = _term(found)
        if term is None:
            continue
        if found["minus"]:
            none_of.append(term)
        elif joins:
            groups[-1].append(term)
        else:
            groups.append([term])
        joins = False
    if len(none_of) + sum(map(len, groups)) > MOST_TERMS:
        raise QueryError(f"a query may have {MOST_TERMS} words and limits; leave some out.")
    if not groups:
        raise QueryError(
            "a minus alone finds nothing; name a word to look for as well."
            if none_of
            else "there is nothing to look for; type a word."
        )
    return Query(tuple(map(tuple, groups)), tuple(none_of))


def _term(found: re.Match[str]) -> Term | None:
    value = found["phrase"] if found["phrase"] is not None else found["bare"] or ""
    value = " ".join(value.split())
    operator = (found["operator"] or "").lower()
    if operator and not value:
        raise QueryError(f"{operator}: needs a value right behind it, such as {_EXAMPLES[operator]}.")
    match operator:
        case "before" | "after":
            return Dated(operator, _seconds(operator, value))
        case "site" | "domain" | "community" | "lang":
            return Limit(operator, value.lower())
    return Words(value) if any(map(str.isalnum, value)) else None


_EXAMPLES: Final = {
    "site": "site:www.kaist.ac.kr",
    "domain": "domain:kaist.ac.kr",
    "community": "community:universities",
    "lang": "lang:ko",
    "before": "before:2024-06-30",
    "after": "after:2024",
}


def _seconds(operator: str, value: str) -> int:
    found = _DATE.fullmatch(value)
    try:
        if found is None:
            raise ValueError
        day = datetime(int(found[1]), int(found[2] or 1), int(found[3] or 1), tzinfo=UTC)
    except ValueError:
        raise QueryError(
            f"{operator}:{value[:40]} is no date; write a year, a month or a day, such as {_EXAMPLES[operator]}."
        ) from None
    return int(day.timestamp())
