"""Whatever is put into the archive comes out again, by our reader, warcio and FastWARC alike."""

from __future__ import annotations

import gzip
import hashlib
import io
import tempfile
from pathlib import Path
from typing import Any

import brotli
import pytest
import zstandard
from archived_pages import HEADER, REQUEST, open_archive, page, revisit_of
from fast_reader import FastIterator
from hypothesis import example, given, settings
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from nephila.decode import decode
from nephila.store.archive.encode import stored_header
from nephila.store.archive.exchange import Exchange, Revisit, RevisitProfile, StoredLink
from nephila.store.archive.names import archive_files
from nephila.store.archive.reader import (
    StoredExchange,
    read,
    read_exchange,
    read_with_body,
    walk_exchanges,
)
from nephila.store.archive.verify import verify

HTML = b"<html>" + b"hello, spider " * 200


def undo(body: bytes, codings: tuple[str, ...], max_bytes: int) -> bytes:
    return decode(body, codings, max_bytes).payload


def stored(exchanges: list[Exchange], directory: Path) -> list[StoredExchange]:
    writer = open_archive(directory)
    writer.append(exchanges)
    writer.sync()
    position = writer.position
    writer.close()
    assert all(verify(path).problems == () for path in archive_files(directory))
    return list(walk_exchanges(directory, position))


def warcio_records(directory: Path) -> list[tuple[str, bytes, bool]]:
    found = []
    for path in archive_files(directory):
        with path.open("rb") as file:
            for record in ArchiveIterator(file, check_digests=True):
                content = record.content_stream().read()
                found.append((record.rec_type, content, record.digest_checker.passed))
    return found


def fastwarc_records(directory: Path, **options: Any) -> list[tuple[str, bytes]]:
    found = []
    for path in archive_files(directory):
        records = FastIterator(io.BytesIO(path.read_bytes()), **options)
        found += [(record.headers["WARC-Type"], record.reader.read()) for record in records]
    return found


header_names = st.sampled_from([b"Content-Type", b"Server", b"Transfer-Encoding", b"X-Odd", b"Set-Cookie"])
header_values = st.binary(max_size=40).map(lambda value: value.translate(None, b"\r\n\0"))
headers = st.lists(st.tuples(header_names, header_values), max_size=6).map(
    lambda pairs: b"HTTP/1.1 200 OK\r\n" + b"".join(name + b": " + value + b"\r\n" for name, value in pairs) + b"\r\n"
)
urls = st.text(st.characters(codec="utf-8"), max_size=60).map(lambda path: "http://example.org/" + path)
plain_urls = st.from_regex(r"http://[a-z]{1,9}\.org/[!-~]{0,40}", fullmatch=True)
links = st.builds(
    StoredLink,
    plain_urls,
    st.sampled_from("afh"),
    st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Zl", "Zp"]), max_size=30),
)
exchanges_of_any_kind = st.builds(
    Exchange,
    url=plain_urls,
    fetched_at=st.floats(0, 4e9),
    request=st.binary(max_size=100),
    header=headers,
    body=st.binary(max_size=3000),
    address=st.sampled_from(["", "192.0.2.1", "2001:db8::1"]),
    truncated=st.sampled_from(["", "length", "time", "disconnect"]),
    role=st.sampled_from(["page", "robots", "sitemap"]),
    fields=st.lists(st.tuples(st.just("via"), plain_urls), max_size=3).map(tuple),
    outlinks=st.lists(links, max_size=5).map(tuple),
)


