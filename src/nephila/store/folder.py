"""The crawl folder: which name stands for what, whether a path is a crawl, and who works on it.

In comes a path, out comes a `CrawlFolder`, or one sentence about why not; nothing is touched on the way to a
refusal. A folder is a crawl from the moment `state/version` exists; that file is published by rename, so a process
killed while making the folder leaves either a crawl or a beginning that the same command completes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from nephila.errors import DamagedError, NephilaError, UsageError
from nephila.store.durable import aside_of, make_directory, replace_file
from nephila.store.lock import FileLock, is_held

FORMAT_VERSION: Final = 1
_SLOT_NAME: Final = re.compile(r"agent-(\d{2,})(?:\.db)?")


@dataclass(frozen=True, slots=True)
class CrawlFolder:
    """The contract's names below `path` (DESIGN: The crawl folder)."""

    path: Path

    @classmethod
    def create(cls, path: Path) -> Self:
        """Make a crawl folder at `path`, or open the one that is there."""
        folder = cls(path)
        match _kind(path):
            case "crawl":
                return cls.open(path)
            case "file":
                raise UsageError(f"{path} is a file; name a folder for the crawl with -C DIR.")
            case "other":
                raise UsageError(
                    f"{path} is not empty and not a crawl folder; it was left alone: name another folder with -C."
                )
        make_directory(folder.state)
        replace_file(folder.version_file, f"{FORMAT_VERSION}\n".encode())
        return folder

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open an existing crawl folder; nothing is written."""
        match _kind(path):
            case "missing" | "begun":
                raise UsageError(f"There is no crawl in {path}; start one with `nephila crawl SEED -C {path}`.")
            case "file":
                raise UsageError(f"{path} is a file, not a crawl folder; name the folder with -C DIR.")
            case "other":
                raise UsageError(
                    f"{path} is not a crawl folder (it has no state/version); name the right one with -C DIR."
                )
        folder = cls(path)
        _check_version(folder.version_file)
        return folder

    @classmethod
    def damaged(cls, path: Path) -> Self:
        """A folder that may have lost its version, for repair; a folder that never was a crawl is refused."""
        folder = cls(path)
        has_state = folder.state.is_dir() and any(folder.state.glob("*.db*"))
        has_archive = folder.archive.is_dir() and any(folder.archive.glob("agent-*/*.warc.gz"))
        if not (folder.version_file.is_file() or has_state or has_archive):
            raise UsageError(f"There is no crawl in {path} to repair; name the folder with -C DIR.")
        if folder._has_version():
            _check_version(folder.version_file)
        return folder

    def renew_version(self) -> bool:
        """Write the version where it is lost; True if it was."""
        if self._has_version():
            return False
        make_directory(self.state)
        replace_file(self.version_file, f"{FORMAT_VERSION}\n".encode())
        return True

    def _has_version(self) -> bool:
        file = self.version_file
        return file.is_file() and file.read_text(encoding="ascii", errors="replace").strip().isdecimal()

    @staticmethod
    def is_crawl(path: Path) -> bool:
        return _kind(path) == "crawl"

    def lock(self, command: str, *, wait_s: float = 0.0) -> FileLock:
        """Be the only one who changes this crawl (RELIABILITY F9); FolderInUseError otherwise."""
        return FileLock.take(self.state / "lock", command, subject=f"The crawl folder {self.path}", wait_s=wait_s)

    def in_use(self) -> bool:
        """Whether a process that changes this crawl is at work."""
        return is_held(self.state / "lock")

    def lock_slot(self, slot: int, command: str, *, wait_s: float = 0.0) -> FileLock:
        """Be the only agent of `slot`; a new start waits a little for agents whose coordinator was killed."""
        path = self.state / f"{slot_name(slot)}.lock"
        return FileLock.take(path, command, subject=f"Slot {slot_name(slot)} of {self.path}", wait_s=wait_s)

    def slots(self) -> tuple[int, ...]:
        """The slots that have an archive or a database, in order."""
        found: set[int] = set()
        for directory in (self.archive, self.state):
            if directory.is_dir():
                names = (_SLOT_NAME.fullmatch(entry.name) for entry in directory.iterdir())
                found.update(int(name[1]) for name in names if name)
        return tuple(sorted(found))

    def archive_of(self, slot: int) -> Path:
        return self.archive / slot_name(slot)

    def agent_database(self, slot: int) -> Path:
        return self.state / f"{slot_name(slot)}.db"

    def agent_databases(self) -> list[tuple[int, Path]]:
        """The slots that have a database, with it, in order."""
        paths = ((slot, self.agent_database(slot)) for slot in self.slots())
        return [(slot, path) for slot, path in paths if path.exists()]

    def in_hand(self, slot: int) -> Path:
        """What the slot's agent is working on, for whoever comes after it."""
        return self.state / f"{slot_name(slot)}.hand"

    @property
    def coordinator_database(self) -> Path:
        return self.state / "coordinator.db"

    @property
    def reserve(self) -> Path:
        """Room that a running crawl holds for its last commits."""
        return self.state / "reserve"

    @property
    def config_file(self) -> Path:
        return self.path / "nephila.toml"

    @property
    def seeds_out(self) -> Path:
        return self.path / "seeds.out"

    @property
    def archive(self) -> Path:
        return self.path / "archive"

    @property
    def cdxj(self) -> Path:
        return self.archive / "index.cdxj"

    @property
    def state(self) -> Path:
        return self.path / "state"

    @property
    def version_file(self) -> Path:
        return self.state / "version"

    @property
    def tables(self) -> Path:
        return self.path / "tables"

    @property
    def plan(self) -> Path:
        return self.path / "plan"

    @property
    def control(self) -> Path:
        return self.path / "control"

    @property
    def rank(self) -> Path:
        return self.path / "rank"

    @property
    def index(self) -> Path:
        return self.path / "index"

    @property
    def logs(self) -> Path:
        return self.path / "logs"

    @property
    def report(self) -> Path:
        return self.path / "report"

    @property
    def study(self) -> Path:
        return self.path / "study"

    @property
    def batches(self) -> Path:
        return self.path / "batches"

    def batch(self, number: int) -> Path:
        return self.batches / f"{number:04}"


def slot_name(slot: int) -> str:
    return f"agent-{slot:02}"


def _kind(path: Path) -> str:
    """What stands at `path`: missing, file, crawl, begun (a creation that was cut short, or empty) or other."""
    try:
        if not path.is_dir():
            return "file" if path.exists() or path.is_symlink() else "missing"
        state = path / "state"
        if (state / "version").is_file():
            return "crawl"
        names = {entry.name for entry in path.iterdir()}
        if names - {"state"}:
            return "other"
        leftovers = {aside_of(state / "version").name, "lock"}
        return "begun" if not names or {entry.name for entry in state.iterdir()} <= leftovers else "other"
    except NotADirectoryError:
        return "other"
    except PermissionError as problem:
        raise NephilaError(
            f"Cannot look into {path} ({problem.strerror}); give yourself the right to read it."
        ) from None


def _check_version(file: Path) -> None:
    text = file.read_text(encoding="ascii", errors="replace").strip()
    if not text.isdecimal():
        raise DamagedError(f"{file} does not hold a version number; run `nephila repair -C {file.parent.parent}`.")
    if int(text) > FORMAT_VERSION:
        raise NephilaError(
            f"{file.parent.parent} was made by a newer Nephila (format {text}, this one knows {FORMAT_VERSION}); "
            "upgrade Nephila to work on it."
        )
