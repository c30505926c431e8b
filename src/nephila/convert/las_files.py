"""S3's own files (S3-19..23), byte by byte, little-endian. Document n of its pages is page id n.

    brief       128 bytes per document, document n at byte 128·n:
                Url       92 bytes: the URL, filled up with NUL; a URL of more than 92 bytes lies in brief_ext, and
                                    here stand a NUL, its place there (8 bytes) and its length (4 bytes)
                File      32 bytes: the WARC file and offset as "agent-NN/NNNNNN:OFFSET", filled up with NUL
                Modified   4 bytes: UTC seconds of the last change, 0 if unknown (finding 5: seconds, not milliseconds)
    brief_ext   the long URLs, one after another
    link        per document with links, in their order: Source 4, OutDegree 4, Dest 4·OutDegree, Dest ascending
    pagerank    4 bytes per document, IEEE single, 0..1, document n at byte 4·n, 0 for a document that is not ranked
                (a redirect, an error, a duplicate …); only where there are ranks

Links are the resolved ones, distinct, self-links dropped. The numbers are 32 bits wide, as S3's are: more than 2³²
documents are refused.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np

from nephila.convert.ranked import find_ranks
from nephila.errors import NephilaError, UsageError
from nephila.store.durable import aside_of, disk_errors, publish
from nephila.store.folder import CrawlFolder
from nephila.store.tables.manifest import files_of, read_manifest
from nephila.store.tables.parts import batches_of

URL_BYTES: Final = 92
FILE_BYTES: Final = 32
BRIEF_BYTES: Final = 128
_LONG: Final = struct.Struct("<xQI")
_MODIFIED: Final = struct.Struct("<I")
NAMES: Final = ("brief", "brief_ext", "link", "pagerank")


@dataclass(frozen=True, slots=True)
class LasReport:
    documents: int
    long_urls: int
    links: int
    ranked: bool


def export_las(folder: CrawlFolder, target: Path) -> LasReport:
    """Write the files into the folder `target`."""
    manifest = read_manifest(folder)
    if manifest is None:
        raise NephilaError(f"there are no tables in {folder.path} yet; run `nephila convert -C {folder.path}`.")
    documents = manifest.rows("pages")
    if documents > 2**32:
        raise UsageError(f"{documents:,} documents do not fit into S3's files, whose numbers have 32 bits.")
    ranks = find_ranks(folder)
    with disk_errors(target):
        target.mkdir(parents=True, exist_ok=True)
        paths = {name: aside_of(target / name) for name in NAMES}
        with paths["brief"].open("wb") as brief, paths["brief_ext"].open("wb") as ext:
            long_urls = _write_brief(folder, brief, ext)
        with paths["link"].open("wb") as link:
            links = _write_links(folder, link)
        ranked = ranks.path is not None
        if ranked:
            paths["pagerank"].write_bytes(np.nan_to_num(ranks.by_page(documents)).astype("<f4").tobytes())
        else:
            (target / "pagerank").unlink(missing_ok=True)  # of an earlier export: it would not fit these
        for name in NAMES[: 4 if ranked else 3]:
            publish(paths[name], target / name)
    return LasReport(documents, long_urls, links, ranked)


def brief_record(url: bytes, place: str, modified_s: int, ext_at: int) -> tuple[bytes, bytes]:
    """The record of a document, and what of its URL goes to brief_ext."""
    if len(url) <= URL_BYTES:
        slot, beyond = url.ljust(URL_BYTES, b"\0"), b""
    else:
        slot, beyond = _LONG.pack(ext_at, len(url)).ljust(URL_BYTES, b"\0"), url
    file = place.encode()
    assert len(file) <= FILE_BYTES, place
    modified = min(max(modified_s, 0), 2**32 - 1)
    return slot + file.ljust(FILE_BYTES, b"\0") + _MODIFIED.pack(modified), beyond


def read_url(record: bytes, ext: bytes) -> str:
    """The URL of a brief record."""
    if record[0]:
        return record[:URL_BYTES].rstrip(b"\0").decode()
    at, length = _LONG.unpack_from(record)
    return ext[at : at + length].decode()


def link_record(source: int, targets: Any) -> bytes:
    """S3-21: Source, OutDegree, Dest."""
    return np.concatenate([np.array([source, len(targets)], "<u4"), np.asarray(targets).astype("<u4")]).tobytes()


def _write_brief(folder: CrawlFolder, brief: BinaryIO, ext: BinaryIO) -> int:
    columns = ["url", "archive_file", "archive_offset", "modified_at"]
    ext_at = long_urls = 0
    for path in files_of(folder, "pages"):
        for batch in batches_of(path, columns):
            for url, file, offset, modified in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                seconds = int(modified.timestamp()) if modified else 0
                record, beyond = brief_record(url.encode(), _place(file, offset), seconds, ext_at)
                brief.write(record)
                ext.write(beyond)
                ext_at += len(beyond)
                long_urls += bool(beyond)
    return long_urls


def _place(file: str | None, offset: int | None) -> str:
    """nephila-agent-00-000001.warc.gz, 17 → agent-00/000001:17"""
    if file is None:
        return ""
    slot, _, number = file.removeprefix("nephila-").removesuffix(".warc.gz").rpartition("-")
    return f"{slot}/{number}:{offset}"[:FILE_BYTES]


def _write_links(folder: CrawlFolder, file: BinaryIO) -> int:
    count = 0
    held_sources, held_targets = np.empty(0, np.int64), np.empty(0, np.int64)

    def write(sources: Any, targets: Any) -> int:
        pairs = np.unique(np.stack([sources, targets])[:, sources != targets], axis=1)
        starts: Any = np.flatnonzero(np.r_[True, pairs[0, 1:] != pairs[0, :-1]]) if pairs.size else []
        for start, end in zip(starts, [*starts[1:], pairs.shape[1]], strict=True):
            file.write(link_record(int(pairs[0, start]), pairs[1, start:end]))
        return int(pairs.shape[1])

    for path in files_of(folder, "links"):
        for batch in batches_of(path, ["source", "resolved"]):
            sources = np.concatenate([held_sources, batch.column("source").to_numpy()])
            targets = np.concatenate([held_targets, batch.column("resolved").to_numpy()])
            whole = int(np.searchsorted(sources, sources[-1])) if len(sources) else 0  # the last source may go on
            count += write(sources[:whole], targets[:whole])
            held_sources, held_targets = sources[whole:], targets[whole:]
    return count + write(held_sources, held_targets)
