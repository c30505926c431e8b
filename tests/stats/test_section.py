"""Sections lie in a file between two commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from nephila.errors import DamagedError
from nephila.stats.section import Column, Mark, Plot, Section, read_sections, write_sections

SECTION = Section(
    name="depth",
    title="Pages by depth",
    definition="Pages asked for at each depth.",
    sql="SELECT depth, count(*) FROM pages GROUP BY 1",
    columns=(Column("depth", "number"), Column("pages", "count"), Column("said", "text")),
    rows=((0, 12, "<b>"), (1, None, "한국")),
    plot=Plot("log-log", "depth", ("pages",), marks=(Mark("law", ((1.0, 2.0),)),)),
)


def test_sections_come_back_as_they_were_written(tmp_path: Path) -> None:
    write_sections(tmp_path / "study" / "sections.json", (SECTION,))
    assert read_sections(tmp_path / "study" / "sections.json") == (SECTION,)


def test_no_file_is_no_sections(tmp_path: Path) -> None:
    assert read_sections(tmp_path / "sections.json") == ()


def test_a_damaged_file_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "sections.json").write_text('[{"name": 1}]')
    with pytest.raises(DamagedError, match="delete it and run"):
        read_sections(tmp_path / "sections.json")


def test_a_column_is_found_by_its_name() -> None:
    assert SECTION.column("said") == ["<b>", "한국"]
