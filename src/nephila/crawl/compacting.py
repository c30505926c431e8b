"""A slot's archive made smaller: old versions leave it, what was erased leaves no hole, small files become large ones.

What stays is copied into new files behind the old ones. Then one transaction lets every row lead to the new place and
notes the old files as retired; they are removed after it. A kill before the transaction leaves new files that the next
start removes, as anything that was not committed; a kill after it leaves old files that the next start removes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from nephila.config.sections import Config
from nephila.crawl.fetcher import user_agent
from nephila.crawl.mending import committed_end, rows
from nephila.crawl.retention import Place, Version, kept_versions
from nephila.crawl.setup import software
from nephila.crawl.slot_tables import SLOT_SCHEMA
from nephila.errors import DamagedError, DiskFullError
from nephila.store.archive.copying import Copied, Copying, holes
from nephila.store.archive.exchange import Position
from nephila.store.archive.names import archive_files, file_number
from nephila.store.archive.records import Unreadable
from nephila.store.database import open_writer, transaction
from nephila.store.durable import crash_point, remove_file
from nephila.store.folder import CrawlFolder
from nephila.store.space import RESERVE_BYTES, free_bytes

SMALL: Final = 0.5
"""A file before the last that is smaller than this share of archive.rotate_size is worth putting together."""


@dataclass(frozen=True, slots=True)
class Compacted:
    """What became of a slot's archive."""

    slot: int
    versions: int  # that left
    files_before: int
    files_after: int
    bytes_before: int
    bytes_after: int


def compact_slot(folder: CrawlFolder, slot: int, config: Config, now: float) -> Compacted | None:
    """Copy what stays and let every row lead there; None where there is nothing to do."""
    path = folder.agent_database(slot)
    open_writer(path, SLOT_SCHEMA).close()  # a folder of an earlier Nephila has its new tables from now on
    remove_retired(folder, slot)
    end = committed_end(folder, slot)
    if end is None:
        return None
    files = [(each, end.offset if each.name == end.file else None) for each in _files(folder, slot, end)]
    before = sum(each.stat().st_size if stop is None else stop for each, stop in files)
    stay, leave = _decided(path, config, now)
    if not leave and not _has_holes(files) and not _is_untidy(files, config.archive.rotate_size):
        return None
    if before + RESERVE_BYTES > free_bytes(folder.path):
        raise DiskFullError(
            f"compacting {path.stem} may need {before:,} bytes beside what is there; make room, then run it again."
        )
    about = software(config, user_agent(config.net))
    number = file_number(end.file) + 1
    copying = Copying(folder.archive_of(slot), slot, number, config.archive.rotate_size, about)
    try:
        copied = copying.run(files, lambda place: place in stay)
    except Unreadable as finding:
        raise DamagedError(
            f"The archive is damaged ({finding}); run `nephila repair`, then the same command again."
        ) from None
    crash_point("compact.copied")
    _lead_anew(path, copied, [each.name for each, _ in files])
    crash_point("compact.committed")
    remove_retired(folder, slot)
    new_end = copied.end or Position("", 0)
    after = sum(each.stat().st_size for each in _files(folder, slot, new_end)) if copied.end is not None else 0
    return Compacted(slot, len(leave), len(files), copied.files, before, after)


def remove_retired(folder: CrawlFolder, slot: int) -> None:
    """Old files whose successors are in force; the note of them stays until the tables lead to the new ones."""
    for (file,) in rows(folder.agent_database(slot), "SELECT archive_file FROM retired"):
        path = folder.archive_of(slot) / file
        if path.exists():
            remove_file(path)


def has_retired(folder: CrawlFolder, slot: int) -> bool:
    return bool(rows(folder.agent_database(slot), "SELECT 1 FROM retired LIMIT 1"))


def forget_retired(folder: CrawlFolder, slot: int) -> None:
    """Everything that led to the old files leads to the new ones."""
    with closing(open_writer(folder.agent_database(slot), SLOT_SCHEMA)) as writer, transaction(writer):
        writer.execute("DELETE FROM retired")


