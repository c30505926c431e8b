"""A crawl folder, made or opened for a command that changes it: its settings are read and kept, and it is ours."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nephila.config.layers import Effective, Layer, lay, read_file
from nephila.config.rendering import as_toml
from nephila.config.resuming import Change, resume
from nephila.store.durable import replace_file
from nephila.store.folder import CrawlFolder
from nephila.store.lock import FileLock


@dataclass(frozen=True, slots=True)
class Opened:
    """A crawl folder that is ours until `lock` is released."""

    folder: CrawlFolder
    lock: FileLock
    effective: Effective
    changes: tuple[Change, ...]
    is_new: bool


@dataclass(frozen=True, slots=True)
class Settings:
    """What a folder's settings would be; nothing is touched yet."""

    effective: Effective
    changes: tuple[Change, ...]
    is_new: bool  # there is no crawl yet
    is_kept: bool  # the folder has its settings


def read_settings(path: Path, given: Sequence[Layer], slots: int) -> Settings:
    """The folder's own settings with what is given laid over; a change of a fixed key is refused by name."""
    is_new = not CrawlFolder.is_crawl(path)
    kept = path / "nephila.toml"
    if is_new or not kept.exists():
        return Settings(lay([Layer("--agents", {"crawl.slots": slots}), *given]), (), is_new, False)
    resumed = resume(read_file(kept), given)
    return Settings(resumed.effective, resumed.changes, is_new, True)


def take_folder(path: Path, settings: Settings, command: str) -> Opened:
    """Make or open the folder, hold it, and keep its settings."""
    folder = CrawlFolder.create(path)
    lock = folder.lock(command, wait_s=0.5)
    try:
        if not settings.is_kept or settings.changes:
            stamp = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())
            notes = {change.name: f"changed {stamp}: was {change.before}" for change in settings.changes}
            replace_file(folder.config_file, as_toml(settings.effective, notes).encode())
    except BaseException:
        lock.release()
        raise
    return Opened(folder, lock, settings.effective, settings.changes, settings.is_new)


def open_folder(path: Path, given: Sequence[Layer], slots: int, command: str) -> Opened:
    """Both, for commands that need nothing else checked."""
    return take_folder(path, read_settings(path, given, slots), command)
