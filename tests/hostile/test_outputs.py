"""What was crawled is never executed, never obeyed by a terminal, a spreadsheet or a database (C5-C8, G11-G14)."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from nephila.convert.attributes import Parse

from ..circle.webs import pages, run
from .hostile_web import crawl_rows, hostile_lab, rows

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("hostile")]

OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
FORMULA = ("=", "+", "-", "@", "\t", "\r")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A crawl of hostile content, converted to tables."""
    place = tmp_path_factory.mktemp("content")
    chosen = rows("B5", "B11", "F12", "G1", "G4", "G7", "G9", "G10", "G11", "G12", "G13", "G14", "G15")
    with hostile_lab() as server:
        ran = crawl_rows(server, place, chosen)
        assert ran.code == 0, ran.err
    done = run("convert", "-C", place / "crawl", "-q", "--set", "convert.max_parse_time=2s")
    assert done.code == 0, done.err
    yield place / "crawl"


def test_no_terminal_is_made_to_obey(folder: Path) -> None:
    odd = [url for url in pages(folder) if "b5-" in url or "g13-" in url or "f12-" in url]
    assert len(odd) > 20
    for url in odd[:: len(odd) // 10]:
        told = run("why", url, "-C", folder)
        assert told.code == 0
        assert not OBEYED.search(told.out.replace("\n", "")), url
    for words in (("status",), ("status", "--json"), ("why", "http://x.test/\x1b[2J\u202e")):
        told = run(*words, "-C", folder)
        assert not OBEYED.search(told.out.replace("\n", "")), words


def test_no_spreadsheet_is_made_to_reckon(folder: Path, tmp_path: Path) -> None:
    assert run("export", "pages", "-o", tmp_path / "pages.csv", "-C", folder).code == 0
    with (tmp_path / "pages.csv").open(newline="", encoding="utf-8") as file:
        titles = [row["title"] for row in csv.DictReader(file)]
    assert any("cmd|" in title for title in titles)
    assert not [title for title in titles if title.startswith(FORMULA)]


def test_titles_are_kept_as_they_are_where_nobody_obeys_them(folder: Path, tmp_path: Path) -> None:
    assert run("export", "pages", "-o", tmp_path / "pages.jsonl", "-C", folder).code == 0
    lines = (tmp_path / "pages.jsonl").read_text(encoding="utf-8").splitlines()
    titles = {json.loads(line)["title"] for line in lines}
    assert {"'); DROP TABLE pages;--", "=cmd|'/c calc'!A1", "<script>alert(1)</script>"} <= titles


def test_no_database_is_made_to_run(folder: Path, tmp_path: Path) -> None:
    loaded = run("load", tmp_path / "web.duckdb", "-C", folder)
    assert loaded.code == 0, loaded.err
    with duckdb.connect(str(tmp_path / "web.duckdb"), read_only=True) as database:
        [(titles,)] = database.execute("SELECT count(*) FROM pages WHERE title LIKE '%DROP TABLE%'").fetchall()
        assert titles == 1


def test_every_bad_page_is_a_row_with_a_reason(folder: Path, tmp_path: Path) -> None:
    assert run("export", "pages", "-o", tmp_path / "pages.jsonl", "-C", folder).code == 0
    rows_ = [json.loads(line) for line in (tmp_path / "pages.jsonl").read_text(encoding="utf-8").splitlines()]
    archived = {url for url, page in pages(folder).items() if page.archive_file is not None}
    assert archived <= {row["url"] for row in rows_}
    assert {row["parse"] for row in rows_} <= {parse.value for parse in Parse} - {"damaged", "undecodable"}


def test_no_external_entity_was_read(folder: Path) -> None:  # G10
    secret = Path("/etc/hostname").read_bytes().strip() if Path("/etc/hostname").exists() else b""
    if len(secret) < 4:
        pytest.skip("this machine has no name worth looking for")
    tables = b"".join(path.read_bytes() for path in (folder / "tables").rglob("*.parquet"))
    assert secret not in tables
