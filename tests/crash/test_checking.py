"""The checker must fail on planted faults before its silence counts: each plant is found, and named."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import apsw
import numpy as np
import pytest

from nephila.config.sections import Lab
from nephila.crawl.slot_tables import SLOT_SCHEMA
from nephila.lab.serve import LabServer
from nephila.lab.witness import Request, Requests
from nephila.store.archive.records import records
from nephila.store.database import open_writer
from nephila.store.folder import CrawlFolder

from ..circle.archives import files
from ..circle.webs import QUICK, Expected, crawl, expected, in_lab, settings_of
from .checking import Evidence, Kill, check, refetches
from .killing import MIN_DELAY_S, SMALL

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("crash-checking")]


@dataclass(frozen=True)
class Collected:
    folder: Path
    true: Expected
    requests: Requests


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collected]:
    """A crawl that nobody disturbed."""
    place = tmp_path_factory.mktemp("checking")
    with LabServer(Lab(sites=8, max_depth=1), processes=1) as lab:
        seeds = lab.write_seeds(place / "seeds.txt")
        ran = crawl(place / "crawl", "-i", seeds, "--agents", 2, *settings_of(QUICK, SMALL, in_lab(lab)))
        assert ran.code == 0, ran.err
        yield Collected(place / "crawl", expected(lab), lab.witnessed())


@pytest.fixture
def evidence(collected: Collected, tmp_path: Path) -> Evidence:
    """The same in a copy of its own, into which a fault can be planted."""
    shutil.copytree(collected.folder, tmp_path / "crawl")
    return Evidence(tmp_path / "crawl", collected.true, collected.requests, min_delay_s=MIN_DELAY_S)


def kinds(evidence: Evidence) -> set[str]:
    return {finding.kind for finding in check(evidence)}


def test_an_undisturbed_crawl_has_no_findings_and_asks_nothing_twice(evidence: Evidence) -> None:
    assert check(evidence) == []
    assert refetches(evidence.folder, evidence.requests) == 0


# Plants in the state


def state(evidence: Evidence, slot: int = 0) -> apsw.Connection:
    return open_writer(CrawlFolder(evidence.folder).agent_database(slot), SLOT_SCHEMA)


def in_state(evidence: Evidence, *statements: str) -> None:
    database = state(evidence)
    for sql in statements:
        database.execute(sql)
    database.close()


ONE = "(SELECT hash FROM pages WHERE outcome = 'ok' AND duplicate_of IS NULL ORDER BY hash LIMIT 1)"
TWO = "(SELECT hash FROM pages WHERE outcome = 'ok' AND duplicate_of IS NULL ORDER BY hash DESC LIMIT 1)"


def test_a_lost_page_is_found(evidence: Evidence) -> None:
    in_state(evidence, f"DELETE FROM pages WHERE hash = {ONE}")
    assert "lost" in kinds(evidence)


def test_a_page_in_two_slots_is_found(evidence: Evidence) -> None:
    [row] = list(state(evidence).execute("SELECT * FROM sites WHERE requested > 1 LIMIT 1"))
    pages = list(state(evidence).execute("SELECT * FROM pages WHERE site = ?", (row[0],)))
    other = state(evidence, 1)
    other.execute(f"INSERT INTO sites VALUES ({', '.join('?' * len(row))})", row)
    other.executemany(f"INSERT INTO pages VALUES ({', '.join('?' * len(pages[0]))})", pages)
    other.close()
    assert "twice in the catalogue" in kinds(evidence)


def test_a_page_that_is_not_in_truth_is_found(evidence: Evidence) -> None:
    in_state(evidence, f"UPDATE pages SET path = '/never-there' WHERE hash = {ONE}")
    assert {"invented", "lost"} <= kinds(evidence)


def test_a_wrong_outcome_is_found(evidence: Evidence) -> None:
    in_state(evidence, f"UPDATE pages SET outcome = 'http_error' WHERE hash = {ONE}")
    assert {"otherwise", "wrong count"} <= kinds(evidence)


def test_a_wrong_digest_is_found(evidence: Evidence) -> None:
    in_state(evidence, f"UPDATE pages SET checksum = zeroblob(16) WHERE hash = {ONE}")
    assert "wrong digest" in kinds(evidence)


def test_two_swapped_bodies_are_found(evidence: Evidence) -> None:
    database = state(evidence)
    place = "SELECT archive_file, archive_offset FROM pages WHERE hash = "
    [one], [two] = list(database.execute(place + ONE)), list(database.execute(place + TWO))
    keys = [next(database.execute(f"SELECT {key}"))[0] for key in (ONE, TWO)]
    for key, other in zip(keys, (two, one), strict=True):
        database.execute("UPDATE pages SET archive_file = ?, archive_offset = ? WHERE hash = ?", (*other, key))
    database.close()
    assert "misplaced" in kinds(evidence)


def test_a_page_that_leads_nowhere_is_found(evidence: Evidence) -> None:
    in_state(evidence, f"UPDATE pages SET archive_file = NULL WHERE hash = {ONE}")
    assert "claimed" in kinds(evidence)


def test_a_visit_that_was_never_made_is_found(evidence: Evidence) -> None:
    missing = replace(evidence, requests=evidence.requests.where(np.arange(len(evidence.requests)) % 2 == 0))
    assert "claimed" in kinds(missing) | kinds(replace(missing, min_delay_s=0))


def test_a_page_left_waiting_is_found(evidence: Evidence) -> None:
    in_state(evidence, f"UPDATE pages SET todo = 1 WHERE hash = {ONE}")
    assert "unfinished" in kinds(evidence)


def test_a_parcel_that_never_arrived_is_found(evidence: Evidence) -> None:
    in_state(evidence, "UPDATE slot SET sent = sent + 1")
    assert "unfinished" in kinds(evidence)


def test_a_page_of_zeroes_in_a_database_is_found(evidence: Evidence) -> None:
    path = CrawlFolder(evidence.folder).coordinator_database
    content = bytearray(path.read_bytes())
    content[-4096:] = bytes(4096)
    path.write_bytes(content)
    assert "damaged state" in kinds(evidence)


# Plants in the archive


def flip(path: Path, at: int) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 0xFF
    path.write_bytes(content)


def cut(path: Path, at: int) -> None:
    path.write_bytes(path.read_bytes()[:at])


def double(path: Path, start: int, end: int) -> None:
    content = path.read_bytes()
    path.write_bytes(content + content[start:end])


@pytest.mark.parametrize(
    ("plant", "kind"),
    [
        (lambda file, ends: cut(file, (ends[-2] + ends[-1]) // 2), "unreadable"),  # in the middle of a member
        (lambda file, ends: cut(file, ends[-4]), "claimed"),  # between two members: every reader is content
        (lambda file, ends: flip(file, (ends[4] + ends[5]) // 2), "unreadable"),
        (lambda file, ends: double(file, ends[0], ends[3]), "twice in the archive"),
        (lambda file, ends: file.unlink(), "claimed"),
    ],
    ids=["a member cut", "the last answer gone", "a byte changed", "an answer doubled", "a file gone"],
)
def test_a_fault_of_the_archive_is_found(
    evidence: Evidence, plant: Callable[[Path, list[int]], None], kind: str
) -> None:
    file = files(evidence.folder)[0]
    plant(file, [record.offset + record.length for record in records(file)])
    assert kind in kinds(evidence)


def test_a_body_that_was_exchanged_with_its_digests_is_found(evidence: Evidence) -> None:
    # Every reader is content with this file, and the row leads to a record of its URL; only the truth tells.
    database = state(evidence)
    sql = f"SELECT archive_file, archive_offset, path FROM pages WHERE hash = {ONE}"
    name, offset, path = next(database.execute(sql))
    database.close()
    file = next(each for each in files(evidence.folder) if each.name == name)
    record = next(records(file, offset))
    forged = gzip.decompress(file.read_bytes()[offset : offset + record.length])
    body = record.block[-8:]
    forged = forged.replace(body, b"FORGED!!").replace(b"WARC-Block-Digest", b"X-Block-Digest")
    content = file.read_bytes()
    member = gzip.compress(forged.replace(b"WARC-Payload-Digest", b"X-Payload-Digest"))
    moved = len(member) - record.length
    file.write_bytes(content[:offset] + member + content[offset + record.length :])
    database = state(evidence)
    for table in ("pages", "visits"):
        database.execute(
            f"UPDATE {table} SET archive_offset = archive_offset + ? WHERE archive_file = ? AND archive_offset > ?",
            (moved, name, offset),
        )
    database.close()
    assert path and "wrong body" in kinds(evidence)


# Plants in the server's log


def with_a_request(requests: Requests, after_s: float) -> Requests:
    """One more request to the address of the last one, so many seconds after its answer."""
    rows = list(requests.rows())
    last = max(rows, key=lambda row: row.ended_ns)
    at = last.ended_ns + round(after_s * 1e9)
    more: Request = replace(last, started_ns=at, ended_ns=at + 1000)
    return Requests.of([*rows, more])


def test_a_request_before_the_delay_is_over_is_found(evidence: Evidence) -> None:
    early = replace(evidence, requests=with_a_request(evidence.requests, MIN_DELAY_S / 2))
    assert {"breach", "refetched"} <= kinds(early)


def test_two_requests_at_once_are_found(evidence: Evidence) -> None:
    assert "overlap" in kinds(replace(evidence, requests=with_a_request(evidence.requests, -0.0000005)))


def test_more_refetches_than_a_kill_explains_are_found(evidence: Evidence) -> None:
    polite = replace(evidence, requests=with_a_request(evidence.requests, 1.0))
    assert kinds(polite) == {"refetched"}
    assert kinds(replace(polite, kills=[Kill("agent", 1)], per_agent=1)) == set()
