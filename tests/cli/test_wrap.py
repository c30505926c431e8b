"""`nephila wrap`, as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from nephila.cli.wrap import command

WRAPPERS = """
[page]
match = ["http://a.test/*"]
fields.heading = "h1"
fields.price = { css = ".price", type = "number" }
fields.gone = "article"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "w.toml").write_text(WRAPPERS)
    (tmp_path / "p.html").write_text("<h1>One \x1b[31m thing</h1><p class=price>1,234.5 won")
    return tmp_path


def test_what_a_wrapper_finds_on_a_file_is_shown_inert(folder: Path) -> None:
    ran = CliRunner().invoke(command, [str(folder / "p.html"), "-w", str(folder / "w.toml")])
    assert ran.exit_code == 0, ran.output
    assert "heading  One \\x1b[31m thing" in ran.output
    assert "price    1,234.5 won  (1234.5)" in ran.output
    assert "gone     is not there" in ran.output


def test_as_json_it_is_one_object_and_a_url_that_no_pattern_names_is_told(folder: Path) -> None:
    words = [str(folder / "p.html"), "-w", str(folder / "w.toml"), "--json"]
    report = json.loads(CliRunner().invoke(command, [*words, "--url", "http://a.test/x"]).output)
    assert [value["field"] for value in report["pages"][0]["values"]] == ["heading", "price"]
    other = json.loads(CliRunner().invoke(command, [*words, "--url", "http://b.test/x"]).output)
    assert other["pages"][0]["wrapper"] == ""
