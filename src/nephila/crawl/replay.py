"""What replay tools read: the index of the archive, as far as it is committed, and which of its records are pages."""

from __future__ import annotations

from collections.abc import Iterator

from nephila.store.archive.exchange import Position
from nephila.store.cdxj import write_index
from nephila.store.database import read_rows
from nephila.store.folder import CrawlFolder


def write_cdxj(folder: CrawlFolder) -> int:
    """Write DIR/archive/index.cdxj and say how many lines it has; works beside a running crawl."""
    return write_index(folder, dict(committed_positions(folder)))


def committed_positions(folder: CrawlFolder) -> list[tuple[int, Position]]:
    """Where the archive of each slot ends, by its database."""
    sql = "SELECT archive_file, archive_offset FROM slot"
    ends = ((slot, *row) for slot, path in folder.agent_databases() for row in read_rows(path, sql))
    return [(slot, Position(file, offset)) for slot, file, offset in ends if file]


def html_pages(folder: CrawlFolder) -> Iterator[tuple[str, float]]:
    """URL and time of every HTML page with code 200, site by site."""
    sql = """SELECT url || path, fetched_at FROM pages JOIN sites USING (site)
             WHERE code = 200 AND mime IN ('text/html', 'application/xhtml+xml') ORDER BY site, depth, place"""
    for _, path in folder.agent_databases():
        for url, fetched_at in read_rows(path, sql):
            yield str(url), float(fetched_at)
