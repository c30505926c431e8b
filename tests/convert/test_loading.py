"""The tables in DuckDB and in a real PostgreSQL: the same rows everywhere, whatever happens on the way."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import msgspec
import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nephila
from nephila.config.sections import Rank
from nephila.convert import loading_postgres
from nephila.convert.loading_duckdb import load as load_duckdb
from nephila.engine import open_engine
from nephila.errors import NephilaError, UsageError
from nephila.rank.run import run as run_rank
from nephila.store.folder import CrawlFolder
from nephila.store.tables.manifest import NAME, Manifest, Part, files_of, read_manifest
from nephila.store.tables.schemas import TABLES

from .postgres import own_server

pytestmark = pytest.mark.xdist_group("convert")


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with own_server() as address:
        yield address


def digest(rows: list[Any]) -> list[str]:
    return sorted(map(repr, rows))


def test_counts_and_rows_are_equal_in_parquet_duckdb_and_postgresql(
    converted: Path, server: str, tmp_path: Path
) -> None:
    folder = CrawlFolder.open(converted)
    # when the tables are loaded into both, PostgreSQL twice
    in_duck = load_duckdb(folder, tmp_path / "web.duckdb", 2**30, 2)
    loading_postgres.load(folder, server)
    in_postgres = loading_postgres.load(folder, server)
    # then every table has the rows of its Parquet files
    manifest = read_manifest(folder)
    assert manifest is not None
    assert in_duck.rows == in_postgres.rows == {name: manifest.rows(name) for name in TABLES} | {"ranks": 0}
    assert in_postgres.quarantined == 0
    with duckdb.connect(tmp_path / "web.duckdb", read_only=True) as duck, psycopg.connect(server) as postgres:
        for name, columns in (
            ("pages", "page_id, url, title, text, simhash"),
            ("links", "*"),
            ("sites", "site_id, url"),
        ):
            table = pa.concat_tables([pq.read_table(file) for file in files_of(folder, name)])
            names = table.column_names if columns == "*" else columns.split(", ")
            written = digest(list(zip(*(table.column(column).to_pylist() for column in names), strict=True)))
            assert digest(duck.execute(f"SELECT {columns} FROM {name}").fetchall()) == written
            assert digest(postgres.execute(f"SELECT {columns} FROM nephila.{name}").fetchall()) == written


def test_a_word_inside_a_korean_word_is_found_within_a_site(converted: Path, server: str) -> None:
    loading_postgres.load(CrawlFolder.open(converted), server)
    with psycopg.connect(server) as database:
        found = database.execute(
            """SELECT count(*) FROM nephila.pages JOIN nephila.sites USING (site_id)
               WHERE search @@ to_tsquery('simple', '서울') AND community_id >= 0"""
        ).fetchone()
    assert found is not None and found[0] > 0


def test_a_load_that_was_cut_off_goes_on_where_it_was(converted: Path, server: str) -> None:
    # given a loader that is killed after its third part
    command = [sys.executable, "-m", "nephila", "load", server, "-C", str(converted)]
    killed = subprocess.run(command, env=os.environ | {"NEPHILA_CRASH_AT": "load.part:3"}, capture_output=True)
    assert killed.returncode == -signal.SIGKILL
    with psycopg.connect(server) as database:
        (before,) = database.execute("SELECT count(*) FROM nephila_loading.loaded_parts").fetchone() or (0,)
    assert before == 3
    # when it is run again
    folder = CrawlFolder.open(converted)
    report = loading_postgres.load(folder, server)
    # then the rows are there once, and no half of a load is left
    manifest = read_manifest(folder)
    assert manifest is not None
    assert report.rows == {name: manifest.rows(name) for name in TABLES} | {"ranks": 0}
    with psycopg.connect(server) as database:
        assert database.execute("SELECT to_regnamespace('nephila_loading')").fetchone() == (None,)


def with_column(folder: CrawlFolder, name: str, values: Any) -> int:
    """Put other values into a column of the pages as they are published; gives the number of rows."""
    (file,) = files_of(folder, "pages")
    table = pq.read_table(file)
    place = table.schema.get_field_index(name)
    pq.write_table(table.set_column(place, table.schema.field(place), values), file)
    manifest = read_manifest(folder)
    assert manifest is not None
    tables = manifest.tables | {"pages": (Part("pages/part-00000.parquet", table.num_rows, file.stat().st_size),)}
    (folder.tables / NAME).write_bytes(msgspec.json.encode(Manifest(tables, manifest.conversion)))
    return int(table.num_rows)


def test_rows_that_the_database_refuses_are_kept_with_their_reasons(
    converted: Path, server: str, tmp_path: Path
) -> None:
    # given tables in which one title holds a NUL byte, and another bytes that are no UTF-8
    path = tmp_path / "crawl"
    shutil.copytree(converted, path)
    folder = CrawlFolder.open(path)
    titles = nephila.open(path).pages(["title"]).column(0).to_pylist()
    raw = [None if title is None else title.encode() for title in titles]
    raw[77], raw[99] = b"poison \0 title", b"\xff\xfe title"
    sizes = np.array([0 if title is None else len(title) for title in raw], np.int32)
    offsets = np.concatenate([[0], np.cumsum(sizes, dtype=np.int32)]).astype(np.int32)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(title or b"" for title in raw))]
    rows = with_column(folder, "title", pa.Array.from_buffers(pa.string(), len(raw), buffers))
    # when they are loaded
    report = loading_postgres.load(folder, server)
    # then all other rows are there, and those are in quarantine with the reasons
    assert report.rows["pages"] == rows - 2
    assert report.quarantined == 2
    with psycopg.connect(server) as database:
        found = database.execute('SELECT "table", row, reason FROM nephila.quarantine ORDER BY row').fetchall()
    assert [(table, row) for table, row, _ in found] == [("pages", "page_id 77"), ("pages", "page_id 99")]
    assert "0x00" in found[0][2] and "utf-8" in found[1][2]


def test_a_text_of_a_million_different_words_is_loaded_and_its_beginning_is_indexed(
    converted: Path, server: str, tmp_path: Path
) -> None:
    # given a page whose words do not fit into a tsvector
    path = tmp_path / "crawl"
    shutil.copytree(converted, path)
    folder = CrawlFolder.open(path)
    texts = nephila.open(path).pages(["text"]).column(0).to_pylist()
    choice = random.Random(1)
    texts[5] = "시작말 " + "".join(chr(choice.randrange(0xAC00, 0xD7A3)) for _ in range(330_000))
    texts[6] = " ".join(f"word{number}" for number in range(100_000))
    rows = with_column(folder, "text", pa.array(texts))
    # when it is loaded
    report = loading_postgres.load(folder, server)
    # then no row is refused, the whole text is there and its first words are found
    assert (report.rows["pages"], report.quarantined) == (rows, 0)
    with psycopg.connect(server) as database:
        found = database.execute(
            """SELECT page_id, length(text) FROM nephila.pages WHERE search @@ to_tsquery('simple', '시작 & 작말')"""
        ).fetchall()
    assert found == [(5, len(texts[5]))]


def test_ranks_are_loaded_with_the_pages_and_new_ranks_take_their_place(
    converted: Path, server: str, tmp_path: Path
) -> None:
    # given a crawl that was ranked, and is then ranked otherwise
    path = tmp_path / "crawl"
    shutil.copytree(converted, path)
    folder = CrawlFolder.open(path)
    loaded = []
    for damping in (0.85, 0.5):
        with open_engine("inline", 1) as engine:
            run_rank(Rank(damping=damping), folder, engine)
        # when it is loaded into both, twice
        load_duckdb(folder, tmp_path / "web.duckdb", 2**30, 2)
        loading_postgres.load(folder, server)
        in_duck = load_duckdb(folder, tmp_path / "web.duckdb", 2**30, 2)
        in_postgres = loading_postgres.load(folder, server)
        # then both have the ranks of the file, as a table and beside the pages
        ranks = nephila.open(path).ranks(["page_id", "rank"])
        expected = dict(zip(*(column.to_pylist() for column in ranks.columns), strict=True))
        assert in_duck.rows["ranks"] == in_postgres.rows["ranks"] == len(expected)
        with duckdb.connect(tmp_path / "web.duckdb", read_only=True) as duck, psycopg.connect(server) as postgres:
            for table in ("ranks", "pages WHERE rank IS NOT NULL"):
                assert dict(duck.execute(f"SELECT page_id, rank FROM {table}").fetchall()) == expected
                assert dict(postgres.execute(f"SELECT page_id, rank FROM nephila.{table}").fetchall()) == expected
            names = "SELECT column_name FROM information_schema.columns WHERE table_name = 'ranks' ORDER BY 1"
            assert duck.execute(names).fetchall() == postgres.execute(names).fetchall()
        loaded.append(expected)
    assert loaded[0] != loaded[1]


def test_a_file_that_is_no_duckdb_is_left_alone(converted: Path, tmp_path: Path) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text("to whom it may concern")
    with pytest.raises(NephilaError, match="left alone"):
        load_duckdb(CrawlFolder.open(converted), letter, 2**30, 1)
    assert letter.read_text() == "to whom it may concern"


def test_a_database_that_is_not_there_is_one_sentence(converted: Path) -> None:
    with pytest.raises(UsageError, match="Cannot reach the database"):
        loading_postgres.load(CrawlFolder.open(converted), "postgresql://nobody@127.0.0.1:1/none")


def test_ranks_of_another_graph_are_refused(converted: Path, tmp_path: Path) -> None:
    path = tmp_path / "crawl"
    shutil.copytree(converted, path)
    (path / "rank").mkdir()
    for columns in ({"page_id": [0, 10**9], "rank": [0.5, 0.5]}, {"page_id": [0], "name": ["a"], "rank": [1.0]}):
        pq.write_table(pa.table(columns), path / "rank" / "ranks.parquet")
        with pytest.raises(NephilaError, match="does not rank the pages of this crawl"):
            load_duckdb(CrawlFolder.open(path), tmp_path / "web.duckdb", 2**30, 1)
    assert not (tmp_path / "web.duckdb").exists()
