"""`nephila.open(dir)`."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

import nephila
from nephila.errors import NephilaError
from nephila.store.tables.documenting import document

from .conftest import Collected

pytestmark = pytest.mark.xdist_group("convert")


def test_tables_sql_and_bodies(converted: Path) -> None:
    crawl = nephila.open(converted)
    assert crawl.pages(["url"]).num_rows == crawl.sql("SELECT count(*) AS n FROM pages").to_pylist()[0]["n"]
    assert crawl.sites().num_rows == crawl.table("sites").num_rows
    for row in crawl.pages(["url", "checksum", "code"]).to_pylist()[:60]:
        if row["code"] == 200:
            assert hashlib.sha1(crawl.body(row["url"])).digest()[:16] == row["checksum"]


def test_what_is_not_there_is_said_with_what_to_do(converted: Path, collected: Collected) -> None:
    crawl = nephila.open(converted)
    with pytest.raises(NephilaError, match="nephila why"):
        crawl.body("http://nobody.example/")
    with pytest.raises(NephilaError, match="nephila rank"):
        crawl.ranks()
    with pytest.raises(NephilaError, match="the tables are"):
        crawl.table("page")
    with pytest.raises(NephilaError, match="nephila convert"):
        nephila.open(collected.whole).pages()


def test_the_page_about_the_tables_is_that_of_the_code() -> None:
    page = Path(__file__).parents[2] / "docs" / "tables.md"
    assert page.read_text(encoding="utf-8") == document()
