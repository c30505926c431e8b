"""Repair, as far as it is a matter of the crawl: databases made anew, and pages asked again whose answer is lost.

In come a folder and what is wrong with it; each function leaves its database complete or as it was. Running repair
again after a kill does what is left to do.
"""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nephila.config.sections import Config
from nephila.crawl.coordinator import admission
from nephila.crawl.forgotten import read_forgotten
from nephila.crawl.group import IMPORTED
from nephila.crawl.messages import OutLink, Seed
from nephila.crawl.replaying import KnownSite, Replayed, replay_slot, sites_in
from nephila.crawl.scope import scope_of
from nephila.crawl.seeds import parse_seeds
from nephila.crawl.setup import strip_rules
from nephila.crawl.site_list import SiteList
from nephila.crawl.site_tables import SITE_SCHEMA
from nephila.crawl.slot_tables import SLOT_SCHEMA
from nephila.store.archive.exchange import Position
from nephila.store.archive.reader import StoredExchange
from nephila.store.database import open_writer, read_rows, transaction
from nephila.store.durable import publish
from nephila.store.folder import CrawlFolder
from nephila.urls import split


@dataclass(frozen=True, slots=True)
class SlotArchive:
    """The archive of a slot as it can be read: an iterator anew each time, and where it ends."""

    slot: int
    end: Position | None
    exchanges: Iterable[StoredExchange]


def import_notes(folder: CrawlFolder) -> Path:
    """How far archives were read; where it exists, pages of the folder came out of some."""
    return folder.state / "import.json"


def rows(path: Path, sql: str, *values: object) -> list[tuple[Any, ...]]:
    return list(read_rows(path, sql, *values))


def committed_end(folder: CrawlFolder, slot: int) -> Position | None:
    """Where the archive of a slot ends by its database."""
    [(file, offset)] = rows(folder.agent_database(slot), "SELECT archive_file, archive_offset FROM slot")
    return Position(file, offset) if file else None


def out_of_step(folder: CrawlFolder, whole: Sequence[int]) -> tuple[bool, list[int]]:
    """Whether the coordinator's database is behind its slots, and which slots are behind it: old copies, put back."""
    behind = False
    slots = []
    for slot in whole:
        path = folder.coordinator_database
        [(applied, sent)] = rows(path, "SELECT applied, sent FROM slots WHERE slot = ?", slot) or [(0, 0)]
        first = rows(path, "SELECT min(sequence) FROM outbox WHERE slot = ?", slot)[0][0]
        [(slot_applied, slot_sent)] = rows(folder.agent_database(slot), "SELECT applied, sent FROM slot") or [(0, 0)]
        slot_first = rows(folder.agent_database(slot), "SELECT min(sequence) FROM outbox")[0][0]
        acknowledged = slot_sent if slot_first is None else slot_first - 1
        if slot_applied > sent or acknowledged > applied:
            behind = True
        elif (sent if first is None else first - 1) > slot_applied or applied > slot_sent:
            slots.append(slot)
    return behind, slots


def begun_without_database(folder: CrawlFolder) -> list[int]:
    """Slots that have taken the coordinator's parcels and have no database now."""
    sql = """SELECT slot FROM slots WHERE sent > 0
             AND NOT EXISTS (SELECT 1 FROM outbox WHERE outbox.slot = slots.slot AND sequence = 1)"""
    found = (int(slot) for [slot] in rows(folder.coordinator_database, sql))
    return [slot for slot in found if not folder.agent_database(slot).exists()]


# A slot's database that is lost


def remake_slot(folder: CrawlFolder, config: Config, archive: SlotArchive) -> Replayed:
    """From the coordinator's list and the archive; both sides' parcels go on where the coordinator is."""
    path = folder.coordinator_database
    [(applied, sent)] = rows(path, "SELECT applied, sent FROM slots WHERE slot = ?", archive.slot) or [(0, 0)]
    waiting = rows(path, "SELECT sequence FROM outbox WHERE slot = ? ORDER BY sequence", archive.slot)
    delivered = waiting[0][0] - 1 if waiting else sent
    seeds: dict[int, list[Seed]] = defaultdict(list)
    sql = """SELECT site, path, seeds.referrer, hops, kind, strayed FROM seeds JOIN sites USING (site) WHERE slot = ?
             ORDER BY site, seeds.given DESC, seeds.found_at, path"""
    for site, *seed in rows(path, sql, archive.slot):
        seeds[site].append(Seed(*seed))
    sql = """SELECT site, url, address, given, alias_of, reason, state FROM sites
             WHERE slot = ? AND ordered <= ? ORDER BY site"""
    known = [
        KnownSite(number, url, address, bool(given), alias_of, reason, tuple(seeds[number]), state == "new")
        for number, url, address, given, alias_of, reason, state in rows(path, sql, archive.slot, delivered)
    ]
    replayed = replay_slot(
        folder, archive.slot, config, known, archive.exchanges, archive.end, applied=delivered, sent=applied
    )
    _give_credit(folder, archive.slot)
    return replayed


