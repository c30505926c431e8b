"""Exchanges taken out of an archive file: a new file beside the old one, synced, renamed into its place.

Each exchange that leaves becomes one empty record of exactly its length, so that every other record keeps its place:
rows, tables and revisits lead to theirs as before, and every reader reads the file. `compact` takes the room back.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from nephila.errors import DamagedError
from nephila.store.archive.records import Unreadable, records
from nephila.store.durable import AppendFile, aside_of, crash_point, disk_errors, publish
from nephila.store.repair import filler

_PIECE_BYTES = 2**20
ERASED = "exchange taken out: {} bytes"


def erase(path: Path, offsets: Iterable[int]) -> int:
    """Take the exchanges that begin at these offsets out of a file; gives how many bytes they had."""
    stretches = [(offset, end) for offset in sorted(set(offsets)) if (end := _end(path, offset)) is not None]
    if not stretches:
        return 0
    aside = aside_of(path)
    with disk_errors(aside):
        aside.unlink(missing_ok=True)
        size_bytes = path.stat().st_size
        file = AppendFile(aside)
        try:
            with path.open("rb") as old:
                for start, end in (*stretches, (size_bytes, size_bytes)):
                    while file.size_bytes < start:
                        file.append(old.read(min(_PIECE_BYTES, start - file.size_bytes)))
                    if end > start:
                        file.append(
                            filler(end - start, "", ERASED.format(end - start)), half_point="erase.half_written"
                        )
                        old.seek(end)
            file.sync()
        finally:
            file.close()
    crash_point("erase.written")
    publish(aside, path)
    return sum(end - start for start, end in stretches)


def _end(path: Path, offset: int) -> int | None:
    """Where the exchange at an offset ends; None where it was taken out already."""
    end = None
    try:
        for number, record in enumerate(records(path, offset)):
            if number == 0 and record.kind not in ("response", "revisit"):
                return None
            if number and record.kind in ("response", "revisit", "warcinfo"):
                return end
            end = record.offset + record.length
            if record.kind == "metadata":
                return end
    except Unreadable as finding:
        if end is None:
            raise DamagedError(
                f"The archive is damaged ({finding}); run `nephila repair`, then the same command again."
            ) from finding
    return end
