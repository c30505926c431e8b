"""Which index is in force: one small JSON file in `index/`, renamed into place after everything it names is on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

from nephila.errors import DamagedError, NephilaError
from nephila.search.fields import VERSION
from nephila.search.wording import Korean
from nephila.store.durable import replace_file
from nephila.store.folder import CrawlFolder

NAME: Final = "manifest.json"


class Inputs(msgspec.Struct, frozen=True):
    """What an index was made from; equal inputs need no new one."""

    files: dict[str, tuple[int, int, int]]
    """of tables and ranks: name, size, inode and time of change"""
    settings: str


class Manifest(msgspec.Struct, frozen=True):
    """The index in force."""

    generation: int
    pages: int
    sites: int
    """sites with a page in the index"""
    rank_weight: float
    """with which the order of tantivy's best answers was prepared"""
    korean: Korean
    """how Korean words were cut"""
    inputs: Inputs
    version: int = VERSION

    @property
    def folder_name(self) -> str:
        return folder_name(self.generation)


def folder_name(generation: int) -> str:
    return f"g{generation:06}"


class _Head(msgspec.Struct, frozen=True):
    """What every version's manifest says."""

    version: int


def read_manifest(folder: CrawlFolder) -> Manifest | None:
    """None before the first index, and where it is of another version: then all of it is made anew."""
    path = folder.index / NAME
    try:
        content = path.read_bytes()
        if msgspec.json.decode(content, type=_Head).version != VERSION:
            return None
        return msgspec.json.decode(content, type=Manifest)
    except FileNotFoundError:
        return None
    except (msgspec.MsgspecError, UnicodeDecodeError) as problem:
        raise DamagedError(
            f"{path} cannot be read ({problem}); delete {folder.index} and run `nephila index` again."
        ) from problem


def in_force(folder: CrawlFolder) -> Manifest:
    """The index to search; a sentence where there is none that this version reads."""
    manifest = read_manifest(folder)
    if manifest is not None:
        return manifest
    if (folder.index / NAME).exists():
        raise NephilaError(
            f"the index in {folder.path} was made by another Nephila; run `nephila index -C {folder.path}`."
        )
    raise NephilaError(f"there is no index in {folder.path} yet; run `nephila index -C {folder.path}`.")


def next_generation(folder: CrawlFolder) -> int:
    """A number that no generation on disk has, of whatever version."""
    names = (path.name.removeprefix("g") for path in folder.index.glob("g*"))
    return max((int(name) for name in names if name.isdecimal()), default=0) + 1


def publish(folder: CrawlFolder, manifest: Manifest) -> None:
    encoded = msgspec.json.format(msgspec.json.encode(manifest), indent=1)
    replace_file(folder.index / NAME, encoded + b"\n")


def seen(paths: dict[str, Path]) -> dict[str, tuple[int, int, int]]:
    """How files look now: a file that was written anew looks different."""
    looks = {}
    for name, path in paths.items():
        status = path.stat()
        looks[name] = (status.st_size, status.st_ino, status.st_mtime_ns)
    return looks
