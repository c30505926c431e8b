"""`DIR/state/searches.db`: what was searched for, which pages were shown for it and which of them were opened.

Kept where `search.log` is on, and nowhere but in the folder. Searching writes it; refresh reads which pages users look
for. It is bounded: of a query its words (200 characters) and at most fifty pages, of queries the latest ones. Counts
halve every thirty days, so that what was looked for last year does not decide what is visited today.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

from nephila.store.database import Schema, close, database_errors, open_reader, open_writer, transaction
from nephila.store.folder import CrawlFolder

HALF_LIFE_S: Final = 30 * 86_400.0
SHOWN_WORTH: Final = 0.1
"""A page that is opened is wanted; one that is only listed was in the way of ten others."""

MOST_SHOWN: Final = 50
_QUERY_CHARACTERS: Final = 200
_TABLES: Final = """
CREATE TABLE queries (query TEXT PRIMARY KEY, asked REAL NOT NULL, last_at REAL NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX queries_in_time ON queries (last_at);
CREATE TABLE shown (
    query TEXT NOT NULL, page_id INTEGER NOT NULL, url TEXT NOT NULL, shown REAL NOT NULL, opened REAL NOT NULL,
    last_at REAL NOT NULL,              -- the counts are those of this moment
    PRIMARY KEY (query, page_id)
) STRICT, WITHOUT ROWID;
"""
_SCHEMA: Final = Schema("searches", (_TABLES,))


def search_log_file(folder: CrawlFolder) -> Path:
    return folder.state / "searches.db"


def note_search(
    folder: CrawlFolder, query: str, pages: Iterable[tuple[int, str]], now: float, most_queries: int
) -> None:
    """Pages (id, URL) that were shown for a query."""
    query = _short(query)
    path = search_log_file(folder)
    log: Any = open_writer(path, _SCHEMA, sync=False)
    try:
        with transaction(log):
            _count(log, "queries", "asked", (query,), now)
            room = MOST_SHOWN - _one(log, "SELECT count(*) FROM shown WHERE query = ?", (query,))
            for page_id, url in pages:
                if _count(log, "shown", "shown", (query, page_id), now) or room <= 0:
                    continue
                log.execute("INSERT INTO shown VALUES (?, ?, ?, 1, 0, ?)", (query, page_id, url, now))
                room -= 1
            if _one(log, "SELECT count(*) FROM queries", ()) > most_queries:
                _forget(log, most_queries - most_queries // 10)
    finally:
        close(log)


def note_opened(folder: CrawlFolder, query: str, url: str, now: float) -> bool:
    """A page that was opened from the list that a query brought; False where no such list is known."""
    path = search_log_file(folder)
    if not path.exists():
        return False
    log: Any = open_writer(path, _SCHEMA, sync=False)
    try:
        with transaction(log):
            sql = "SELECT page_id FROM shown WHERE query = ? AND url = ?"
            row = log.execute(sql, (_short(query), url)).fetchone()
            return row is not None and _count(log, "shown", "opened", (_short(query), row[0]), now)
    finally:
        close(log)


def read_interest(folder: CrawlFolder, page_id: int | None = None) -> list[tuple[int, float]]:
    """How much users look for pages (id, interest), of all that were shown or of one; none where nothing is logged."""
    path = search_log_file(folder)
    if not path.exists():
        return []
    sql = f"""SELECT page_id, sum((opened + {SHOWN_WORTH} * shown) * pow(0.5, (newest - last_at) / {HALF_LIFE_S}))
              FROM shown, (SELECT max(last_at) AS newest FROM queries)
              WHERE ? IS NULL OR page_id = ? GROUP BY page_id ORDER BY page_id"""  # noqa: S608
    with database_errors(path):
        reader: Any = open_reader(path)
        try:
            return [(int(page), float(interest)) for page, interest in reader.execute(sql, (page_id, page_id))]
        finally:
            reader.close()


def count_of_one(folder: CrawlFolder, page_id: int) -> tuple[int, int]:
    """How often a page was shown and opened, as far as it is still remembered."""
    path = search_log_file(folder)
    if not path.exists():
        return 0, 0
    sql = "SELECT coalesce(sum(shown), 0), coalesce(sum(opened), 0) FROM shown WHERE page_id = ?"
    with database_errors(path):
        reader: Any = open_reader(path)
        try:
            shown, opened = next(reader.execute(sql, (page_id,)))
        finally:
            reader.close()
    return round(shown), round(opened)


def _count(log: Any, table: str, column: str, key: tuple[Any, ...], now: float) -> bool:
    """Add one to a count that has faded since; False where there is no such row (of queries it is made)."""
    names = ("query", "page_id")[: len(key)]
    which = " AND ".join(f"{name} = ?" for name in names)
    row = log.execute(f"SELECT last_at FROM {table} WHERE {which}", key).fetchone()  # noqa: S608
    if row is None:
        if table == "queries":
            log.execute("INSERT INTO queries VALUES (?, 1, ?)", (*key, now))
        return False
    fades = 0.5 ** (max(0.0, now - row[0]) / HALF_LIFE_S)
    counts = ("asked",) if table == "queries" else ("shown", "opened")
    changes = ", ".join(f"{name} = {name} * ? + {int(name == column)}" for name in counts)
    sql = f"UPDATE {table} SET {changes}, last_at = ? WHERE {which}"  # noqa: S608
    log.execute(sql, (*[fades] * len(counts), max(now, row[0]), *key))
    return True


def _forget(log: Any, keep: int) -> None:
    """The queries that were not asked for longest, with what was shown for them."""
    old = "SELECT query FROM queries ORDER BY last_at DESC LIMIT -1 OFFSET ?"
    log.execute(f"DELETE FROM shown WHERE query IN ({old})", (keep,))  # noqa: S608
    log.execute(f"DELETE FROM queries WHERE query IN ({old})", (keep,))  # noqa: S608


def _one(log: Any, sql: str, values: tuple[Any, ...]) -> int:
    return int(next(log.execute(sql, values))[0])


def _short(query: str) -> str:
    """The words of a query, however they were spaced and written."""
    return " ".join(query.casefold().split())[:_QUERY_CHARACTERS]


def forget_shown(folder: CrawlFolder, is_forgotten: Callable[[str], bool]) -> int:
    """Pages that were forgotten leave the log, and queries for which nothing else was shown; gives how many rows."""
    path = search_log_file(folder)
    if not path.exists():
        return 0
    log: Any = open_writer(path, _SCHEMA)
    try:
        log.pragma("secure_delete", True)
        with transaction(log):
            rows = list(log.execute("SELECT query, page_id, url FROM shown"))
            gone = [(query, page_id) for query, page_id, url in rows if is_forgotten(url)]
            log.executemany("DELETE FROM shown WHERE query = ? AND page_id = ?", gone)
            log.executemany(
                "DELETE FROM queries WHERE query = ?1 AND NOT EXISTS (SELECT 1 FROM shown WHERE query = ?1)",
                {(query,) for query, _ in gone},
            )
    finally:
        close(log)
    return len(gone)
