"""Disks that fail: one that loses what was not synced, one that has no room left."""

from __future__ import annotations

import errno
import os
import random
from collections.abc import Callable
from pathlib import Path

from nephila.store.durable import RealDisk

_SECTOR_BYTES = 4096


class FullDisk(RealDisk):
    """Says ENOSPC at the n-th write, after a part of it was written; there is room again when `refuse_at` is 0."""

    def __init__(self, refuse_at: int) -> None:
        self.refuse_at = refuse_at
        self.writes = 0

    def write(self, descriptor: int, content: memoryview) -> int:
        self.writes += 1
        if self.refuse_at and self.writes == self.refuse_at:
            os.write(descriptor, content[: len(content) // 3])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(descriptor, content)


class ForgetfulDisk(RealDisk):
    """Remembers what is durable, so that `cut_power` can leave only that and a random part of the rest.

    A file's bytes are durable after `sync`, a directory's names after `sync_directory`. At a power cut each sector
    that was written and not synced survives or becomes zeroes, each change of a name survives or not.
    """

    def __init__(self) -> None:
        self._paths: dict[int, Path] = {}
        self._durable: dict[Path, bytes] = {}
        self._undo_names: list[tuple[Path, Callable[[], None]]] = []

    def open_append(self, path: Path) -> int:
        is_new = not path.exists()
        descriptor = super().open_append(path)
        self._paths[descriptor] = path
        if is_new:
            self._durable[path] = b""
            self._undo_names.append((path.parent, lambda: path.unlink(missing_ok=True)))
        else:
            self._durable.setdefault(path, path.read_bytes())
        return descriptor

    def sync(self, descriptor: int) -> None:
        super().sync(descriptor)
        path = self._paths[descriptor]
        self._durable[path] = path.read_bytes()

    def remove(self, path: Path) -> None:
        content = path.read_bytes()
        super().remove(path)
        self._undo_names.append((path.parent, lambda: _write(path, content)))

    def replace(self, source: Path, target: Path) -> None:
        moved, replaced = source.read_bytes(), target.read_bytes() if target.exists() else None
        super().replace(source, target)
        self._durable[target] = self._durable.pop(source, moved)

        def undo() -> None:
            _write(source, moved)
            target.unlink() if replaced is None else _write(target, replaced)

        self._undo_names.append((target.parent, undo))

    def sync_directory(self, path: Path) -> None:
        super().sync_directory(path)
        self._undo_names = [(parent, undo) for parent, undo in self._undo_names if parent != path]

    def cut_power(self, seed: int) -> None:
        chance = random.Random(seed)
        for path, durable in self._durable.items():
            if path.exists():
                _write(path, after_power_cut(durable, path.read_bytes(), chance))
        # A journal writes changes of names in order: if one is lost, so are all later ones.
        lost = chance.randint(0, len(self._undo_names))
        for _, undo in reversed(self._undo_names[len(self._undo_names) - lost :]):
            undo()


def after_power_cut(durable: bytes, written: bytes, chance: random.Random) -> bytes:
    """What a disk may hold when only `durable` was synced: each sector old or new, the size old, new or between."""
    if durable == written:
        return durable
    size = chance.choice([len(durable), len(written), chance.randint(*sorted((len(durable), len(written))))])
    result = bytearray(size)
    for start in range(0, size, _SECTOR_BYTES):
        sector = slice(start, min(start + _SECTOR_BYTES, size))
        kept = written[sector] if chance.random() < 0.5 else durable[sector]
        result[start : start + len(kept)] = kept
    return bytes(result)


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)
