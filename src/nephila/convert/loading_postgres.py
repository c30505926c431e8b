"""The tables in PostgreSQL: COPY in binary form, a part at a time, into a schema that is put in place when whole.

Rows go into the schema `nephila_loading`; each part is one transaction that also notes the part, so a load that was
cut off goes on behind the last part. At the end come keys, indexes and counts, and one transaction renames the schema
to `nephila` in place of the old one: loading twice gives the same, and readers never see half a load.

A row that the server refuses is found by halving its batch, put into `quarantine` with the reason, and counted; the
others are loaded (RELIABILITY C4). Values travel as binary parameters, names come from the schemas alone (C5).

Beside the tables of docs/tables.md there is `ranks`, as rank wrote it; `pages` has three columns more: `rank`, `words`
(title and text as every index of this project takes them) and `search`, their tsvector.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import psycopg
import psycopg.conninfo
import pyarrow as pa

from nephila.convert.loading import RANKS, LoadReport, check_counts
from nephila.convert.ranked import find_ranks
from nephila.errors import NephilaError, UsageError
from nephila.markup.words import index_words
from nephila.store.durable import crash_point
from nephila.store.folder import CrawlFolder
from nephila.store.tables.manifest import Manifest, files_of, read_manifest
from nephila.store.tables.parts import batches_of
from nephila.store.tables.schemas import PAGES, TABLES
from nephila.urls import hash128

SCHEMA: Final = "nephila"
LOADING: Final = "nephila_loading"
BATCH_ROWS: Final = 2000
_REFUSALS: Final = (
    UnicodeDecodeError, psycopg.DataError, psycopg.errors.IntegrityError, psycopg.errors.ProgramLimitExceeded,
)  # fmt: skip
"""A row is to blame; of all else it is the server, which may be gone or full."""
_TSVECTOR_BYTES: Final = 2**20 - 2**12
_WORD_BYTES: Final = 5
"""A tsvector holds a mebibyte: each word as it is, and at most so much beside it."""

_TYPES: Final = {
    pa.int64(): "int8",
    pa.int32(): "int4",
    pa.string(): "text",
    pa.bool_(): "bool",
    pa.float32(): "float4",
    pa.float64(): "float8",
    pa.binary(16): "bytea",
    pa.timestamp("us", tz="UTC"): "timestamptz",
}
_KEYS: Final = {
    "pages": ("page_id",), "links": ("source", "target", "kind"), "page_counts": ("page_id",), "sites": ("site_id",),
    "domains": ("domain_id",), "communities": ("community_id",), "seeds": ("url",), "unfetched": ("url",),
    "visits": ("slot", "visit"), "archive_files": ("file",), "fields": ("page_id", "field", "place"),
    RANKS: ("page_id",),
}  # fmt: skip
_REFERENCES: Final = (
    ("pages", "site_id", "sites"), ("pages", "domain_id", "domains"), ("pages", "duplicate_of", "pages"),
    ("sites", "domain_id", "domains"), ("sites", "community_id", "communities"), ("sites", "alias_of", "sites"),
    ("page_counts", "page_id", "pages"), (RANKS, "page_id", "pages"), ("visits", "page_id", "pages"),
    ("links", "source", "pages"), ("links", "target", "pages"), ("links", "resolved", "pages"),
    ("seeds", "site_id", "sites"), ("seeds", "page_id", "pages"), ("fields", "page_id", "pages"),
)  # fmt: skip
_INDEXES: Final = (
    "CREATE INDEX ON pages (site_id)",
    "CREATE INDEX ON pages (domain_id)",
    "CREATE UNIQUE INDEX ON pages (md5(url))",
    "CREATE INDEX ON pages (rank)",
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


@dataclass(frozen=True, slots=True)
class _Target:
    """A table in the database: its columns by name and type, and which of them may be empty."""

    name: str
    columns: tuple[tuple[str, str, bool], ...]

    @classmethod
    def of(cls, name: str, schema: Any) -> _Target:
        found = [(field.name, _TYPES[field.type], field.nullable) for field in schema]
        if name == PAGES.name:
            found += [("rank", "float8", True), ("words", "text", False)]
        return cls(name, tuple(found))

    def create(self) -> str:
        """The columns, without the keys, which come when the rows are in."""
        columns = [f'"{name}" {kind}{"" if null else " NOT NULL"}' for name, kind, null in self.columns]
        if self.name == PAGES.name:
            columns.append("search tsvector GENERATED ALWAYS AS (to_tsvector('simple', words)) STORED")
        return f"CREATE TABLE {self.name} ({', '.join(columns)})"

    def copy(self) -> str:
        names = ", ".join(f'"{name}"' for name, _, _ in self.columns)
        return f"COPY {self.name} ({names}) FROM STDIN (FORMAT binary)"


class _Load:
    def __init__(self, folder: CrawlFolder, connection: psycopg.Connection[Any]) -> None:
        self._folder, self._db = folder, connection
        self._ranks = find_ranks(folder)
        self._targets = {name: _Target.of(name, table.schema) for name, table in TABLES.items()}
        self._targets[RANKS] = _Target.of(RANKS, self._ranks.schema)

    def run(self, started: float, url: str) -> LoadReport:
        manifest = self._begin()
        self._rank_of_page = self._ranks.by_page(manifest.rows("pages"))
        for name in TABLES:
            for path in files_of(self._folder, name):
                self._load_part(self._targets[name], path)
        if self._ranks.path is not None:
            self._load_part(self._targets[RANKS], self._ranks.path)
        return self._finish(started, url)

    def _begin(self) -> Manifest:
        """An unfinished load of this same conversion goes on; of another one it is begun anew."""
        manifest = read_manifest(self._folder)
        if manifest is None:
            raise NephilaError(
                f"there are no tables in {self._folder.path} yet; run `nephila convert -C {self._folder.path}`."
            )
        parts = [f"{part.file} {part.rows} {part.size_bytes}" for parts in manifest.tables.values() for part in parts]
        contents = hash128(" ".join([*parts, self._ranks.digest])).hex()
        wanted = f"{self._folder.path.resolve()} {manifest.conversion} {contents}"
        with self._db.transaction():
            self._run("SELECT pg_advisory_xact_lock(7378547)")  # one loader at a time
            exists = self._one("SELECT to_regclass(%s)", f"{LOADING}.load") is not None
            if exists and self._one(f"SELECT conversion FROM {LOADING}.load") == wanted:  # noqa: S608
                return manifest
            self._run(f"DROP SCHEMA IF EXISTS {LOADING} CASCADE")
            self._run(f"CREATE SCHEMA {LOADING}")
            self._run(f"SET LOCAL search_path = {LOADING}")
            self._run("CREATE TABLE load (conversion text NOT NULL)")
            self._run("INSERT INTO load VALUES (%s)", wanted)
            self._run("CREATE TABLE loaded_parts (file text PRIMARY KEY, rows int8 NOT NULL)")
            self._run(
                'CREATE TABLE quarantine ("table" text NOT NULL, file text NOT NULL, row text, reason text NOT NULL)'
            )
            for target in self._targets.values():
                self._run(target.create())
        return manifest

    def _load_part(self, target: _Target, path: Path) -> None:
        name = path.relative_to(self._folder.path).as_posix()
        with self._db.transaction():
            self._run(f"SET LOCAL search_path = {LOADING}")
            if self._one("SELECT 1 FROM loaded_parts WHERE file = %s", name):
                return
            rows = 0
            for batch in batches_of(path):
                for start in range(0, batch.num_rows, BATCH_ROWS):
                    rows += self._copy(target, name, batch.slice(start, BATCH_ROWS))
            self._run("INSERT INTO loaded_parts VALUES (%s, %s)", name, rows)
        crash_point("load.part")

    def _copy(self, target: _Target, file: str, batch: Any) -> int:
        """Copy rows, halving them where one is refused; gives how many were taken."""
        try:
            rows = self._rows(target, batch)
            with (
                self._db.transaction(),
                self._db.cursor() as cursor,
                cursor.copy(target.copy()) as copy,
            ):
                copy.set_types([kind for _, kind, _ in target.columns])
                for row in rows:
                    copy.write_row(row)
            return len(rows)
        except _REFUSALS as problem:
            return self._copy_less(target, file, batch, problem)

    def _copy_less(self, target: _Target, file: str, batch: Any, problem: Exception) -> int:
        if batch.num_rows > 1:
            middle = batch.num_rows // 2
            return self._copy(target, file, batch.slice(0, middle)) + self._copy(target, file, batch.slice(middle))
        shown = ", ".join(f"{name} {_shown(batch.column(name)[0])}" for name in _KEYS[target.name])
        reason = str(problem).strip().replace("\0", "")
        self._run("INSERT INTO quarantine VALUES (%s, %s, %s, %s)", target.name, file, shown[:2000], reason[:2000])
        return 0

    def _rows(self, target: _Target, batch: Any) -> list[tuple[Any, ...]]:
        """A batch as rows, pages with their ranks and the words that limited search looks for."""
        columns = [column.to_pylist() for column in batch.columns]
        if target.name == PAGES.name:
            ranks = self._rank_of_page[batch.column("page_id").to_numpy()].tolist()
            columns.append([None if rank != rank else rank for rank in ranks])
            titles, texts = (columns[batch.schema.get_field_index(name)] for name in ("title", "text"))
            columns.append([words_of(*pair) for pair in zip(titles, texts, strict=True)])
        return list(zip(*columns, strict=True))

    def _finish(self, started: float, url: str) -> LoadReport:
        with self._db.transaction():
            self._run(f"SET LOCAL search_path = {LOADING}")
            held = dict(self._db.execute('SELECT "table", count(*) FROM quarantine GROUP BY 1').fetchall())
            counts = {name: int(self._one(f"SELECT count(*) FROM {name}") or 0) for name in self._targets}  # noqa: S608
            check_counts(self._folder, self._ranks, counts, held)
            for table in self._targets:
                self._run(f"ALTER TABLE {table} ADD PRIMARY KEY ({', '.join(_KEYS[table])})")
            for index in _INDEXES:
                self._run(index)
            if not held:
                for table, column, other in _REFERENCES:
                    self._run(f"ALTER TABLE {table} ADD FOREIGN KEY ({column}) REFERENCES {other}")
            crash_point("load.indexed")
            self._run(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
            self._run(f"ALTER SCHEMA {LOADING} RENAME TO {SCHEMA}")
        for table in self._targets:
            self._run(f"ANALYZE {SCHEMA}.{table}")
        shown = psycopg.conninfo.conninfo_to_dict(url)
        target = f"{shown.get('dbname', '')} on {shown.get('host', 'this machine')}"
        return LoadReport(target, counts, sum(held.values()), round(time.monotonic() - started, 3))

    def _run(self, statement: str, *values: object) -> None:
        self._db.execute(statement, values or None)

    def _one(self, statement: str, *values: object) -> Any:
        row = self._db.execute(statement, values or None).fetchone()
        return row[0] if row else None


def _shown(value: Any) -> str:
    """A key of a row that was refused, which may be what is wrong with it."""
    try:
        return str(value.as_py()).replace("\0", "")
    except UnicodeDecodeError:
        return repr(value.as_buffer().to_pybytes())


def words_of(title: str | None, text: str | None) -> str:
    """The words of a page, as many of the first as a tsvector is sure to hold."""
    words = index_words(f"{title or ''} {text or ''}"[:_TSVECTOR_BYTES])
    while (size := len(words.encode()) + _WORD_BYTES * (words.count(" ") + 1)) > _TSVECTOR_BYTES:
        words = words[: len(words) * _TSVECTOR_BYTES // size].rpartition(" ")[0]
    return words
