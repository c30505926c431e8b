"""What was forgotten leaves the coordinator's list, and what is allowed again waits once more."""

from __future__ import annotations

from contextlib import closing
from typing import Any

from nephila.crawl.forgetting import FORGOTTEN
from nephila.crawl.forgotten import Forgotten
from nephila.crawl.mending import count_again
from nephila.crawl.site_tables import SITE_SCHEMA
from nephila.crawl.slot_tables import SLOT_SCHEMA
from nephila.store.archive.exchange import Position
from nephila.store.database import open_writer, transaction
from nephila.store.folder import CrawlFolder
from nephila.urls import hash128, split


def forget_in_list(folder: CrawlFolder, wanted: Forgotten, reason: str) -> int:
    """Seeds, and URLs that were refused; whole sites are not handed out again. Gives how many URLs left."""
    path = folder.coordinator_database
    if not path.exists():
        return 0
    left = 0
    with closing(open_writer(path, SITE_SCHEMA)) as writer, transaction(writer):
        writer.pragma("secure_delete", True)
        for site, url in _rows(writer, "SELECT site, url FROM sites"):
            if wanted.whole_site(url) is not None:
                left += len(_rows(writer, "SELECT 1 FROM seeds WHERE site = ?", site))
                writer.execute("DELETE FROM seeds WHERE site = ?", (site,))
                writer.execute(
                    "UPDATE sites SET state = 'refused', outcome = ?, reason = ? WHERE site = ?",
                    (FORGOTTEN, reason, site),
                )
                continue
            seeds = _rows(writer, "SELECT hash, path FROM seeds WHERE site = ?", site)
            gone = [(site, key) for key, seed in seeds if wanted.rule_for(url, seed) is not None]
            writer.executemany("DELETE FROM seeds WHERE site = ? AND hash = ?", gone)
            left += len(gone)
        left += _forget_outside(writer, wanted)
    for slot in folder.slots():
        if folder.agent_database(slot).exists():
            with closing(open_writer(folder.agent_database(slot), SLOT_SCHEMA)) as writer, transaction(writer):
                left += _forget_outside(writer, wanted)
    return left


def _forget_outside(writer: Any, wanted: Forgotten) -> int:
    gone = [
        (hash128(url),)
        for (url,) in _rows(writer, "SELECT url FROM outside")
        if url.startswith(("http://", "https://")) and wanted.rule_for(*split(url)) is not None
    ]
    writer.executemany("DELETE FROM outside WHERE hash = ?", gone)
    return len(gone)


def allow_again(folder: CrawlFolder, wanted: Forgotten) -> int:
    """Pages that were forgotten wait to be asked for as any others; gives how many."""
    let_in = 0
    for slot in folder.slots():
        path = folder.agent_database(slot)
        if not path.exists():
            continue
        with closing(open_writer(path, SLOT_SCHEMA)) as writer, transaction(writer):
            sql = "SELECT site, hash, url, path FROM pages JOIN sites USING (site) WHERE pages.outcome = 'forgotten'"
            keys = [
                (site, key) for site, key, url, page in _rows(writer, sql)
                if wanted.rule_for(url, page) is not None
            ]  # fmt: skip
            writer.executemany(
                """UPDATE pages SET outcome = 'waiting', reason = '', todo = 1, tries = 0
                   WHERE site = ? AND hash = ?""",
                keys,
            )
            writer.executemany(
                "UPDATE sites SET state = 'waiting' WHERE site = ? AND state = 'done'", {(site,) for site, _ in keys}
            )
            [(file, offset)] = _rows(writer, "SELECT archive_file, archive_offset FROM slot")
            count_again(writer, Position(file, offset))
            let_in += len(keys)
    if folder.coordinator_database.exists():
        with closing(open_writer(folder.coordinator_database, SITE_SCHEMA)) as writer, transaction(writer):
            sql = "SELECT site, url FROM sites WHERE state = 'refused' AND outcome = 'forgotten'"
            sites = [(s,) for s, url in _rows(writer, sql) if wanted.whole_site(url) is not None]
            writer.executemany(
                """UPDATE sites SET outcome = '', reason = '',
                   state = CASE WHEN slot IS NULL THEN 'new' ELSE 'done' END WHERE site = ?""",
                sites,
            )
    return let_in


def _rows(writer: Any, sql: str, *values: object) -> list[tuple[Any, ...]]:
    return list(writer.execute(sql, values))
