"""How much room is left, and a reserve that lets the last commits through when there is none (RELIABILITY F4)."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Final

from nephila.store.durable import disk_errors

RESERVE_BYTES: Final = 64 * 2**20


def free_bytes(path: Path) -> int:
    """Bytes that this user may still write on the disk of `path`."""
    found = os.statvfs(path)
    return found.f_bavail * found.f_frsize


GO_ON_AT: Final = 1.25
"""So many times the room at which fetching pauses must be free before it goes on: no swinging about the limit."""


def must_pause(free: int, in_flight_bytes: int) -> bool:
    """Whether fetching must stop before the disk does: what is under way has to fit twice (archive and state)."""
    return free < 2 * in_flight_bytes + RESERVE_BYTES


def may_go_on(free: int, in_flight_bytes: int) -> bool:
    """Whether a crawl that paused has room enough again."""
    return free >= GO_ON_AT * (2 * in_flight_bytes + RESERVE_BYTES)


class Reserve:
    """Real bytes on the disk, given back at the moment when the last group must still be committed."""

    __slots__ = ("path", "size_bytes")

    def __init__(self, path: Path, size_bytes: int = RESERVE_BYTES) -> None:
        self.path = path
        self.size_bytes = size_bytes

    @property
    def is_held(self) -> bool:
        return self.path.exists()

    def hold(self) -> None:
        """Take the room, or raise DiskFullError; holding twice is holding once."""
        held_bytes = self.path.stat().st_size if self.path.exists() else 0
        with disk_errors(self.path):
            if self.size_bytes - held_bytes > free_bytes(self.path.parent):
                # Asking first: an allocation that fails has taken everybody's last bytes meanwhile.
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                os.posix_fallocate(descriptor, 0, self.size_bytes)
            except OSError:
                self.release()
                raise
            finally:
                os.close(descriptor)

    def release(self) -> None:
        self.path.unlink(missing_ok=True)
