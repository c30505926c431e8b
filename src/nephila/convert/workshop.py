"""Where convert keeps what later conversions need, and what it is preparing: names and file lists, no content.

state/convert/extracts/   rows of portions, until they are part of a table
state/convert/keys/       one narrow row per page, in parts like `pages`
state/convert/links/      links whose target is a key, in parts like `links`: a URL fetched later resolves them
state/convert/resolved.parquet    pages that lead elsewhere, and where
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nephila.store.durable import aside_of
from nephila.store.folder import CrawlFolder
from nephila.store.tables.manifest import Part
from nephila.store.tables.parts import prepare, rows_in
from nephila.store.tables.schemas import PART_IDS, Table


@dataclass(slots=True)
class Workshop:
    """One conversion's files; `prepared` are those that wait aside for being published."""

    folder: CrawlFolder
    prepared: dict[Path, int] = field(default_factory=dict)
    """path and rows"""

    @property
    def root(self) -> Path:
        return self.folder.state / "convert"

    @property
    def extracts(self) -> Path:
        return self.root / "extracts"

    @property
    def scratch(self) -> Path:
        return self.root / "scratch"

    @property
    def resolved(self) -> Path:
        return self.root / "resolved.parquet"

    def keys(self, part: int) -> Path:
        return self.root / "keys" / part_name(part)

    def raw_links(self, part: int) -> Path:
        return self.root / "links" / part_name(part)

    def table_part(self, table: Table, part: int) -> Path:
        return self.folder.tables / table.name / part_name(part)

    def table_file(self, table: Table) -> Path:
        return self.folder.tables / f"{table.name}.parquet"

    def prepare(self, path: Path, schema: Any, batches: Iterable[Any], sorted_by: tuple[str, ...] = ()) -> int:
        """Write a file aside; it comes into force when all are published."""
        rows = prepare(path, schema, batches, sorted_by)
        self.prepared[path] = rows
        return rows

    def current(self, path: Path) -> Path:
        """The newest form of a file: the one prepared in this conversion, else the one in force."""
        return aside_of(path) if path in self.prepared else path

    def newest(self, paths: Iterable[Path]) -> list[Path]:
        return [current for current in map(self.current, paths) if current.exists()]

    def part_of(self, path: Path) -> Part:
        """A file, prepared or in force, as the manifest names it."""
        current = self.current(path)
        rows = self.prepared[path] if path in self.prepared else rows_in(path)
        return Part(path.relative_to(self.folder.tables).as_posix(), rows, current.stat().st_size)

    def in_publishing_order(self) -> list[Path]:
        """Tables before the state they follow from: a publication that is cut off is found to be undone."""
        return sorted(self.prepared, key=lambda path: (path.is_relative_to(self.root), path))

    def remove_leftovers(self) -> None:
        """What a killed conversion had prepared and not published."""
        for place in (self.folder.tables, self.root):
            for path in place.rglob("*.aside"):
                path.unlink()
        for path in self.extracts.glob("*.noted*"):
            path.unlink()


def part_name(part: int) -> str:
    return f"part-{part:05}.parquet"


def parts_of(pages: int) -> range:
    """The parts that so many page ids fill."""
    return range((pages + PART_IDS - 1) // PART_IDS)


def split_by_part(batches: Iterable[Any], column: str) -> Iterator[tuple[int, Iterator[Any]]]:
    """Batches in the order of an id as one stream per part; each stream must be used up before the next."""
    import numpy as np

    held: list[Any] = []
    source = iter(batches)

    def next_batch() -> Any | None:
        while not held:
            batch = next(source, None)
            if batch is None:
                return None
            if batch.num_rows:
                held.append(batch)
        return held[0]

    def stream(part: int) -> Iterator[Any]:
        while (batch := next_batch()) is not None:
            ids = batch.column(column).to_numpy()
            end = int(np.searchsorted(ids, (part + 1) * PART_IDS))
            if end == 0:
                return
            held.pop()
            if end < batch.num_rows:
                held.append(batch.slice(end))
            yield batch.slice(0, end)

    while (batch := next_batch()) is not None:
        part = int(batch.column(column)[0].as_py()) // PART_IDS
        yield part, stream(part)
