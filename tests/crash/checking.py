"""Whether a crawl that was killed again and again is what an undisturbed one would be: a list of findings, or none.

Reads only what the crawl left behind (state, archive), the lab's truth and the lab server's own log. Two other WARC
readers and gzip judge the archive; nothing that the crawl says about itself is believed where something else can
tell. The checker is itself tested against planted faults (`test_checking`), before its silence counts.
"""

from __future__ import annotations

import bisect
import hashlib
import subprocess
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from warcio.archiveiterator import ArchiveIterator

from nephila.lab.witness import Requests, overlaps, waits
from nephila.store.archive.verify import verify
from nephila.store.database import problems
from nephila.store.folder import CrawlFolder
from nephila.urls import split

from ..circle.archives import FastIterator, files
from ..circle.webs import Expected, site_rows, slot_rows

FINE_S = 0.0005  # a timer's grain
GIVEN_UP = ("hang", "stall_body")  # we left; when the server noticed says nothing about our manners


@dataclass(frozen=True)
class Kill:
    """One SIGKILL, or one at several processes at once."""

    whom: str
    agents: int  # agents whose work under way was lost
    at_ns: int = 0


@dataclass(frozen=True)
class Evidence:
    folder: Path
    true: Expected
    requests: Requests  # of this crawl alone
    kills: Sequence[Kill] = ()
    min_delay_s: float = 0.0
    per_agent: int = 0  # requests in flight and one uncommitted group: what one agent may lose at one kill


@dataclass(frozen=True)
class Finding:
    kind: str
    what: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.what}"


@dataclass(frozen=True)
class Row:
    """A page as the catalogue has it."""

    url: str
    outcome: str
    checksum: bytes | None
    file: str | None
    offset: int | None


@dataclass(frozen=True)
class Kept:
    """A response or revisit as warcio reads it."""

    kind: str
    url: str
    role: str
    digest: str
    body: bytes  # SHA-1 of the decoded body, first 128 bits


def check(evidence: Evidence) -> list[Finding]:
    """Everything that is wrong."""
    rows = catalogue(evidence.folder)
    found = [*_against_truth(evidence.true, rows), *_unreadable(evidence.folder)]
    if not found or all(finding.kind != "unreadable" for finding in found):
        found += _archive(evidence, rows)
    return [*found, *_state(evidence.folder), *_manners(evidence), *_refetched(evidence)]


def catalogue(folder: Path) -> list[Row]:
    sql = """SELECT sites.url || path, pages.outcome, checksum, archive_file, archive_offset
             FROM pages JOIN sites USING (site)"""
    rows = [Row(*row) for row in slot_rows(folder, sql)]
    sql = "SELECT sites.url || path, outcome FROM seeds JOIN sites USING (site) WHERE state = 'done' AND slot IS NULL"
    return rows + [Row(url, outcome, None, None, None) for url, outcome in site_rows(folder, sql)]


def _against_truth(true: Expected, rows: list[Row]) -> Iterator[Finding]:
    rows = [row for row in rows if split(row.url)[0] not in true.untold_sites]
    for url, count in Counter(row.url for row in rows).items():
        if count > 1:
            yield Finding("twice in the catalogue", url)
    known = {row.url: row for row in rows}
    for url in true.rows.keys() - known.keys():
        yield Finding("lost", f"{url} ({true.rows[url][0]})")
    for url in known.keys() - true.rows.keys():
        yield Finding("invented", f"{url} ({known[url].outcome})")
    for url in true.rows.keys() & known.keys():
        (outcome, digest), row = true.rows[url], known[url]
        if row.outcome != outcome:
            yield Finding("otherwise", f"{url} is {row.outcome}, in truth {outcome}")
        elif outcome == "ok" and row.checksum != digest:
            yield Finding("wrong digest", url)


def _unreadable(folder: Path) -> Iterator[Finding]:
    for file in files(folder):
        tested = subprocess.run(["gzip", "-t", str(file)], capture_output=True, text=True, check=False)
        if tested.returncode:
            yield Finding("unreadable", f"{file.name}: {tested.stderr.strip()}")
        for problem in verify(file).problems:
            yield Finding("unreadable", problem)
        try:
            counts = [_count_by_warcio(file), _count_by_fastwarc(file)]
        except Exception as problem:  # noqa: BLE001  # whatever another reader stumbles over is a finding
            yield Finding("unreadable", f"{file.name}: {type(problem).__name__} {problem}")
            continue
        if counts[0] != counts[1]:
            yield Finding("unreadable", f"{file.name}: warcio and FastWARC count {counts}")


