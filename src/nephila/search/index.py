"""The front door of indexing: a crawl folder with tables goes in, a published index comes out; run again, it does
what is new.

    index/manifest.json     which generation is in force
    index/g000007/          that generation: tantivy's files, and the arrays beside them
    index/building/         portions of a run under way; a killed run leaves them for the next

Nothing a reader sees changes before the manifest is renamed into place. Readers of the generation before go on with
the files they have open.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np

from nephila.config.sections import Search
from nephila.engine import Engine
from nephila.search.assembling import MERGED_AT_ONCE, Pieces, assemble, merge_pieces
from nephila.search.columns import Columns
from nephila.search.fields import VERSION
from nephila.search.gathering import RANKS, Changes, find_changes, gather, input_files, write_anchors
from nephila.search.manifest import Inputs, Manifest, folder_name, next_generation, publish, read_manifest, seen
from nephila.search.portions import Portion, Written, write_portion
from nephila.store.durable import aside_of, crash_point, make_directory
from nephila.store.durable import publish as rename
from nephila.store.folder import CrawlFolder
from nephila.store.lock import FileLock
from nephila.store.tables.duck import open_duck
from nephila.store.tables.manifest import files_of
from nephila.store.tables.schemas import PART_IDS

LEAST_PORTION_PAGES: Final = 256
MOST_PORTION_PAGES: Final = 2**15

Tell = Callable[[str, int, int], None]
"""step, done, of how many"""


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What an index holds now, and what was done for it."""

    pages: int
    sites: int
    written: int
    """pages indexed now: new or changed"""
    removed: int
    """pages struck out now and not written anew"""
    ranked: bool
    """whether there were ranks to weigh pages by"""
    portions: int
    portions_found: int
    """of those: finished by a run that was cut off"""
    generation: int
    index_bytes: int
    cpu_ms_per_page: float | None
    """CPU of the workers, per page written now"""
    steps: dict[str, float]
    """seconds"""
    seconds: float


def run(config: Search, folder: CrawlFolder, engine: Engine, tell: Tell | None = None) -> IndexReport:
    """Index what is new or changed since the last index; blocking."""
    files_of(folder, "pages")  # without tables, say so before anything is made
    make_directory(folder.index)
    with FileLock.take(folder.index / "lock", "nephila index", subject=f"The index of {folder.path}"):
        return _Indexing(config, folder, engine, tell or (lambda step, done, of: None)).run()


