"""A question about a crawl: one SQL over its tables, with all that is said of the answer.

The text of the SQL is what is shown with the table; whoever pastes it into `nephila.open("DIR").sql(...)` gets the
same rows. So a question has no parameters: what is configured stands in its text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import dedent
from typing import cast, get_args

from nephila.stats.section import Cell, Column, Kind, Plot, Section


@dataclass(frozen=True, slots=True)
class Question:
    """What `Section` has, before the answer."""

    name: str
    title: str
    definition: str
    sql: str
    columns: tuple[Column, ...]
    plot: Plot | None = None
    paper: str = ""

    def answered(self, group: str, rows: Sequence[tuple[Cell, ...]], remarks: tuple[str, ...] = ()) -> Section:
        """The section that these rows make."""
        return Section(
            self.name, self.title, self.definition, self.sql, self.columns, tuple(rows), self.plot, group, self.paper,
            remarks,
        )  # fmt: skip


def question(
    name: str, title: str, definition: str, sql: str, columns: str, plot: Plot | None = None, paper: str = ""
) -> Question:
    """A question with its text dedented; columns as "name:kind name:kind", a text's kind left out."""
    made = tuple(_column(word) for word in columns.split())
    return Question(name, title, " ".join(definition.split()), dedent(sql).strip(), made, plot, paper)


def _column(word: str) -> Column:
    name, _, kind = word.partition(":")
    kind = kind or "text"
    assert kind in get_args(Kind), f"{word}: there is no kind {kind}"
    return Column(name, cast(Kind, kind))


def most(key: str, count: str, source: str, top: int) -> str:
    """SQL: how often each `key` occurs in `source`; the `top` most frequent, and all others in one line."""
    return f"""\
WITH counted AS (
    SELECT {key} AS name, count(*) AS found
    FROM {source}
    GROUP BY name
), ordered AS (
    SELECT *, row_number() OVER (ORDER BY found DESC, name) AS place FROM counted
)
SELECT CASE WHEN min(place) <= {top} THEN any_value(name) ELSE 'all others' END AS name, sum(found) AS {count},
       sum(found) / (SELECT sum(found) FROM counted) AS share
FROM ordered
GROUP BY least(place, {top + 1})
ORDER BY min(place)"""  # noqa: S608


def doubling(value: str, count: str, source: str) -> str:
    """SQL: how many rows of `source` have a `value` from each power of two to below the next."""
    return f"""\
SELECT at_least, greatest(2 * at_least - 1, 0) AS at_most, count(*) AS {count},
       count(*) / sum(count(*)) OVER () AS share, count(*) / (at_most - at_least + 1) AS per_value
FROM (SELECT CASE WHEN value = 0 THEN 0 ELSE CAST(2 ** floor(log2(value)) AS BIGINT) END AS at_least
      FROM (SELECT {value} AS value FROM {source}))
GROUP BY at_least
ORDER BY at_least"""  # noqa: S608
