"""The one door for bytes that must survive a kill, a full disk or a power cut.

In come bytes and paths, out go system calls in the order that keeps them: write, sync, rename, sync the directory.
Writers take a `Disk`, so that a test can drop what was never synced, or run out of room at the n-th write.

`crash_point(name)` marks an instant worth dying at. NEPHILA_CRASH_AT="name:nth" kills the process with SIGKILL when
it passes that point for the nth time; without the variable a point costs one look at a global.
"""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, Protocol

from nephila.errors import DiskFullError, NephilaError, UsageError

CRASH_VARIABLE: Final = "NEPHILA_CRASH_AT"
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class Disk(Protocol):
    """The few system calls that writers make; `OSError` is what goes wrong."""

    def open_append(self, path: Path) -> int:
        """Open `path` for appending, made if absent, and give its descriptor."""

    def size_bytes(self, descriptor: int) -> int: ...

    def write(self, descriptor: int, content: memoryview) -> int:
        """Append some of `content` and say how many bytes that was."""

    def sync(self, descriptor: int) -> None: ...

    def truncate(self, descriptor: int, size_bytes: int) -> None: ...

    def close(self, descriptor: int) -> None: ...

    def replace(self, source: Path, target: Path) -> None: ...

    def remove(self, path: Path) -> None: ...

    def sync_directory(self, path: Path) -> None:
        """Make the names in `path` durable: a new, renamed or removed file is otherwise only a rumour."""


class RealDisk:
    """The disk of this machine."""

    def open_append(self, path: Path) -> int:
        return os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)

    def size_bytes(self, descriptor: int) -> int:
        return os.fstat(descriptor).st_size

    def write(self, descriptor: int, content: memoryview) -> int:
        return os.write(descriptor, content)

    def sync(self, descriptor: int) -> None:
        os.fdatasync(descriptor)

    def truncate(self, descriptor: int, size_bytes: int) -> None:
        os.ftruncate(descriptor, size_bytes)

    def close(self, descriptor: int) -> None:
        os.close(descriptor)

    def replace(self, source: Path, target: Path) -> None:
        source.replace(target)

    def remove(self, path: Path) -> None:
        path.unlink()

    def sync_directory(self, path: Path) -> None:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


REAL_DISK: Final = RealDisk()


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Turn what the system says about `path` into one sentence that says what to do."""
    try:
        yield
    except OSError as problem:
        raise explained(problem, path) from problem


def explained(problem: OSError, path: Path) -> NephilaError:
    """The sentence for a failed write: a full disk has its own error, everything else names the file."""
    if problem.errno in _FULL:
        return DiskFullError(
            f"No room left to write {path}; everything committed is safe: make room and run the same command again."
        )
    reason = problem.strerror or str(problem)
    if problem.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return NephilaError(f"Cannot write {path} ({reason}); give yourself the right to write there.")
    return NephilaError(f"Cannot write {path} ({reason}); check the disk and run the same command again.")


class AppendFile:
    """A file that only grows at its end, and is cut back only on purpose; `size_bytes` is where the end is."""

    __slots__ = ("_descriptor", "_disk", "path", "size_bytes")

    def __init__(self, path: Path, disk: Disk = REAL_DISK) -> None:
        self.path = path
        self._disk = disk
        with disk_errors(path):
            self._descriptor = disk.open_append(path)
            self.size_bytes = disk.size_bytes(self._descriptor)

    def append(self, content: bytes, half_point: str = "") -> None:
        """Write all of `content`; a crash planned at `half_point` finds half of it written."""
        with disk_errors(self.path):
            if half_point and crash_planned(half_point):
                middle = len(content) // 2
                self._write_all(content[:middle])
                crash_point(half_point)
                content = content[middle:]
            self._write_all(content)

    def _write_all(self, content: bytes) -> None:
        rest = memoryview(content)
        while rest:
            written = self._disk.write(self._descriptor, rest)
            self.size_bytes += written
            rest = rest[written:]

    def sync(self) -> None:
        with disk_errors(self.path):
            self._disk.sync(self._descriptor)

    def truncate(self, size_bytes: int) -> None:
        """Forget what lies behind `size_bytes`, durably."""
        with disk_errors(self.path):
            self._disk.truncate(self._descriptor, size_bytes)
            self.size_bytes = size_bytes
            self._disk.sync(self._descriptor)

    def close(self) -> None:
        if self._descriptor >= 0:
            descriptor, self._descriptor = self._descriptor, -1
            with disk_errors(self.path):
                self._disk.close(descriptor)


def replace_file(path: Path, content: bytes, disk: Disk = REAL_DISK) -> None:
    """Give `path` a new content so that, whatever happens, it holds all of the old one or all of the new one."""
    aside = aside_of(path)
    with disk_errors(aside), suppress(FileNotFoundError):
        disk.remove(aside)
    file = AppendFile(aside, disk)
    try:
        file.append(content, half_point="durable.half_aside")
        file.sync()
    except NephilaError:
        file.close()
        with suppress(OSError):
            disk.remove(aside)
        raise
    file.close()
    publish(aside, path, disk)


def publish(aside: Path, path: Path, disk: Disk = REAL_DISK) -> None:
    """Rename a synced `aside` into place, durably."""
    with disk_errors(path):
        crash_point("durable.before_rename")
        disk.replace(aside, path)
        crash_point("durable.after_rename")
        disk.sync_directory(path.parent)


def aside_of(path: Path) -> Path:
    """Where `path` is prepared; a leftover of a killed process has this name and may be removed."""
    return path.with_name(path.name + ".aside")


def remove_file(path: Path, disk: Disk = REAL_DISK) -> None:
    with disk_errors(path):
        disk.remove(path)
        disk.sync_directory(path.parent)


def make_directory(path: Path, disk: Disk = REAL_DISK) -> None:
    """Make `path` and what is missing above it, durably; one that exists is left as it is."""
    missing: list[Path] = []
    while not path.is_dir():
        missing.append(path)
        path = path.parent
    for directory in reversed(missing):
        with disk_errors(directory):
            directory.mkdir(exist_ok=True)
            disk.sync_directory(directory.parent)


class _CrashPlan:
    __slots__ = ("left", "name")

    def __init__(self, text: str) -> None:
        self.name, _, nth = text.rpartition(":")
        if not self.name or not nth.isdecimal() or int(nth) == 0:
            raise UsageError(f'{CRASH_VARIABLE}={text!r} is not of the form "name:nth", such as "warc.appended:3".')
        self.left = int(nth)


_crash_plan = _CrashPlan(os.environ[CRASH_VARIABLE]) if os.environ.get(CRASH_VARIABLE) else None


def crash_planned(name: str) -> bool:
    """Whether this process is to die at some pass of `name`."""
    return _crash_plan is not None and _crash_plan.name == name


def crash_point(name: str) -> None:
    """Die here, without any clean-up, if this is the pass that NEPHILA_CRASH_AT names."""
    if _crash_plan is None or _crash_plan.name != name:
        return
    _crash_plan.left -= 1
    if _crash_plan.left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
