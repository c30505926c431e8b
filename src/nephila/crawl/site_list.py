"""The coordinator's list of sites on disk: each once, with its seeds, its lease and what is still to be sent.

Every method that writes is one transaction; what it returns is to be sent after it, and would be sent again after a
crash, because it lies in the outbox until the slot has applied it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from nephila.crawl.messages import AskAgain, Credit, Findings, FurtherSeed, NewSite, Orders, OutLink, Seed, SiteEnded
from nephila.crawl.scope import rule_of, tally_of
from nephila.crawl.site_tables import SITE_SCHEMA
from nephila.records import Outcome
from nephila.store.database import close, open_writer, transaction
from nephila.store.durable import crash_point
from nephila.urls import hash128, host_of, registrable_domain, split, url_hash

_MAX_SITES: Final = "crawl.max_sites"
_NO_LAST: Final = 1 << 62
_ELSEWHERE: Final = "its address belongs to another slot than its imported pages"
_LET_IN: Final = "IN ('limit', 'host_budget')"
PARCEL_SEEDS: Final = 5_000
"""Sites and seeds in one parcel; with URLs of 2 KB each and their referrers that is a third of a frame."""


@dataclass(frozen=True, slots=True)
class Admission:
    """What lets a new site in: the mode (S0-5) and how many sites there may be."""

    follow_links: bool
    max_sites: int | None
    domain_sites: int | None = None  # sites of one domain that only its own pages link to (U5)


@dataclass(frozen=True, slots=True)
class WaitingSite:
    number: int
    url: str
    given: bool
    tries: int


@dataclass(frozen=True, slots=True)
class Located:
    """A site whose name was looked up and has an address."""

    number: int
    address: str


@dataclass(frozen=True, slots=True)
class SiteCounts:
    new: int = 0
    leased: int = 0
    done: int = 0
    asleep: int = 0
    alias: int = 0
    refused: int = 0


@dataclass(slots=True)
class _Drafts:
    """Orders in the making, per slot."""

    sites: dict[int, list[NewSite]] = field(default_factory=lambda: defaultdict(list))
    seeds: dict[int, list[FurtherSeed]] = field(default_factory=lambda: defaultdict(list))
    credits: dict[int, list[Credit]] = field(default_factory=lambda: defaultdict(list))
    let_in: set[int] = field(default_factory=set)
    again: dict[int, list[AskAgain]] = field(default_factory=lambda: defaultdict(list))

    def slots(self) -> set[int]:
        return {*self.sites, *self.seeds, *self.credits, *self.let_in, *self.again}

    def parcels(self, slot: int) -> Iterator[Orders]:
        """The slot's orders in parcels that fit into a frame, not yet numbered; sites before their further seeds."""
        sites: list[NewSite] = []
        weight = 0
        for site in self.sites[slot]:
            weight += 1 + len(site.seeds)
            if sites and weight > PARCEL_SEEDS:
                yield Orders(slot, 0, tuple(sites))
                sites, weight = [], 1 + len(site.seeds)
            sites.append(site)
        seeds = self.seeds[slot]
        first, rest = seeds[:PARCEL_SEEDS], seeds[PARCEL_SEEDS:]
        again = tuple(self.again[slot])
        yield Orders(slot, 0, tuple(sites), tuple(first), tuple(self.credits[slot]), slot in self.let_in, again)
        for start in range(0, len(rest), PARCEL_SEEDS):
            yield Orders(slot, 0, seeds=tuple(rest[start : start + PARCEL_SEEDS]))


