"""Which parts make up the tables: one small JSON file, renamed into place after the last part.

It holds nothing that differs between two conversions of the same input, so that these give the same bytes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

from nephila.errors import DamagedError, NephilaError
from nephila.store.durable import aside_of, publish, replace_file
from nephila.store.folder import CrawlFolder

NAME: Final = "manifest.json"
FORMAT: Final = 1


class Part(msgspec.Struct, frozen=True):
    """One Parquet file, by its path below `tables/`."""

    file: str
    rows: int
    size_bytes: int


class Manifest(msgspec.Struct, frozen=True):
    """The parts of every table, in the order of their ids."""

    tables: dict[str, tuple[Part, ...]]
    conversion: int
    format: int = FORMAT

    def rows(self, table: str) -> int:
        return sum(part.rows for part in self.tables.get(table, ()))


def read_manifest(folder: CrawlFolder) -> Manifest | None:
    """The tables in force; None before the first conversion."""
    path = folder.tables / NAME
    try:
        found = msgspec.json.decode(path.read_bytes(), type=Manifest)
    except FileNotFoundError:
        return None
    except (msgspec.MsgspecError, UnicodeDecodeError) as problem:
        raise DamagedError(
            f"{path} cannot be read ({problem}); delete {folder.tables} and {folder.state / 'convert'} "
            "and run `nephila convert` again."
        ) from problem
    if found.format > FORMAT:
        raise NephilaError(f"{path} was made by a newer Nephila; upgrade Nephila to read these tables.")
    return found


def files_of(folder: CrawlFolder, table: str) -> list[Path]:
    """The files of a table; an error if there are none yet, or a conversion was cut off between two renames."""
    manifest = read_manifest(folder)
    if manifest is None or table not in manifest.tables:
        raise NephilaError(f"there are no tables in {folder.path} yet; run `nephila convert -C {folder.path}`.")
    files = []
    for part in manifest.tables[table]:
        path = folder.tables / part.file
        if not path.exists() or path.stat().st_size != part.size_bytes:
            raise NephilaError(
                f"a conversion is under way in {folder.path}, or was cut off; "
                f"`nephila convert -C {folder.path}` completes it."
            )
        files.append(path)
    return files


def publish_all(manifest: Manifest, folder: CrawlFolder, prepared: list[Path]) -> None:
    """Rename what was prepared aside into place, in the order given, and the manifest last."""
    for path in prepared:
        publish(aside_of(path), path)
    encoded = msgspec.json.format(msgspec.json.encode(manifest), indent=1)
    replace_file(folder.tables / NAME, encoded + b"\n")
