"""Faults of the disk, planted at the two doors through which a crawl writes: `durable.RealDisk` and SQLite's own files.

full:N            the N-th write of a process finds no room; there is room for all others
full-while:PATH   no write finds room while PATH exists
checkpoint:N      SIGKILL at the N-th write into a database proper, which is always in a checkpoint
clock:S:AFTER     the wall clock jumps by S seconds, AFTER seconds after the process has begun
poison:WORDS      whoever takes a page with these words apart is killed, or where "softly" follows them, raises
power:N:SEED:TO   at the N-th write or sync the power goes: what a disk might hold then is written below TO
"""

from __future__ import annotations

import errno
import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw

from nephila.store import database
from nephila.store.durable import RealDisk

SECTOR_BYTES = 4096


class Fault:
    """What happens at a write or a sync; nothing here."""

    def __init__(self) -> None:
        self.durable: dict[Path, bytes] = {}

    def opened(self, path: Path) -> None: ...

    def before_write(self, path: Path) -> None:
        """May raise `OSError`."""

    def changed(self, path: Path) -> None: ...

    def synced(self, path: Path) -> None: ...

    def renamed(self, source: Path, target: Path) -> None: ...

    def directory_synced(self, path: Path) -> None: ...


class FullAt(Fault):
    def __init__(self, nth: int) -> None:
        super().__init__()
        self._left = nth

    def before_write(self, path: Path) -> None:
        self._left -= 1
        if self._left == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class FullWhile(Fault):
    def __init__(self, flag: Path) -> None:
        super().__init__()
        self._flag = flag

    def before_write(self, path: Path) -> None:
        if self._flag.exists():
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class KillInCheckpoint(Fault):
    def __init__(self, nth: int) -> None:
        super().__init__()
        self._left = nth

    def changed(self, path: Path) -> None:
        if path.name.endswith(".db"):
            self._left -= 1
            if self._left == 0:
                os.kill(os.getpid(), signal.SIGKILL)


class PowerCut(Fault):
    """Knows what was synced; at the cut each sector that was not survives or does not, each unsynced name neither."""

    def __init__(self, nth: int, seed: int, root: Path, target: Path) -> None:
        super().__init__()
        self._left = nth
        self._chance = random.Random(seed)
        self._root, self._target = root, target
        self._written: set[Path] = set()
        self._loose: dict[Path, bytes | None] = {}  # made or renamed, and its directory not yet synced: what was before

    def opened(self, path: Path) -> None:
        if path not in self._written and not path.exists():
            self._loose[path] = None
        self._written.add(path)
        self.durable.setdefault(path, path.read_bytes() if path.exists() else b"")

    def changed(self, path: Path) -> None:
        self._event()

    def synced(self, path: Path) -> None:
        if path.exists():
            self.durable[path] = path.read_bytes()
        if path.name.endswith(("-wal", "-journal")):
            self._loose.pop(path, None)  # SQLite syncs the directory of a new journal with its first sync
        self._event()

    def renamed(self, source: Path, target: Path) -> None:
        self._loose[target] = self._loose.get(target, self.durable.get(target))
        self._loose.pop(source, None)
        self.durable[target] = self.durable.pop(source, b"")
        self._written.add(target)
        self._event()

    def directory_synced(self, path: Path) -> None:
        self._loose = {target: old for target, old in self._loose.items() if target.parent != path}
        self._event()

    def _event(self) -> None:
        self._left -= 1
        if self._left:
            return
        for path in self._written:
            if path.exists() and path.is_relative_to(self._root) and not path.name.endswith("-shm"):
                content = after_power_cut(self.durable.get(path, b""), path.read_bytes(), self._chance)
                if path in self._loose and self._chance.random() < 0.5:
                    before = self._loose[path]
                    if before is None:
                        continue  # the file never got its name
                    content = before
                copy = self._target / path.relative_to(self._root)
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(content)
        os.kill(os.getpid(), signal.SIGKILL)


def after_power_cut(durable: bytes, written: bytes, chance: random.Random) -> bytes:
    """What a disk may hold when only `durable` was synced: each sector old or new, the size old, new or between."""
    if durable == written:
        return durable
    size = chance.choice([len(durable), len(written), chance.randint(*sorted((len(durable), len(written))))])
    result = bytearray(size)
    for start in range(0, size, SECTOR_BYTES):
        sector = slice(start, min(start + SECTOR_BYTES, size))
        kept = written[sector] if chance.random() < 0.5 else durable[sector]
        result[start : start + len(kept)] = kept
    return bytes(result)


