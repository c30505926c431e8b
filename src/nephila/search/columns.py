"""What changes without a page changing lies beside the index, in arrays by page id: rank, cluster, site, dates, hashes.

A new ranking or conversion writes these arrays anew, a few bytes for each page, and leaves the words alone. They are
mapped into memory when an index is opened. Communities belong to one conversion, so their names lie here too.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final, Self

import msgspec
import numpy as np

from nephila.errors import DamagedError
from nephila.store.durable import disk_errors

_NAMES_FILE: Final = "communities.json"


@dataclass(frozen=True, slots=True)
class Columns:
    """One value per page id, and one community per site id."""

    indexed: Any
    """bool: whether the index holds the page"""
    content: Any
    """uint64: hash of what the page itself says; 0 where it says nothing to be found"""
    anchors: Any
    """uint64: hash of what others call it"""
    level: Any
    """int8: twice log2(1 + times_mean), as tantivy has it"""
    times_mean: Any
    """float32: rank as a multiple of the mean; 0 where it has none"""
    group: Any
    """int64: smallest page id of its near-duplicate cluster or of its duplicates, else its own"""
    site: Any
    """int32: site id"""
    fetched_s: Any
    """int64: UTC second of the last answer; -1 where none is known"""
    community_of_site: Any
    """int32"""
    community_names: tuple[str, ...]

    @classmethod
    def empty(cls) -> Self:
        kinds = (np.bool_, np.uint64, np.uint64, np.int8, np.float32, np.int64, np.int32, np.int64, np.int32)
        arrays = [np.zeros(0, kind) for kind in kinds]
        return cls(**dict(zip(_ARRAYS, arrays, strict=True)), community_names=())

    def save(self, folder: Path) -> None:
        for name in _ARRAYS:
            path = folder / f"{name}.npy"
            with disk_errors(path), path.open("wb") as file:
                np.save(file, getattr(self, name), allow_pickle=False)
        path = folder / _NAMES_FILE
        with disk_errors(path):
            path.write_bytes(msgspec.json.encode(self.community_names))

    @classmethod
    def load(cls, folder: Path) -> Self:
        try:
            arrays = {name: np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False) for name in _ARRAYS}
            names = msgspec.json.decode((folder / _NAMES_FILE).read_bytes(), type=tuple[str, ...])
        except FileNotFoundError:
            raise
        except (OSError, ValueError, msgspec.MsgspecError) as problem:
            raise DamagedError(
                f"the index in {folder} cannot be read ({problem}); "
                f"delete {folder.parent} and run `nephila index` again."
            ) from problem
        return cls(**arrays, community_names=names)


_ARRAYS: Final = tuple(field.name for field in fields(Columns) if field.name != "community_names")
