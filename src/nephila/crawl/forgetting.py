"""Pages taken out of a slot: first its rows and what others need of them, then the bytes in its archive.

One transaction takes everything out of the state and notes which exchanges have to leave the archive (`erasures`).
From then on no reader finds them. Then each archive file is written anew beside the old one, an exchange that leaves
being one empty record of the same length, and renamed into place; the note goes when its file is done. A kill leaves
either file whole, and the same command, or any later `forget`, does what is left to do.

A body that stays wanted is moved first: where a page of the same content refers to the record of a forgotten one, it
gets a record with the body of its own, at the end of the archive, in the same transaction.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final

from nephila.config.sections import Config
from nephila.crawl.captured import ROBOTS_PATH
from nephila.crawl.fetcher import user_agent
from nephila.crawl.forgotten import Forgotten
from nephila.crawl.mending import count_again, rows
from nephila.crawl.moving import Move, PageKey, contents_with_heirs, moved, place_anew
from nephila.crawl.setup import software
from nephila.crawl.slot_tables import SLOT_SCHEMA
from nephila.records import Outcome
from nephila.store.archive.exchange import Position
from nephila.store.archive.writer import ArchiveWriter
from nephila.store.database import close, open_writer, transaction
from nephila.store.durable import crash_point
from nephila.store.erasing import erase
from nephila.store.folder import CrawlFolder
from nephila.urls import split, url_hash

FORGOTTEN: Final = Outcome.FORGOTTEN.value
_HOLD: Final = ("pages", "visits")  # a home page may have been asked for as a sample and never as a page


@dataclass(frozen=True, slots=True)
class Taken:
    """What left a slot, or a folder."""

    pages: int = 0  # that had been requested
    known: int = 0  # that were only known
    visits: int = 0
    moved: int = 0  # records written anew because their body lay in one that left
    twins: tuple[str, ...] = ()  # pages of the same content, which stay

    def __add__(self, other: Taken) -> Taken:
        return Taken(
            self.pages + other.pages, self.known + other.known, self.visits + other.visits, self.moved + other.moved,
            self.twins + other.twins,
        )  # fmt: skip


def forget_in_slot(folder: CrawlFolder, slot: int, config: Config, wanted: Forgotten, reason: str, now: float) -> Taken:
    """Take every page that the rules name out of the slot's state; its bytes are to be erased afterwards."""
    writer: Any = open_writer(folder.agent_database(slot), SLOT_SCHEMA)
    archive: ArchiveWriter | None = None
    try:
        writer.pragma("secure_delete", True)
        named, whole = _named(writer, wanted)
        if not named and not whole:
            return Taken()
        requested = {key for key in named if _is_requested(writer, key)}
        visits = sum(_count(writer, "SELECT count(*) FROM visits WHERE site = ? AND hash = ?", key) for key in named)
        contents = contents_with_heirs(writer, named)
        [(file, offset)] = writer.execute("SELECT archive_file, archive_offset FROM slot").fetchall()
        end = Position(file, offset)
        moves: list[Move] = []
        if contents:
            about = software(config, user_agent(config.net))
            archive = ArchiveWriter(folder.archive_of(slot), slot, config.archive, about, end)
            moves = [move for each in contents for move in moved(folder, slot, archive, *each)]
            archive.sync()
            assert archive.position is not None
            end = archive.position
        crash_point("forget.moved")
        with transaction(writer):
            place_anew(writer, moves)
            last = _count(writer, "SELECT coalesce(max(visit), 0) FROM visits", ())
            for key in named:
                last += key in requested
                path = split(named[key])[1]
                _take_out(writer, key, path, reason, (last, now) if key in requested else None)
            for site in whole:
                last += 1
                _take_site_out(writer, site, reason, (last, now))
            count_again(writer, end)
        crash_point("forget.taken_out")
        writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    finally:
        if archive is not None:
            archive.close()
        close(writer)
    twins = tuple(dict.fromkeys(move.url for move in moves))
    return Taken(len(requested), len(named) - len(requested), visits, sum(move.superseded for move in moves), twins)


def erase_in_slot(folder: CrawlFolder, slot: int) -> int:
    """Write the archive files anew that hold something to be erased; gives how many bytes left."""
    path = folder.agent_database(slot)
    by_file: dict[str, list[int]] = defaultdict(list)
    for file, offset in rows(path, "SELECT archive_file, archive_offset FROM erasures ORDER BY 1, 2"):
        by_file[file].append(offset)
    erased = 0
    with closing(open_writer(path, SLOT_SCHEMA)) as writer:
        for file, offsets in by_file.items():
            erased += erase(folder.archive_of(slot) / file, offsets)
            crash_point("forget.erased")
            with transaction(writer):
                writer.execute("DELETE FROM erasures WHERE archive_file = ?", (file,))
    return erased


