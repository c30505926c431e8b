"""The lab's lists, seeds and hosts, as files: written line by line, whole or not at all.

A million lines take about a minute, so whoever has something else to do asks for them slice by slice.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Final

_SLICE_LINES: Final = 2_000


def write_list(path: Path, lines: Iterable[str]) -> Path:
    """Write the file and return when it is there."""
    for _ in in_slices(path, lines):
        pass
    return path


def in_slices(path: Path, lines: Iterable[str]) -> Generator[int, None, None]:
    """Write a little at each step; yields the number of lines so far. The file appears when it is whole."""
    unfinished = path.with_name(path.name + ".part")
    left = iter(lines)
    written = 0
    try:
        with unfinished.open("w", encoding="utf-8") as file:
            while piece := list(islice(left, _SLICE_LINES)):
                file.writelines(f"{line}\n" for line in piece)
                written += len(piece)
                yield written
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def host_lines(hosts: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Addresses and names as in /etc/hosts."""
    return (f"{address}\t{name}" for address, name in hosts)
