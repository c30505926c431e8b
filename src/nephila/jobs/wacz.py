"""`nephila export wacz`: a crawl as one file that replay tools open; works beside a running crawl.

Which pages it lists comes from the tables, with their titles, where there are some; else from the state.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from nephila import VERSION
from nephila.crawl.replay import committed_positions, html_pages
from nephila.errors import UsageError
from nephila.store.folder import CrawlFolder
from nephila.store.opened import OpenedCrawl
from nephila.store.tables.manifest import read_manifest
from nephila.store.wacz_writing import WaczPage, WaczReport, write_wacz

_COLUMNS = ["url", "title", "fetched_at", "code", "mime", "duplicate_of"]


def export_wacz(folder: CrawlFolder, output: Path, *, text: bool = False) -> WaczReport:
    """Everything that is committed in the archive, as `output`."""
    if output.is_dir():
        raise UsageError(f"{output} is a folder; name the file to write, such as {output / 'crawl.wacz'}.")
    committed = dict(committed_positions(folder))
    if not committed:
        raise UsageError(
            f"there is nothing in the archive of {folder.path} yet; run `nephila crawl` or `import` first."
        )
    if text and read_manifest(folder) is None:
        raise UsageError(f"texts are in the tables; run `nephila convert -C {folder.path}` first.")
    pages = _from_tables(folder, text=text) if read_manifest(folder) is not None else _from_state(folder)
    about = f"nephila {VERSION}"
    return write_wacz(
        folder, committed, pages, output, software=about, title=folder.path.resolve().name, now=time.time()
    )


def _from_tables(folder: CrawlFolder, *, text: bool) -> Iterator[WaczPage]:
    columns = [*_COLUMNS, *(["text"] if text else [])]
    for batch in OpenedCrawl(folder.path).dataset("pages").to_batches(columns=columns):
        for row in batch.to_pylist():
            if row["code"] == 200 and row["mime"] in ("text/html", "application/xhtml+xml"):
                at = row["fetched_at"].timestamp()
                yield WaczPage(row["url"], at, row["title"] or "", (row.get("text") or "") if text else "")


def _from_state(folder: CrawlFolder) -> Iterator[WaczPage]:
    for url, fetched_at in html_pages(folder):
        yield WaczPage(url, fetched_at)
