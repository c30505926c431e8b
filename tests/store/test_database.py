"""Databases: one writer, readers beside it, migrations in one transaction, damage told and never overwritten."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from nephila.errors import DamagedError, DiskFullError, NephilaError
from nephila.store import database
from nephila.store.database import Schema, database_errors, open_reader, open_writer, problems, transaction

FIRST = Schema("test", ("CREATE TABLE pages (id INTEGER PRIMARY KEY, url TEXT) STRICT",))
SECOND = Schema(
    "test", (*FIRST.migrations, "ALTER TABLE pages ADD COLUMN depth INTEGER; UPDATE pages SET depth = id * 2")
)


def rows(path: Path) -> list[tuple[object, ...]]:
    reader = open_reader(path)
    try:
        with database_errors(path):
            return list(reader.execute("SELECT * FROM pages ORDER BY id"))
    finally:
        reader.close()


def filled(path: Path, count: int = 3) -> Path:
    writer = open_writer(path, FIRST)
    with transaction(writer):
        writer.executemany("INSERT INTO pages VALUES (?, ?)", [(n, f"http://example.org/{n}") for n in range(count)])
    writer.close()
    return path


def test_a_database_is_made_whole_and_opened_with_our_rules(tmp_path: Path) -> None:
    writer = open_writer(tmp_path / "a.db", FIRST)
    assert writer.pragma("journal_mode") == "wal"
    assert writer.pragma("synchronous") == 2
    assert writer.pragma("mmap_size") == 0
    assert writer.pragma("user_version") == 1
    assert not (tmp_path / "a.db.aside").exists()


def test_a_reader_sees_commits_while_the_writer_writes(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    writer = open_writer(path, FIRST)
    reader = open_reader(path)
    with transaction(writer):
        writer.execute("INSERT INTO pages VALUES (1, 'x')")
        assert reader.execute("SELECT count(*) FROM pages").get == 0
    assert reader.execute("SELECT count(*) FROM pages").get == 1
    with pytest.raises(apsw.ReadOnlyError):
        reader.execute("DELETE FROM pages")


def test_a_failed_transaction_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    writer = open_writer(path, FIRST)
    with pytest.raises(RuntimeError), transaction(writer):
        writer.execute("INSERT INTO pages VALUES (1, 'x')")
        raise RuntimeError
    with transaction(writer):
        writer.execute("INSERT INTO pages VALUES (2, 'y')")
    assert rows(path) == [(2, "y")]


def test_a_full_disk_is_told_and_the_transaction_can_be_tried_again(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    writer = open_writer(path, FIRST)
    writer.pragma("max_page_count", writer.pragma("page_count") + 2)
    with pytest.raises(DiskFullError, match="make room"), transaction(writer):
        writer.executemany("INSERT INTO pages VALUES (?, ?)", [(n, "x" * 500) for n in range(500)])
    writer.pragma("max_page_count", 1_000_000)
    with transaction(writer):
        writer.executemany("INSERT INTO pages VALUES (?, ?)", [(n, "x" * 500) for n in range(500)])
    assert len(rows(path)) == 500


def test_an_older_database_is_migrated_and_its_copy_kept(tmp_path: Path) -> None:
    path = filled(tmp_path / "a.db")
    open_writer(path, SECOND).close()
    assert rows(path)[2] == (2, "http://example.org/2", 4)
    assert rows(tmp_path / "a.db.version-1")[2] == (2, "http://example.org/2")


def test_a_migration_that_fails_changes_nothing(tmp_path: Path) -> None:
    path = filled(tmp_path / "a.db")
    wrong = Schema("test", (*SECOND.migrations, "UPDATE nowhere SET x = 1"))
    with pytest.raises(apsw.SQLError):
        open_writer(path, wrong)
    assert len(rows(path)[0]) == 2


@pytest.mark.parametrize("crash_at", ["database.copied:1", "database.migrating:1", "durable.before_rename:1"])
def test_a_migration_killed_midway_is_done_by_the_next_start(tmp_path: Path, crash_at: str) -> None:
    path = filled(tmp_path / "a.db")
    script = f"import sys, pathlib, nephila.store.database as d; d.open_writer(pathlib.Path(sys.argv[1]), d.{SECOND!r})"
    environment = {**os.environ, "NEPHILA_CRASH_AT": crash_at}
    killed = subprocess.run([sys.executable, "-c", script, str(path)], env=environment, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert len(rows(path)[0]) == 2
    open_writer(path, SECOND).close()
    assert rows(path)[1] == (1, "http://example.org/1", 2)


def test_a_newer_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    open_writer(path, SECOND).close()
    with pytest.raises(NephilaError, match="upgrade Nephila"):
        open_writer(path, FIRST)


@pytest.mark.parametrize("content", [b"", b"not a database at all" * 100])
def test_what_is_no_database_is_damage_and_stays_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(content)
    for opened in (lambda: open_writer(path, FIRST), lambda: open_reader(path)):
        with pytest.raises(DamagedError, match=r"a\.db.*nephila repair"):
            opened()
    assert path.read_bytes() == content
    assert problems(path)


def test_a_database_that_vanished_is_not_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with pytest.raises(DamagedError, match="missing"):
        open_writer(path, FIRST, must_exist=True)
    path.with_name("a.db-wal").write_bytes(b"what is left")
    with pytest.raises(DamagedError, match="missing"):
        open_writer(path, FIRST)
    assert not path.exists()


def test_a_database_of_someone_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    other = apsw.Connection(str(path))
    other.execute("CREATE TABLE diary (day TEXT)")
    other.close()
    with pytest.raises(DamagedError, match="not a test database"):
        open_writer(path, FIRST)


def test_a_missing_database_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(NephilaError, match="There is no"):
        open_reader(tmp_path / "a.db")


def test_a_database_in_a_read_only_folder_can_be_read(tmp_path: Path) -> None:
    path = filled(tmp_path / "a.db")
    tmp_path.chmod(0o555)
    try:
        assert len(rows(path)) == 3
    finally:
        tmp_path.chmod(0o755)


def test_random_damage_is_the_right_answer_or_a_sentence_never_something_else(tmp_path: Path) -> None:
    whole = filled(tmp_path / "a.db", 2000).read_bytes()
    expected = rows(tmp_path / "a.db")
    chance = random.Random(7)
    told = 0
    for _ in range(200):
        path = tmp_path / "damaged.db"
        broken = bytearray(whole)
        start = chance.randrange(len(whole))
        length = chance.choice([1, 16, 512, 4096])
        match chance.randrange(3):
            case 0:
                broken[start : start + length] = bytes(len(broken[start : start + length]))
            case 1:
                broken[start : start + length] = chance.randbytes(len(broken[start : start + length]))
            case 2:
                del broken[start:]
        path.write_bytes(broken)
        try:
            writer = open_writer(path, FIRST)
            writer.close()
            assert rows(path) == expected  # opens correct, or is told
        except NephilaError:
            told += 1
        assert path.exists()
        for leftover in tmp_path.glob("damaged.db-*"):
            leftover.unlink()
    assert told > 20


def test_a_single_changed_letter_is_told(tmp_path: Path) -> None:
    path = filled(tmp_path / "a.db", 2000)
    content = path.read_bytes()
    assert content.count(b"http://example.org/777") == 1
    path.write_bytes(content.replace(b"http://example.org/777", b"http://example.org/778"))
    with pytest.raises(DamagedError, match="checksum"):
        rows(path)
    assert problems(path)


def test_a_build_without_checksums_does_not_write_where_there_are_some(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = filled(tmp_path / "a.db")
    monkeypatch.setattr(database, "_checksum_vfs", lambda: None)
    with pytest.raises(NephilaError, match="install apsw"):
        open_writer(path, FIRST)
    assert len(rows(path)) == 3
    assert len(rows(filled(tmp_path / "b.db"))) == 3


def test_other_programs_read_the_database_too(tmp_path: Path) -> None:
    path = filled(tmp_path / "a.db")
    other = sqlite3.connect(path)
    assert other.execute("SELECT count(*) FROM pages").fetchall() == [(3,)]
    other.close()


def test_a_full_check_finds_what_opening_does_not(tmp_path: Path) -> None:
    path = filled(tmp_path / "a.db", 2000)
    assert problems(path) == ()
    content = bytearray(path.read_bytes())
    content[5 * 4096 : 6 * 4096] = bytes(4096)
    path.write_bytes(content)
    open_writer(path, FIRST).close()
    assert problems(path)
