"""A small crawl that a test can kill: six groups of three pages, each appended, synced and committed."""

from __future__ import annotations

import sys
from pathlib import Path

from archived_pages import open_archive, page

from nephila.store.archive.exchange import Position
from nephila.store.database import Schema, open_reader, open_writer, transaction

SCHEMA = Schema(
    "test",
    (
        "CREATE TABLE pages (url TEXT PRIMARY KEY) STRICT;"
        "CREATE TABLE position (one INTEGER PRIMARY KEY CHECK (one = 1), file TEXT, offset INTEGER) STRICT;",
    ),
)
GROUPS = 6


def crawl(folder: Path) -> None:
    """Append and commit six groups of three pages; go on where the last commit ended."""
    database = open_writer(folder / "state.db", SCHEMA)
    writer = open_archive(folder / "archive", committed_position(folder), rotate_size=4_000)
    done = database.execute("SELECT count(*) FROM pages").get
    for number in range(done, 3 * GROUPS, 3):
        group = [page(number + part) for part in range(3)]
        writer.append(group)
        writer.sync()
        position = writer.position
        assert position is not None
        with transaction(database):
            database.executemany("INSERT INTO pages VALUES (?)", [(exchange.url,) for exchange in group])
            database.execute("REPLACE INTO position VALUES (1, ?, ?)", (position.file, position.offset))
    writer.close()
    database.close()


def committed_position(folder: Path) -> Position | None:
    database = open_reader(folder / "state.db")
    try:
        row = database.execute("SELECT file, offset FROM position").fetchone()
    finally:
        database.close()
    return Position(*row) if row else None


if __name__ == "__main__":
    crawl(Path(sys.argv[1]))
