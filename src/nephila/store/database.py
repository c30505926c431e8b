"""SQLite opened with one set of rules: one writer, readers beside it, numbered migrations, errors as sentences.

Rooms keep their own SQL and hand in a `Schema`. A database appears under its name by rename, whole; therefore an
empty or missing file beside its journal is damage and is never silently begun anew (RELIABILITY F10). A migration
copies the file first and then happens in one transaction (F11).

Every page carries a checksum (SQLite's own cksumvfs, which comes with apsw), so that a byte changed on the disk is
told instead of believed; other programs read the file as any SQLite database. The writer alone checkpoints, and
nothing is memory-mapped (DEPENDENCIES section 3).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import apsw
import apsw.sqlite_extra

from nephila.errors import DamagedError, DiskFullError, NephilaError
from nephila.store.durable import REAL_DISK, AppendFile, aside_of, crash_point, publish

_BUSY_MS: Final = 5_000
_CACHE_KIB: Final = 32 * 1024
_CHECKPOINT_PAGES: Final = 4_000
_JOURNAL_BYTES: Final = 64 * 2**20
_PAGE_BYTES: Final = 4096
_CHECKSUM_BYTES: Final = 8
# The file that readers and the writer share could not grow: SQLite calls that an I/O error, not a full disk.
_FULL_RESULTS: Final = frozenset({apsw.SQLITE_IOERR_SHMSIZE})


@dataclass(frozen=True, slots=True)
class Schema:
    """The tables of one kind of database: `migrations[n]` is the SQL that leads from version n to n + 1."""

    name: str
    migrations: tuple[str, ...]

    @property
    def version(self) -> int:
        return len(self.migrations)


def open_writer(path: Path, schema: Schema, *, sync: bool = True, must_exist: bool = False) -> apsw.Connection:
    """Open the only writing connection, making or migrating the database first where needed.

    `sync=False` may lose the last commits at a power cut, never the file. `must_exist` is for those who know that
    there was a database here.
    """
    with database_errors(path):
        if not path.exists():
            if must_exist or path.with_name(path.name + "-wal").exists():
                raise DamagedError(f"{path} is missing; run `nephila repair` to rebuild it from the archive.")
            _make(path, schema)
        else:
            _check_size(path)
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE, vfs=_checksum_vfs())
        try:
            _set_rules(connection, sync)
            _check_checksums(connection, path)
            _migrate(connection, path, schema)
        except BaseException:
            connection.close()
            raise
    return connection


def open_reader(path: Path) -> apsw.Connection:
    """Open a connection that only reads, also while the writer writes."""
    with database_errors(path):
        if not path.exists():
            raise NephilaError(f"There is no {path} to read; run the step that makes it first.")
        _check_size(path)
        try:
            return _readable(path, "mode=ro")
        except (apsw.CantOpenError, apsw.ReadOnlyError):
            if path.with_name(path.name + "-wal").exists():
                raise
            # On a read-only medium SQLite cannot make the files it shares with a writer; there is no writer either.
            return _readable(path, "mode=ro&immutable=1")


def _check_size(path: Path) -> None:
    """Refuse what SQLite would take for new or fill up with zeroes: an empty file, a last page that is cut."""
    size_bytes = path.stat().st_size
    if size_bytes == 0:
        raise _damaged(path, "it is empty")
    # Beside a journal the last page may be half written; the journal still has it then.
    if size_bytes % _PAGE_BYTES and not path.with_name(path.name + "-wal").exists():
        raise _damaged(path, "its last page is cut off")


def _readable(path: Path, parameters: str) -> apsw.Connection:
    uri = f"file:{quote(str(path.absolute()))}?{parameters}"
    connection = apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI, vfs=_checksum_vfs())
    try:
        connection.set_busy_timeout(_BUSY_MS)
        connection.pragma("mmap_size", 0)
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    except BaseException:
        connection.close()
        raise
    return connection


@cache
def _checksum_vfs() -> str | None:
    """The name of the file system layer that adds and checks checksums; None where apsw was built without it."""
    connection = apsw.Connection(":memory:")
    try:
        apsw.sqlite_extra.load(connection, "cksumvfs")
    except (apsw.sqlite_extra.NotAvailable, apsw.ExtensionLoadingError):
        return None
    finally:
        connection.close()
    return "cksmvfs"


def _check_checksums(connection: apsw.Connection, path: Path) -> None:
    """Writing without checksums into a file that has them would make every written page look damaged later."""
    if _checksum_vfs() is None and connection.reserve_bytes(None, -1) == _CHECKSUM_BYTES:
        raise NephilaError(f"{path} has checksums and this build of apsw cannot write them; install apsw from PyPI.")


def _set_rules(connection: apsw.Connection, sync: bool) -> None:
    connection.set_busy_timeout(_BUSY_MS)
    connection.pragma("mmap_size", 0)
    connection.pragma("cell_size_check", True)
    connection.pragma("trusted_schema", False)
    connection.pragma("journal_mode", "wal")
    connection.pragma("synchronous", "FULL" if sync else "NORMAL")
    connection.pragma("cache_size", -_CACHE_KIB)
    connection.pragma("temp_store", "MEMORY")
    connection.pragma("journal_size_limit", _JOURNAL_BYTES)
    connection.wal_autocheckpoint(_CHECKPOINT_PAGES)


def _make(path: Path, schema: Schema) -> None:
    aside = aside_of(path)
    for leftover in (aside, aside.with_name(aside.name + "-wal"), aside.with_name(aside.name + "-shm")):
        leftover.unlink(missing_ok=True)
    connection = apsw.Connection(str(aside), vfs=_checksum_vfs())
    try:
        connection.pragma("page_size", _PAGE_BYTES)
        if _checksum_vfs() is not None:
            connection.reserve_bytes(None, _CHECKSUM_BYTES)
        _set_rules(connection, sync=True)
        _apply(connection, schema, 0)
    finally:
        connection.close()
    _sync(aside)
    publish(aside, path)


def _migrate(connection: apsw.Connection, path: Path, schema: Schema) -> None:
    version = connection.pragma("user_version")
    if version == schema.version:
        return
    if version > schema.version:
        raise NephilaError(
            f"{path} was made by a newer Nephila ({schema.name} version {version}, this one knows {schema.version}); "
            "upgrade Nephila to work on it."
        )
    if version == 0:
        raise DamagedError(
            f"{path} is not a {schema.name} database; run `nephila repair` to rebuild it from the archive."
        )
    _copy(connection, path.with_name(f"{path.name}.version-{version}"))
    crash_point("database.copied")
    _apply(connection, schema, version)


def _copy(connection: apsw.Connection, target: Path) -> None:
    aside = aside_of(target)
    aside.unlink(missing_ok=True)
    connection.execute("VACUUM INTO ?", (str(aside),))
    _sync(aside)
    publish(aside, target)


def _apply(connection: apsw.Connection, schema: Schema, version: int) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        for sql in schema.migrations[version:]:
            connection.execute(sql)
            crash_point("database.migrating")
        connection.pragma("user_version", schema.version)
        connection.execute("COMMIT")
    except BaseException:
        _roll_back(connection)
        raise


def _sync(path: Path) -> None:
    file = AppendFile(path, REAL_DISK)
    file.sync()
    file.close()


def close(connection: apsw.Connection) -> None:
    """Close; a checkpoint that finds no room at the end costs nothing, because the journal still has everything."""
    with suppress(apsw.FullError, apsw.IOError):
        connection.close()


@contextmanager
def transaction(connection: apsw.Connection) -> Iterator[None]:
    """All of the block's writes, or none; durable when the block has ended."""
    with database_errors(Path(connection.filename)):
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            crash_point("database.in_commit")
            connection.execute("COMMIT")
        except BaseException:
            _roll_back(connection)
            raise
        crash_point("database.committed")