def _give_credit(folder: CrawlFolder, slot: int) -> None:
    """What the coordinator has granted is the slot's again; it returns what it does not need when it starts."""
    granted = rows(folder.coordinator_database, "SELECT purse, granted FROM purses WHERE slot = ?", slot)
    with closing(open_writer(folder.agent_database(slot), SLOT_SCHEMA)) as writer, transaction(writer):
        writer.executemany(
            "INSERT INTO purses VALUES (?, ?, 0) ON CONFLICT DO UPDATE SET granted = excluded.granted", granted
        )


# The coordinator's database that is lost


def remake_site_list(
    folder: CrawlFolder, config: Config, whole: Sequence[int], lost: Sequence[SlotArchive], now: float
) -> int:
    """From the slots that are whole and the archives of the others; gives how many sites it knows."""
    scratch = folder.state / "rebuilding-coordinator"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    path = scratch / folder.coordinator_database.name
    slots = max([*folder.slots(), (config.crawl.slots or 1) - 1]) + 1
    SiteList(path, slots).close()
    # Of pages that came out of archives nobody can say where their sites are today.
    state = "new" if import_notes(folder).exists() else "leased"
    with closing(open_writer(path, SITE_SCHEMA)) as writer, transaction(writer):
        for slot in whole:
            _take_slot(writer, folder, slot, now)
        last = next(writer.execute("SELECT coalesce(max(site), 0) FROM sites"))[0]
        for archive in lost:
            for url, address in sites_in(archive.exchanges):
                last += 1
                writer.execute(
                    """INSERT OR IGNORE INTO sites (site, url, state, slot, address, given, found_at, referrer)
                       VALUES (?, ?, ?, ?, ?, 1, ?, '')""",
                    (last, url, state, archive.slot, address, now),
                )
                if state == "leased":
                    writer.execute("INSERT OR IGNORE INTO addresses VALUES (?, ?)", (address, archive.slot))
        [count] = next(writer.execute("SELECT count(*) FROM sites"))
    publish(path, folder.coordinator_database)
    shutil.rmtree(scratch)
    return int(count)