def _count_by_warcio(file: Path) -> int:
    with file.open("rb") as stream:
        count = 0
        for record in ArchiveIterator(stream, check_digests=True):
            record.raw_stream.read()
            if record.digest_checker.passed is False:
                raise ValueError(f"{record.digest_checker.problems}")
            count += 1
        return count


def _count_by_fastwarc(file: Path) -> int:
    with warnings.catch_warnings(), file.open("rb") as stream:
        warnings.simplefilter("ignore", DeprecationWarning)
        return sum(1 for _ in FastIterator(stream))


def kept_records(folder: Path) -> dict[tuple[str, int], Kept]:
    """Every response and revisit by its place."""
    kept: dict[tuple[str, int], Kept] = {}
    for file in files(folder):
        with file.open("rb") as stream:
            records = ArchiveIterator(stream)
            place = (file.name, 0)
            for record in records:
                head = record.rec_headers
                if record.rec_type in ("response", "revisit"):
                    body = record.content_stream().read() if record.rec_type == "response" else b""
                    place = (file.name, records.get_record_offset())  # which reads on to the record's end
                    digest = head.get_header("WARC-Payload-Digest") or ""
                    url = head.get_header("WARC-Target-URI")
                    kept[place] = Kept(record.rec_type, url, "", digest, hashlib.sha1(body).digest()[:16])
                elif record.rec_type == "metadata":
                    role = next((line[6:] for line in _lines(record) if line.startswith("role: ")), "page")
                    one = kept[place]
                    kept[place] = Kept(one.kind, one.url, role, one.digest, one.body)
    return kept


def _lines(record: Any) -> list[str]:
    return record.raw_stream.read().decode("utf-8", "replace").splitlines()


def _archive(evidence: Evidence, rows: list[Row]) -> Iterator[Finding]:
    """Each visit that was kept has its own record and each record its visit; each page leads to its own body."""
    kept = kept_records(evidence.folder)
    sql = "SELECT archive_file, archive_offset, role FROM visits WHERE archive_file IS NOT NULL"
    visits = slot_rows(evidence.folder, sql)
    places = Counter((file, offset) for file, offset, _ in visits)
    for place in kept.keys() - places.keys():
        yield Finding("twice in the archive", f"{kept[place].url} at {place} belongs to no visit")
    for place, count in places.items():
        if place not in kept:
            yield Finding("claimed", f"{place} holds no answer")
        elif count > 1:
            yield Finding("misplaced", f"{count} visits share {place}")
    for url, count in Counter(one.url for one in kept.values() if one.role == "page").items():
        if count > 1:
            yield Finding("twice in the archive", f"{url}, {count} times")
    of_digest = {one.digest: one.body for one in kept.values() if one.kind == "response"}
    for row in rows:
        if row.file is None:
            if row.outcome == "ok":
                yield Finding("claimed", f"{row.url} has no place in the archive")
            continue
        one = kept.get((row.file, row.offset or 0))
        if one is None or one.url != row.url:
            yield Finding("misplaced", f"{row.url} leads to {one.url if one else 'nothing'}")
        elif row.outcome == "ok":
            body = one.body if one.kind == "response" else of_digest.get(one.digest)
            if body != row.checksum or body != evidence.true.rows.get(row.url, ("", row.checksum))[1]:
                yield Finding("wrong body", row.url)


def _state(folder: Path) -> Iterator[Finding]:
    crawl = CrawlFolder(folder)
    for path in [crawl.coordinator_database, *(crawl.agent_database(slot) for slot in crawl.slots())]:
        yield from (Finding("damaged state", f"{path.name}: {problem}") for problem in problems(path))
    counted: Counter[str] = Counter()
    for outcome, count in slot_rows(folder, "SELECT outcome, count FROM outcomes WHERE count"):
        counted[outcome] += count
    there = Counter(row[0] for row in slot_rows(folder, "SELECT outcome FROM pages"))
    if counted != there:
        yield Finding("wrong count", f"{dict(counted)} instead of {dict(there)}")
    for url, state in site_rows(folder, "SELECT url, state FROM sites WHERE state IN ('new', 'leased')"):
        yield Finding("unfinished", f"{url} is {state}")
    for url in slot_rows(
        folder, "SELECT sites.url || path FROM pages JOIN sites USING (site) WHERE todo AND state='done'"
    ):
        yield Finding("unfinished", f"{url[0]} waits in a site that is done")
    left = site_rows(folder, "SELECT count(*) FROM outbox")[0][0]
    if left:
        yield Finding("unfinished", f"{left} parcels of the coordinator were never applied")
    applied = dict(site_rows(folder, "SELECT slot, applied FROM slots"))
    for slot, sent in slot_rows(folder, "SELECT slot, sent FROM slot"):
        if applied[slot] != sent:
            yield Finding("unfinished", f"slot {slot} sent {sent} parcels, {applied[slot]} were applied")


