"""WACZ (1.1.1): an archive with its index, its pages and its digests in one zip file.

    archive/NAME.warc.gz        the archive files, stored and not deflated, so that a reader may jump into them
    indexes/index.cdx.gz        CDXJ, sorted, in gzip members of 3,000 lines; indexes/index.idx says where each begins
    pages/pages.jsonl           one line of JSON per page, behind a line that says what it is
    datapackage.json            every file with its length and SHA-256
    datapackage-digest.json     the SHA-256 of that

Read: the archive files within, at their place in the zip where they are stored, or unpacked where they are not.
"""

from __future__ import annotations

import shutil
import struct
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nephila.errors import UsageError
from nephila.store.durable import disk_errors

_LOCAL_HEADER_BYTES: Final = 30
_NAME_AND_EXTRA: Final = struct.Struct("<HH")


@dataclass(frozen=True, slots=True)
class Inner:
    """An archive file within a WACZ; `start` is where it lies in the zip, None where it is deflated there."""

    name: str
    size_bytes: int
    start: int | None


def is_wacz(path: Path) -> bool:
    """By its first bytes: a zip that is no archive file is told apart by what is in it."""
    try:
        return zipfile.is_zipfile(path)
    except OSError:
        return False


def inner_archives(path: Path) -> list[Inner]:
    """The archive files of a WACZ, in the order of their names."""
    try:
        with zipfile.ZipFile(path) as zipped, path.open("rb") as file:
            found = []
            for entry in sorted(zipped.infolist(), key=lambda each: each.filename):
                if not entry.filename.endswith((".warc.gz", ".warc", ".arc.gz", ".arc")) or entry.is_dir():
                    continue
                start = None
                if entry.compress_type == zipfile.ZIP_STORED:
                    file.seek(entry.header_offset)
                    name_bytes, extra_bytes = _NAME_AND_EXTRA.unpack_from(file.read(_LOCAL_HEADER_BYTES), 26)
                    start = entry.header_offset + _LOCAL_HEADER_BYTES + name_bytes + extra_bytes
                found.append(Inner(entry.filename, entry.file_size, start))
    except (zipfile.BadZipFile, OSError, NotImplementedError) as problem:
        raise UsageError(
            f"{path} is no WACZ file that can be read ({problem}); give it again from its source."
        ) from None
    if not found:
        raise UsageError(f"{path} holds no archive file; a WACZ has them under archive/.")
    return found


@contextmanager
def unpacked(path: Path, inner: Inner, scratch: Path) -> Iterator[Path]:
    """A deflated archive file of a WACZ as a file of its own, for as long as it is needed."""
    target = scratch / "unpacked.warc"
    with disk_errors(target):
        scratch.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(path) as zipped, zipped.open(inner.name) as source, target.open("wb") as file:
            shutil.copyfileobj(source, file, 2**20)
    try:
        yield target
    finally:
        target.unlink(missing_ok=True)
