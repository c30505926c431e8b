"""Tables that lead to their records again after the archive was written anew: two columns, no page is read.

Each part of `pages` and of `visits` is copied with the places that the state has now; the list of archive files is
written by the next conversion, which follows.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from nephila.convert.crawled import open_slots
from nephila.convert.ids import IdStore
from nephila.convert.listing import visit_parts
from nephila.convert.workshop import Workshop
from nephila.store.durable import make_directory
from nephila.store.folder import CrawlFolder
from nephila.store.lock import FileLock
from nephila.store.tables.manifest import Manifest, files_of, publish_all, read_manifest
from nephila.store.tables.parts import batches_of
from nephila.store.tables.schemas import PAGES, VISITS

_Places = dict[int, tuple[str, int]]


def repoint(folder: CrawlFolder) -> int:
    """Give pages and visits the places of their records as the state has them; gives how many parts changed."""
    manifest = read_manifest(folder)
    if manifest is None:
        return 0
    lock = FileLock.take(folder.state / "convert.lock", "compact", subject=f"The conversion of {folder.path}")
    with lock:
        work = Workshop(folder)
        make_directory(work.root)
        work.remove_leftovers()
        places = _places(folder)
        for path in files_of(folder, PAGES.name):
            work.prepare(path, PAGES.schema, _moved(path, "page_id", places), PAGES.sorted_by)
        with open_slots(folder) as readers:
            for reader in readers:
                places = {visit: (file, offset) for visit, file, offset in reader.visit_places()}
                for path in visit_parts(work, reader):
                    if path.exists():
                        work.prepare(path, VISITS.schema, _moved(path, "visit", places), VISITS.sorted_by)
        changed = len(work.prepared)
        tables = dict(manifest.tables)
        for table in (PAGES, VISITS):
            tables[table.name] = tuple(work.part_of(path) for path in files_of(folder, table.name))
        publish_all(Manifest(tables, manifest.conversion), folder, work.in_publishing_order())
    return changed


def _places(folder: CrawlFolder) -> _Places:
    ids = IdStore(folder.state / "convert.db")
    places: _Places = {}
    try:
        with open_slots(folder) as readers:
            for reader in readers:
                for site, key, file, offset in reader.places():
                    page_id = ids.page_id(site, key)
                    if page_id is not None:
                        places[page_id] = (file, offset)
    finally:
        ids.close()
    return places


def _moved(path: Path, key: str, places: _Places) -> Iterator[Any]:
    for batch in batches_of(path):
        found = [places.get(page_id) for page_id in batch.column(key).to_pylist()]
        columns = {
            "archive_file": pa.array([each[0] if each else None for each in found], pa.string()),
            "archive_offset": pa.array([each[1] if each else None for each in found], pa.int64()),
        }
        arrays = [
            columns[name].cast(batch.schema.field(name).type) if name in columns else batch.column(name)
            for name in batch.schema.names
        ]
        yield pa.RecordBatch.from_arrays(arrays, schema=batch.schema)
