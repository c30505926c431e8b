"""Bodies that stay wanted when the record that holds them leaves: their heirs get records of their own.

A page whose content was known already has a record that refers to the first one (S0-14). When that one leaves, the
first of the others gets a record with the body at the end of the archive, and the rest refer to it from then on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, cast

from nephila.store.archive.exchange import Exchange, Placed, Revisit, RevisitProfile, Truncated
from nephila.store.archive.reader import StoredExchange, read_exchange
from nephila.store.archive.writer import ArchiveWriter
from nephila.store.folder import CrawlFolder

PageKey = tuple[int, int]
"""The coordinator's number of a site, and the hash of a path."""


@dataclass(frozen=True, slots=True)
class Heir:
    """A visit of another page, which lives on a record that leaves."""

    visit: int
    site: int
    key: int
    file: str
    offset: int


@dataclass(frozen=True, slots=True)
class Content:
    site: int
    checksum: bytes
    file: str
    offset: int


@dataclass(frozen=True, slots=True)
class Move:
    """A visit whose record lies elsewhere now; the first of a content is where its body lies."""

    heir: Heir
    url: str
    content: Content
    placed: Placed
    payload_sha1: bytes
    fetched_at: float
    is_first: bool
    superseded: bool  # its old record leaves the archive


def contents_with_heirs(writer: Any, leaving: Collection[PageKey]) -> list[tuple[Content, list[Heir]]]:
    """Contents whose record with the body is one of a page that leaves, and the visits of others that need it."""
    found = []
    for site, key in leaving:
        sql = "SELECT checksum, archive_file, archive_offset FROM contents WHERE site = ? AND hash = ?"
        for row in writer.execute(sql, (site, key)).fetchall():
            content = Content(site, *row)
            heirs = _heirs(writer, content, leaving)
            if heirs:
                found.append((content, heirs))
    return found


def moved(
    folder: CrawlFolder, slot: int, archive: ArchiveWriter, content: Content, heirs: list[Heir]
) -> Iterator[Move]:
    """Give the heirs of a content records of their own: the first with the body, the others refer to it."""
    directory = folder.archive_of(slot)
    body: bytes | None = None
    first: Move | None = None
    for heir in heirs:
        own = read_exchange(directory / heir.file, heir.offset)
        response = own.response
        if response.revisit is None:  # it has a body of its own
            if first is None:
                placed = Placed(response.file, response.offset, response.length)
                first = Move(
                    heir, response.url, content, placed, response.payload_sha1, response.fetched_at, True, False
                )
                yield first
            continue
        if body is None:
            body = read_exchange(directory / content.file, content.offset).response.body
        exchange = _anew(own, body, first)
        [placed] = archive.append([exchange])
        move = Move(
            heir, response.url, content, placed, exchange.payload_sha1 or b"", response.fetched_at, first is None, True
        )
        first = first or move
        yield move


def _heirs(writer: Any, content: Content, leaving: Collection[PageKey]) -> list[Heir]:
    sql = """SELECT visit, site, hash, archive_file, archive_offset FROM visits
             WHERE site = ? AND checksum = ? AND archive_file IS NOT NULL ORDER BY visit"""
    found = (Heir(*row) for row in writer.execute(sql, (content.site, content.checksum)).fetchall())
    return [heir for heir in found if (heir.site, heir.key) not in leaving]


def _anew(own: StoredExchange, body: bytes, first: Move | None) -> Exchange:
    response = own.response
    revisit = None
    if first is not None:
        profile = response.revisit.profile if response.revisit is not None else RevisitProfile.IDENTICAL_PAYLOAD
        revisit = Revisit(profile, first.url, first.fetched_at, first.placed.file, first.placed.offset)
    return Exchange(
        url=response.url, fetched_at=response.fetched_at, request=own.request, header=response.header,
        body=None if revisit is not None else body, address=response.address,
        payload_sha1=response.payload_sha1 or None, revisit=revisit, truncated=cast(Truncated, response.truncated),
        role=own.role, fields=own.fields, outlinks=own.outlinks,
    )  # fmt: skip


def place_anew(writer: Any, moves: list[Move]) -> None:
    for move in moves:
        heir, placed = move.heir, move.placed
        writer.execute(
            "UPDATE visits SET archive_file = ?, archive_offset = ? WHERE visit = ?",
            (placed.file, placed.offset, heir.visit),
        )
        writer.execute(
            """UPDATE pages SET archive_file = ?, archive_offset = ?
               WHERE site = ? AND hash = ? AND archive_file = ? AND archive_offset = ?""",
            (placed.file, placed.offset, heir.site, heir.key, heir.file, heir.offset),
        )
        if move.is_first:
            writer.execute(
                """UPDATE contents SET hash = ?, payload_sha1 = ?, fetched_at = ?, archive_file = ?, archive_offset = ?
                   WHERE site = ? AND checksum = ?""",
                (heir.key, move.payload_sha1, move.fetched_at, placed.file, placed.offset, heir.site,
                 move.content.checksum),
            )  # fmt: skip
            writer.execute("UPDATE pages SET duplicate_of = NULL WHERE site = ? AND hash = ?", (heir.site, heir.key))
            writer.execute(
                "UPDATE pages SET duplicate_of = ? WHERE site = ? AND checksum = ? AND hash <> ?",
                (heir.key, heir.site, move.content.checksum, heir.key),
            )
        if move.superseded:
            writer.execute("INSERT OR IGNORE INTO erasures VALUES (?, ?)", (heir.file, heir.offset))