def _manners(evidence: Evidence) -> Iterator[Finding]:
    """By the server's own log: one at a time, and never before the delay is over, across all restarts."""
    requests = evidence.requests.where(~np.isin(evidence.requests.manner, GIVEN_UP))
    for per in ("address", "site"):
        for name, most in overlaps(requests, per).items():  # type: ignore[arg-type]
            if most > 1:
                yield Finding("overlap", f"{most} requests at once to {name}")
        found = waits(requests, per)  # type: ignore[arg-type]
        for place in np.flatnonzero(found.gap_s < evidence.min_delay_s - FINE_S):
            one, before = found.request[place], found.previous[place]
            kill_ns = max((kill.at_ns for kill in evidence.kills if kill.at_ns < requests.started_ns[one]), default=0)
            yield Finding(
                "breach",
                f"{found.key[place]}{requests.target[one]} {1000 * found.gap_s[place]:.1f} ms after the answer to "
                f"{requests.target[before]}, which was under way for "
                f"{(requests.ended_ns[before] - requests.started_ns[before]) / 1e6:.1f} ms and ended "
                f"{(requests.ended_ns[before] - kill_ns) / 1e9:.3f} s after the last kill",
            )


def refetches(folder: Path, requests: Requests) -> int:
    """Requests that the server saw beyond those that are in the state; robots.txt files aside."""
    urls = [f"http://{host}:{port}{target}" for host, port, target in _targets(requests)]
    seen = Counter(urls)
    sql = "SELECT sites.url || path, count(*) FROM visits JOIN sites USING (site) WHERE role = 'page' GROUP BY 1"
    known: Counter[str] = Counter()
    for url, count in slot_rows(folder, sql):
        known[url] += count
    samples = slot_rows(folder, "SELECT 1 FROM visits WHERE role IN ('sample', 'probe')")
    return sum((seen - known).values()) - len(samples)


def refetches_by_kill(folder: Path, requests: Requests, kills: Sequence[Kill]) -> list[int]:
    """How many requests each kill has cost: those whose answer never came to the state, before the next kill of all."""
    known = _known_visits(folder)
    at: defaultdict[str, list[int]] = defaultdict(list)
    chosen = requests.where(requests.target != "/robots.txt")
    for (host, port, target), started_ns in zip(_targets(chosen), chosen.started_ns.tolist(), strict=True):
        at[f"http://{host}:{port}{target}"].append(started_ns)
    times = sorted(kill.at_ns for kill in kills)
    cost = [0] * len(times)
    for url, starts in at.items():
        for started_ns in sorted(starts)[: max(0, len(starts) - known[url])]:  # the last ones are those that are known
            place = bisect.bisect_left(times, started_ns)
            if place < len(cost):
                cost[place] += 1
    return cost


def _known_visits(folder: Path) -> Counter[str]:
    """Visits in the state by URL, of whatever role but robots.txt."""
    known: Counter[str] = Counter()
    sql = "SELECT sites.url || path FROM visits JOIN sites USING (site) WHERE role <> 'robots'"
    known.update(url for [url] in slot_rows(folder, sql))
    return known


def _never_seen(folder: Path, requests: Requests) -> int:
    """Visits with an answer that the server knows nothing of."""
    seen = Counter(f"http://{host}:{port}{target}" for host, port, target in _targets(requests))
    sql = """SELECT sites.url || path, count(*) FROM visits JOIN sites USING (site)
             WHERE role = 'page' AND code IS NOT NULL GROUP BY 1"""
    known: Counter[str] = Counter()
    for url, count in slot_rows(folder, sql):
        known[url] += count
    return sum((known - seen).values())


def _targets(requests: Requests) -> Iterable[tuple[str, int, str]]:
    chosen = requests.where(requests.target != "/robots.txt")
    return zip(chosen.host, chosen.port, chosen.target, strict=True)


def _refetched(evidence: Evidence) -> Iterator[Finding]:
    again = refetches(evidence.folder, evidence.requests)
    allowed = evidence.per_agent * sum(kill.agents for kill in evidence.kills)
    if again > allowed:
        yield Finding("refetched", f"{again} requests again, {allowed} allowed after {len(evidence.kills)} kills")
    unseen = _never_seen(evidence.folder, evidence.requests)
    if unseen or again < 0:
        yield Finding("claimed", f"{unseen or -again} visits that the server never saw")
