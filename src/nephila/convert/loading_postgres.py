"""The tables in PostgreSQL: COPY in binary form, a part at a time, into a schema that is put in place when whole.

Rows go into the schema `nephila_loading`; each part is one transaction that also notes the part, so a load that was
cut off goes on behind the last part. At the end come keys, indexes and counts, and one transaction renames the schema
to `nephila` in place of the old one: loading twice gives the same, and readers never see half a load.

A row that the server refuses is found by halving its batch, put into `quarantine` with the reason, and counted; the
others are loaded (RELIABILITY C4). Values travel as binary parameters, names come from the schemas alone (C5).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import psycopg
import psycopg.conninfo
import pyarrow as pa

from nephila.convert.loading import LoadReport, check_counts
from nephila.errors import NephilaError, UsageError
from nephila.markup.words import index_words
from nephila.store.durable import crash_point
from nephila.store.folder import CrawlFolder
from nephila.store.tables.manifest import files_of, read_manifest
from nephila.store.tables.parts import batches_of
from nephila.store.tables.schemas import PAGES, TABLES, Table
from nephila.urls import hash128

SCHEMA: Final = "nephila"
LOADING: Final = "nephila_loading"
BATCH_ROWS: Final = 2000
_WORDS_CHARACTERS: Final = 100_000
"""Of a text that is indexed: a tsvector may hold no more than a mebibyte."""

_TYPES: Final = {
    pa.int64(): "int8",
    pa.int32(): "int4",
    pa.string(): "text",
    pa.bool_(): "bool",
    pa.binary(16): "bytea",
    pa.timestamp("us", tz="UTC"): "timestamptz",
}
_KEYS: Final = {
    "pages": ("page_id",), "links": ("source", "target", "kind"), "page_counts": ("page_id",), "sites": ("site_id",),
    "domains": ("domain_id",), "communities": ("community_id",), "unfetched": ("url",), "visits": ("slot", "visit"),
}  # fmt: skip
_REFERENCES: Final = (
    ("pages", "site_id", "sites"), ("pages", "domain_id", "domains"), ("sites", "domain_id", "domains"),
    ("sites", "community_id", "communities"),
)  # fmt: skip
_INDEXES: Final = (
    "CREATE INDEX ON pages (site_id)",
    "CREATE INDEX ON pages (domain_id)",
    "CREATE UNIQUE INDEX ON pages (md5(url))",
    "CREATE INDEX ON pages USING gin (search)",
    "CREATE INDEX ON links (resolved)",
    "CREATE INDEX ON sites (community_id)",
    "CREATE INDEX ON visits (page_id)",
)


def load(folder: CrawlFolder, url: str) -> LoadReport:
    """Load all tables into the schema `nephila` of the database at `url`."""
    started = time.monotonic()
    try:
        connection = psycopg.connect(url, autocommit=True)
    except psycopg.OperationalError as problem:
        raise UsageError(f"Cannot reach the database ({str(problem).strip()}); check the address.") from problem
    try:
        with connection:
            return _Load(folder, connection).run(started, url)
    except psycopg.Error as problem:
        raise NephilaError(
            f"The database gave up ({str(problem).strip()}); what was loaded stays: run the same command again."
        ) from problem


class _Load:
    def __init__(self, folder: CrawlFolder, connection: psycopg.Connection[Any]) -> None:
        self._folder, self._db = folder, connection

    def run(self, started: float, url: str) -> LoadReport:
        self._begin()
        for table in TABLES.values():
            for path in files_of(self._folder, table.name):
                self._load_part(table, path)
        return self._finish(started, url)

    def _begin(self) -> None:
        """An unfinished load of this same conversion goes on; of another one it is begun anew."""
        manifest = read_manifest(self._folder)
        if manifest is None:
            raise NephilaError(
                f"there are no tables in {self._folder.path} yet; run `nephila convert -C {self._folder.path}`."
            )
        parts = [f"{part.file} {part.rows} {part.size_bytes}" for parts in manifest.tables.values() for part in parts]
        wanted = f"{self._folder.path.resolve()} {manifest.conversion} {hash128(' '.join(parts)).hex()}"
        with self._db.transaction():
            self._run("SELECT pg_advisory_xact_lock(7378547)")  # one loader at a time
            exists = self._one("SELECT to_regclass(%s)", f"{LOADING}.load") is not None
            if exists and self._one(f"SELECT conversion FROM {LOADING}.load") == wanted:  # noqa: S608
                return
            self._run(f"DROP SCHEMA IF EXISTS {LOADING} CASCADE")
            self._run(f"CREATE SCHEMA {LOADING}")
            self._run(f"SET LOCAL search_path = {LOADING}")
            self._run("CREATE TABLE load (conversion text NOT NULL)")
            self._run("INSERT INTO load VALUES (%s)", wanted)
            self._run("CREATE TABLE loaded_parts (file text PRIMARY KEY, rows int8 NOT NULL)")
            self._run(
                'CREATE TABLE quarantine ("table" text NOT NULL, file text NOT NULL, row text, reason text NOT NULL)'
            )
            for table in TABLES.values():
                self._run(_create(table))

    def _load_part(self, table: Table, path: Path) -> None:
        name = path.relative_to(self._folder.tables).as_posix()
        with self._db.transaction():
            self._run(f"SET LOCAL search_path = {LOADING}")
            if self._one("SELECT 1 FROM loaded_parts WHERE file = %s", name):
                return
            rows = 0
            for batch in batches_of(path):
                for start in range(0, batch.num_rows, BATCH_ROWS):
                    some = _rows(table, batch.slice(start, BATCH_ROWS))
                    rows += self._copy(table, name, some)
            self._run("INSERT INTO loaded_parts VALUES (%s, %s)", name, rows)
        crash_point("load.part")

    def _copy(self, table: Table, file: str, rows: Sequence[tuple[Any, ...]]) -> int:
        """Copy rows, halving them where the server refuses; gives how many it took."""
        try:
            with (
                self._db.transaction(),
                self._db.cursor() as cursor,
                cursor.copy(_copy_statement(table)) as copy,
            ):
                copy.set_types(_copied_types(table))
                for row in rows:
                    copy.write_row(row)
            return len(rows)
        except psycopg.OperationalError:
            raise  # the server is gone or full: no row is to blame
        except (psycopg.DataError, psycopg.errors.IntegrityError, psycopg.errors.ProgramLimitExceeded) as problem:
            if len(rows) > 1:
                middle = len(rows) // 2
                return self._copy(table, file, rows[:middle]) + self._copy(table, file, rows[middle:])
            shown = repr(rows[0][: len(_KEYS[table.name]) + 4])[:2000].replace("\0", "")
            reason = str(problem).strip().replace("\0", "")
            self._run("INSERT INTO quarantine VALUES (%s, %s, %s, %s)", table.name, file, shown, reason)
            return 0

    def _finish(self, started: float, url: str) -> LoadReport:
        with self._db.transaction():
            self._run(f"SET LOCAL search_path = {LOADING}")
            held = dict(self._db.execute('SELECT "table", count(*) FROM quarantine GROUP BY 1').fetchall())
            counts = {name: int(self._one(f"SELECT count(*) FROM {name}") or 0) for name in TABLES}  # noqa: S608
            check_counts(self._folder, counts, held)
            for table in TABLES:
                self._run(f"ALTER TABLE {table} ADD PRIMARY KEY ({', '.join(_KEYS[table])})")
            for index in _INDEXES:
                self._run(index)
            if not held:
                for table, column, other in _REFERENCES:
                    self._run(f"ALTER TABLE {table} ADD FOREIGN KEY ({column}) REFERENCES {other}")
            crash_point("load.indexed")
            self._run(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
            self._run(f"ALTER SCHEMA {LOADING} RENAME TO {SCHEMA}")
        for table in TABLES:
            self._run(f"ANALYZE {SCHEMA}.{table}")
        shown = psycopg.conninfo.conninfo_to_dict(url)
        target = f"{shown.get('dbname', '')} on {shown.get('host', 'this machine')}"
        return LoadReport(target, counts, sum(held.values()), round(time.monotonic() - started, 3))

    def _run(self, statement: str, *values: object) -> None:
        self._db.execute(statement, values or None)

    def _one(self, statement: str, *values: object) -> Any:
        row = self._db.execute(statement, values or None).fetchone()
        return row[0] if row else None


def _create(table: Table) -> str:
    """The columns of a table, its keys to be added when the rows are in."""
    columns = [
        f"{column.name} {_TYPES[column.type]}{'' if column.may_be_null else ' NOT NULL'}" for column in table.columns
    ]
    if table is PAGES:
        columns.append("words text NOT NULL")
        columns.append("search tsvector GENERATED ALWAYS AS (to_tsvector('simple', words)) STORED")
    return f"CREATE TABLE {table.name} ({', '.join(columns)})"


def _copy_statement(table: Table) -> str:
    names = [*table.names, *(["words"] if table is PAGES else [])]
    return f"COPY {table.name} ({', '.join(names)}) FROM STDIN (FORMAT binary)"


def _copied_types(table: Table) -> list[str]:
    return [*(_TYPES[column.type] for column in table.columns), *(["text"] if table is PAGES else [])]


def _rows(table: Table, batch: Any) -> list[tuple[Any, ...]]:
    """A batch as rows, pages with the words that limited search looks for."""
    columns = [column.to_pylist() for column in batch.columns]
    if table is PAGES:
        title, text = batch.column("title").to_pylist(), batch.column("text").to_pylist()
        columns.append([_words(*pair) for pair in zip(title, text, strict=True)])
    return list(zip(*columns, strict=True))


def _words(title: str | None, text: str | None) -> str:
    return index_words(f"{title or ''} {text or ''}"[:_WORDS_CHARACTERS])