def _take_slot(writer: Any, folder: CrawlFolder, slot: int, now: float) -> None:
    path = folder.agent_database(slot)
    sql = "SELECT site, url, state, address, outcome, reason, alias_of, given, coalesce(first_at, ?) FROM sites"
    for site, url, state, address, outcome, reason, alias_of, given, found_at in rows(path, sql, now):
        writer.execute(
            """INSERT INTO sites (site, url, state, slot, address, outcome, reason, alias_of, given, found_at, referrer)
               VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '')""",
            (
                site,
                url,
                {"waiting": "leased", IMPORTED: "new"}.get(state, state),
                slot,
                address,
                outcome,
                reason,
                alias_of,
                given,
                found_at,
            ),
        )
        if address:
            writer.execute("INSERT OR IGNORE INTO addresses VALUES (?, ?)", (address, slot))
    sql = """SELECT site, hash, path, sites.given AND referrer = '', found_at, referrer, kind, hops, strayed
             FROM seeds JOIN pages USING (site, hash) JOIN sites USING (site)"""
    writer.executemany("INSERT OR IGNORE INTO seeds VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows(path, sql))
    writer.executemany("INSERT INTO purses VALUES (?, ?, ?)", (
        (purse, slot, granted) for purse, granted in rows(path, "SELECT purse, granted FROM purses")
    ))  # fmt: skip
    [(applied, sent)] = rows(path, "SELECT applied, sent FROM slot")
    unsent = rows(path, "SELECT min(sequence) FROM outbox")[0][0]
    writer.execute(
        "INSERT OR REPLACE INTO slots VALUES (?, ?, ?)", (slot, sent if unsent is None else unsent - 1, applied)
    )


def relist_links(folder: CrawlFolder, config: Config, archives: Sequence[SlotArchive], now: float) -> None:
    """What a remade list has not heard of: links between sites, and the seeds of the last output list (S1-5)."""
    sites = SiteList(folder.coordinator_database, len(folder.slots()))
    try:
        if folder.seeds_out.exists():
            lines = [(line, "seeds.out") for line in folder.seeds_out.read_text(errors="replace").splitlines()]
            scope = scope_of(config, forgotten=read_forgotten(folder))
            seeds = parse_seeds(lines, strip_rules(config), scope)
            sites.add_given(seeds.urls, admission(config), now)
        for archive in archives:
            sites.admit(_links_out(folder, archive), admission(config), now)
    finally:
        sites.close()


def _links_out(folder: CrawlFolder, archive: SlotArchive) -> Iterator[OutLink]:
    sql = "SELECT sites.url || path, redirect_to, flags, hops FROM pages JOIN sites USING (site) WHERE tries > 0"
    known = {url: tuple(rest) for url, *rest in rows(folder.agent_database(archive.slot), sql)}
    for exchange in archive.exchanges:
        url = exchange.response.url
        redirect_to, flags, hops = known.get(url, ("", "", 0))
        if exchange.role != "page" or "nofollow" in flags:
            continue
        if redirect_to and split(redirect_to)[0] != split(url)[0]:
            yield OutLink(redirect_to, url, "r", hops + 1)
        for link in exchange.outlinks:
            if split(link.url)[0] != split(url)[0]:
                yield OutLink(link.url, url, link.kind)


# Answers that are lost


def ask_again(folder: CrawlFolder, slot: int, held: Mapping[tuple[str, int], str], end: Position | None) -> int:
    """Pages whose record is not at its place wait again; gives how many. `held` has the URL of every answer."""
    path = folder.agent_database(slot)
    sql = """SELECT site, hash, sites.url || path, archive_file, archive_offset FROM pages JOIN sites USING (site)
             WHERE archive_file IS NOT NULL"""
    lost = {(site, key) for site, key, url, file, offset in rows(path, sql) if held.get((file, offset)) != url}
    sql = "SELECT site, checksum, archive_file, archive_offset FROM contents"
    bodies = [(site, sum_) for site, sum_, file, offset in rows(path, sql) if (file, offset) not in held]
    for site, checksum in bodies:  # those that repeat a lost body have lost it, too
        same = "SELECT site, hash FROM pages WHERE site = ? AND checksum = ?"
        lost.update((int(row[0]), int(row[1])) for row in rows(path, same, site, checksum))
    sql = "SELECT visit, archive_file, archive_offset FROM visits WHERE archive_file IS NOT NULL"
    visits = [visit for visit, file, offset in rows(path, sql) if (file, offset) not in held]
    if not lost and not visits and end == committed_end(folder, slot):
        return 0
    with closing(open_writer(path, SLOT_SCHEMA)) as writer, transaction(writer):
        writer.executemany(
            """UPDATE pages SET todo = 1, outcome = 'waiting', reason = '', tries = 0, code = NULL, checksum = NULL,
               duplicate_of = NULL, archive_file = NULL, archive_offset = NULL WHERE site = ? AND hash = ?""",
            sorted(lost),
        )
        writer.executemany("DELETE FROM contents WHERE site = ? AND checksum = ?", bodies)
        writer.executemany(
            "UPDATE visits SET archive_file = NULL, archive_offset = NULL WHERE visit = ?", ((each,) for each in visits)
        )
        writer.executemany(
            "UPDATE sites SET state = 'waiting' WHERE site = ? AND state = 'done'", {(site,) for site, _ in lost}
        )
        count_again(writer, end or Position("", 0))
    return len(lost)


def count_again(writer: Any, end: Position) -> None:
    """The counts that follow from a slot's rows, made anew; in the caller's transaction."""
    writer.execute("DELETE FROM outcomes")
    writer.execute("INSERT INTO outcomes SELECT outcome, count(*) FROM pages GROUP BY outcome")
    requested = "SELECT count(*) FROM pages p WHERE p.site = sites.site AND tries > 0"
    writer.execute(f"UPDATE sites SET requested = ({requested})")  # noqa: S608
    writer.execute(
        "UPDATE slot SET pages = (SELECT count(*) FROM pages WHERE tries > 0), archive_file = ?, archive_offset = ?",
        (end.file, end.offset),
    )
    writer.execute("UPDATE purses SET used = (SELECT pages FROM slot) WHERE purse = 'pages'")


def reopen_sites(folder: CrawlFolder) -> None:
    """Sites that have something to collect by their slot are leased by the coordinator, too."""
    with closing(open_writer(folder.coordinator_database, SITE_SCHEMA)) as writer, transaction(writer):
        for slot in folder.slots():
            sql = "SELECT site FROM sites WHERE state = 'waiting'"
            writer.executemany(
                "UPDATE sites SET state = 'leased' WHERE site = ? AND state <> 'alias'",
                rows(folder.agent_database(slot), sql),
            )
