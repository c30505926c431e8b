"""Archive and database together when the power goes: what was acknowledged is in both, and nothing is in one alone.

A layer below SQLite and a disk below the archive watch every write and sync. At a chosen one of them they compute
what a real disk might hold if the power went at that instant: what was synced, and any part of the rest
(RELIABILITY F3). The run then ends normally, the files are put into that state, and recovery has to cope.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest
from archived_pages import open_archive, page, urls_in
from failing_disks import after_power_cut
from killable_writer import SCHEMA, committed_position

from nephila.store import database
from nephila.store.archive.names import archive_files
from nephila.store.archive.verify import verify
from nephila.store.database import open_writer, problems, transaction
from nephila.store.durable import RealDisk

BELOW = database._checksum_vfs() or "unix"
_numbers = itertools.count()


class Watch:
    """Counts writes and syncs, knows what is durable, and keeps the state of all files at the chosen event."""

    def __init__(self, seed: int, cut_at: int) -> None:
        self._chance = random.Random(seed)
        self._cut_at = cut_at
        self._durable: dict[Path, bytes] = {}
        self.events = 0
        self.acknowledged: list[str] = []
        self.acknowledged_at_cut: list[str] | None = None
        self._left: dict[Path, bytes | None] = {}

    def opened(self, path: Path) -> None:
        self._durable.setdefault(path, path.read_bytes() if path.exists() else b"")

    def changed(self) -> None:
        self.events += 1
        if self.events == self._cut_at:
            self.acknowledged_at_cut = list(self.acknowledged)
            for path, durable in self._durable.items():
                exists = path.exists()
                self._left[path] = after_power_cut(durable, path.read_bytes(), self._chance) if exists else None

    def synced(self, path: Path) -> None:
        self._durable[path] = path.read_bytes()
        self.changed()

    def put_files_into_the_state_at_the_cut(self) -> None:
        for path, content in self._left.items():
            path.unlink(missing_ok=True)
            if content is not None:
                path.write_bytes(content)


class WatchedDisk(RealDisk):
    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._paths: dict[int, Path] = {}

    def open_append(self, path: Path) -> int:
        self._watch.opened(path)
        descriptor = super().open_append(path)
        self._paths[descriptor] = path
        return descriptor

    def write(self, descriptor: int, content: memoryview) -> int:
        written = super().write(descriptor, content)
        self._watch.changed()
        return written

    def sync(self, descriptor: int) -> None:
        super().sync(descriptor)
        self._watch.synced(self._paths[descriptor])


class WatchedFile(apsw.VFSFile):
    def __init__(self, name: Any, flags: list[int], watch: Watch) -> None:
        self._path = Path(name.filename() if isinstance(name, apsw.URIFilename) else name)
        self._watch = watch
        watch.opened(self._path)
        super().__init__(BELOW, name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:
        super().xWrite(data, offset)
        self._watch.changed()

    def xTruncate(self, newsize: int) -> None:
        super().xTruncate(newsize)
        self._watch.changed()

    def xSync(self, flags: int) -> None:
        super().xSync(flags)
        self._watch.synced(self._path)


class WatchedSystem(apsw.VFS):
    def __init__(self, watch: Watch) -> None:
        self.vfs_name = f"watched-{next(_numbers)}"
        self._watch = watch
        super().__init__(self.vfs_name, BELOW)

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:
        return WatchedFile(name, flags, self._watch) if name else apsw.VFSFile(BELOW, name, flags)


@pytest.fixture
def watched_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Runs eight groups under a watch, in a folder of its own."""
    systems: list[WatchedSystem] = []

    def run(seed: int, cut_at: int, *, sync: bool = True) -> tuple[Path, Watch]:
        folder = tmp_path / f"{seed}-{cut_at}"
        folder.mkdir()
        open_writer(folder / "state.db", SCHEMA).close()
        watch = Watch(seed, cut_at)
        systems.append(WatchedSystem(watch))
        monkeypatch.setattr(database, "_checksum_vfs", lambda: systems[-1].vfs_name)
        monkeypatch.setattr(database, "_CHECKPOINT_PAGES", 6)  # so that the cut also falls into checkpoints
        connection = open_writer(folder / "state.db", SCHEMA, sync=sync)
        writer = open_archive(folder / "archive", disk=WatchedDisk(watch))
        for first in range(0, 24, 3):
            group = [page(first + part) for part in range(3)]
            writer.append(group)
            writer.sync()
            position = writer.position
            assert position is not None
            with transaction(connection):
                connection.executemany("INSERT INTO pages VALUES (?)", [(exchange.url,) for exchange in group])
                connection.execute("REPLACE INTO position VALUES (1, ?, ?)", (position.file, position.offset))
            watch.acknowledged += [exchange.url for exchange in group]
        writer.close()
        connection.close()
        monkeypatch.undo()
        watch.put_files_into_the_state_at_the_cut()
        return folder, watch

    yield run
    for system in systems:
        system.unregister()


def urls_in_state(folder: Path) -> list[str]:
    connection = open_writer(folder / "state.db", SCHEMA)
    found = [row[0] for row in connection.execute("SELECT url FROM pages")]
    connection.close()
    return sorted(found)


def test_state_and_archive_agree_wherever_the_power_goes(watched_runs: Any) -> None:
    _, whole = watched_runs(0, 0)
    assert whole.events > 60
    for cut_at in range(1, whole.events + 1, 2):
        # given the power going at this very write or sync
        folder, watch = watched_runs(cut_at * 7919, cut_at)
        # when the crawl is opened again
        in_state = urls_in_state(folder)
        committed = committed_position(folder)
        writer = open_archive(folder / "archive", committed)
        writer.append([page(999)])
        writer.sync()
        # then what was acknowledged is there, and state and archive hold the same
        assert watch.acknowledged_at_cut is not None
        assert set(watch.acknowledged_at_cut) <= set(in_state)
        assert len(in_state) - len(watch.acknowledged_at_cut) in (0, 3)
        assert sorted(urls_in(folder / "archive", committed)) == in_state
        assert problems(folder / "state.db") == ()
        assert [problem for path in archive_files(folder / "archive") for problem in verify(path).problems] == []


def test_without_full_synchronisation_acknowledged_pages_are_lost(watched_runs: Any) -> None:
    # The watch must be able to find something: commits that do not wait for the disk are lost in some of the cuts.
    lost = 0
    for cut_at in range(20, 50):
        folder, watch = watched_runs(cut_at, cut_at, sync=False)
        lost += not set(watch.acknowledged_at_cut) <= set(urls_in_state(folder))
    assert lost > 0
