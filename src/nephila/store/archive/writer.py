"""The archive of one slot, growing at its end: in come exchanges, out come the places they were put.

The order that loses nothing (DESIGN: Commit order): `append` a group, `sync`, then commit `position` with the
group's rows. A writer is opened at the committed position and cuts off what lies behind it, because that never
happened. Not for two threads at once; one writer thread is meant, and most of its time is spent outside the GIL.

Crash points: warc.half_member, warc.appended, warc.synced, warc.rotating, warc.recovering.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from nephila.config.sections import Archive
from nephila.errors import DamagedError
from nephila.store.archive.encode import RecordId, exchange_members, random_record_id, warcinfo_member
from nephila.store.archive.exchange import Exchange, Placed, Position, Software
from nephila.store.archive.names import archive_files, file_name, file_number
from nephila.store.durable import REAL_DISK, AppendFile, Disk, crash_point, disk_errors, make_directory

UNCOMMITTED: Final = ".uncommitted"


class ArchiveWriter:
    """Appends to the newest file of a slot and begins the next one at `settings.rotate_size`."""

    def __init__(
        self,
        directory: Path,
        slot: int,
        settings: Archive,
        software: Software,
        committed: Position | None,
        disk: Disk = REAL_DISK,
        new_record_id: RecordId = random_record_id,
    ) -> None:
        """Open at `committed`, the position in the slot's database; None when nothing was ever committed."""
        self._directory = directory
        self._slot = slot
        self._settings = settings
        self._software = software
        self._disk = disk
        self._new_record_id = new_record_id
        self._file: AppendFile | None = None
        self._names_changed = False
        make_directory(directory, disk)
        if committed is None:
            self._set_all_aside()
        else:
            self._cut_back(committed)

    @property
    def position(self) -> Position | None:
        """Where the archive ends; to be committed after `sync`, never before."""
        return None if self._file is None else Position(self._file.path.name, self._file.size_bytes)

    @property
    def _file_name(self) -> str:
        assert self._file is not None
        return self._file.path.name

    def append(self, exchanges: Iterable[Exchange]) -> list[Placed]:
        """Write a group: all of it or, if that fails, nothing of it."""
        before = self.position
        try:
            placed = self._append(exchanges)
        except BaseException:
            self.rewind(before)
            raise
        crash_point("warc.appended")
        return placed

    def sync(self) -> None:
        """Wait until everything appended is on the disk; if that fails, `rewind` to the committed position."""
        if self._settings.sync and self._file is not None:
            self._file.sync()
            self._sync_names()
        crash_point("warc.synced")

    def rewind(self, position: Position | None) -> None:
        """Forget what was appended behind `position`, which this writer told or was opened at."""
        self.close()
        if position is None:
            self._remove(archive_files(self._directory))
        else:
            self._cut_back(position)

    def close(self) -> None:
        if self._file is not None:
            file, self._file = self._file, None
            file.close()

    def _append(self, exchanges: Iterable[Exchange]) -> list[Placed]:
        placed: list[Placed] = []
        pending: list[bytes] = []
        end = 0 if self._file is None else self._file.size_bytes
        for exchange in exchanges:
            if self._file is None or end >= self._settings.rotate_size:
                self._write(pending)
                pending = [self._begin_file(exchange.fetched_at)]
                end = len(pending[0])
            members = exchange_members(exchange, self._new_record_id)
            placed.append(Placed(self._file_name, end, len(members[0])))
            pending += members
            end += sum(map(len, members))
        self._write(pending)
        return placed

    def _write(self, pending: list[bytes]) -> None:
        if pending:
            assert self._file is not None
            self._file.append(b"".join(pending), half_point="warc.half_member")

    def _begin_file(self, at: float) -> bytes:
        """End the newest file and open the next one; gives the warcinfo record that goes to its head."""
        number = 1
        if self._file is not None:
            number = file_number(self._file.path.name) + 1
            if self._settings.sync:
                self._file.sync()
            self.close()
        crash_point("warc.rotating")
        name = file_name(self._slot, number)
        self._file = AppendFile(self._directory / name, self._disk)
        assert self._file.size_bytes == 0, "files behind the committed position were removed when the writer was opened"
        self._names_changed = True
        return warcinfo_member(name, at, self._new_record_id(), self._software)

    def _cut_back(self, position: Position) -> None:
        path = self._directory / position.file
        size_bytes = path.stat().st_size if path.is_file() else -1
        if size_bytes < position.offset:
            raise DamagedError(
                f"{path} is missing or shorter than the {position.offset} bytes that were committed; "
                "run `nephila repair` to ask for the lost pages again."
            )
        number = file_number(position.file)
        self._remove([later for later in archive_files(self._directory) if file_number(later.name) > number])
        crash_point("warc.recovering")
        self._file = AppendFile(path, self._disk)
        if size_bytes > position.offset:
            self._file.truncate(position.offset)

    def _remove(self, files: Sequence[Path]) -> None:
        # Newest first: whatever interrupts this, the files that are left have no gap in their numbers.
        for path in reversed(files):
            with disk_errors(path):
                self._disk.remove(path)
            self._names_changed = True
        self._sync_names()

    def _set_all_aside(self) -> None:
        # A kill before the first commit leaves a file or two; a database lost by accident leaves a whole archive.
        # Both look the same from here, so nothing is deleted: `nephila repair` can still read what was set aside.
        for path in archive_files(self._directory):
            with disk_errors(path):
                self._disk.replace(path, path.with_name(path.name + UNCOMMITTED))
            self._names_changed = True
        self._sync_names()

    def _sync_names(self) -> None:
        if self._names_changed:
            with disk_errors(self._directory):
                self._disk.sync_directory(self._directory)
            self._names_changed = False
