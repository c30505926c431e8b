"""Pages that are bad in every way become rows with a reason (RELIABILITY C1-C4), and cost nobody else a row."""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

sys.path.insert(0, str(Path(__file__).parent))  # worker processes find the task by the parent's import path

import dying

import nephila
from nephila.config.sections import Convert
from nephila.convert import run as room
from nephila.convert.attributes import Parse, attributes
from nephila.lab.serve import LabServer
from nephila.lab.static import StaticSite
from nephila.store.folder import CrawlFolder
from nephila.store.tables.manifest import files_of
from nephila.urls import NO_RULES

from .conftest import convert, crawl

pytestmark = pytest.mark.xdist_group("convert")


def parses(path: Path) -> dict[str, str]:
    (file,) = files_of(CrawlFolder.open(path), "pages")
    table = pq.read_table(file, columns=["url", "parse"])
    return dict(zip(*(column.to_pylist() for column in table.columns), strict=True))


def test_a_parser_that_crashes_or_hangs_costs_one_page_each(
    fresh: Path, converted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # given two pages that kill the parser and one that it never ends on
    good = parses(converted)
    ok = sorted(url for url, parse in good.items() if parse == "ok")
    deadly, endless = [ok[3], ok[90]], [ok[40]]
    dying.write_lists(fresh / "state", deadly, endless)
    monkeypatch.setattr(room, "extract", dying.extract)
    # when the crawl is converted by worker processes
    convert(fresh, Convert(max_parse_time=1.0), engine="local")
    # then these three have the reason, and all others are as they were
    found = parses(fresh)
    assert [found.pop(url) for url in deadly] == ["crash", "crash"]
    assert [found.pop(url) for url in endless] == ["timeout"]
    assert found == {url: parse for url, parse in good.items() if url in found}


def test_a_record_that_cannot_be_read_is_a_row_with_a_reason(fresh: Path, converted: Path) -> None:
    # given an archive in which one byte of one record was changed
    (file,) = files_of(CrawlFolder.open(converted), "pages")
    rows = pq.read_table(file, columns=["url", "parse", "archive_file", "archive_offset", "duplicate_of"]).to_pylist()
    originals = {row["duplicate_of"] for row in rows}
    row = next(r for i, r in enumerate(rows) if r["parse"] == "ok" and i not in originals and r["duplicate_of"] is None)
    (archive,) = (fresh / "archive").rglob(row["archive_file"])
    with archive.open("r+b") as opened:
        opened.seek(row["archive_offset"] + 40)
        byte = opened.read(1)
        opened.seek(row["archive_offset"] + 40)
        opened.write(bytes([byte[0] ^ 0xFF]))
    # when it is converted
    convert(fresh)
    # then that page alone is damaged
    assert {url for url, parse in parses(fresh).items() if parse != parses(converted)[url]} == {row["url"]}
    assert parses(fresh)[row["url"]] == "damaged"


@pytest.mark.parametrize(
    ("body", "mime", "expected"),
    [
        (b"", "text/html", Parse.EMPTY),
        (b"   ", "text/html", Parse.EMPTY),
        (b"<html><body></body></html>", "text/html", Parse.EMPTY),
        (b"PK\x03\x04" + bytes(range(256)) * 4, "text/html", Parse.BINARY),
        (b"\x89PNG\r\n\x1a\n" + bytes(500), "text/html", Parse.BINARY),
        (b"<p>hello", "image/png", Parse.OTHER),
        (b"%PDF-1.4", "application/pdf", Parse.OTHER),
        (b"no markup at all", "", Parse.OTHER),
        (b"<p>hello " + b"world " * 20_000, "text/html", Parse.LIMIT),
        (b"<title>a\0b</title><p>x", "text/html", Parse.OK),
        ("<title>\ud800lone</title>".encode("utf-8", "surrogatepass"), "text/html", Parse.OK),
        (b"<p>" + b"\xff\xfe\xfd" * 30, "text/html; charset=utf-8", Parse.OTHER),
        (b"<div>" * 300 + b"deep", "text/html", Parse.OK),
        (b"<!-- never closed <p>hello", "text/html", Parse.EMPTY),
        (b"plain text\nin lines", "text/plain", Parse.OK),
    ],
)  # fmt: skip
def test_every_body_has_a_result(body: bytes, mime: str, expected: Parse) -> None:
    found = attributes("http://a.kr/", body, mime, mime, "", NO_RULES, 100_000)
    assert found.parse is expected
    for text in (found.title, found.description, found.text):
        assert text is None or ("\0" not in text and text.encode().decode() == text)


KOREAN = "한국어로 쓴 문서를 읽는다. "
BAD = {
    "empty.html": (b"", "empty"),
    "blank.html": (b" \n" * 100, "empty"),
    "binary.html": (b"PK\x03\x04" + bytes(range(256)) * 40, "binary"),
    "huge.html": (b"<title>huge</title><p>" + b"word " * 300_000, "limit"),
    "deep.html": (b"<div>" * 50_000 + b"<p>at the bottom of a deep page", "ok"),
    "flat.html": (b"<p>a" * 100_000, "ok"),
    "wrong.html": (f'<meta charset="utf-8"><title>x</title><p>{KOREAN * 50}'.encode("cp949"), "charset"),
    "wrong8.html": (f'<meta charset="euc-kr"><title>x</title><p>{KOREAN * 50}'.encode(), "charset"),
    "nul.html": (b"<title>nul\0and</title><p>text \0 of a page</p>", "ok"),
    "picture.png": (b"\x89PNG\r\n\x1a\n" + bytes(500), "other"),
}


def test_bad_pages_of_a_site_are_rows_with_a_reason(tmp_path: Path) -> None:
    # given a site of bad pages, all linked from its first one
    place = tmp_path / "site"
    place.mkdir()
    for name, (body, _) in BAD.items():
        (place / name).write_bytes(body)
    (place / "index.html").write_text("<title>all</title>" + "".join(f"<a href={name}>{name}</a> " for name in BAD))
    with LabServer(None, static=[StaticSite("bad.test", "127.9.9.8", str(place))], folder=tmp_path / "lab") as server:
        home = f"http://bad.test:{server.port}/"
        crawl(tmp_path / "crawl", server.dns, [home], "none")
    # when it is collected, and converted by worker processes
    convert(tmp_path / "crawl", engine="local")
    # then every page has its row, with what was found in it
    rows = {row["url"].removeprefix(home): row for row in nephila.open(tmp_path / "crawl").pages().to_pylist()}
    assert rows.keys() == {"", *BAD}
    for name, (body, reason) in BAD.items():
        assert rows[name]["size"] == len(body)
        assert rows[name]["parse"] == reason, name
    assert rows["deep.html"]["text"] == "at the bottom of a deep page"
    assert rows["nul.html"]["title"] == "nul\ufffdand"  # as the HTML standard has it
    assert rows["huge.html"]["text"].startswith("word word")
    for name, declared, used in (("wrong.html", "utf-8", "cp949"), ("wrong8.html", "euc-kr", "utf-8")):
        row = rows[name]
        assert (row["charset_declared"], row["charset"], row["language"]) == (declared, used, "ko")
        assert row["text"] == (KOREAN * 50).strip()
