"""A WACZ file written: the archive as it lies here, its index, its pages, and the digests of all of it.

The file grows beside its name and appears by rename. Archive files are stored as they are, because they are compressed
already and readers jump into them; everything is read once, piece by piece.
"""

from __future__ import annotations

import gzip
import hashlib
import time
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec

from nephila.store.archive.exchange import Position
from nephila.store.cdxj import committed_files, index_lines
from nephila.store.durable import AppendFile, aside_of, disk_errors, publish
from nephila.store.folder import CrawlFolder

VERSION: Final = "1.1.1"
_PIECE_BYTES: Final = 2**20
_INDEX_LINES: Final = 3_000
"""Lines of the index in one gzip member: what a reader unpacks to find one."""


@dataclass(frozen=True, slots=True)
class WaczPage:
    """A page as a replay tool lists it; `title` and `text` where the tables know them."""

    url: str
    fetched_at: float
    title: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class WaczReport:
    """What a WACZ file holds."""

    output: str
    archives: int
    archive_bytes: int
    index_lines: int
    pages: int
    size_bytes: int
    seconds: float


class _Resource(msgspec.Struct, frozen=True):
    name: str
    path: str
    hash: str
    bytes: int


class _Package(msgspec.Struct, frozen=True):
    """`datapackage.json`, as the specification has it."""

    profile: str
    resources: list[_Resource]
    wacz_version: str
    software: str
    created: str
    title: str
    mainPageUrl: str  # noqa: N815 - the specification's name
    mainPageDate: str  # noqa: N815


class _PageLine(msgspec.Struct, frozen=True, omit_defaults=True):
    id: str
    url: str
    ts: str
    title: str = ""
    text: str = ""


def write_wacz(
    folder: CrawlFolder, committed: Mapping[int, Position], pages: Iterable[WaczPage], output: Path, *,
    software: str, title: str, now: float,
) -> WaczReport:  # fmt: skip
    """Write the archive of a folder, as far as it is committed, into one file."""
    started = time.monotonic()
    aside = aside_of(output)
    with disk_errors(aside):
        aside.unlink(missing_ok=True)
        with zipfile.ZipFile(aside, "w", zipfile.ZIP_STORED, allowZip64=True) as zipped:
            written = _Writing(zipped, now)
            archives = archive_bytes = 0
            for path, stop in committed_files(folder, committed):
                archives += 1
                archive_bytes += written.add(f"archive/{path.name}", _pieces(path, stop))
            lines = written.add_index(folder, committed)
            count, first = written.add_pages(pages)
            written.add_package(software, title, first)
    file = AppendFile(aside)  # what the zip's writer has closed is synced before it gets its name
    file.sync()
    size_bytes = file.size_bytes
    file.close()
    publish(aside, output)
    seconds = round(time.monotonic() - started, 3)
    return WaczReport(str(output), archives, archive_bytes, lines, count, size_bytes, seconds)


def _pieces(path: Path, stop: int | None) -> Iterator[bytes]:
    left = path.stat().st_size if stop is None else stop
    with path.open("rb") as file:
        while left > 0 and (piece := file.read(min(_PIECE_BYTES, left))):
            left -= len(piece)
            yield piece


class _Writing:
    def __init__(self, zipped: zipfile.ZipFile, now: float) -> None:
        self._zipped, self._now = zipped, now
        self._resources: list[_Resource] = []

    def add(self, name: str, pieces: Iterable[bytes], *, deflate: bool = False, listed: bool = True) -> int:
        """One file of the zip; its digest is taken on the way."""
        entry = zipfile.ZipInfo(name, time.gmtime(self._now)[:6])
        entry.compress_type = zipfile.ZIP_DEFLATED if deflate else zipfile.ZIP_STORED
        entry.external_attr = 0o644 << 16
        digest, length = hashlib.sha256(), 0
        with self._zipped.open(entry, "w", force_zip64=True) as file:
            for piece in pieces:
                file.write(piece)
                digest.update(piece)
                length += len(piece)
        if listed:
            short = name.rpartition("/")[2]
            self._resources.append(_Resource(short, name, f"sha256:{digest.hexdigest()}", length))
        return length

    def add_index(self, folder: CrawlFolder, committed: Mapping[int, Position]) -> int:
        """The CDXJ in gzip members, and a second, small index of these."""
        heads: list[bytes] = [b'!meta 0 {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}\n']
        count = 0

        def members(lines: Iterator[str]) -> Iterator[bytes]:
            nonlocal count
            offset = 0
            while some := list(islice(lines, _INDEX_LINES)):
                count += len(some)
                member = gzip.compress("".join(some).encode("ascii"), mtime=0)
                about = {
                    "offset": offset, "length": len(member), "digest": f"sha256:{hashlib.sha256(member).hexdigest()}",
                    "filename": "index.cdx.gz",
                }  # fmt: skip
                key = some[0].partition("{")[0].encode("ascii")
                heads.append(key + msgspec.json.encode(about) + b"\n")
                offset += len(member)
                yield member

        with index_lines(folder, committed) as lines:
            self.add("indexes/index.cdx.gz", members(lines))
        self.add("indexes/index.idx", heads, deflate=True)
        return count

    def add_pages(self, pages: Iterable[WaczPage]) -> tuple[int, WaczPage | None]:
        count = 0
        first: WaczPage | None = None

        def lines() -> Iterator[bytes]:
            nonlocal count, first
            yield b'{"format":"json-pages-1.0","id":"pages","title":"All Pages"}\n'
            for page in pages:
                count += 1
                first = first or page
                line = _PageLine(f"page-{count}", page.url, stamp(page.fetched_at), page.title, page.text)
                yield msgspec.json.encode(line) + b"\n"

        self.add("pages/pages.jsonl", lines(), deflate=True)
        return count, first

    def add_package(self, software: str, title: str, first: WaczPage | None) -> None:
        package = _Package(
            "data-package", self._resources, VERSION, software, stamp(self._now), title,
            first.url if first is not None else "", stamp(first.fetched_at) if first is not None else "",
        )  # fmt: skip
        content = msgspec.json.format(msgspec.json.encode(package), indent=2)
        self.add("datapackage.json", [content], deflate=True, listed=False)
        digest = {"path": "datapackage.json", "hash": f"sha256:{hashlib.sha256(content).hexdigest()}"}
        self.add("datapackage-digest.json", [msgspec.json.encode(digest)], deflate=True, listed=False)


def stamp(at: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))
