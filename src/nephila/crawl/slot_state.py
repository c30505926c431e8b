"""The state of one slot on disk: read by the agent's loop, written by one commit at a time.

The order that loses nothing (DESIGN: Commit order): append the group to the archive, wait for the disk, then one
transaction with everything that follows from the group, the archive's position among it. Recovery is opening. The file
is longer than others because that transaction is in one place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass, field, fields
from typing import Final

from nephila.config.sections import Archive
from nephila.crawl.blamed import Blamed, count_outcomes
from nephila.crawl.change_writing import change_of, keep_content, log_visit
from nephila.crawl.group import FoundPage, Group, Kept, Seen, SiteRow, SourceRow, Swept, Visited
from nephila.crawl.in_hand import InHand
from nephila.crawl.messages import OutLink
from nephila.crawl.parcels import Parcel, parcels_of
from nephila.crawl.slot_tables import SLOT_SCHEMA, Content, SlotRow
from nephila.crawl.trapped import NOWHERE, KeptPattern
from nephila.errors import NephilaError
from nephila.records import Outcome, network_state
from nephila.store.archive.exchange import Exchange, Placed, Position, Revisit, RevisitProfile, Software
from nephila.store.archive.writer import ArchiveWriter
from nephila.store.database import close, database_errors, open_reader, open_writer, transaction
from nephila.store.durable import crash_point
from nephila.store.folder import CrawlFolder
from nephila.urls import hash128, url_hash

_SAME_S: Final = 5e-6
_64_BITS: Final = (1 << 64) - 1
_PROBE: Final = url_hash(f"/{NOWHERE}")
_SITE_COLUMNS = tuple(column.name for column in fields(SiteRow))


@dataclass(frozen=True, slots=True, order=True)
class PageTask:
    """A page to be requested, as a site context holds it; in order, breadth first (S1-4), whatever is equal."""

    depth: int
    place: int
    hash: int
    path: str
    hops: int
    via_duplicate: bool
    tries: int
    outcome: Outcome
    came_from: str = ""  # the URL that redirected here
    kind: str = field(default="", compare=False)  # how it was found
    strayed: int = field(default=0, compare=False)  # as in FoundPage
    kept: Kept | None = field(default=None, compare=False)  # of a page that is visited again

    @property
    def is_new(self) -> bool:
        """Never requested before: limits, budgets and credit count such pages."""
        return not self.tries and self.kept is None

    @property
    def turn(self) -> int:
        """What is visited again comes first, then breadth first: it was planned, and pages found are many."""
        return self.depth if self.kept is None else -1


class SlotState:
    """One slot's database and archive. `commit` runs in a thread of its own; everything else in the loop."""

    def __init__(
        self, folder: CrawlFolder, slot: int, archive: Archive, software: Software, in_hand: InHand | None = None
    ) -> None:
        self.slot = slot
        self.in_hand = in_hand or InHand()
        path = folder.agent_database(slot)
        self._path = path
        self._writer = open_writer(path, SLOT_SCHEMA, sync=archive.sync)
        row = self._writer.execute("SELECT archive_file, archive_offset FROM slot").fetchone()
        if row is None:
            with transaction(self._writer):
                self._writer.execute("INSERT INTO slot VALUES (?, 0, 0, '', 0, 0, 0, 0)", (slot,))
            row = ("", 0)
        committed = Position(*row) if row[0] else None
        for (file,) in self._writer.execute("SELECT archive_file FROM retired").fetchall():
            # A compaction was killed between its commit and this.
            (folder.archive_of(slot) / str(file)).unlink(missing_ok=True)
        self._archive = ArchiveWriter(folder.archive_of(slot), slot, archive, software, committed)
        self._reader = open_reader(path)
        self._blamed = Blamed(self._writer)
        self._writing: Visited | None = None  # of the commit under way

    def close(self) -> None:
        self._archive.close()
        self._reader.close()
        self.in_hand.close()
        close(self._writer)

    # Reading, in the loop. What is in a group that is not committed yet is not seen here.

    def how_far(self) -> SlotRow:
        row = self._one("SELECT applied, sent, requests, pages, received_bytes FROM slot")
        assert row is not None
        return SlotRow(*row)

    def outcomes(self) -> dict[str, int]:
        return dict(self._reader.execute("SELECT outcome, count FROM outcomes WHERE count"))

    def purses(self) -> dict[str, int]:
        """What is left in each purse."""
        return dict(self._reader.execute("SELECT purse, granted - used FROM purses"))

    def address_pages(self) -> dict[str, int]:
        """Pages requested so far per address."""
        return dict(self._reader.execute("SELECT address, sum(requested) FROM sites GROUP BY address"))

    def unsent(self) -> list[Parcel]:
        return [Parcel(*row) for row in self._reader.execute("SELECT * FROM outbox ORDER BY sequence")]

    def site(self, number: int) -> SiteRow | None:
        row = self._one(f"SELECT {', '.join(_SITE_COLUMNS)} FROM sites WHERE site = ?", number)  # noqa: S608
        return None if row is None else _site_row(row)

    def numbers_in(self, *states: str) -> list[int]:
        marks = ", ".join("?" * len(states))
        return [row[0] for row in self._rows(f"SELECT site FROM sites WHERE state IN ({marks}) ORDER BY site", *states)]  # noqa: S608

    def longest_last_ms(self, address: str) -> int:
        row = self._one("SELECT max(last_ms) FROM sites WHERE address = ?", address)
        return row[0] or 0 if row is not None else 0

    def robots_of(self, address: str, url: str) -> bytes | None:
        row = self._one("SELECT robots FROM sites WHERE address = ? AND url = ?", address, url)
        return None if row is None else row[0]

    def collected_on(self, address: str) -> Iterator[tuple[int, bytes | None]]:
        """The sites on an address that were collected, or begun, and are no aliases; with their home's checksum."""
        sql = """SELECT site, home FROM sites WHERE address = ? AND state <> 'alias'
                 AND (requested > 0 OR state IN ('done', 'asleep')) ORDER BY site"""
        return ((number, home) for number, home in self._rows(sql, address))

    def todo(self, site: int, count: int) -> list[PageTask]:
        """The first pages to be requested: those visited again, then the others breadth first (S1-4)."""
        again = """SELECT depth, place, p.hash, path, hops, via_duplicate, tries, outcome,
                   CASE WHEN hops THEN referrer ELSE '' END, kind, strayed, coalesce(code, 0), checksum,
                   coalesce(body_bytes, 0), coalesce(etag, ''), coalesce(modified, ''), coalesce(missing, 0)
                   FROM pages p LEFT JOIN changes c ON c.site = p.site AND c.hash = p.hash
                   WHERE p.site = ? AND revisit = 1 AND todo = 1 ORDER BY depth, place LIMIT ?"""
        sql = """SELECT depth, place, hash, path, hops, via_duplicate, tries, outcome,
                 CASE WHEN hops THEN referrer ELSE '' END, kind, strayed FROM pages
                 WHERE site = ? AND todo = 1 AND revisit = 0 ORDER BY depth, place LIMIT ?"""
        with database_errors(self._path):
            tasks = [_task(row[:11], Kept(*row[11:])) for row in self._rows(again, site, count)]
            return tasks + [_task(row, None) for row in self._rows(sql, site, count - len(tasks))]

    def sources(self, site: int) -> list[SourceRow]:
        """The sitemaps of a site."""
        return [SourceRow(*row) for row in self._rows("SELECT * FROM sources WHERE site = ? ORDER BY depth, url", site)]

    def hashes(self, site: int) -> Iterator[int]:
        return (row[0] for row in self._rows("SELECT hash FROM pages WHERE site = ?", site))

    def knows(self, site: int, url_hash: int) -> bool:
        return self._one("SELECT 1 FROM pages WHERE site = ? AND hash = ?", site, url_hash) is not None

    def contents(self, site: int) -> Iterator[bytes]:
        return (row[0] for row in self._rows("SELECT checksum FROM contents WHERE site = ?", site))

    def first_with(self, site: int, checksum: bytes) -> int | None:
        """The first page of a site with a content."""
        row = self._one("SELECT hash FROM contents WHERE site = ? AND checksum = ?", site, checksum)
        return None if row is None else row[0]

    def samples(self, site: int, count: int) -> list[tuple[str, bytes]]:
        """Paths already collected, and their checksums: what an alias must answer alike (S0-9)."""
        sql = """SELECT path, checksum FROM pages WHERE site = ? AND outcome = 'ok' AND path <> '/'
                 AND checksum IS NOT NULL AND duplicate_of IS NULL ORDER BY depth, place LIMIT ?"""
        return [(row[0], row[1]) for row in self._rows(sql, site, count)]

    def patterns(self, site: int) -> list[KeptPattern]:
        sql = "SELECT pattern, name, asked, recent, grown FROM patterns WHERE site = ?"
        rows = self._rows(sql, site)
        return [KeptPattern(key, name, asked, recent & _64_BITS, grown) for key, name, asked, recent, grown in rows]

    def said_404(self, site: int) -> bool:
        """Whether an earlier run asked the site for what cannot be there, and was told so."""
        sql = "SELECT code FROM visits WHERE site = ? AND hash = ? AND role = 'probe' ORDER BY visit DESC LIMIT 1"
        row = self._one(sql, site, _PROBE)
        return row is not None and row[0] is not None and row[0] != 200

    def answered(self, site: int, key: int) -> tuple[PageTask, float | None] | None:
        """A page as it is known, and when it was last answered; None where it is not known here."""
        sql = """SELECT depth, place, p.hash, path, hops, via_duplicate, tries, outcome,
                 CASE WHEN hops THEN referrer ELSE '' END, kind, strayed, coalesce(code, 0), checksum,
                 coalesce(body_bytes, 0), coalesce(etag, ''), coalesce(modified, ''), coalesce(missing, 0), fetched_at
                 FROM pages p LEFT JOIN changes c ON c.site = p.site AND c.hash = p.hash
                 WHERE p.site = ? AND p.hash = ?"""
        row = self._one(sql, site, key)
        if row is None:
            return None
        *known, fetched_at = row
        return _task(tuple(known[:11]), Kept(*known[11:]) if fetched_at is not None else None), fetched_at

    def has_visit(self, site: int, key: int, at: float) -> bool:
        """Whether a visit of this very moment is known: times are kept to the microsecond at best."""
        sql = "SELECT 1 FROM visits WHERE site = ? AND hash = ? AND at BETWEEN ? AND ?"
        return self._one(sql, site, key, at - _SAME_S, at + _SAME_S) is not None

    def places(self, site: int, key: int) -> list[tuple[float, str, int]]:
        """Time and place of every answer of a page that the archive holds, the newest first."""
        sql = """SELECT at, archive_file, archive_offset FROM visits
                 WHERE site = ? AND hash = ? AND archive_file IS NOT NULL ORDER BY at DESC, visit DESC"""
        return [(float(at), str(file), int(offset)) for at, file, offset in self._rows(sql, site, key)]

    def place_of_payload(self, site: int, payload_sha1: bytes) -> tuple[str, int] | None:
        """Where a site's content with this digest lies."""
        sql = "SELECT archive_file, archive_offset FROM contents WHERE site = ? AND payload_sha1 = ?"
        row = self._one(sql, site, payload_sha1)
        return None if row is None else (str(row[0]), int(row[1]))

    def seed_count(self, site: int) -> int:
        row = self._one("SELECT count(*) FROM seeds WHERE site = ?", site)
        return row[0] if row is not None else 0

    def domain_pages(self, domain: str) -> int:
        row = self._one("SELECT pages FROM domains WHERE domain = ?", domain)
        return row[0] if row is not None else 0

    def pages_on(self, address: str) -> int:
        """Pages requested so far of all sites on an address."""
        row = self._one("SELECT sum(requested) FROM sites WHERE address = ?", address)
        return (row[0] or 0) if row is not None else 0

    def paths(self, site: int) -> list[tuple[str, str, int, str]]:
        """Every page known of a site: path, referrer, hops, kind."""
        return list(self._rows("SELECT path, referrer, hops, kind FROM pages WHERE site = ? ORDER BY place", site))

    def _rows(self, sql: str, *values: object) -> Iterator[tuple]:  # type: ignore[type-arg]  # as SQLite gives them
        return iter(self._reader.execute(sql, values))

    def _one(self, sql: str, *values: object) -> tuple | None:  # type: ignore[type-arg]
        with database_errors(self._path):
            return self._reader.execute(sql, values).fetchone()

    # Writing, in the commit's thread.

    def _let_limited_in(self, group: Group) -> None:
        """A limit was changed: what it had cut off waits again or is reported, and its sites are open again."""
        self._revive("outcome IN ('limit', 'trap_rejected', 'host_budget')")
        self._blamed.acquit_all()
        self._writer.execute("UPDATE sites SET state = 'waiting' WHERE state = 'done'")
        sql = "SELECT url, referrer FROM outside WHERE outcome = 'limit'"
        group.links += [OutLink(url, referrer, "") for url, referrer in self._writer.execute(sql)]
        self._writer.execute("DELETE FROM outside WHERE outcome = 'limit'")

    def commit(self, group: Group, sequence: int) -> list[Parcel]:
        """Make a group durable; returns the parcels for the coordinator, numbered from `sequence` on."""
        before = self._archive.position
        crash_point("slot.collected")
        try:
            placed = self._append([visit for visit in group.visited if visit.archived])
            self._archive.sync()
            with transaction(self._writer):
                parcels = self._write(group, placed, sequence, self._archive.position)
        except BaseException as problem:
            if self._writing is not None and not isinstance(problem, NephilaError):
                self.in_hand.failed_with(self._writing.site, self._writing.hash)
            self._archive.rewind(before)
            raise
        finally:
            self._writing = None
        crash_point("slot.committed")
        return parcels

    def blame(self, most_deaths: int | None) -> None:
        """What the last agent died with in hand is counted, and set aside when it was in hand too often."""
        if self.in_hand.left:
            with transaction(self._writer):
                self._blamed.blame(self.in_hand.left, most_deaths, self._sweep)

    def refusal(self, site: int, key: int) -> str | None:
        """Why something must not be asked for because agents died of it."""
        return self._blamed.refusal(site, key)

    def begin_at(self, applied: int, sent: int) -> None:
        """For a database that is made anew: how far the parcels of both ways are."""
        with transaction(self._writer):
            self._writer.execute("UPDATE slot SET applied = ?, sent = ?", (applied, sent))

    def adopt(self, group: Group, placed: Mapping[int, Placed], end: Position | None, sequence: int) -> int:
        """Write a group whose answers are in the archive already; returns how many parcels it made."""
        with transaction(self._writer):
            return len(self._write(group, placed, sequence, end))

    def _append(self, archived: list[Visited]) -> dict[int, Placed]:
        """Into the archive, duplicates last: the record that holds their body has its place by then."""
        placed: dict[int, Placed] = {}
        firsts: dict[tuple[int, bytes | None], Content] = {}
        new = [visit for visit in archived if not visit.repeats]
        places = self._archive.append(self._exchange(visit, {}) for visit in new)
        for visit, place in zip(new, places, strict=True):
            placed[id(visit)] = place
            if visit.first_of_content:
                url, sha1 = visit.site_url + visit.path, visit.payload_sha1 or b""
                content = Content(url, sha1, visit.fetched.started_at, place.file, place.offset)
                firsts[visit.site, visit.checksum] = content
        again = [visit for visit in archived if visit.repeats]
        places = self._archive.append(self._exchange(visit, firsts) for visit in again) if again else []
        self._writing = None
        return placed | {id(visit): place for visit, place in zip(again, places, strict=True)}

    def _exchange(self, visit: Visited, firsts: Mapping[tuple[int, bytes | None], Content]) -> Exchange:
        self._writing = visit
        fetched = visit.fetched
        url = visit.site_url + visit.path
        revisit = None
        first = None
        if visit.repeats and visit.checksum is not None:
            first = firsts.get((visit.site, visit.checksum)) or self._content(visit)
        if visit.outcome is Outcome.NOT_MODIFIED:
            revisit = Revisit(RevisitProfile.NOT_MODIFIED, url, fetched.started_at)
            if first is not None:
                place = (first.fetched_at, first.file, first.offset)
                revisit = Revisit(RevisitProfile.NOT_MODIFIED, first.url, *place)
        elif first is not None and first.payload_sha1 == visit.payload_sha1:
            profile = RevisitProfile.IDENTICAL_PAYLOAD
            revisit = Revisit(profile, first.url, first.fetched_at, first.file, first.offset)
        return Exchange(
            url=url,
            fetched_at=fetched.started_at,
            request=fetched.request_bytes,
            header=fetched.raw_header,
            body=None if revisit is not None else fetched.content,
            address=fetched.address,
            payload_sha1=visit.payload_sha1,
            revisit=revisit,
            truncated=fetched.truncated or "",
            role=visit.role,
            fields=(("fetchTimeMs", str(round(fetched.total_ms))), ("outcome", visit.outcome.value)),
            outlinks=visit.links,
        )

    def _content(self, visit: Visited) -> Content | None:
        row = self._writer.execute(
            """SELECT pages.path, payload_sha1, contents.fetched_at, contents.archive_file, contents.archive_offset
               FROM contents JOIN pages USING (site, hash) WHERE contents.site = ? AND contents.checksum = ?""",
            (visit.site, visit.checksum),
        ).fetchone()
        return None if row is None else Content(visit.site_url + row[0], *row[1:])

    def _write(self, group: Group, placed: Mapping[int, Placed], sequence: int, end: Position | None) -> list[Parcel]:
        run, many = self._writer.execute, self._writer.executemany
        for row in group.sites.values():
            values = [getattr(row, column) for column in _SITE_COLUMNS]
            run(f"INSERT OR REPLACE INTO sites ({', '.join(_SITE_COLUMNS)}) VALUES ({_marks(values)})", values)  # noqa: S608
        many(
            """UPDATE sites SET last_ms = ?, delay_s = ?, requested = ?, received_bytes = ?, known = ?, first_at = ?,
               last_at = ?, home = ? WHERE site = ?""",
            ((*astuple(figures), site) for site, figures in group.figures.items()),
        )
        many(
            """INSERT OR IGNORE INTO pages (site, hash, path, depth, place, todo, outcome, reason, found_at, referrer,
               kind, hops, via_duplicate, strayed) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
            (_found_values(page) for page in group.found),
        )
        seeds = [(page.site, page.hash) for page in group.found if page.seed]
        many("INSERT OR IGNORE INTO seeds (site, hash) VALUES (?, ?)", seeds)
        many("UPDATE pages SET stated_at = ? WHERE site = ? AND hash = ?", group.stated)
        many("INSERT OR REPLACE INTO sources VALUES (?, ?, ?, ?, ?, ?, ?)", map(astuple, group.sources.values()))
        for visit in group.visited:
            self._write_visit(visit, placed.get(id(visit)))
        self._writing = None
        self._blamed.acquit(group.visited)
        crash_point("slot.half_written")
        many(
            "UPDATE pages SET outcome = ?, reason = ?, todo = ?, revisit = 0 WHERE site = ? AND hash = ?",
            ((row.outcome.value, row.reason, row.todo, row.site, row.hash) for row in group.judged),
        )
        many("UPDATE pages SET todo = 1, tries = 1 WHERE site = ? AND hash = ?", group.again)
        for swept in group.swept:
            self._sweep(swept)
        if group.let_in:
            self._let_limited_in(group)
        self._ask_again(group)
        many("UPDATE seeds SET party_s = ? WHERE site = ?", ((seconds, site) for site, seconds in group.parties))
        many(
            "INSERT OR IGNORE INTO outside VALUES (?, ?, ?, ?, ?, ?)",
            (
                (hash128(row.url), row.url, row.outcome.value, row.reason, row.referrer, row.found_at)
                for row in group.outside
            ),
        )
        many(
            """INSERT INTO purses VALUES (?, ?, ?)
               ON CONFLICT DO UPDATE SET granted = granted + excluded.granted, used = used + excluded.used""",
            ((purse, group.granted[purse], group.used[purse]) for purse in {*group.granted, *group.used}),
        )
        many(
            "INSERT OR REPLACE INTO patterns VALUES (?, ?, ?, ?, ?, ?)",
            (
                (site, row.pattern, row.name, row.asked, row.recent - (row.recent >> 63 << 64), row.grown)
                for (site, _), row in group.patterns.items()
            ),
        )
        many(
            "INSERT INTO domains VALUES (?, ?) ON CONFLICT DO UPDATE SET pages = pages + excluded.pages",
            group.domains.items(),
        )
        self._count(group.outcomes.items())
        many(
            "INSERT INTO refused VALUES (?, ?) ON CONFLICT DO UPDATE SET count = count + excluded.count",
            group.refused.items(),
        )
        many(
            "INSERT INTO tallies VALUES (?, ?) ON CONFLICT DO UPDATE SET count = count + excluded.count",
            group.tallies.items(),
        )
        if group.forgotten:
            run("DELETE FROM outbox WHERE sequence <= ?", (group.forgotten,))
        parcels = parcels_of(self.slot, group, sequence)
        many("INSERT INTO outbox VALUES (?, ?)", ((parcel.sequence, parcel.payload) for parcel in parcels))
        position = end or Position("", 0)
        run(
            """UPDATE slot SET applied = max(applied, ?), sent = max(sent, ?), archive_file = ?, archive_offset = ?,
               requests = requests + ?, pages = pages + ?, received_bytes = received_bytes + ?""",
            (
                max(group.orders, default=0), sequence + len(parcels) - 1, position.file, position.offset,
                len(group.visited), group.pages, sum(visit.fetched.received_bytes for visit in group.visited),
            ),
        )  # fmt: skip
        return parcels

    def _ask_again(self, group: Group) -> None:
        """Pages that were planned for another visit; of one that waits anyway nothing changes."""
        sql = """UPDATE pages SET todo = 1, revisit = 1, tries = 0
                 WHERE site = ? AND hash = ? AND todo = 0 AND outcome <> 'forgotten'"""
        self._writer.executemany(sql, group.revisits)

    def _sweep(self, swept: Swept) -> None:
        """A page that is visited again keeps its outcome; a visit that cannot be made now is planned anew when due."""
        if not swept.untried:
            sql = "UPDATE pages SET todo = 0, revisit = 0, tries = 1 WHERE site = ? AND revisit = 1"
            self._writer.execute(sql, (swept.site,))
        which = "site = ? AND todo = 1 AND revisit = 0" + (" AND tries = 0" if swept.untried else "")
        sql = f"SELECT outcome, -count(*) FROM pages WHERE {which} GROUP BY outcome"  # noqa: S608
        gone = [(str(outcome), int(count)) for outcome, count in self._writer.execute(sql, (swept.site,))]
        self._count([*gone, (swept.outcome.value, -sum(count for _, count in gone))])
        # What is kept for the next run has all its tries then.
        tries = ", tries = min(tries, 1)" if swept.todo else ""
        self._writer.execute(
            f"UPDATE pages SET outcome = ?, reason = ?, todo = ?{tries} WHERE {which}",  # noqa: S608
            (swept.outcome.value, swept.reason, swept.todo, swept.site),
        )

    def _revive(self, condition: str, *values: int) -> None:
        sql = f"SELECT outcome, -count(*) FROM pages WHERE {condition} GROUP BY outcome"  # noqa: S608
        gone = [(str(outcome), int(count)) for outcome, count in self._writer.execute(sql, values)]
        self._count([*gone, (Outcome.WAITING.value, -sum(count for _, count in gone))])
        sql = f"UPDATE pages SET outcome = 'waiting', reason = '', todo = 1, tries = min(tries, 1) WHERE {condition}"  # noqa: S608
        self._writer.execute(sql, values)

    def _count(self, changes: Iterable[tuple[str, int]]) -> None:
        count_outcomes(self._writer, changes)

    def _write_visit(self, visit: Visited, place: Placed | None) -> None:
        run, fetched = self._writer.execute, visit.fetched
        self._writing = visit
        file, offset = (place.file, place.offset) if place is not None else (None, None)
        elapsed_ms = round(fetched.total_ms)
        code = fetched.status or None
        run(
            """INSERT INTO visits (site, hash, path, role, at, outcome, reason, code, checksum, wire_bytes, body_bytes,
               connect_ms, header_ms, elapsed_ms, address, http, tls, server, archive_file, archive_offset, changed,
               compare_bytes, etag, modified)
               VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
            (
                visit.site, visit.hash, visit.path, visit.role, fetched.started_at, visit.outcome.value, visit.reason,
                code, visit.checksum, fetched.received_bytes, len(fetched.payload), round(fetched.connect_ms),
                round(fetched.header_ms), elapsed_ms, fetched.address, fetched.http_version, fetched.tls,
                fetched.header("server"), file, offset, *change_of(visit), fetched.header("etag"),
                fetched.header("last-modified"),
            ),
        )  # fmt: skip
        if visit.role != "page":
            return
        key = (visit.site, visit.hash)
        if visit.seen is Seen.OLDER:
            self._write_content(visit, place)
            return
        if visit.seen is not None:
            before = run("SELECT fetched_at FROM pages WHERE site = ? AND hash = ?", key).fetchone()
            log_visit(self._writer, visit, before[0] if before is not None else None)
        if visit.seen is not None and visit.seen is not Seen.CHANGED:
            keep_content(self._writer, visit)
        elif code is None or (not visit.archived and self._is_kept(key)):  # what was known of the page before stays
            run(
                """UPDATE pages SET todo = ?, outcome = ?, reason = ?, tries = ?, elapsed_ms = ?
                   WHERE site = ? AND hash = ?""",
                (visit.todo, visit.outcome.value, visit.reason, visit.tries, elapsed_ms, *key),
            )
        else:
            run(
                """UPDATE pages SET todo = ?, outcome = ?, reason = ?, tries = ?, code = ?, mime = ?, redirect_to = ?,
                   checksum = ?, duplicate_of = ?, wire_bytes = ?, body_bytes = ?, etag = ?, modified = ?,
                   fetched_at = ?, elapsed_ms = ?, archive_file = ?, archive_offset = ?, link_kinds = ?, flags = ?,
                   revisit = 0 WHERE site = ? AND hash = ?""",
                (
                    visit.todo, visit.outcome.value, visit.reason, visit.tries, code, visit.mime, visit.redirect_to,
                    visit.checksum, visit.duplicate_of, fetched.received_bytes, len(fetched.payload),
                    fetched.header("etag"), fetched.header("last-modified"), fetched.started_at, elapsed_ms,
                    file, offset, visit.link_kinds, visit.flags, *key,
                ),
            )  # fmt: skip
        self._write_content(visit, place)
        state = network_state(visit.outcome, visit.reason).value
        run("UPDATE seeds SET checksum = ?, state = ? WHERE site = ? AND hash = ?", (visit.checksum, state, *key))

    def _is_kept(self, key: tuple[int, int]) -> bool:
        """Whether an answer of the page is in the archive, from before its site was dark."""
        sql = "SELECT 1 FROM pages WHERE site = ? AND hash = ? AND archive_file IS NOT NULL"
        return self._writer.execute(sql, key).fetchone() is not None

    def _write_content(self, visit: Visited, place: Placed | None) -> None:
        if visit.first_of_content and place is not None:
            at = visit.fetched.started_at
            self._writer.execute(
                "INSERT OR IGNORE INTO contents VALUES (?, ?, ?, ?, ?, ?, ?)",
                (visit.site, visit.checksum, visit.hash, visit.payload_sha1, at, place.file, place.offset),
            )


def _task(row: tuple, kept: Kept | None) -> PageTask:  # type: ignore[type-arg]  # as SQLite gives it
    depth, place, key, path, hops, via_duplicate, tries, outcome, came_from, kind, strayed = row
    return PageTask(
        depth, place, key, path, hops, bool(via_duplicate), tries, Outcome(outcome), came_from, kind, strayed, kept
    )  # fmt: skip


def _found_values(page: FoundPage) -> tuple[object, ...]:
    return (
        page.site, page.hash, page.path, page.depth, page.place, page.todo, page.outcome.value, page.reason,
        page.found_at, page.referrer, page.kind, page.hops, page.via_duplicate, page.strayed,
    )  # fmt: skip


def _site_row(row: tuple) -> SiteRow:  # type: ignore[type-arg]  # as SQLite gives it
    values = dict(zip(_SITE_COLUMNS, row, strict=True))
    values["given"] = bool(values["given"])
    return SiteRow(**values)


def _marks(values: list[object]) -> str:
    return ", ".join("?" * len(values))