class SiteList:
    """`state/coordinator.db`."""

    def __init__(self, path: Path, slots: int, *, sync: bool = True) -> None:
        self._db = open_writer(path, SITE_SCHEMA, sync=sync)
        with transaction(self._db):
            self._db.executemany("INSERT OR IGNORE INTO slots VALUES (?, 0, 0)", ((slot,) for slot in range(slots)))
        self.slots: list[int] = [row[0] for row in self._db.execute("SELECT slot FROM slots ORDER BY slot")]

        self._tallied: Counter[str] = Counter()  # of the transaction under way
        self._site_count, self._owned = 0, dict.fromkeys(self.slots, 0)
        self._count()

    def _count(self) -> None:
        """Counted once: asking for them at each link would cost more the more there are."""
        self._site_count = self._number("SELECT count(*) FROM sites")
        self._owned = dict.fromkeys(self.slots, 0)
        self._owned.update(self._db.execute("SELECT slot, count(*) FROM addresses GROUP BY slot"))

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """All or nothing; what is counted in memory goes back with the rows, so that it can be tried again."""
        try:
            with transaction(self._db):
                yield
                self._db.executemany(
                    "INSERT INTO tallies VALUES (?, ?) ON CONFLICT DO UPDATE SET count = count + excluded.count",
                    self._tallied.items(),
                )
        except BaseException:
            self._count()
            raise
        finally:
            self._tallied.clear()

    def close(self) -> None:
        close(self._db)

    # Seeds and sites

    def add_given(self, urls: Iterable[str], admission: Admission, now: float) -> int:
        """The user's seeds, in their order (S1-5); returns how many were not known. Further ones reopen their site."""
        drafts = _Drafts()
        added = 0
        with self._transaction():
            for url in urls:
                site_url, path = split(url)
                if self._is_full(admission) and not self._knows(site_url):
                    self._outside(OutLink(url, "", "s"), Outcome.LIMIT, _MAX_SITES, now)
                    continue
                number, state, slot = self._site(site_url, now, "", given=True)
                added += self._add_seed(number, state, slot, Seed(path, "", 0, "s"), now, drafts, given=True)
            self._post(drafts)
        return added

    def enter(self, sites: Iterable[tuple[str, str]], now: float) -> dict[str, tuple[int, int]]:
        """Sites of an archive, as URL and address then: the number and the slot of each.

        They belong to a slot from now on and are in state `new` all the same: where they are today is looked up
        before anything is asked of them.
        """
        found = {}
        with self._transaction():
            for url, address in sites:
                number, _, slot = self._site(url, now, "", given=True)
                if slot is None:
                    row = self._db.execute("SELECT slot FROM addresses WHERE address = ?", (address,)).fetchone()
                    slot = int(row[0]) if row is not None else self.slots[number % len(self.slots)]
                    self._db.execute(
                        """UPDATE sites SET slot = ?, address = ?, state = 'new', outcome = '', reason = ''
                           WHERE site = ?""",
                        (slot, address, number),
                    )
                found[url] = (number, slot)
        return found

    def entered(self, url: str) -> tuple[int, int] | None:
        """The number and the slot of a site that has one."""
        row = self._db.execute("SELECT site, slot FROM sites WHERE url = ? AND slot IS NOT NULL", (url,)).fetchone()
        return None if row is None else (int(row[0]), int(row[1]))

    def seed(self, number: int, key: int) -> Seed | None:
        """How a page was first linked to from elsewhere."""
        sql = "SELECT path, referrer, hops, kind, strayed FROM seeds WHERE site = ? AND hash = ?"
        row = self._db.execute(sql, (number, key)).fetchone()
        return None if row is None else Seed(*row)

    def add_seeds(self, seeds: Iterable[tuple[int, str]], now: float) -> None:
        """Pages of an archive that nobody links to, as number of the site and path."""
        with self._transaction():
            self._db.executemany(
                """INSERT OR IGNORE INTO seeds (site, hash, path, given, found_at, referrer, kind, hops)
                   VALUES (?, ?, ?, 1, ?, '', 's', 0)""",
                ((number, url_hash(path), path, now) for number, path in seeds),
            )

    def add_outside(self, rows: Iterable[tuple[str, Outcome, str]], now: float) -> None:
        """Lines of the seed list that are no URLs, and URLs that are out of scope."""
        with self._transaction():
            for url, outcome, reason in rows:
                self._outside(OutLink(url, "", "s"), outcome, reason, now)

    def new_sites(self, count: int, without: set[int]) -> list[WaitingSite]:
        """The next sites to hand out, oldest first."""
        sql = "SELECT site, url, given, tries FROM sites WHERE state = 'new' ORDER BY site LIMIT ?"
        rows = (
            WaitingSite(row[0], row[1], bool(row[2]), row[3]) for row in self._db.execute(sql, (count + len(without),))
        )
        return [row for row in rows if row.number not in without][:count]

    def lease(self, located: Sequence[Located]) -> list[Orders]:
        """Hand sites to the slots that own their addresses; a new address goes to the slot with the fewest."""
        drafts = _Drafts()
        with self._transaction():
            for site in located:
                sql = "SELECT url, given, slot FROM sites WHERE site = ?"
                url, given, pinned = next(self._db.execute(sql, (site.number,)))
                slot = self._slot_of(site.address, pinned)
                if pinned is not None and slot != pinned:
                    self._db.execute(
                        "UPDATE sites SET state = 'done', outcome = ?, reason = ? WHERE site = ?",
                        (Outcome.LIMIT.value, _ELSEWHERE, site.number),
                    )
                    continue
                self._db.execute(
                    """UPDATE sites SET state = 'leased', slot = ?, address = ?, outcome = '', reason = ''
                       WHERE site = ?""",
                    (slot, site.address, site.number),
                )
                sql = """SELECT path, referrer, hops, kind, strayed FROM seeds WHERE site = ?
                         ORDER BY given DESC, found_at, path"""
                seeds = [Seed(*seed) for seed in self._db.execute(sql, (site.number,))]
                first, rest = tuple(seeds[:PARCEL_SEEDS]), seeds[PARCEL_SEEDS:]
                drafts.sites[slot].append(NewSite(site.number, url, site.address, bool(given), first))
                drafts.seeds[slot] += [FurtherSeed(site.number, seed) for seed in rest]
            orders = self._post(drafts)
        crash_point("coordinator.leased")
        return orders

    def owner_of(self, address: str) -> int:
        """The slot of an address, also of one that no site has been found on."""
        with transaction(self._db):
            return self._slot_of(address)

    def set_unreachable(self, number: int, outcome: Outcome, reason: str) -> None:
        """A site without an address that may be asked: no slot gets it, and its outcome is that of all its seeds."""
        with self._transaction():
            self._db.execute(
                "UPDATE sites SET state = 'done', outcome = ?, reason = ? WHERE site = ?",
                (outcome.value, reason, number),
            )

    def reopen(self, limits: str, admission: Admission, now: float) -> None:
        """At the start of a run: what slept or had no address is tried again (S1-11), and what a limit cut off.

        The limits of the last run are kept here, so that a change of them is seen even if the process that was told
        about it was killed at once; that they have changed goes to the slots as a parcel like any other.
        """
        drafts = _Drafts()
        with self._transaction():
            self._db.execute("UPDATE sites SET state = 'leased' WHERE state = 'asleep'")
            self._db.execute(
                """UPDATE sites SET state = 'new', tries = 0 WHERE state = 'done'
                   AND (slot IS NULL OR outcome IN ('dns_nxdomain', 'dns_fail', 'dns_timeout'))"""
            )
            before = self._db.execute("SELECT text FROM limits").fetchone()
            self._db.execute("INSERT OR REPLACE INTO limits VALUES (1, ?)", (limits,))
            if before is not None and before[0] != limits:
                self._let_in(admission, now, drafts)
            self._post(drafts)

    def _let_in(self, admission: Admission, now: float, drafts: _Drafts) -> None:
        drafts.let_in.update(self.slots)
        run = self._db.execute
        run(f"CREATE TEMP TABLE let_in AS SELECT url, referrer, found_at FROM outside WHERE outcome {_LET_IN}")  # noqa: S608
        run(f"DELETE FROM outside WHERE outcome {_LET_IN}")  # noqa: S608
        for url, referrer in run("SELECT url, referrer FROM let_in ORDER BY found_at, url"):
            if referrer:
                self._apply_link(OutLink(url, referrer, ""), admission, now, drafts)
            elif self._is_full(admission) and not self._knows(split(url)[0]):
                self._outside(OutLink(url, "", "s"), Outcome.LIMIT, _MAX_SITES, now)
            else:
                site_url, path = split(url)
                number, state, slot = self._site(site_url, now, "", given=True)
                self._add_seed(number, state, slot, Seed(path, "", 0, "s"), now, drafts, given=True)
        run("DROP TABLE temp.let_in")

    def look_up_failed(self, number: int) -> None:
        """The name server did not answer; the site is tried once more before that is its outcome."""
        with self._transaction():
            self._db.execute("UPDATE sites SET tries = tries + 1 WHERE site = ?", (number,))

    # Parcels

    def apply(self, findings: Findings, admission: Admission, now: float) -> list[Orders]:
        """What a slot found, once however often it comes (DESIGN: Links between agents)."""
        drafts = _Drafts()
        with self._transaction():
            applied = self._number("SELECT applied FROM slots WHERE slot = ?", findings.slot)
            if findings.sequence <= applied:
                return []
            for link in findings.links:
                self._apply_link(link, admission, now, drafts)
            for ended in findings.ended:
                self._end(ended, now, drafts)
            for credit in findings.returned:
                self._add_granted(credit.purse, findings.slot, -credit.pages)
            self._db.execute("UPDATE slots SET applied = ? WHERE slot = ?", (findings.sequence, findings.slot))
            crash_point("coordinator.received")
            orders = self._post(drafts)
        crash_point("coordinator.applied")
        return orders

    def admit(self, links: Iterable[OutLink], admission: Admission, now: float) -> None:
        """Links that pages of the archive have to other sites: known ones change nothing."""
        drafts = _Drafts()
        with self._transaction():
            for link in links:
                self._apply_link(link, admission, now, drafts)
            self._post(drafts)

    def undelivered(self, slot: int, applied: int) -> list[Orders]:
        """What a slot that just came up has not applied yet."""
        with self._transaction():
            self._db.execute("DELETE FROM outbox WHERE slot = ? AND sequence <= ?", (slot, applied))
        return self.outbox(slot, applied + 1)

    def outbox(self, slot: int, first: int, last: int = _NO_LAST) -> list[Orders]:
        """Parcels of a slot in their order."""
        sql = "SELECT parcel FROM outbox WHERE slot = ? AND sequence BETWEEN ? AND ? ORDER BY sequence"
        return [msgspec.msgpack.decode(row[0], type=Orders) for row in self._db.execute(sql, (slot, first, last))]

    def delivered(self, slot: int, sequence: int) -> None:
        with self._transaction():
            self._db.execute("DELETE FROM outbox WHERE slot = ? AND sequence <= ?", (slot, sequence))

    # Plans

    def posted(self, plan: int) -> int:
        """How many rows of a plan were posted."""
        row = self._db.execute("SELECT posted FROM plans WHERE plan = ?", (plan,)).fetchone()
        return 0 if row is None else int(row[0])

    def post_plan(self, plan: int, pages: Sequence[tuple[int, int]], now: float) -> None:
        """The next rows of a plan, as (site, hash): to the slots that own the sites, once whatever happens."""
        by_site: dict[int, list[int]] = defaultdict(list)
        for site, key in pages:
            by_site[site].append(key)
        drafts = _Drafts()
        imported: list[tuple[int]] = []  # their address is looked up before anything is asked of them
        with self._transaction():
            for site, keys in by_site.items():
                row = self._db.execute("SELECT slot, state FROM sites WHERE site = ?", (site,)).fetchone()
                if row is not None and row[0] is not None and row[1] != "alias":
                    drafts.again[row[0]].append(AskAgain(site, tuple(keys)))
                    imported += [(site,)] if row[1] == "new" else []
            self._post(drafts)
            self._db.executemany("UPDATE sites SET state = 'new' WHERE site = ?", imported)
            self._db.execute(
                """INSERT INTO plans VALUES (?, ?, ?)
                   ON CONFLICT DO UPDATE SET posted = posted + excluded.posted, posted_at = excluded.posted_at""",
                (plan, len(pages), now),
            )
            crash_point("coordinator.planned")

    # Purses

    def grant(self, slot: int, purse: str, limit: int, share: int) -> list[Orders]:
        """Up to `share` pages of a purse for one slot; nothing when all is given out (max_pages is never exceeded)."""
        with self._transaction():
            pages = min(share, max(0, limit - self.granted(purse)))
            if pages == 0:
                return []
            self._add_granted(purse, slot, pages)
            drafts = _Drafts()
            drafts.credits[slot].append(Credit(purse, pages))
            return self._post(drafts)

    def _add_granted(self, purse: str, slot: int, pages: int) -> None:
        self._db.execute(
            "INSERT INTO purses VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET granted = granted + excluded.granted",
            (purse, slot, pages),
        )

    def granted(self, purse: str) -> int:
        sql = "SELECT coalesce(sum(granted), 0) FROM purses WHERE purse = ?"
        return self._number(sql, purse)

    # What others ask

    def counts(self) -> SiteCounts:
        return SiteCounts(**dict(self._db.execute("SELECT state, count(*) FROM sites GROUP BY state")))

    def has_open(self) -> bool:
        """Whether any site is to be handed out or handed back, or any parcel to be applied."""
        questions = ("sites WHERE state = 'new'", "sites WHERE state = 'leased'", "outbox")
        return any(self._db.execute(f"SELECT 1 FROM {each} LIMIT 1").fetchone() for each in questions)  # noqa: S608

    def leased(self) -> int:
        return self._number("SELECT count(*) FROM sites WHERE state = 'leased'")

    def seeds(self) -> Iterator[str]:
        """Every seed known, the user's first (S1-5: the output list contains the input list)."""
        sql = """SELECT sites.url || seeds.path FROM seeds JOIN sites USING (site)
                 ORDER BY seeds.given DESC, site, seeds.found_at, seeds.path"""
        yield from (row[0] for row in self._db.execute(sql))
        # The user's own that a rule or a limit left out: another crawl may let them in.
        sql = """SELECT url FROM outside WHERE referrer = ''
                 AND outcome IN ('scope_rejected', 'limit', 'host_budget') ORDER BY url"""
        yield from (row[0] for row in self._db.execute(sql))

    def has_any(self) -> bool:
        """Whether there is anything that this crawl was begun with."""
        return any(self._db.execute(f"SELECT 1 FROM {each} LIMIT 1").fetchone() for each in ("sites", "outside"))  # noqa: S608

    def begin_run(self, now: float, agents: int, changes: str) -> int:
        with self._transaction():
            self._db.execute("INSERT INTO runs (started_at, agents, changes) VALUES (?, ?, ?)", (now, agents, changes))
        return self._db.last_insert_rowid()

    def end_run(self, run: int, now: float, how: str) -> None:
        with self._transaction():
            self._db.execute("UPDATE runs SET ended_at = ?, how = ? WHERE run = ?", (now, how, run))

    def show(self, report: bytes, now: float) -> None:
        """The live figures that `nephila status` reads; worth no wait for the disk beyond the transaction's own."""
        with self._transaction():
            self._db.execute("INSERT OR REPLACE INTO progress VALUES (1, ?, ?)", (now, report))

    def _number(self, sql: str, *values: object) -> int:
        row = self._db.execute(sql, values).fetchone()
        assert row is not None, sql
        return int(row[0])

    # Inside a transaction

    def _site(self, url: str, now: float, referrer: str, *, given: bool) -> tuple[int, str, int | None]:
        row = self._db.execute("SELECT site, state, slot FROM sites WHERE url = ?", (url,)).fetchone()
        if row is not None:
            if given:
                self._db.execute("UPDATE sites SET given = 1 WHERE site = ?", (row[0],))
            return row[0], row[1], row[2]
        self._db.execute(
            "INSERT INTO sites (url, state, given, found_at, referrer) VALUES (?, 'new', ?, ?, ?)",
            (url, given, now, referrer),
        )
        self._site_count += 1
        return self._db.last_insert_rowid(), "new", None

    def _add_seed(
        self, number: int, state: str, slot: int | None, seed: Seed, now: float, drafts: _Drafts, *, given: bool
    ) -> bool:
        before = self._db.total_changes()
        self._db.execute(
            "INSERT OR IGNORE INTO seeds VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (number, url_hash(seed.path), seed.path, given, now, seed.referrer, seed.kind, seed.hops, seed.strayed),
        )
        if self._db.total_changes() == before:
            return False
        if state != "new" and slot is not None:
            drafts.seeds[slot].append(FurtherSeed(number, seed))
        return True

    def _apply_link(self, link: OutLink, admission: Admission, now: float, drafts: _Drafts) -> None:
        site_url, path = split(link.url)
        if not self._knows(site_url):
            refusal = self._refusal(admission) or self._domain_refusal(site_url, link.referrer, admission)
            if refusal is not None:
                self._outside(link, *refusal, now)
                return
        number, state, slot = self._site(site_url, now, link.referrer, given=False)
        seed = Seed(path, link.referrer, link.hops, link.kind, link.strayed)
        self._add_seed(number, state, slot, seed, now, drafts, given=False)

    def _refusal(self, admission: Admission) -> tuple[Outcome, str] | None:
        if not admission.follow_links:
            return Outcome.SCOPE_REJECTED, "mode: only the sites of the seeds (crawl.mode=sites)"
        return (Outcome.LIMIT, _MAX_SITES) if self._is_full(admission) else None

    def _domain_refusal(self, site_url: str, referrer: str, admission: Admission) -> tuple[Outcome, str] | None:
        """A domain may name as many hosts of its own as it likes; how many are visited is its budget.

        Whoever is linked to from elsewhere does not count: that somebody else knows a host is worth something.
        """
        domain = registrable_domain(host_of(site_url))
        if admission.domain_sites is None or not referrer or registrable_domain(host_of(referrer)) != domain:
            return None
        row = self._db.execute("SELECT sites FROM inner_sites WHERE domain = ?", (domain,)).fetchone()
        if row is not None and row[0] >= admission.domain_sites:
            return Outcome.HOST_BUDGET, f"traps.domain_sites: {row[0]} sites of {domain} were found on its own pages"
        sql = "INSERT INTO inner_sites VALUES (?, 1) ON CONFLICT DO UPDATE SET sites = sites + 1"
        self._db.execute(sql, (domain,))
        return None

    def _is_full(self, admission: Admission) -> bool:
        return admission.max_sites is not None and self._site_count >= admission.max_sites

    def _knows(self, site_url: str) -> bool:
        return self._db.execute("SELECT 1 FROM sites WHERE url = ?", (site_url,)).fetchone() is not None

    def _outside(self, link: OutLink, outcome: Outcome, reason: str, now: float) -> None:
        before = self._db.total_changes()
        self._db.execute(
            "INSERT OR IGNORE INTO outside VALUES (?, ?, ?, ?, ?, ?)",
            (hash128(link.url), link.url, outcome.value, reason, link.referrer, now),
        )
        if outcome in (Outcome.SCOPE_REJECTED, Outcome.FORGOTTEN) and self._db.total_changes() != before:
            self._tallied[tally_of(rule_of(reason))] += 1

    def _end(self, ended: SiteEnded, now: float, drafts: _Drafts) -> None:
        self._db.execute(
            "UPDATE sites SET state = ?, alias_of = ? WHERE site = ? AND ordered <= ?",
            (ended.state, ended.alias_of or None, ended.number, ended.applied),
        )
        if not ended.alias_of:
            return
        # Whoever links to the alias means the canonical site: its pages are found under either name (S1-2).
        state, slot = next(self._db.execute("SELECT state, slot FROM sites WHERE site = ?", (ended.alias_of,)))
        sql = "SELECT path, referrer, hops, kind, strayed FROM seeds WHERE site = ?"
        seeds = [Seed(*seed) for seed in self._db.execute(sql, (ended.number,))]
        for seed in seeds:
            self._add_seed(ended.alias_of, state, slot, seed, now, drafts, given=False)

    def _slot_of(self, address: str, wanted: int | None = None) -> int:
        """Addresses belong to slots for life; a site that was imported has its slot before it has an address."""
        row = self._db.execute("SELECT slot FROM addresses WHERE address = ?", (address,)).fetchone()
        if row is not None:
            return int(row[0])
        fewest: int = min(self.slots, key=lambda each: (self._owned[each], each))
        slot = fewest if wanted is None else wanted
        self._owned[slot] += 1
        self._db.execute("INSERT INTO addresses VALUES (?, ?)", (address, slot))
        return slot

    def _post(self, drafts: _Drafts) -> list[Orders]:
        """Number the drafts and put them into the outbox; the sites they concern are open from now on."""
        posted = []
        for slot in sorted(drafts.slots()):
            for parcel in drafts.parcels(slot):
                self._db.execute("UPDATE slots SET sent = sent + 1 WHERE slot = ?", (slot,))
                sequence = self._number("SELECT sent FROM slots WHERE slot = ?", slot)
                orders = msgspec.structs.replace(parcel, sequence=sequence)
                self._db.execute(
                    "INSERT INTO outbox VALUES (?, ?, ?)", (slot, sequence, msgspec.msgpack.encode(orders))
                )
                if orders.let_in:
                    self._db.execute(
                        """UPDATE sites SET state = 'leased', ordered = ?
                           WHERE state IN ('done', 'leased') AND slot = ?""",
                        (sequence, slot),
                    )
                concerned = {site.number for site in orders.sites} | {seed.number for seed in orders.seeds}
                concerned |= {again.number for again in orders.again}
                self._db.executemany(
                    "UPDATE sites SET state = 'leased', ordered = ? WHERE site = ?",
                    ((sequence, number) for number in concerned),
                )
                posted.append(orders)
        return posted
