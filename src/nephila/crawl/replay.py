"""What replay tools read: the index of the archive, as far as it is committed, and which of its records are pages."""

from __future__ import annotations

from collections.abc import Iterator

from nephila.store.archive.exchange import Position
from nephila.store.cdxj import write_index
from nephila.store.database import database_errors, open_reader
from nephila.store.folder import CrawlFolder


def write_cdxj(folder: CrawlFolder) -> int:
    """Write DIR/archive/index.cdxj and say how many lines it has; works beside a running crawl."""
    return write_index(folder, dict(committed_positions(folder)))


def committed_positions(folder: CrawlFolder) -> list[tuple[int, Position]]:
    """Where the archive of each slot ends, by its database."""
    found = []
    for slot in folder.slots():
        path = folder.agent_database(slot)
        if not path.exists():
            continue
        with database_errors(path):
            reader = open_reader(path)
            try:
                for file, offset in reader.execute("SELECT archive_file, archive_offset FROM slot"):
                    if file:
                        found.append((slot, Position(file, offset)))
            finally:
                reader.close()
    return found


def html_pages(folder: CrawlFolder) -> Iterator[tuple[str, float]]:
    """URL and time of every HTML page with code 200, site by site."""
    sql = """SELECT url || path, fetched_at FROM pages JOIN sites USING (site)
             WHERE code = 200 AND mime IN ('text/html', 'application/xhtml+xml') ORDER BY site, depth, place"""
    for slot in folder.slots():
        path = folder.agent_database(slot)
        if not path.exists():
            continue
        with database_errors(path):
            reader = open_reader(path)
            try:
                for url, fetched_at in reader.execute(sql):
                    yield str(url), float(fetched_at)
            finally:
                reader.close()