class _Indexing:
    def __init__(self, config: Search, folder: CrawlFolder, engine: Engine, tell: Tell) -> None:
        self._config, self._folder, self._engine, self._tell = config, folder, engine, tell
        self._building = folder.index / "building"
        self._steps: dict[str, float] = {}
        self._started = time.monotonic()

    def run(self) -> IndexReport:
        files = input_files(self._folder)
        config = self._config
        settings = (VERSION, config.noindex, config.max_text, config.rank_weight, config.korean)
        inputs = Inputs(seen(files), msgspec.json.encode(settings).decode())
        last = read_manifest(self._folder)
        if last is not None and last.inputs.settings != inputs.settings:
            last = None  # every page is made anew; the old index serves until then
        if last is not None and last.inputs == inputs and (self._folder.index / last.folder_name).is_dir():
            self._sweep(last)
            return self._report(last, Changes(np.zeros(0, np.int64), np.zeros(0, np.int64)), [])
        old = Columns.load(self._folder.index / last.folder_name) if last else Columns.empty()
        known = last.inputs.files if last else {}
        make_directory(self._building)
        with open_duck(self._config.memory_limit, self._engine.workers, self._building / "duck") as duck:
            with self._step("compare"):
                touched = [
                    path for name, path in files.items()
                    if name.startswith("pages/") and known.get(name) != inputs.files[name]
                ]  # fmt: skip
                new = gather(duck, self._config, self._folder, old, touched, RANKS in files)
                changes = find_changes(old, new)
            with self._step("write"):
                written = self._write(duck, new, changes)
        with self._step("merge"):
            merged = self._merge([portion.folder for portion in written])
        with self._step("assemble"):
            manifest = self._assemble(last, inputs, new, changes, merged)
        return self._report(manifest, changes, written)

    def _write(self, duck: Any, new: Columns, changes: Changes) -> list[Written]:
        size = len(changes.write) // (4 * self._engine.workers)
        size = min(max(size, LEAST_PORTION_PAGES), MOST_PORTION_PAGES)
        starts = range(0, len(changes.write), size)
        self._remove_half_portions()
        anchors = self._building / "anchors.parquet"
        write_anchors(duck, anchors)
        portions = (self._portion(anchors, new, changes.write[start : start + size]) for start in starts)
        written = []
        for portion in self._engine.map(write_portion, portions):
            written.append(portion)
            self._tell("write", len(written), len(starts))
        return written

    def _merge(self, folders: list[Path]) -> list[Path]:
        """Eight become one, on all cores, until there are fewer."""
        while len(folders) >= MERGED_AT_ONCE:
            whole = len(folders) - len(folders) % MERGED_AT_ONCE
            groups = [tuple(folders[start : start + MERGED_AT_ONCE]) for start in range(0, whole, MERGED_AT_ONCE)]
            pieces = (Pieces(group, self._building) for group in groups)
            folders = [*self._engine.map(merge_pieces, pieces), *folders[whole:]]
        return folders

    def _portion(self, anchors: Path, new: Columns, ids: Any) -> Portion:
        parts = {int(part) for part in np.unique(ids // PART_IDS)}
        files = [path for path in files_of(self._folder, "pages") if int(path.stem.removeprefix("part-")) in parts]
        return Portion(
            files=tuple(files),
            anchors=anchors,
            ids=tuple(ids.tolist()),
            levels=tuple(new.level[ids].tolist()),
            hashes=tuple(zip(new.content[ids].tolist(), new.anchors[ids].tolist(), strict=True)),
            rank_weight=self._config.rank_weight,
            max_text_characters=self._config.max_text,
            korean=self._config.korean,
            target=self._building,
        )

    def _remove_half_portions(self) -> None:
        for path in self._building.glob("*.aside"):
            shutil.rmtree(path, ignore_errors=True)

    def _assemble(
        self, last: Manifest | None, inputs: Inputs, new: Columns, changes: Changes, pieces: list[Path]
    ) -> Manifest:
        generation = next_generation(self._folder)
        target = self._folder.index / folder_name(generation)
        aside = aside_of(target)
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir()
        pages = int(np.count_nonzero(new.indexed))
        self._tell("assemble", 0, 1)
        base = self._folder.index / last.folder_name if last else None
        assemble(aside, base, pieces, changes.remove, pages)
        new.save(aside)
        _sync_files(aside)
        rename(aside, target)
        crash_point("search.assembled")
        sites = len(np.unique(new.site[new.indexed]))
        manifest = Manifest(generation, pages, sites, self._config.rank_weight, self._config.korean, inputs)
        publish(self._folder, manifest)
        crash_point("search.published")
        self._sweep(manifest)
        return manifest

    def _sweep(self, manifest: Manifest) -> None:
        """Older generations and finished portions; a reader keeps what it has open."""
        for path in self._folder.index.glob("g*"):
            if path.name != manifest.folder_name:
                shutil.rmtree(path, ignore_errors=True)
        shutil.rmtree(self._building, ignore_errors=True)

    def _report(self, manifest: Manifest, changes: Changes, written: list[Written]) -> IndexReport:
        place = self._folder.index / manifest.folder_name
        cpu_s = sum(portion.cpu_s for portion in written)
        fresh = sum(portion.pages for portion in written if portion.cpu_s)
        return IndexReport(
            pages=manifest.pages,
            sites=manifest.sites,
            written=len(changes.write),
            removed=len(np.setdiff1d(changes.remove, changes.write)),
            ranked=RANKS in manifest.inputs.files,
            portions=len(written),
            portions_found=sum(portion.cpu_s == 0 for portion in written),
            generation=manifest.generation,
            index_bytes=sum(file.stat().st_size for file in place.iterdir()),
            cpu_ms_per_page=round(1000 * cpu_s / fresh, 3) if fresh else None,
            steps=self._steps,
            seconds=round(time.monotonic() - self._started, 3),
        )

    @contextmanager
    def _step(self, name: str) -> Iterator[None]:
        self._tell(name, 0, 1)
        started = time.monotonic()
        yield
        self._steps[name] = round(time.monotonic() - started, 3)


def _sync_files(folder: Path) -> None:
    for entry in [*os.scandir(folder), folder]:
        descriptor = os.open(entry, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
