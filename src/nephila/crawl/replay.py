"""The index that replay tools read: made anew from the archive, as far as it is committed."""

from __future__ import annotations

from nephila.store.archive.exchange import Position
from nephila.store.cdxj import write_index
from nephila.store.database import database_errors, open_reader
from nephila.store.folder import CrawlFolder


def write_cdxj(folder: CrawlFolder) -> int:
    """Write DIR/archive/index.cdxj and say how many lines it has; works beside a running crawl."""
    return write_index(folder, dict(_committed(folder)))


def _committed(folder: CrawlFolder) -> list[tuple[int, Position]]:
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