@settings(max_examples=60, deadline=None)
@example([Exchange("http://example.org/>", 0.0, b"", HEADER, b"")])
@given(st.lists(exchanges_of_any_kind, min_size=1, max_size=4))
def test_any_exchange_comes_back_as_it_was(given_exchanges: list[Exchange]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = stored(given_exchanges, Path(folder))
    assert len(found) == len(given_exchanges)
    for before, after in zip(given_exchanges, found, strict=True):
        assert after.response.url == before.url
        assert after.response.body == before.body
        assert len(after.response.header) >= len(before.header)
        assert after.response.payload_sha1 == hashlib.sha1(before.body or b"").digest()
        assert abs(after.response.fetched_at - before.fetched_at) < 2e-6
        assert after.response.address == before.address
        assert after.response.truncated == before.truncated
        assert (after.request, after.role, after.fields) == (before.request, before.role, before.fields)
        assert after.outlinks == tuple(before.outlinks)


@settings(max_examples=60, deadline=None)
@example("http://example.org/", b"ab", b"\r\n\r\nbody", "", "")
@given(urls, st.binary(max_size=200), st.binary(max_size=200), st.text(max_size=50), st.text(max_size=50))
def test_rubbish_from_a_server_never_breaks_a_record(
    url: str, header: bytes, body: bytes, anchor: str, value: str
) -> None:
    exchange = Exchange(
        url, 0.0, b"", header, body, fields=(("x", value),), outlinks=(StoredLink(url, "a", anchor),) * 2
    )
    with tempfile.TemporaryDirectory() as folder:
        (found,) = stored([exchange], Path(folder))
        fast = fastwarc_records(Path(folder), parse_http=False)
    assert found.response.header + found.response.body in (header + body, exchange_block(exchange))
    assert len(found.outlinks) == 2
    assert [kind for kind, _ in fast] == ["warcinfo", "response", "request", "metadata"]


def exchange_block(exchange: Exchange) -> bytes:
    return stored_header(exchange.header) + (exchange.body or b"")


def test_other_readers_find_the_same_records_and_right_digests(tmp_path: Path) -> None:
    first = page(1)
    pages = [first, page(2), revisit_of(3, first), page(4, b""), page(5, b"\0" * 100_000)]
    found = stored(pages, tmp_path)
    ours = [("response" if exchange.response.revisit is None else "revisit") for exchange in found]
    warcio = warcio_records(tmp_path)
    fast = fastwarc_records(tmp_path, parse_http=False)
    assert [kind for kind, _, _ in warcio] == [kind for kind, _ in fast]
    assert len(warcio) == 1 + 3 * len(pages)
    assert [kind for kind, _, _ in warcio if kind in ("response", "revisit")] == ours
    assert all(passed is not False for _, _, passed in warcio)
    assert [content for kind, content, _ in warcio if kind == "response"] == [
        exchange.body for exchange in pages if exchange.body is not None
    ]


CODED = {
    "gzip": gzip.compress(HTML),
    "br": brotli.compress(HTML),
    "zstd": zstandard.compress(HTML),
}


@pytest.mark.parametrize("coding", CODED)
@pytest.mark.parametrize("transfer", [b"", b"Transfer-Encoding: chunked\r\n", b"transfer-ENCODING : chunked\r\n"])
def test_a_coded_body_is_kept_coded_and_read_decoded(tmp_path: Path, coding: str, transfer: bytes) -> None:
    header = HEADER[:-2] + b"Content-Encoding: " + coding.encode() + b"\r\n" + transfer + b"\r\n"
    exchange = Exchange("http://example.org/", 1.0, REQUEST, header, CODED[coding])
    (found,) = stored([exchange], tmp_path)
    assert found.response.body == CODED[coding]
    assert found.response.payload(undo, 10**6) == HTML
    assert found.response.payload(undo, 1000) == HTML[:1000]
    assert dict(fastwarc_records(tmp_path, parse_http=True, auto_decode="all"))["response"] == HTML
    if coding == "gzip":  # warcio's brotli needs another library than ours, and it knows no zstd
        assert warcio_records(tmp_path)[1][1:] == (HTML, True)


def test_a_header_keeps_every_byte_but_the_name_transfer_encoding(tmp_path: Path) -> None:
    header = b"HTTP/1.1 200 fine \xe9\r\nTRANSFER-encoding: chunked\r\nX-Transfer-Encoding: a\r\nServer:\tq \r\n\r\n"
    (found,) = stored([Exchange("http://example.org/", 1.0, REQUEST, header, b"x")], tmp_path)
    assert found.response.header == header.replace(b"TRANSFER-encoding", b"X-Crawl-TRANSFER-encoding")
    assert found.response.status == 200


def test_a_revisit_leads_to_the_body_it_refers_to(tmp_path: Path) -> None:
    directory = tmp_path / "agent-00"
    writer = open_archive(directory)
    first = page(1)
    (place,) = writer.append([first])
    (copy,) = writer.append([revisit_of(2, first, place.file, place.offset)])
    writer.sync()
    revisit = read(directory / copy.file, copy.offset)
    assert (revisit.kind, revisit.body, revisit.length) == ("revisit", b"", copy.length)
    assert revisit.revisit == Revisit(
        RevisitProfile.IDENTICAL_PAYLOAD, first.url, first.fetched_at, place.file, place.offset
    )
    assert read_with_body(tmp_path, directory / copy.file, copy.offset).body == first.body
    assert read_exchange(directory / place.file, place.offset).outlinks[0].anchor == "the next page"


def test_a_revisit_cannot_name_a_file_outside_the_archive(tmp_path: Path) -> None:
    directory = tmp_path / "agent-00"
    writer = open_archive(directory)
    (copy,) = writer.append([revisit_of(2, page(1), "../../../etc/passwd", 0)])
    writer.sync()
    with pytest.raises(ValueError, match="not the name"):
        read_with_body(tmp_path, directory / copy.file, copy.offset)


def test_not_modified_needs_no_digest_and_an_identical_payload_does(tmp_path: Path) -> None:
    header = b"HTTP/1.1 304 Not Modified\r\n\r\n"
    not_modified = Revisit(RevisitProfile.NOT_MODIFIED, "http://example.org/", 5.0)
    identical = Revisit(RevisitProfile.IDENTICAL_PAYLOAD, "http://example.org/", 5.0)
    (found,) = stored([Exchange("http://example.org/", 9.0, b"", header, None, revisit=not_modified)], tmp_path)
    assert (found.response.status, found.response.revisit) == (304, not_modified)
    with pytest.raises(ValueError, match="SHA-1"):
        stored([Exchange("http://example.org/", 9.0, b"", header, None, revisit=identical)], tmp_path)


def test_the_first_record_byte_by_byte(tmp_path: Path) -> None:
    writer = open_archive(tmp_path)
    (place,) = writer.append([page(1, b"hi")])
    writer.close()
    content = (tmp_path / place.file).read_bytes()
    assert gzip.decompress(content[place.offset : place.offset + place.length]) == (
        b"WARC/1.1\r\n"
        b"WARC-Type: response\r\n"
        b"WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000002>\r\n"
        b"WARC-Target-URI: http://example.org/1\r\n"
        b"WARC-Date: 2026-09-21T14:13:21.250000Z\r\n"
        b"WARC-IP-Address: 192.0.2.7\r\n"
        b"WARC-Payload-Digest: sha1:YIVV7ELYGQTASQUNN5I3FRNPJQF542SC\r\n"
        b"WARC-Block-Digest: sha1:AVRISTYNRDFSHBJIGEXQYCNHDDBRJMOQ\r\n"
        b"Content-Type: application/http;msgtype=response\r\n"
        b"Content-Length: 57\r\n"
        b"\r\n" + HEADER + b"hi\r\n\r\n"
    )
    assert gzip.decompress(content).endswith(
        b"role: page\r\ndepth: 2\r\noutlink: http://example.org/next a the next page\r\n\r\n\r\n"
    )
