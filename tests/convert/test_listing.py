"""Seeds, visits and the archive's files: what crawl knows, as tables."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import nephila
from nephila.convert.ids import CONVERT_SCHEMA
from nephila.store.database import open_writer, transaction

from .conftest import SITES, Collected, convert

pytestmark = pytest.mark.xdist_group("convert")


def test_tables_of_an_earlier_nephila_get_the_columns_that_came_since(converted: Path, tmp_path: Path) -> None:
    # given tables as they were before `state`, `http` and `tls`, of a conversion with another version
    path = shutil.copytree(converted, tmp_path / "crawl")
    before = {name: nephila.open(path).table(name).to_pylist() for name in ("pages", "visits")}
    for file in [*(path / "tables" / "pages").iterdir(), *(path / "tables" / "visits").iterdir()]:
        table = pq.read_table(file)
        pq.write_table(table.drop_columns([n for n in ("state", "http", "tls") if n in table.schema.names]), file)
    db = open_writer(path / "state" / "convert.db", CONVERT_SCHEMA)
    with transaction(db):
        db.execute("UPDATE progress SET settings = ''")
    db.close()
    # when they are converted again
    convert(path)
    # then they are whole, and nothing else has changed
    assert {name: nephila.open(path).table(name).to_pylist() for name in before} == before


def test_every_seed_has_what_became_of_it_and_every_page_its_network_state(
    collected: Collected, converted: Path
) -> None:
    crawl = nephila.open(converted)
    # S1-12: a seed that was asked for has the state of its page; one without an address is noIP (S1-10)
    odd = crawl.sql(
        """SELECT * FROM seeds s LEFT JOIN pages p USING (page_id)
           WHERE s.page_id IS NOT NULL AND (s.state <> p.state OR s.url <> p.url)"""
    )
    assert odd.num_rows == 0
    truth = {row.url: row.outcome for row in collected.truth.values()}
    given = crawl.sql("SELECT url, outcome, state FROM seeds WHERE given").to_pylist()
    assert len(given) == SITES
    assert all(row["outcome"] == truth[row["url"]].value for row in given)
    assert all((row["state"] == "OK") == (row["outcome"] == "ok") for row in given)
    # S1-31: the archive's files, as long as they are
    files = {row["file"]: row["size_bytes"] for row in crawl.table("archive_files").to_pylist()}
    assert files == {file.name: file.stat().st_size for file in (converted / "archive").rglob("*.warc.gz")}
