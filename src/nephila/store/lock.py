"""One process at a time: a lock that dies with its holder.

`flock` on an open file is freed by the kernel however the holder ends, so a kill -9 leaves nothing behind that a
person would have to delete (RELIABILITY F9). The file's content only serves the sentence the second process prints.
"""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import msgspec

from nephila.errors import FolderInUseError
from nephila.store.durable import disk_errors

_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")
_POLL_S: Final = 0.02
_held: set[int] = set()


class Holder(msgspec.Struct, frozen=True):
    """Who holds a lock, as it wrote itself into the file."""

    pid: int
    boot_id: str
    command: str


class FileLock:
    """A lock that is held from `take` until `release`, the end of a `with` block or the end of the process."""

    __slots__ = ("_descriptor", "path")

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor

    @classmethod
    def take(cls, path: Path, command: str, *, subject: str, wait_s: float = 0.0) -> Self:
        """Hold the lock or raise FolderInUseError about `subject` after at most `wait_s` real seconds."""
        with disk_errors(path):
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        if not _locked_within(descriptor, wait_s):
            holder = _holder(descriptor)
            os.close(descriptor)
            raise FolderInUseError(_refusal(subject, holder, _boot_id()))
        with disk_errors(path):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, msgspec.json.encode(Holder(os.getpid(), _boot_id(), command)) + b"\n", 0)
        _held.add(descriptor)
        return cls(path, descriptor)

    def release(self) -> None:
        if self._descriptor >= 0:
            descriptor, self._descriptor = self._descriptor, -1
            _held.discard(descriptor)
            os.close(descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def is_held(path: Path) -> bool:
    """Whether some process holds the lock now; takers wait half a second, longer than this look takes."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _locked_within(descriptor: int, wait_s: float) -> bool:
    until = time.monotonic() + wait_s
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if time.monotonic() >= until:
                return False
            time.sleep(_POLL_S)


def _holder(descriptor: int) -> Holder | None:
    try:
        return msgspec.json.decode(os.pread(descriptor, 65_536, 0), type=Holder)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None  # the holder has the lock and has not yet written who it is


def _refusal(subject: str, holder: Holder | None, boot_id: str) -> str:
    if holder is None:
        return f"{subject} is in use by another process; wait until it ends, or stop it."
    where = "" if holder.boot_id == boot_id else " on another machine"
    return (
        f"{subject} is in use by process {holder.pid}{where} ({holder.command}); wait until it ends, or stop it, "
        "then run the same command again."
    )


def _boot_id() -> str:
    try:
        return _BOOT_ID.read_text().strip()
    except OSError:
        return ""


def _forget_in_child() -> None:
    # A forked child shares the open file and would keep the lock alive after its parent was killed.
    for descriptor in _held:
        os.close(descriptor)
    _held.clear()


os.register_at_fork(after_in_child=_forget_in_child)
