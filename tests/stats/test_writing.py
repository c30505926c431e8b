"""Sections as text and as CSV."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from nephila.stats.section import Cell, Column, Kind, Plot, Section
from nephila.stats.writing import as_text, write_csv, written

SECTION = Section(
    "kinds", "Kinds", "What they are.", "SELECT 1\nFROM pages", (Column("name"), Column("found", "count")),
    (("한국어", 4), ("=cmd()", 1), (None, 1234)), Plot("bars", "name", ("found",)), paper="S1-9",
)  # fmt: skip


@pytest.mark.parametrize(
    ("cell", "kind", "text"),
    [
        (None, "count", "–"), (1234, "count", "1,234"), (0.25, "share", "25.00 %"), (18_451, "bytes", "18.5 KB"),
        (999, "bytes", "999 bytes"), (5.5724, "number", "5.572"), (7.0, "number", "7"),
        (12345.67, "number", "12,345.7"),
        (4.3, "days", "4.30"), ("a", "count", "a"),
    ],
)  # fmt: skip
def test_cells_are_written_as_people_read_them(cell: Cell, kind: Kind, text: str) -> None:
    assert written(cell, kind) == text


def test_a_table_is_aligned_with_bars_and_its_sql() -> None:
    lines = as_text(SECTION, sql=True).splitlines()
    assert lines[0] == "Kinds  (S1-9)"
    assert lines[2] == "  name    found"
    assert lines[3].startswith("  한국어      4")  # a Korean letter is two columns wide
    assert lines[5] == "  –       1,234  " + "█" * 24
    assert lines[-2:] == ["    SELECT 1", "    FROM pages"]
    assert "SELECT" not in as_text(SECTION, sql=False)


def test_csv_holds_plain_numbers_and_no_formula(tmp_path: Path) -> None:
    (path,) = write_csv(tmp_path / "out", [SECTION])
    with path.open(newline="", encoding="utf-8") as file:
        assert list(csv.reader(file)) == [["name", "found"], ["한국어", "4"], ["'=cmd()", "1"], ["", "1234"]]
    assert (tmp_path / "out" / "kinds.sql").read_text() == "SELECT 1\nFROM pages\n"
