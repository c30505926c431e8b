"""Exchanges to fill an archive with, and a view of what an archive holds."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable
from pathlib import Path

from nephila.config.sections import Archive
from nephila.store.archive.exchange import Exchange, Position, Revisit, RevisitProfile, Software, StoredLink
from nephila.store.archive.reader import walk_exchanges
from nephila.store.archive.writer import ArchiveWriter
from nephila.store.durable import REAL_DISK, Disk

SOFTWARE = Software("nephila/test", "nephila/test (+mailto:someone@example.org)", "someone@example.org")
HEADER = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nServer: x\r\n\r\n"
REQUEST = b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n"


def page(number: int, body: bytes | None = None, **more: object) -> Exchange:
    content = f"<html>page {number} {hashlib.sha1(str(number).encode()).hexdigest() * 20}".encode()
    return Exchange(
        url=f"http://example.org/{number}",
        fetched_at=1_790_000_000.25 + number,
        request=REQUEST,
        header=HEADER,
        body=content if body is None else body,
        address="192.0.2.7",
        fields=(("depth", "2"),),
        outlinks=(StoredLink("http://example.org/next", "a", "the next page"),),
        **more,  # type: ignore[arg-type]
    )


def revisit_of(number: int, first: Exchange, file: str = "", offset: int = -1) -> Exchange:
    assert first.body is not None
    return Exchange(
        url=f"http://example.org/copy/{number}",
        fetched_at=1_790_000_500.0 + number,
        request=REQUEST,
        header=HEADER,
        body=None,
        address="192.0.2.7",
        payload_sha1=hashlib.sha1(first.body).digest(),
        revisit=Revisit(RevisitProfile.IDENTICAL_PAYLOAD, first.url, first.fetched_at, file, offset),
    )


def open_archive(
    directory: Path, committed: Position | None = None, rotate_size: int = 10**9, disk: Disk = REAL_DISK
) -> ArchiveWriter:
    return ArchiveWriter(
        directory, 0, Archive(rotate_size=rotate_size), SOFTWARE, committed, disk, counted_record_ids()
    )


def counted_record_ids() -> Callable[[], str]:
    numbers = itertools.count(1)
    return lambda: f"<urn:uuid:00000000-0000-4000-8000-{next(numbers):012}>"


def urls_in(directory: Path, committed: Position | None) -> list[str]:
    return [exchange.response.url for exchange in walk_exchanges(directory, committed)]
