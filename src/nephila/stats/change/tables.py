"""Documents over the batches: Tables 11-13, and the same question asked of sizes and languages.

Documents here are URLs downloaded at least once; a change needs two downloads, so intervals and shares of changed ones
are of those downloaded at least twice (S1-44 .. S1-47).
"""

from __future__ import annotations

from typing import Any

from nephila.stats.change.bootstrap import Answer, Grouped
from nephila.stats.section import Cell, Column, Plot, Section

GROUP = "How documents change"
_DAYS = (
    "URLs downloaded at least once, those seen at least twice, and of these the changed ones. An interval is the days "
    "from first to last download divided by the changes seen, averaged over changed documents alone (S1-41); what it "
    "leaves out is in the table of rates. Errors: sites drawn again."
)
SUMS = (
    ("documents", "count(*)"),
    ("twice", "count(*) FILTER (downloads > 1)"),
    ("changed", "count(*) FILTER (changes > 0)"),
    ("days", "coalesce(sum(interval_days), 0)"),
)
_SIZE_CLASS = """CASE WHEN size < 1024 THEN '1: below 1 KB' WHEN size < 4096 THEN '2: 1 to 4 KB'
            WHEN size < 16384 THEN '3: 4 to 16 KB' WHEN size < 65536 THEN '4: 16 to 64 KB'
            ELSE '5: 64 KB and more' END"""
_COLUMNS = (
    Column("documents", "count"), Column("of_all", "share"), Column("of_all_error", "share"),
    Column("twice", "count"), Column("twice_share", "share"), Column("twice_error", "share"),
    Column("changed", "count"), Column("changed_share", "share"), Column("changed_error", "share"),
    Column("interval_days", "days"), Column("interval_error", "days"),
)  # fmt: skip


def document_sections(duck: Any) -> tuple[Section, ...]:
    """Tables 11-13 and their kin."""
    return (
        _table11(duck),
        grouped_section(duck, "table-12", "Table 12: documents by depth", "depth", "depth", "S1-45", "columns"),
        grouped_section(
            duck, "table-13", "Table 13: documents by link kinds", "link_kinds", "coalesce(link_kinds, '?')", "S1-47",
            "bars",
        ),
        grouped_section(duck, "change-by-size", "Documents by size", "size", _SIZE_CLASS, "2.1", "bars"),
        grouped_section(
            duck, "change-by-language", "Documents by language", "language", "coalesce(language, '?')", "", "bars"
        ),
    )  # fmt: skip


def _table11(duck: Any) -> Section:
    question = Grouped("documents", "downloads", (("documents", "count(*)"),))
    answer = question.ask(duck)
    shares = answer.ratio("documents", "documents", of_all=True)
    rows = tuple(
        (int(name), int(answer.sum("documents")[place]), shares[place].value, shares[place].error)
        for place, name in enumerate(answer.names)
    )
    return Section(
        "table-11", "Table 11: documents by number of downloads",
        "URLs by the number of batches in which they were downloaded. Those seen once came and went, or carry "
        "something that is never the same twice. Errors: sites drawn again.",
        question.sql(),
        (Column("downloads", "number"), Column("documents", "count"), Column("share", "share"),
         Column("error", "share")),
        rows, Plot("columns", "downloads", ("share",), "batches in which a document was downloaded", "documents"),
        GROUP, "S1-44",
    )  # fmt: skip


def grouped_section(duck: Any, name: str, title: str, column: str, group: str, paper: str, shape: str) -> Section:
    """Documents of each group: how many, how many seen twice, changed, and S1's interval."""
    question = Grouped("documents", group, SUMS)
    answer = question.ask(duck)
    return Section(
        name, title, f"{_DAYS}", question.sql(),
        (Column(column, "number" if column == "depth" else "text"), *_COLUMNS), _rows(answer),
        Plot("columns" if shape == "columns" else "bars", column, ("changed_share",), column, "changed"), GROUP, paper,
    )  # fmt: skip


def _rows(answer: Answer) -> tuple[tuple[Cell, ...], ...]:
    of_all = answer.ratio("documents", "documents", of_all=True)
    twice = answer.ratio("twice", "documents")
    changed = answer.ratio("changed", "twice")
    days = answer.ratio("days", "changed")
    return tuple(
        (
            name if isinstance(name, str) else int(name),
            int(answer.sum("documents")[place]), of_all[place].value, of_all[place].error,
            int(answer.sum("twice")[place]), twice[place].value, twice[place].error,
            int(answer.sum("changed")[place]), changed[place].value, changed[place].error,
            days[place].value, days[place].error,
        )
        for place, name in enumerate(answer.names)
    )  # fmt: skip
