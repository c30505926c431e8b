"""An exchange as the bytes of its WARC records. Pure: bytes and strings in, gzip members out.

Byte by byte, a record is (CR LF at each line's end)

    WARC/1.1
    Name: value            in the order of the functions below
                           (empty line)
    block                  Content-Length bytes
                           (two line ends that end the record)

and is one gzip member of its own. A metadata block (application/warc-fields, UTF-8) has one field per line:

    role: page
    name: value            what else the agent tells, such as depth, via, elapsed_ms
    outlink: URL KIND ANCHOR

URL has no space; KIND is a, f or h (S1-46); ANCHOR is the rest of the line, may be empty, and holds no control
character. Links stand in the order in which the page has them.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final
from urllib.parse import quote

from isal import isal_zlib

from nephila.store.archive.exchange import Exchange, Outlink, RevisitProfile, Software

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_TRANSFER_ENCODING: Final = re.compile(rb"(?im)^(?=transfer-encoding[ \t]*:)")
_EMPTY_LINE: Final = re.compile(rb"\r?\n\r?\n")
# Line ends and other control characters, in the widest sense any reader may take them.
_UNSAFE_TEXT: Final = re.compile("[\x00-\x1f\x7f\x80-\x9f\u2028\u2029\ud800-\udfff]+")
_PLAIN_URL: Final = re.compile(r"[!-~]*")

RecordId = Callable[[], str]


def random_record_id() -> str:
    """A version 4 UUID as WARC wants it."""
    digits = os.urandom(16).hex()
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"<urn:uuid:{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}>"


def warc_date(at: float) -> str:
    """UTC in microseconds, which WARC 1.1 allows."""
    second, microsecond = divmod(round(at * 1e6), 1_000_000)
    return f"{_second(second)}.{microsecond:06}Z"


@lru_cache(maxsize=16)
def _second(at: int) -> str:
    return (_EPOCH + timedelta(seconds=at)).strftime("%Y-%m-%dT%H:%M:%S")


def digest_text(sha1: bytes) -> str:
    """A SHA-1 as the labelled base32 text that web archives use."""
    return "sha1:" + base64.b32encode(sha1).decode()


def compress(record: bytes) -> bytes:
    """One gzip member; the GIL is free meanwhile."""
    member: bytes = isal_zlib.compress(record, 1, 31)
    return member


def stored_header(header: bytes) -> bytes:
    """The header block with Transfer-Encoding renamed, because the body is stored without that coding."""
    if b"transfer-encoding" not in header.lower():
        return header
    return _TRANSFER_ENCODING.sub(b"X-Crawl-", header)


def split_block(block: bytes) -> tuple[bytes, bytes]:
    """Header block (with its empty line) and payload of an HTTP message; without an empty line all of it is header."""
    end = _EMPTY_LINE.search(block)
    return (block, b"") if end is None else (block[: end.end()], block[end.end() :])


def exchange_members(exchange: Exchange, new_id: RecordId) -> tuple[bytes, bytes, bytes]:
    """The gzip members of response or revisit, request and metadata, in this order."""
    response_id = new_id()
    about = f"WARC-Target-URI: {_uri(exchange.url)}\r\nWARC-Date: {warc_date(exchange.fetched_at)}\r\n"
    beside = f"{about}WARC-Concurrent-To: {response_id}\r\n"
    address = f"WARC-IP-Address: {_text(exchange.address)}\r\n" if exchange.address else ""
    return (
        compress(_answer(exchange, response_id, about + address)),
        compress(_record("request", new_id(), beside + address, "application/http;msgtype=request", exchange.request)),
        compress(_record("metadata", new_id(), beside, "application/warc-fields", _metadata(exchange))),
    )


def warcinfo_member(file: str, at: float, record_id: str, software: Software) -> bytes:
    lines = [
        ("software", software.software),
        ("format", "WARC File Format 1.1"),
        ("conformsTo", "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"),
        ("http-header-user-agent", software.user_agent),
        ("operator", software.contact),
        ("robots", software.robots),
    ]
    block = "".join(f"{name}: {_text(value)}\r\n" for name, value in lines if value).encode()
    about = f"WARC-Date: {warc_date(at)}\r\nWARC-Filename: {file}\r\n"
    return compress(_record("warcinfo", record_id, about, "application/warc-fields", block))


def _answer(exchange: Exchange, record_id: str, about: str) -> bytes:
    header = stored_header(exchange.header)
    kind, body, sha1 = "response", exchange.body or b"", exchange.payload_sha1
    if exchange.revisit is not None:
        kind, body = "revisit", b""
        if sha1 is None and exchange.revisit.profile is RevisitProfile.IDENTICAL_PAYLOAD:
            raise ValueError("a revisit for an identical payload needs the payload's SHA-1")
        about += _revisit_fields(exchange)
    elif not _ends_cleanly(header):
        # Whatever a server sent as a header: payload is what any reader will find behind the first empty line.
        header, body = split_block(header + body)
        sha1 = None
    if sha1 is None and exchange.revisit is None:
        sha1 = hashlib.sha1(body, usedforsecurity=False).digest()
    if sha1 is not None:
        about += f"WARC-Payload-Digest: {digest_text(sha1)}\r\n"
    if exchange.truncated:
        about += f"WARC-Truncated: {exchange.truncated}\r\n"
    return _record(kind, record_id, about, "application/http;msgtype=response", header, body)


def _ends_cleanly(header: bytes) -> bool:
    """Whether the first empty line of the header is its end."""
    return 0 <= header.find(b"\n\r\n") == len(header) - 3 and b"\n\n" not in header


def _revisit_fields(exchange: Exchange) -> str:
    revisit = exchange.revisit
    assert revisit is not None
    text = (
        f"WARC-Profile: {revisit.profile.value}\r\n"
        f"WARC-Refers-To-Target-URI: {_uri(revisit.url)}\r\n"
        f"WARC-Refers-To-Date: {warc_date(revisit.fetched_at)}\r\n"
    )
    if revisit.file:
        text += f"WARC-Refers-To-Filename: {_text(revisit.file)}\r\nWARC-Refers-To-File-Offset: {revisit.offset}\r\n"
    return text


def _record(kind: str, record_id: str, about: str, content_type: str, block: bytes, rest: bytes = b"") -> bytes:
    sha1 = hashlib.sha1(block, usedforsecurity=False)
    sha1.update(rest)
    head = (
        f"WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: {record_id}\r\n{about}"
        f"WARC-Block-Digest: {digest_text(sha1.digest())}\r\n"
        f"Content-Type: {content_type}\r\nContent-Length: {len(block) + len(rest)}\r\n\r\n"
    )
    return b"".join((head.encode(), block, rest, b"\r\n\r\n"))


def _metadata(exchange: Exchange) -> bytes:
    lines = [f"role: {_text(exchange.role)}"]
    lines += [f"{name}: {_text(value)}" for name, value in exchange.fields]
    lines += _outlink_lines(exchange.outlinks)
    lines.append("")
    return "\r\n".join(lines).encode()


def _outlink_lines(links: Sequence[Outlink]) -> list[str]:
    lines = [f"outlink: {link.url} {link.kind} {link.anchor}" for link in links]
    # One look over all of them is cheaper than one at each, and nearly always finds nothing.
    joined = "".join(lines)
    clean = joined.isprintable() or not _UNSAFE_TEXT.search(joined)
    if clean and " " not in "".join([link.url for link in links]):
        return lines
    return [f"outlink: {_uri(link.url)} {_text(link.kind)} {_text(link.anchor)}" for link in links]


def _text(value: str) -> str:
    return _UNSAFE_TEXT.sub(" ", value)


def _uri(url: str) -> str:
    """A URL as it stands in a header: printable ASCII without spaces, whatever came in."""
    if _PLAIN_URL.fullmatch(url):
        return url
    return quote(url, safe="!#$%&'()*+,/:;=?@[]~\"<>\\^`{|}", errors="surrogatepass")
