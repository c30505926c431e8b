"""Tables as text and as S3's files."""

from __future__ import annotations

import csv
import json
import shutil
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nephila
from nephila.config.sections import Rank
from nephila.convert.exporting import export, harmless
from nephila.convert.las_files import BRIEF_BYTES, brief_record, export_las, link_record, read_url
from nephila.engine import open_engine
from nephila.errors import UsageError
from nephila.rank.run import run as run_rank
from nephila.store.folder import CrawlFolder

pytestmark = pytest.mark.xdist_group("convert")


@pytest.mark.parametrize(
    "start", ["=cmd|' /C calc'!A0", "+1", "-1", "@x", "\tx", "\rx", "|x", "%x", "\uff1d1", "\uff201"]
)
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


def in_place(text: bytes, size: int) -> bytes:
    return text + bytes(size - len(text))


def expected_files(path: Path) -> dict[str, bytes]:
    """S3's files of a crawl, put together from the tables by the words of S3-19..23 alone."""
    crawl = nephila.open(path)
    brief, ext = b"", b""
    for row in crawl.pages(["url", "archive_file", "archive_offset", "modified_at"]).to_pylist():
        url = row["url"].encode()
        if len(url) <= 92:
            brief += in_place(url, 92)
        else:  # a NUL, which begins no URL, then place and length in brief_ext
            brief += in_place(b"\0" + len(ext).to_bytes(8, "little") + len(url).to_bytes(4, "little"), 92)
            ext += url
        place = ""
        if row["archive_file"]:  # nephila-agent-NN-NNNNNN.warc.gz
            _, agent, slot, number = row["archive_file"].removesuffix(".warc.gz").split("-")
            place = f"{agent}-{slot}/{number}:{row['archive_offset']}"
        brief += in_place(place.encode(), 32)
        modified = row["modified_at"]
        brief += (min(max(int(modified.timestamp()), 0), 2**32 - 1) if modified else 0).to_bytes(4, "little")
    links: dict[int, set[int]] = {}
    for row in crawl.links(["source", "resolved"]).to_pylist():
        if row["source"] != row["resolved"]:
            links.setdefault(row["source"], set()).add(row["resolved"])
    link = b"".join(
        number.to_bytes(4, "little")
        for source in sorted(links)
        for number in (source, len(links[source]), *sorted(links[source]))
    )
    files = {"brief": brief, "brief_ext": ext, "link": link}
    if (path / "rank").exists():
        ranks = dict(zip(*(column.to_pylist() for column in crawl.ranks(["page_id", "rank"]).columns), strict=True))
        files["pagerank"] = b"".join(struct.pack("<f", ranks.get(n, 0.0)) for n in range(crawl.pages(["url"]).num_rows))
    return files


def test_the_papers_files_of_a_crawl_byte_by_byte(converted: Path, tmp_path: Path) -> None:
    """S3-19..23, before there are ranks and with them."""
    path, target = tmp_path / "crawl", tmp_path / "las"
    shutil.copytree(converted, path)
    folder = CrawlFolder.open(path)
    # when there are no ranks yet
    report = export_las(folder, target)
    # then there are three files, as the paper has them
    expected = expected_files(path)
    assert {file.name: file.read_bytes() for file in target.iterdir()} == expected
    assert len(expected["brief"]) == BRIEF_BYTES * report.documents
    assert report.long_urls > 0 and not report.ranked
    assert report.links == len(expected["link"]) // 4 - 2 * len({row["source"] for row in linked(path)})
    # and when the pages are ranked there is a fourth: four bytes per document, each between 0 and 1 (S3-22)
    with open_engine("inline", 1) as engine:
        run_rank(Rank(), folder, engine)
    report = export_las(folder, target)
    expected = expected_files(path)
    assert report.ranked
    assert {file.name: file.read_bytes() for file in target.iterdir()} == expected
    ranks = np.frombuffer(expected["pagerank"], "<f4")
    assert len(ranks) == report.documents and 0 <= ranks.min() < ranks.max() < 1
    assert abs(float(ranks.sum()) - 1) < 1e-4


def linked(path: Path) -> list[dict[str, int]]:
    rows = nephila.open(path).links(["source", "resolved"]).to_pylist()
    return [row for row in rows if row["source"] != row["resolved"]]


def test_the_urls_of_brief_are_read_back(converted: Path, tmp_path: Path) -> None:
    export_las(CrawlFolder.open(converted), tmp_path / "las")
    brief, ext = (tmp_path / "las" / "brief").read_bytes(), (tmp_path / "las" / "brief_ext").read_bytes()
    urls = [read_url(brief[at : at + BRIEF_BYTES], ext) for at in range(0, len(brief), BRIEF_BYTES)]
    assert urls == nephila.open(converted).pages(["url"]).column(0).to_pylist()
