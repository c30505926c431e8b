"""One table of the statistics, with all that a reader needs to trust it: definition, question, answer, plot.

Whoever measures something hands over sections; text, JSON, CSV and the HTML report are made from nothing else. A
`Section` is plain rows, so that it can lie in a file between two commands (`write_sections`, `read_sections`).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import msgspec

from nephila.errors import DamagedError
from nephila.store.durable import make_directory, replace_file
from nephila.store.folder import CrawlFolder

Cell = str | int | float | None
"""What stands in a table; a text may come from the web and is escaped wherever it is shown."""

Kind = Literal["text", "count", "number", "share", "bytes", "ms", "days"]
"""How a column is written: a share of 0.25 as 25 %, bytes as KB and MB; `number` keeps its digits."""

Shape = Literal["bars", "columns", "stacked", "line", "log-log", "pairs"]
"""bars: one lying bar per row; columns: standing ones, for what has an order; stacked: parts of one bar per row;
line: joined points; log-log: points on two logarithmic axes; pairs: columns of the first `y` beside the second."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table."""

    name: str
    kind: Kind = "text"


@dataclass(frozen=True, slots=True)
class Mark:
    """A line drawn over a plot, point by point, such as a fitted law, with its name."""

    name: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Plot:
    """How a table is drawn: which column goes along, which go up; `low` and `high` name an interval's columns."""

    shape: Shape
    x: str
    y: tuple[str, ...]
    x_label: str = ""
    y_label: str = ""
    low: str = ""
    high: str = ""
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """A table: `name` is its file's and its anchor's, `group` the chapter, `paper` the CHECKLIST number.

    `sql` is the one question whose answer the rows are, over the tables of docs/tables.md; empty where the rows come
    from somewhere else, which `definition` then says. `remarks` are sentences to be read with the table.
    """

    name: str
    title: str
    definition: str
    sql: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    plot: Plot | None = None
    group: str = ""
    paper: str = ""
    remarks: tuple[str, ...] = ()

    def column(self, name: str) -> list[Cell]:
        """One column's cells, from top to bottom."""
        place = [column.name for column in self.columns].index(name)
        return [row[place] for row in self.rows]


CHANGE_SECTIONS: Final = "sections.json"


def change_sections_file(folder: CrawlFolder) -> Path:
    """Where `nephila study` leaves its tables for the report: DIR/study/sections.json."""
    return folder.path / "study" / CHANGE_SECTIONS


def write_sections(path: Path, sections: tuple[Section, ...]) -> None:
    """Publish sections as JSON, by rename."""
    make_directory(path.parent)
    replace_file(path, msgspec.json.format(msgspec.json.encode(sections), indent=1) + b"\n")


def read_sections(path: Path) -> tuple[Section, ...]:
    """Sections that `write_sections` wrote; none where there is no file."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=tuple[Section, ...])
    except FileNotFoundError:
        return ()
    except (msgspec.MsgspecError, UnicodeDecodeError) as problem:
        raise DamagedError(f"{path} cannot be read ({problem}); delete it and run the command that makes it.") from None
