"""Records as they lie in files: ours read strictly, those of others as far as they go, and a reason where not."""

from __future__ import annotations

import gzip
import io
import tarfile
import tempfile
from pathlib import Path

import pytest
from archived_pages import open_archive, page
from hypothesis import given, settings
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from nephila.errors import DamagedError
from nephila.store.archive.encode import compress
from nephila.store.archive.exchange import Position
from nephila.store.archive.names import archive_files
from nephila.store.archive.reader import read, walk
from nephila.store.archive.records import Unreadable, records
from nephila.store.archive.verify import verify

# What other programs wrote: records that can be read, and why no more.
FOREIGN = {
    "bad.arc": (0, "ARC is not read"),
    "example-bad-non-chunked.warc.gz": (6, ""),
    "example-bad.warc.gz.bad": (6, ""),
    "example-digest.warc": (4, ""),
    "example-iana.org-chunked.warc": (3, ""),
    "example-resource.warc.gz": (3, ""),
    "example-space-in-target-uri.warc.gz": (2, ""),
    "example-space-in-url.arc": (0, "ARC is not read"),
    "example-trunc.warc": (3, "no WARC record begins here"),
    "example-wget-bad-target-uri.warc.gz": (6, ""),
    "example-wrong-chunks.warc.gz": (0, "should be 1613"),
    "example.arc": (0, "ARC is not read"),
    "example.arc.gz": (0, "ARC is not read"),
    "example.warc": (6, ""),
    "example.warc.gz": (6, ""),
    "post-test.warc.gz": (6, ""),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_files_of_others_are_read_as_far_as_they_are_whole(data: Path, name: str) -> None:
    path = data / "warc" / "warcio" / name
    count, reason = 0, ""
    try:
        for _ in records(path, strict=False):
            count += 1
    except Unreadable as finding:
        reason = finding.reason
    expected_count, expected_reason = FOREIGN[name]
    assert count == expected_count
    assert expected_reason in reason
    assert bool(reason) == bool(expected_reason)


# warcio refuses the two files that are one gzip member as a whole.
NOT_READ_BY_WARCIO = {"example-bad.warc.gz.bad", "example-bad-non-chunked.warc.gz"}


@pytest.mark.parametrize("name", [name for name in FOREIGN if not FOREIGN[name][1] and name not in NOT_READ_BY_WARCIO])
def test_blocks_of_others_are_those_that_warcio_reads(data: Path, name: str) -> None:
    path = data / "warc" / "warcio" / name
    with path.open("rb") as file:
        theirs = [record.raw_stream.read() for record in ArchiveIterator(file, no_record_parse=True)]
    assert [record.block for record in records(path, strict=False)] == theirs


def test_a_large_crawl_of_others_is_read_to_its_end(data: Path, tmp_path: Path) -> None:
    with tarfile.open(data / "warc" / "pywb_sample_archive.tar.gz") as archive:
        # Python before 3.11.4 has no filters; the file is our own.
        archive.extractall(tmp_path, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    path = tmp_path / "pywb" / "warcs" / "iana.warc.gz"
    ours = [(record.kind, record.url, record.block) for record in records(path)]
    with path.open("rb") as file:
        theirs = [
            (record.rec_type, record.rec_headers.get_header("WARC-Target-URI") or "", record.raw_stream.read())
            for record in ArchiveIterator(file, no_record_parse=True)
        ]
    assert ours == theirs
    assert len(ours) == 343


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    writer = open_archive(tmp_path)
    writer.append([page(1), page(2)])
    writer.close()
    return archive_files(tmp_path)[0]


def test_a_cut_at_any_byte_is_a_finding(archive: Path) -> None:
    whole = archive.read_bytes()
    ends = {0} | {record.offset + record.length for record in records(archive)}
    for size in range(len(whole)):
        archive.write_bytes(whole[:size])
        assert bool(verify(archive).problems) == (size not in ends), size


def test_a_cut_at_a_record_is_a_finding_where_more_was_committed(archive: Path) -> None:
    *_, last = records(archive)
    size = archive.stat().st_size
    assert verify(archive, size).problems == ()
    archive.write_bytes(archive.read_bytes()[: last.offset])
    assert "no record that ends at" in verify(archive, size).problems[0]


def test_each_changed_byte_is_a_finding(archive: Path) -> None:
    whole = archive.read_bytes()
    positions = positions_of(whole, archive)
    for place in range(10, len(whole), 7):
        archive.write_bytes(whole[:place] + bytes([whole[place] ^ 0x20]) + whole[place + 1 :])
        in_gzip_header = any(record.offset <= place < record.offset + 10 for record in positions)
        assert verify(archive).problems or in_gzip_header, place


def positions_of(whole: bytes, archive: Path) -> list[Position]:
    scratch = archive.with_name("scratch")
    scratch.write_bytes(whole)
    return [Position(record.file, record.offset) for record in records(scratch)]


@pytest.mark.parametrize(
    ("before", "after", "finding"),
    [
        (b"page 1 ", b"page 9 ", "digest is wrong"),
        (b"Content-Length: ", b"Content-Length: 1", "should be"),
        (b"Content-Length: ", b"Content-Length: -", "Content-Length is"),
        (b"\r\n\r\n<html>", b"\r\n\r\n <html>", "longer than its Content-Length"),
        (b"WARC/1.1", b"CRAW/1.1", "no WARC record begins"),
    ],
)
def test_each_kind_of_wrong_record_is_found_though_gzip_finds_nothing(
    archive: Path, before: bytes, after: bytes, finding: str
) -> None:
    first, second, *_ = records(archive)
    whole = archive.read_bytes()
    member = gzip.decompress(whole[second.offset : second.offset + second.length])
    assert before in member
    archive.write_bytes(whole[: second.offset] + compress(member.replace(before, after, 1)))
    assert any(finding in problem for problem in verify(archive).problems), verify(archive).problems
    assert first.kind == "warcinfo"


def test_two_records_in_one_member_are_a_finding(archive: Path) -> None:
    archive.write_bytes(compress(gzip.decompress(archive.read_bytes())))
    assert "more than one record" in verify(archive).problems[0]
    assert len(list(records(archive, strict=False))) == 7


def test_a_walk_ends_at_the_committed_position(archive: Path) -> None:
    found = list(records(archive))
    for count, record in enumerate(found):
        at_record = Position(archive.name, record.offset)
        assert len(list(walk(archive.parent, at_record))) == count
        assert len(list(walk(archive.parent, Position(archive.name, record.offset + 1)))) == count
    assert list(walk(archive.parent, None)) == []


@settings(max_examples=80, deadline=None)
@given(st.binary(max_size=300), st.booleans(), st.booleans())
def test_rubbish_gives_a_reason_and_never_a_crash(content: bytes, as_gzip: bool, as_warc: bool) -> None:
    with tempfile.NamedTemporaryFile() as file:
        text = b"WARC/1.1\r\n" + content if as_warc else content
        Path(file.name).write_bytes(gzip.compress(text) if as_gzip else text)
        for strict in (True, False):
            try:
                for record in records(Path(file.name), strict=strict):
                    assert record.block is not None
            except Unreadable as finding:
                assert finding.reason


def test_a_bomb_is_refused(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nephila.store.archive.records.MAX_RECORD_BYTES", 10**6)
    bomb = io.BytesIO()
    with gzip.GzipFile(fileobj=bomb, mode="wb") as file:
        file.write(bytes(10**7))
    archive.write_bytes(bomb.getvalue())
    assert "larger than" in verify(archive).problems[0]


def test_reading_at_a_wrong_place_is_damage_with_a_sentence(archive: Path) -> None:
    with pytest.raises(DamagedError, match="nephila repair"):
        read(archive, 7)
    with pytest.raises(DamagedError, match="nephila repair"):
        read(archive.with_name("nowhere"), 0)
