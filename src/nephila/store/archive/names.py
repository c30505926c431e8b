"""The names of archive files: ours alone, never a word of a URL, and sorting in the order of writing."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

_NAME: Final = re.compile(r"nephila-agent-\d{2,}-(\d{6,})\.warc\.gz")


def file_name(slot: int, number: int) -> str:
    return f"nephila-agent-{slot:02}-{number:06}.warc.gz"


def file_number(name: str) -> int:
    """The number in a file's name; a name that is not ours has none and is refused."""
    match = _NAME.fullmatch(name)
    if match is None:
        raise ValueError(f"{name!r} is not the name of an archive file")
    return int(match[1])


def archive_files(directory: Path) -> tuple[Path, ...]:
    """The archive files of a slot, oldest first."""
    if not directory.is_dir():
        return ()
    ours = (path for path in directory.iterdir() if _NAME.fullmatch(path.name))
    return tuple(sorted(ours, key=lambda path: file_number(path.name)))
