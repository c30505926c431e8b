"""Sections written out: cells as people read them, a table as text with bars, tables as CSV files."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from nephila.stats.section import Cell, Column, Kind, Section
from nephila.store.durable import make_directory, replace_file

_EIGHTHS: Final = " ▏▎▍▌▋▊▉█"
_BAR_WIDTH: Final = 24
_LONGEST_CELL: Final = 60
_UNITS: Final = ("bytes", "KB", "MB", "GB", "TB")


def written(cell: Cell, kind: Kind) -> str:
    """A cell for a reader; an empty one is a dash."""
    if cell is None:
        return "–"
    if isinstance(cell, str):
        return cell
    match kind:
        case "share":
            return f"{100 * cell:.2f} %"
        case "bytes":
            return _bytes(float(cell))
        case "count" | "ms":
            return f"{cell:,.0f}"
        case "days":
            return f"{cell:,.2f}"
        case _:
            return (
                f"{cell:,.0f}" if float(cell).is_integer() else f"{cell:,.4g}" if abs(cell) < 1000 else f"{cell:,.1f}"
            )


def _bytes(count: float) -> str:
    unit = 0
    while abs(count) >= 10_000 and unit + 1 < len(_UNITS):
        count /= 1000
        unit += 1
    return f"{count:,.0f} {_UNITS[unit]}" if unit == 0 or count >= 100 else f"{count:,.1f} {_UNITS[unit]}"


def heading(column: Column) -> str:
    """A column's name as words."""
    return column.name.replace("_", " ")


def as_text(section: Section, *, sql: bool) -> str:
    """A table for a terminal."""
    lines = [section.title + (f"  ({section.paper})" if section.paper else ""), *_wrapped(section.definition)]
    if section.rows:
        lines += _table(section)
    else:
        lines.append("  There is nothing to count here.")
    lines += [f"  {remark}" for remark in section.remarks]
    if sql and section.sql:
        lines += ["", *(f"    {line}" for line in section.sql.splitlines())]
    return "\n".join(lines)


def _table(section: Section) -> list[str]:
    heads = [heading(column) for column in section.columns]
    cells = [
        [_cut(written(cell, column.kind)) for cell, column in zip(row, section.columns, strict=True)]
        for row in section.rows
    ]
    widths = [max(_width(line[place]) for line in [heads, *cells]) for place in range(len(heads))]
    bars = _bars(section)
    lines = [_line(heads, widths, section.columns)]
    lines += [f"{_line(row, widths, section.columns)}  {bar}".rstrip() for row, bar in zip(cells, bars, strict=True)]
    return lines


def _line(cells: Sequence[str], widths: Sequence[int], columns: Sequence[Column]) -> str:
    padded = []
    for cell, width, column in zip(cells, widths, columns, strict=True):
        blank = " " * (width - _width(cell))
        padded.append(cell + blank if column.kind == "text" else blank + cell)
    return ("  " + "  ".join(padded)).rstrip()


def _bars(section: Section) -> list[str]:
    """A bar per row, as long as the first column that the plot shows."""
    if section.plot is None or section.plot.shape == "log-log":
        return [""] * len(section.rows)
    values = [cell if isinstance(cell, int | float) else 0 for cell in section.column(section.plot.y[0])]
    most = max([*values, 0])
    return [_bar(value / most) if most > 0 else "" for value in values]


def _bar(part: float) -> str:
    eighths = round(part * _BAR_WIDTH * 8)
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()


def _wrapped(text: str) -> list[str]:
    import textwrap

    return textwrap.wrap(text, 110, initial_indent="  ", subsequent_indent="  ")


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST_CELL else text[: _LONGEST_CELL - 1] + "…"


def _width(text: str) -> int:
    """Columns that a terminal takes: a Korean letter takes two."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def write_csv(directory: Path, sections: Sequence[Section]) -> list[Path]:
    """One file NAME.csv per table, with plain numbers; its question stands beside it as NAME.sql."""
    make_directory(directory)
    paths = []
    for section in sections:
        text = io.StringIO()
        writer = csv.writer(text)
        writer.writerow([column.name for column in section.columns])
        writer.writerows([["" if cell is None else _safe(cell) for cell in row] for row in section.rows])
        path = directory / f"{section.name}.csv"
        replace_file(path, text.getvalue().encode())
        if section.sql:
            replace_file(directory / f"{section.name}.sql", f"{section.sql}\n".encode())
        paths.append(path)
    return paths


def _safe(cell: Cell) -> Cell:
    """Text of the web that a spreadsheet would take for a formula is told that it is text (RELIABILITY C6)."""
    return f"'{cell}" if isinstance(cell, str) and cell[:1] in ("=", "+", "-", "@", "\t", "\r") else cell