def _files(folder: CrawlFolder, slot: int, end: Position) -> list[Path]:
    retired = {file for (file,) in rows(folder.agent_database(slot), "SELECT archive_file FROM retired")}
    found = archive_files(folder.archive_of(slot))
    return [path for path in found if path.name not in retired and file_number(path.name) <= file_number(end.file)]


def _is_untidy(files: list[tuple[Path, int | None]], rotate_bytes: int) -> bool:
    return any(path.stat().st_size < SMALL * rotate_bytes for path, _ in files[:-1])


def _has_holes(files: list[tuple[Path, int | None]]) -> bool:
    """Whether `forget` or `repair` has left empty records; each has its length in the header of its gzip member."""
    return any(holes(path) for path, _ in files)


def _decided(path: Path, config: Config, now: float) -> tuple[set[Place], set[Place]]:
    """The places of all answers that stay, and of those that leave."""
    stay = {
        (str(file), int(offset))
        for file, offset in rows(path, "SELECT archive_file, archive_offset FROM pages WHERE archive_file IS NOT NULL")
    }
    every: set[Place] = set()
    for versions in _by_page(path):
        every.update(version.place for version in versions)
        stay |= kept_versions(versions, config.keep, now)
    stay |= _bodies_of(path, stay)
    return stay, every - stay


def _by_page(path: Path) -> Iterator[list[Version]]:
    sql = """SELECT site, hash, at, archive_file, archive_offset, role FROM visits WHERE archive_file IS NOT NULL
             ORDER BY site, hash, visit"""
    for _, group in groupby(rows(path, sql), lambda row: (row[0], row[1])):
        yield [Version(at, (file, offset), role) for _, _, at, file, offset, role in group]


def _bodies_of(path: Path, stay: set[Place]) -> set[Place]:
    """The records that hold the bodies of what stays: a visit that repeats a content has none of its own."""
    sql = "SELECT site, checksum, archive_file, archive_offset FROM visits WHERE archive_file IS NOT NULL"
    wanted = {(site, checksum) for site, checksum, file, offset in rows(path, sql) if (file, offset) in stay}
    wanted.update(rows(path, "SELECT site, checksum FROM pages WHERE checksum IS NOT NULL"))
    found = rows(path, "SELECT site, checksum, archive_file, archive_offset FROM contents")
    return {(file, offset) for site, checksum, file, offset in found if (site, checksum) in wanted}


def _lead_anew(path: Path, copied: Copied, old_files: list[str]) -> None:
    places = copied.places
    with closing(open_writer(path, SLOT_SCHEMA)) as writer, transaction(writer):
        for table, key in (("visits", "visit"), ("pages", "site, hash"), ("contents", "site, checksum")):
            _move_rows(writer, table, key, places)
        end = copied.end or Position("", 0)
        writer.execute("UPDATE slot SET archive_file = ?, archive_offset = ?", (end.file, end.offset))
        writer.execute("DELETE FROM erasures")
        writer.executemany("INSERT OR IGNORE INTO retired VALUES (?)", ((file,) for file in old_files))


def _move_rows(writer: Any, table: str, key: str, places: dict[Place, Place]) -> None:
    names = key.split(", ")
    where = " AND ".join(f"{name} = ?" for name in names)
    sql = f"SELECT {key}, archive_file, archive_offset FROM {table} WHERE archive_file IS NOT NULL"  # noqa: S608
    found = list(writer.execute(sql))
    moved = [(*places[file, offset], *keys) for *keys, file, offset in found if (file, offset) in places]
    gone = [tuple(keys) for *keys, file, offset in found if (file, offset) not in places]
    writer.executemany(f"UPDATE {table} SET archive_file = ?, archive_offset = ? WHERE {where}", moved)  # noqa: S608
    if table == "contents":
        writer.executemany(f"DELETE FROM contents WHERE {where}", gone)  # noqa: S608
    else:
        sql = f"UPDATE {table} SET archive_file = NULL, archive_offset = NULL WHERE {where}"  # noqa: S608
        writer.executemany(sql, gone)
