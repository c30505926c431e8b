"""What the archive holds of a URL, found by the state: it works while the crawl runs and needs no tables."""

from __future__ import annotations

from typing import Final

from nephila.config.sections import Config
from nephila.crawl.setup import strip_rules
from nephila.decode import DecodeState, decode
from nephila.markup.charset import choose
from nephila.shown import Copy
from nephila.store.archive.reader import read, read_with_body
from nephila.store.database import database_errors, open_reader
from nephila.store.folder import CrawlFolder
from nephila.urls import Refusal, normalise, split, url_hash

COPY_BYTES: Final = 4 * 2**20


def kept_copy(folder: CrawlFolder, config: Config, url: str) -> Copy | None:
    """The body of the last answer, its content coding undone; None where nothing is kept."""
    normal = normalise(url, strip_rules(config))
    if isinstance(normal, Refusal):
        return None
    place = _place(folder, normal)
    if place is None:
        return None
    slot, file, offset = place
    path = folder.archive_of(slot) / file  # a name that our own archive gave it
    own = read(path, offset)
    stored = read_with_body(folder.archive, path, offset)
    decoded = decode(stored.body, stored.codings, COPY_BYTES)
    content_type = next(iter(stored.header_values("content-type")), "")
    return Copy(
        url=normal,
        fetched_at=own.fetched_at,
        code=own.status,
        mime=content_type.partition(";")[0].strip().lower(),
        charset=choose(decoded.payload, content_type or None).encoding,
        body=decoded.payload,
        cut=bool(stored.truncated) or decoded.state is DecodeState.LIMIT,
    )


def _place(folder: CrawlFolder, url: str) -> tuple[int, str, int] | None:
    site, path = split(url)
    database = folder.coordinator_database
    if not database.exists():
        return None
    with database_errors(database):
        coordinator = open_reader(database)
        try:
            row = coordinator.execute("SELECT site, slot FROM sites WHERE url = ?", (site,)).fetchone()
        finally:
            coordinator.close()
    if row is None or row[1] is None or not folder.agent_database(row[1]).exists():
        return None
    number, slot = row
    with database_errors(folder.agent_database(slot)):
        reader = open_reader(folder.agent_database(slot))
        try:
            found = reader.execute(
                "SELECT archive_file, archive_offset FROM pages WHERE site = ? AND hash = ?", (number, url_hash(path))
            ).fetchone()
        finally:
            reader.close()
    return None if found is None or not found[0] else (slot, found[0], found[1])
