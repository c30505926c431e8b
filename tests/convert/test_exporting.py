"""Tables as text and as S3's files."""

from __future__ import annotations

import csv
import json
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nephila
from nephila.convert.exporting import export, harmless
from nephila.convert.las_files import BRIEF_BYTES, brief_record, export_las, link_record, read_url
from nephila.errors import UsageError
from nephila.store.folder import CrawlFolder

pytestmark = pytest.mark.xdist_group("convert")


@pytest.mark.parametrize("start", ["=cmd|' /C calc'!A0", "+1", "-1", "@x", "\tx", "\rx", "|x", "%x"])
def test_a_cell_that_a_spreadsheet_would_run_is_made_harmless(start: str) -> None:
    """RELIABILITY C6: and taking the apostrophe off gives the text again."""
    assert harmless(start) == "'" + start
    assert harmless("plain = text") == "plain = text"
    assert harmless(-5) == -5


def test_csv_and_json_lines_hold_every_row(converted: Path, tmp_path: Path) -> None:
    folder = CrawlFolder.open(converted)
    crawl = nephila.open(converted)
    rows = export(folder, "pages", tmp_path / "pages.csv", "csv", raw=True)
    with (tmp_path / "pages.csv").open(encoding="utf-8", newline="") as file:
        read = list(csv.DictReader(file))
    assert len(read) == rows == crawl.pages().num_rows
    assert [row["title"] or None for row in read] == crawl.pages(["title"]).column(0).to_pylist()
    export(folder, "links", tmp_path / "links.jsonl", "jsonl")
    lines = [json.loads(line) for line in (tmp_path / "links.jsonl").read_text(encoding="utf-8").splitlines()]
    assert lines == crawl.links().to_pylist()


def test_an_unknown_table_is_refused_with_the_names(converted: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="pages, links"):
        export(CrawlFolder.open(converted), "page", tmp_path / "x.csv", "csv")


@pytest.mark.parametrize("length", [1, 91, 92, 93, 2048])
def test_a_brief_record_has_128_bytes_and_a_long_url_lies_beside(length: int) -> None:
    """S3-20."""
    url = b"h" * length
    record, beyond = brief_record(url, "agent-00/000001:17", 923962117, ext_at=3)
    assert len(record) == BRIEF_BYTES
    assert (beyond == b"") == (length <= 92)
    assert read_url(record, b"xyz" + beyond) == url.decode()
    assert record[92:124].rstrip(b"\0") == b"agent-00/000001:17"
    assert struct.unpack("<I", record[124:]) == (923962117,)  # finding 5: 1999-04-13 00:08:37 in seconds


def test_the_papers_link_record() -> None:
    """S3-21: document 1 with OutDegree 5."""
    record = link_record(1, np.array([0, 230, 873, 75462, 837723]))
    assert struct.unpack("<7I", record) == (1, 5, 0, 230, 873, 75462, 837723)


@given(st.lists(st.integers(0, 2**32 - 1), max_size=20, unique=True))
def test_link_records_give_their_targets_back(targets: list[int]) -> None:
    values = np.frombuffer(link_record(7, targets), "<u4")
    assert values.tolist() == [7, len(targets), *targets]


def test_the_files_of_a_crawl_hold_its_urls_and_links(converted: Path, tmp_path: Path) -> None:
    report = export_las(CrawlFolder.open(converted), tmp_path / "las")
    crawl = nephila.open(converted)
    brief, ext = (tmp_path / "las" / "brief").read_bytes(), (tmp_path / "las" / "brief_ext").read_bytes()
    urls = [read_url(brief[at : at + BRIEF_BYTES], ext) for at in range(0, len(brief), BRIEF_BYTES)]
    assert urls == crawl.pages(["url"]).column(0).to_pylist()
    assert report.long_urls > 0 and not report.ranked
    links = np.frombuffer((tmp_path / "las" / "link").read_bytes(), "<u4").tolist()
    pairs, at = set(), 0
    while at < len(links):
        source, degree = links[at : at + 2]
        pairs |= {(source, target) for target in links[at + 2 : at + 2 + degree]}
        at += 2 + degree
    expected = {(row["source"], row["resolved"]) for row in crawl.links(["source", "resolved"]).to_pylist()}
    assert pairs == {(source, target) for source, target in expected if source != target}
    assert report.links == len(pairs)