# Which pages


def _named(writer: Any, wanted: Forgotten) -> tuple[dict[PageKey, str], list[int]]:
    """Every page that a rule names and that is not forgotten yet, by its key, with its URL; and whole sites."""
    named: dict[PageKey, str] = {}
    whole = []
    pages = defaultdict(list)
    for url in wanted.pages:
        site, path = split(url)
        pages[site].append(path)
    for site, url in writer.execute("SELECT site, url FROM sites").fetchall():
        if wanted.whole_site(url) is not None:
            whole.append(site)
            found = writer.execute("SELECT hash, path FROM pages WHERE site = ?", (site,))
            named |= {(site, key): url + path for key, path in found}
            continue
        for path in pages.get(url, ()):
            key = (site, url_hash(path))
            if any(_count(writer, f"SELECT count(*) FROM {table} WHERE site = ? AND hash = ?", key) for table in _HOLD):  # noqa: S608
                named[key] = url + path
        if any(pattern.site.matches(url) for pattern in wanted.patterns):
            found = writer.execute("SELECT hash, path FROM pages WHERE site = ?", (site,))
            fits = ((key, path) for key, path in found if any(each.fits(url, path) for each in wanted.patterns))
            named |= {(site, key): url + path for key, path in fits}
    done = "SELECT count(*) FROM pages WHERE site = ? AND hash = ? AND outcome = 'forgotten'"
    named = {key: url for key, url in named.items() if not _count(writer, done, key)}
    beside = "SELECT count(*) FROM visits WHERE site = ? AND outcome <> 'forgotten'"
    return named, [site for site in whole if _count(writer, beside, (site,))]


def _is_requested(writer: Any, key: PageKey) -> bool:
    return bool(_count(writer, "SELECT count(*) FROM visits WHERE site = ? AND hash = ? AND role = 'page'", key))


def _count(writer: Any, sql: str, values: Iterable[object]) -> int:
    return int(writer.execute(sql, tuple(values)).fetchone()[0])


# Taking out


_Moment = tuple[int, float]
"""The number of a visit, and its time."""


def _take_out(writer: Any, key: PageKey, path: str, reason: str, moment: _Moment | None) -> None:
    """The row of a page stays, empty: that it is known keeps it from being found again.

    A page that had been requested gets one visit that says what became of it. Its number is a new one, so that the
    next conversion sees that something has happened, and takes the page out of the tables.
    """
    run = writer.execute
    run(
        """INSERT OR IGNORE INTO erasures SELECT archive_file, archive_offset FROM visits
           WHERE site = ? AND hash = ? AND archive_file IS NOT NULL""",
        key,
    )
    for table in ("visits", "changes", "contents", "seeds", "deaths"):
        run(f"DELETE FROM {table} WHERE site = ? AND hash = ?", key)  # noqa: S608
    run(
        """UPDATE pages SET todo = 0, revisit = 0, tries = 0, outcome = ?, reason = ?, referrer = '', code = NULL,
           mime = NULL, redirect_to = NULL, checksum = NULL, duplicate_of = NULL, wire_bytes = NULL, body_bytes = NULL,
           etag = NULL, modified = NULL, fetched_at = NULL, elapsed_ms = NULL, archive_file = NULL,
           archive_offset = NULL, link_kinds = NULL, flags = '', stated_at = NULL WHERE site = ? AND hash = ?""",
        (FORGOTTEN, reason, *key),
    )
    if moment is not None:
        _note(writer, moment, key, path, "page", reason)


def _note(writer: Any, moment: _Moment, key: PageKey, path: str, role: str, reason: str) -> None:
    visit, at = moment
    writer.execute(
        """INSERT INTO visits (visit, site, hash, path, role, at, outcome, reason, wire_bytes, body_bytes, elapsed_ms,
           address) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, '')""",
        (visit, *key, path, role, at, FORGOTTEN, reason),
    )


def _take_site_out(writer: Any, site: int, reason: str, moment: _Moment) -> None:
    """What a site had beside its pages: robots.txt, samples, patterns."""
    run = writer.execute
    run(
        """INSERT OR IGNORE INTO erasures SELECT archive_file, archive_offset FROM visits
           WHERE site = ? AND archive_file IS NOT NULL""",
        (site,),
    )
    run("DELETE FROM visits WHERE site = ? AND outcome <> ?", (site, FORGOTTEN))
    _note(writer, moment, (site, url_hash(ROBOTS_PATH)), ROBOTS_PATH, "robots", reason)
    for table in ("patterns", "sources"):
        run(f"DELETE FROM {table} WHERE site = ?", (site,))  # noqa: S608
    run("UPDATE sites SET state = 'done', robots = NULL, home = NULL WHERE site = ?", (site,))