def _roll_back(connection: apsw.Connection) -> None:
    if connection.in_transaction:
        # A full disk may have rolled back already; the first error is the one to tell.
        with suppress(apsw.Error):
            connection.execute("ROLLBACK")


@contextmanager
def database_errors(path: Path) -> Iterator[None]:
    """Turn what SQLite says about `path` into one sentence that says what to do; use it around reads too."""
    try:
        with sqlite_errors(path):
            yield
    except UnicodeDecodeError as problem:
        # Only UTF-8 is ever written, so a text that is not UTF-8 was changed on the disk.
        raise _damaged(path, "a text is not UTF-8") from problem


def read_rows(path: Path, sql: str, *values: object) -> Iterator[tuple[Any, ...]]:
    """What a question brings, row by row, from a database that is opened for it and closed behind it."""
    with database_errors(path):
        reader = open_reader(path)
        try:
            yield from reader.execute(sql, values)
        finally:
            reader.close()


@contextmanager
def sqlite_errors(path: Path) -> Iterator[None]:
    """The same for whole programs, in which not every text comes from a database."""
    try:
        yield
    except (apsw.CorruptError, apsw.NotADBError) as problem:
        raise _damaged(path, str(problem)) from problem
    except apsw.FullError as problem:
        raise _disk_full(path) from problem
    except apsw.BusyError as problem:
        raise NephilaError(
            f"{path} is locked by another program; close it and run the same command again."
        ) from problem
    except (apsw.IOError, apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError) as problem:
        result = getattr(problem, "extendedresult", 0)
        if result in _FULL_RESULTS:
            raise _disk_full(path) from problem
        if result == apsw.SQLITE_IOERR_DATA:
            raise _damaged(path, "a checksum is wrong") from problem
        raise NephilaError(f"Cannot use {path} ({problem}); check the disk and the rights of the file.") from problem


def _damaged(path: Path, reason: str) -> DamagedError:
    return DamagedError(f"{path} is damaged ({reason}); run `nephila repair` to rebuild it from the archive.")


def _disk_full(path: Path) -> DiskFullError:
    return DiskFullError(
        f"No room left to write {path}; everything committed is safe: make room and run the same command again."
    )


def problems(path: Path) -> tuple[str, ...]:
    """What a full check finds wrong with the database; empty when it is whole. Reads every page."""
    try:
        connection = open_reader(path)
    except DamagedError as damage:
        return (str(damage),)
    try:
        found = [str(row[0]) for row in connection.execute("PRAGMA integrity_check(20)")]
    except (apsw.CorruptError, apsw.NotADBError, apsw.IOError) as problem:
        return (str(problem),)
    finally:
        connection.close()
    return () if found == ["ok"] else tuple(found)
