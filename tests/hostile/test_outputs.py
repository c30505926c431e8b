"""What was crawled is never executed, never obeyed by a terminal, a spreadsheet or a database (C5-C8, G11-G14)."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path

import duckdb
import psycopg
import pyarrow as pa
import pytest

import nephila
from nephila.convert.attributes import Parse
from nephila.convert.exporting import export
from nephila.store.folder import CrawlFolder
from nephila.store.tables.schemas import TABLES

from ..circle.webs import environment, pages, run
from ..convert.postgres import own_server
from .hostile_web import crawl_rows, hostile_lab, rows

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("hostile")]

OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%")


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


def said(*words: object) -> str:
    """All that a command prints, byte by byte: where a terminal is, a carriage return is no line end."""
    command = [sys.executable, "-m", "nephila", *map(str, words)]
    done = subprocess.run(command, env=environment(), capture_output=True, timeout=120, check=False)
    return (done.stdout + done.stderr).decode("utf-8")


def test_no_terminal_is_made_to_obey(folder: Path, tmp_path: Path) -> None:  # C7, G13
    # given pages, headers and links with escapes in them, and a file of seeds and a configuration that have some too
    odd = [url for url in pages(folder) if "b5-" in url or "g13-" in url or "f12-" in url]
    assert len(odd) > 20
    (tmp_path / "seeds").write_text("http://x.test/\x1b[2J\x9b\u202e\n\x1b]0;title\x07\n")
    (tmp_path / "settings.toml").write_text('[crawl]\n"max\\u001b[2J" = 1\n')
    # when every command that shows something of them is run
    shown = {
        words: said(*words, "-C", folder, "-q")
        for words in (
            ("index",), ("rank",), ("status",), ("status", "--json"), ("stats",), ("stats", "--json"), ("repair",),
            ("search", "forged"), ("search", "forged", "--json"), ("search", "fdp.exe"), ("search", "\x1b[2J"),
            ("why", "http://x.test/\x1b[2J\u202e"), ("load", tmp_path / "web.duckdb"),
            ("crawl", "-i", tmp_path / "seeds", "--set", "crawl.max_pages=0"),
            ("crawl", "--config", tmp_path / "settings.toml"),
            *(("why", url) for url in odd[:: len(odd) // 6]), ("why", odd[0], "--json"),
        )
    }  # fmt: skip
    # then no byte of it is one that a terminal obeys
    assert [words for words, text in shown.items() if OBEYED.search(text)] == []
    # and the pages are among what was shown
    assert "forged" in shown["search", "forged"] and "forged=log" in shown["search", "forged", "--json"]


@pytest.mark.parametrize("table", ["pages", "links", "unfetched", "visits", "sites"])
def test_no_spreadsheet_is_made_to_reckon(folder: Path, tmp_path: Path, table: str) -> None:  # C6, G12
    assert export(CrawlFolder.open(folder), table, tmp_path / f"{table}.csv", "csv") > 0
    texts = [field.name for field in TABLES[table].schema if pa.types.is_string(field.type)]
    with (tmp_path / f"{table}.csv").open(newline="", encoding="utf-8") as file:
        cells = [(name, row[name]) for row in csv.DictReader(file) for name in texts]
    assert [(name, cell[:40]) for name, cell in cells if cell.startswith(FORMULA)] == []
    if table == "pages":
        assert any(cell.startswith("'=cmd|") for name, cell in cells if name == "title")


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


def test_a_real_postgresql_takes_every_hostile_text_as_it_is_and_runs_none(folder: Path) -> None:  # C4, C5, G7, G14
    # given tables with titles of NULs, surrogates, quotes, statements and 200 KiB, and links that are hard to read
    tables = nephila.open(folder)
    pages_ = tables.pages().to_pylist()
    assert any("DROP TABLE" in (row["title"] or "") for row in pages_)
    assert max(len(row["title"] or "") for row in pages_) > 1_000
    # when they are loaded twice
    with own_server() as server:
        for _ in range(2):
            loaded = run("load", server, "-C", folder, "--json")
            assert loaded.code == 0, loaded.err
            assert loaded.report["quarantined"] == 0
        # then every text is there, letter by letter
        with psycopg.connect(server) as database:
            columns = "page_id, url, title, description, text, mime, charset, redirect_to, canonical"
            found = database.execute(f"SELECT {columns} FROM nephila.pages ORDER BY page_id").fetchall()
            names = columns.split(", ")
            assert found == [tuple(row[name] for name in names) for row in sorted(pages_, key=itemgetter("page_id"))]
            anchors = database.execute("SELECT anchor FROM nephila.links ORDER BY source, target, kind").fetchall()
            written = sorted(tables.links().to_pylist(), key=itemgetter("source", "target", "kind"))
            assert [row[0] for row in anchors] == [row["anchor"] for row in written]
            unfetched = database.execute("SELECT url, reason FROM nephila.unfetched").fetchall()
            assert len(unfetched) > 10
            # and a statement that stood in a title has not been obeyed
            [(count,)] = database.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'nephila'").fetchall()
            assert count >= len(TABLES)


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