def install(text: str) -> None:
    kind, _, rest = text.partition(":")
    match kind:
        case "full":
            fault: Fault = FullAt(int(rest))
        case "full-while":
            fault = FullWhile(Path(rest))
        case "checkpoint":
            fault = KillInCheckpoint(int(rest))
            database._CHECKPOINT_PAGES = 20  # type: ignore[misc]
        case "clock":
            _set_clock(*map(float, rest.split(":")))
            return
        case "poison":
            _poison(rest)
            return
        case "power":
            nth, seed, root, target = rest.split(":")
            fault = PowerCut(int(nth), int(seed), Path(root), Path(target))
            database._CHECKPOINT_PAGES = 50  # type: ignore[misc]
        case _:
            raise ValueError(text)
    _at_the_disk(fault)
    _below_sqlite(fault)


def _poison(words: str) -> None:
    from nephila.crawl import recording

    real = recording.harvest_or_nothing

    def deadly(url: str, fetched: Any, *rest: Any) -> Any:
        if f"{words} softly".encode() in fetched.payload:
            raise RuntimeError(words)
        if words.encode() in fetched.payload:
            os.kill(os.getpid(), signal.SIGSEGV)
        return real(url, fetched, *rest)

    recording.harvest_or_nothing = deadly


def _set_clock(jump_s: float, after_s: float) -> None:
    real_time, begun = time.time, time.monotonic()
    time.time = lambda: real_time() + (jump_s if time.monotonic() - begun >= after_s else 0.0)


def _at_the_disk(fault: Fault) -> None:
    paths: dict[int, Path] = {}
    real = RealDisk
    open_append, write, sync, replace, sync_directory = (
        real.open_append, real.write, real.sync, real.replace, real.sync_directory,
    )  # fmt: skip

    def opened(self: RealDisk, path: Path) -> int:
        fault.opened(path.absolute())
        descriptor = open_append(self, path)
        paths[descriptor] = path.absolute()
        return descriptor

    def written(self: RealDisk, descriptor: int, content: memoryview) -> int:
        fault.before_write(paths[descriptor])
        count = write(self, descriptor, content)
        fault.changed(paths[descriptor])
        return count

    def synced(self: RealDisk, descriptor: int) -> None:
        sync(self, descriptor)
        fault.synced(paths[descriptor])

    def replaced(self: RealDisk, source: Path, target: Path) -> None:
        replace(self, source, target)
        fault.renamed(source.absolute(), target.absolute())

    def directory_synced(self: RealDisk, path: Path) -> None:
        sync_directory(self, path)
        fault.directory_synced(path.absolute())

    for name, method in (("open_append", opened), ("write", written), ("sync", synced), ("replace", replaced),
                         ("sync_directory", directory_synced)):  # fmt: skip
        setattr(real, name, method)


def _below_sqlite(fault: Fault) -> None:
    below: str = database._checksum_vfs() or "unix"

    class File(apsw.VFSFile):
        def __init__(self, name: Any, flags: list[int]) -> None:
            self._path = Path(name.filename() if isinstance(name, apsw.URIFilename) else name).absolute()
            fault.opened(self._path)
            super().__init__(below, name, flags)

        def xWrite(self, data: bytes, offset: int) -> None:
            _as_sqlite_says(lambda: fault.before_write(self._path))
            super().xWrite(data, offset)
            fault.changed(self._path)

        def xLock(self, level: int) -> None:
            # A reader that is the last to leave is refused a lock; SQLite does not mind, a layer in Python would.
            try:
                super().xLock(level)
            except apsw.IOError:
                raise apsw.BusyError from None

        def xTruncate(self, newsize: int) -> None:
            super().xTruncate(newsize)
            fault.changed(self._path)

        def xSync(self, flags: int) -> None:
            super().xSync(flags)
            fault.synced(self._path)

    class System(apsw.VFS):
        def __init__(self) -> None:
            super().__init__("faulty", below)

        def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:
            return File(name, flags) if name else apsw.VFSFile(below, name, flags)

    system = System()
    database._checksum_vfs = lambda: system.vfs_name  # type: ignore[assignment]
    system.vfs_name = "faulty"  # type: ignore[attr-defined]


def _as_sqlite_says(act: Callable[[], None]) -> None:
    try:
        act()
    except OSError as problem:
        raise apsw.FullError(str(problem)) from None
