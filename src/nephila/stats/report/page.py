"""Sections poured into one HTML page without scripts, fonts or anything from outside.

Everything that comes from a table is escaped by the template, and made inert before that. The picture of the ranks is
a data URI in an `img`, where a browser runs nothing.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby

from jinja2 import Environment, PackageLoader, StrictUndefined

from nephila.inert import finalize
from nephila.stats.report.drawing import Drawing, draw
from nephila.stats.section import Cell, Column, Section
from nephila.stats.writing import heading, written


@dataclass(frozen=True, slots=True)
class CellShown:
    """One cell; `bar` is how long the bar behind it is, in per cent."""

    text: str
    is_number: bool
    bar: float | None = None


@dataclass(frozen=True, slots=True)
class SectionShown:
    section: Section
    drawing: Drawing | None
    heads: tuple[CellShown, ...]
    rows: tuple[tuple[CellShown, ...], ...]


@dataclass(frozen=True, slots=True)
class Chapter:
    title: str
    sections: tuple[SectionShown, ...]


def render(name: str, sections: Sequence[Section], made_at: float, version: str, ranks_picture: bytes | None) -> str:
    """The page about the crawl called `name`."""
    environment = Environment(
        loader=PackageLoader("nephila.stats.report", "templates"), autoescape=True, undefined=StrictUndefined,
        finalize=finalize, trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    picture = "data:image/svg+xml;base64," + b64encode(ranks_picture).decode() if ranks_picture else ""
    return environment.get_template("report.html").render(
        name=name,
        figures=_figures(sections),
        chapters=tuple(_chapters(sections)),
        picture=picture,
        made_at=datetime.fromtimestamp(made_at, UTC).strftime("%Y-%m-%d %H:%M UTC"),
        version=version,
    )


def _figures(sections: Sequence[Section]) -> tuple[tuple[str, str], ...]:
    """The cards at the top, from the first table."""
    rows = next((section.rows for section in sections if section.name == "summary"), ())
    return tuple(
        (str(figure), written(value, "bytes" if "bytes" in str(figure) else "number")) for figure, value in rows
    )


def _chapters(sections: Sequence[Section]) -> Iterator[Chapter]:
    told = [section for section in sections if section.name != "summary"]
    for title, group in groupby(told, lambda section: section.group):
        yield Chapter(title, tuple(_shown(section) for section in group))


def _shown(section: Section) -> SectionShown:
    heads = tuple(CellShown(heading(column), column.kind != "text") for column in section.columns)
    rows = tuple(
        tuple(
            CellShown(written(cell, column.kind), column.kind != "text", _bar(section, column, cell))
            for cell, column in zip(row, section.columns, strict=True)
        )
        for row in section.rows
    )
    return SectionShown(section, draw(section), heads, rows)


def _bar(section: Section, column: Column, cell: Cell) -> float | None:
    """The length of a lying bar, for a plot that is drawn within its table."""
    plot = section.plot
    if plot is None or plot.shape != "bars" or column.name not in plot.y or not isinstance(cell, int | float):
        return None
    most = max((value for value in section.column(column.name) if isinstance(value, int | float)), default=0)
    return round(max(0.6, 100 * cell / most), 2) if most > 0 and cell > 0 else 0.0
