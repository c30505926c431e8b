"""Files of others, read as a stream: every layout gives the same records, and rubbish gives no exception."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nephila.store.archive.captures import Capture, Digests, captures, without_chunks
from nephila.store.archive.foreign import Lost, foreign_records
from nephila.store.archive.records import Record

MOST = 2**20


def warc(number: int, block: bytes, kind: str = "response", more: str = "") -> bytes:
    head = (
        f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:{number}>\r\nWARC-Date: 2024-01-01T00:00:00Z\r\n"
        f"WARC-Target-URI: http://a.test/{number}\r\n{more}Content-Length: {len(block)}\r\n\r\n"
    )
    return head.encode() + block + b"\r\n\r\n"


def answer(body: bytes, headers: str = "") -> bytes:
    return f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{headers}\r\n".encode() + body


def laid_out(layout: str, parts: list[bytes]) -> bytes:
    match layout:
        case "plain":
            return b"".join(parts)
        case "members":
            return b"".join(map(gzip.compress, parts))
        case "pairs":
            return b"".join(gzip.compress(b"".join(parts[at : at + 2])) for at in range(0, len(parts), 2))
        case _:
            return gzip.compress(b"".join(parts))


@pytest.mark.parametrize("layout", ["plain", "members", "pairs", "whole"])
@given(bodies=st.lists(st.binary(max_size=300), min_size=1, max_size=8))
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_layout_gives_the_same_records(layout: str, bodies: list[bytes], tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(laid_out(layout, [warc(number, body) for number, body in enumerate(bodies)]))
    found = [record for record in foreign_records(file, MOST) if isinstance(record, Record)]
    assert [record.block for record in found] == bodies
    if layout == "members":  # what is told by its offset is found there again
        again = [next(foreign_records(file, MOST, record.offset)) for record in found]
        assert [each.block for each in again if isinstance(each, Record)] == bodies


@given(content=st.binary(max_size=600), cut=st.integers(0, 600), layout=st.sampled_from(["plain", "members"]))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_rubbish_and_cuts_are_told_and_never_raise(content: bytes, cut: int, layout: str, tmp_path: Path) -> None:
    file = tmp_path / "file"
    whole = laid_out(layout, [warc(0, b"first"), warc(1, content), warc(2, b"last")])
    at = min(cut, len(whole))
    file.write_bytes(whole[:at] + content + whole[at:])
    for found in captures(foreign_records(file, MOST)):
        assert isinstance(found, Capture | Lost)
        if isinstance(found, Lost):
            assert 0 <= found.start < found.end <= file.stat().st_size


def test_a_block_larger_than_wanted_is_cut_and_says_so(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(laid_out("members", [warc(0, b"x" * 5000), warc(1, b"next")]))
    first, second = foreign_records(file, 1000)
    assert isinstance(first, Record) and isinstance(second, Record)
    assert (len(first.block), first.field("WARC-Truncated"), second.block) == (1000, "length", b"next")


@pytest.mark.parametrize(
    ("body", "undone"),
    [
        (b"3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n", (b"abcde", False)),
        (b"3\r\nabc\r\n5\r\nde", (b"abcde"[:5], True)),  # cut within a chunk
        (b"<html>no chunks at all</html>", None),
        (b"3\r\nabc\r\nrubbish\r\n", (b"abc", True)),
        (b"", None),
    ],
)
def test_chunks_are_undone_where_there_are_some(body: bytes, undone: tuple[bytes, bool] | None) -> None:
    assert without_chunks(body) == undone


def capture(tmp_path: Path, *parts: bytes) -> Capture:
    (tmp_path / "file").write_bytes(b"".join(parts))
    [found] = captures(foreign_records(tmp_path / "file", MOST))
    assert isinstance(found, Capture)
    return found


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (0, 2, 1)])
def test_a_request_before_or_behind_and_its_metadata_belong_to_the_answer(
    order: tuple[int, ...], tmp_path: Path
) -> None:
    beside = "WARC-Concurrent-To: <urn:uuid:7>\r\n"
    parts = [
        warc(7, answer(b"<p>")),
        warc(8, b"POST /7 HTTP/1.1\r\n\r\n", "request", beside),
        warc(9, b"via: http://a.test/\r\nhopsFromSeed: LL\r\nfetchTimeMs: 12\r\n", "metadata", beside),
    ]
    found = capture(tmp_path, *(parts[place] for place in order))
    assert (found.method, found.said("hopsFromSeed"), found.said("fetchTimeMs")) == ("POST", "LL", "12")


@pytest.mark.parametrize(
    ("stated", "verdict"),
    [
        ("", Digests.NONE),
        ("WARC-Payload-Digest: sha1:B32H\r\n", Digests.WRONG),
        ("WARC-Payload-Digest: sha1:7A4BUFB3SVLLSCZWUXJ3BBWYVGD2WUOH\r\n", Digests.WRONG),
        (
            "WARC-Payload-Digest: sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\r\n",
            Digests.FIT,
        ),
        ("WARC-Payload-Digest: blake3:xyz\r\n", Digests.FIT),
    ],
)
def test_digests_are_checked(stated: str, verdict: Digests, tmp_path: Path) -> None:
    assert capture(tmp_path, warc(0, answer(b"abc"), more=stated)).digests is verdict
