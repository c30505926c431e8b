"""Damage is told with a sentence and exit code 5; repair brings back what the archive proves, a crawl the rest."""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from nephila.lab.witness import Requests
from nephila.store.archive.records import records
from nephila.store.folder import CrawlFolder

from ..circle.archives import files
from ..circle.webs import LONG, crawl, crawl_inline, run, slot_rows
from .checking import Evidence, check
from .faulty import SmallWeb, small_web

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("crash-repair")]


@dataclass(frozen=True)
class Collected:
    web: SmallWeb
    folder: Path


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collected]:
    place = tmp_path_factory.mktemp("repair")
    with small_web(place) as web:
        ran = crawl(place / "crawl", *web.words("--agents", 2, "--set", "archive.rotate_size=400KB"))
        assert ran.code == 0, ran.err
        yield Collected(web, place / "crawl")


@pytest.fixture
def folder(collected: Collected, tmp_path: Path) -> Path:
    return Path(shutil.copytree(collected.folder, tmp_path / "crawl"))


def zero_a_page(path: Path) -> None:
    content = bytearray(path.read_bytes())
    middle = len(content) // 2 // 4096 * 4096
    content[middle : middle + 4096] = bytes(4096)
    path.write_bytes(content)


def cut_in_half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def write_rubbish(path: Path) -> None:
    path.write_bytes(random.Random(1).randbytes(5000))


def remove(path: Path) -> None:
    path.unlink()


def assert_mended(collected: Collected, folder: Path, *, mostly_kept: bool = True) -> int:
    """Repair, go on, and compare with the truth; gives how many requests that took."""
    done = run("repair", "-C", folder)
    assert done.code == 0, done.err
    since_ns = time.monotonic_ns()
    ran = crawl_inline(folder)
    assert ran.code == 0, ran.err
    witnessed = collected.web.lab.witnessed()
    since: Requests = witnessed.where(witnessed.started_ns >= since_ns)
    found = check(Evidence(folder, collected.web.true, witnessed, per_agent=10**6))
    # Samples and visits without an answer are not in the archive, so counts of requests say nothing here; an answer
    # whose row was lost may be asked again, and then stands in the archive as another visit. So does a page that only
    # repeated a body which is lost.
    ignored = ("claimed", "refetched", "overlap", "breach", *(() if mostly_kept else ("twice in the archive",)))
    found = [each for each in found if each.kind not in ignored]
    assert found == []
    asked = sum(target != "/robots.txt" for target in since.target)
    assert asked < len(collected.web.true) / 2 or not mostly_kept, "nearly everything was asked again"
    # and a second repair finds nothing
    again = run("repair", "-C", folder, "--json")
    assert again.report["whole"], again.report["found"]
    return asked


HOW = (zero_a_page, cut_in_half, write_rubbish, remove)
DATABASES = [(name, how) for name in ("agent-00.db", "coordinator.db") for how in HOW]
FEW = [DATABASES[0], DATABASES[4]]


@pytest.mark.parametrize(("name", "damage"), DATABASES if LONG else FEW)
def test_a_damaged_database_is_told_and_made_anew(
    collected: Collected, folder: Path, name: str, damage: Callable[[Path], None]
) -> None:
    path = folder / "state" / name
    damage(path)
    # then whoever meets the damage says so, and names what to do
    ran = crawl_inline(folder)
    if ran.code:
        assert (ran.code, "Traceback" in ran.err) == (5, False), ran.err
        assert "nephila repair" in ran.err and name in ran.err
    asked = assert_mended(collected, folder)
    kept = list(path.parent.glob(f"{name}.damaged-1"))
    assert kept or damage is remove
    assert asked == 0 or name == "agent-00.db"


def test_all_databases_lost_at_once_are_made_anew_from_the_archive_alone(collected: Collected, folder: Path) -> None:
    for path in (folder / "state").glob("*.db"):
        path.unlink()
    assert_mended(collected, folder, mostly_kept=False)


WAYS = ["many bytes", "a cut tail", "a byte", "a missing file", "a cut in the first record"]


@pytest.mark.parametrize("how", WAYS if LONG else WAYS[:2])
def test_a_damaged_archive_file_is_told_kept_and_asked_again(collected: Collected, folder: Path, how: str) -> None:
    file = files(folder)[0]
    content = bytearray(file.read_bytes())
    ends = [record.offset + record.length for record in records(file)]
    sql = "SELECT max(archive_offset) FROM pages WHERE archive_file = ? AND outcome = 'ok'"
    [of_a_page] = [row[0] for row in slot_rows(folder, sql, file.name) if row[0] is not None]
    match how:
        case "a byte":
            content[of_a_page + 200] ^= 0xFF
        case "many bytes":
            content[ends[5] + 3 : ends[20] + 3] = bytes(ends[20] - ends[5])
        case "a cut tail":
            del content[ends[-3] - 5 :]
        case "a cut in the first record":
            content[2] ^= 0xFF
    file.write_bytes(content)
    if how == "a missing file":
        file.unlink()
    before = len(slot_rows(folder, "SELECT 1 FROM pages WHERE archive_file IS NOT NULL"))
    asked = assert_mended(collected, folder, mostly_kept=how != "a missing file")
    assert (0 < asked < before) == (how != "a cut in the first record")  # which tells who wrote the file, no more
    if how != "a missing file":
        assert list(file.parent.glob("*.damaged-1"))
    told = run("repair", "-C", folder).out
    assert "is whole" in told


def test_a_damaged_archive_and_a_damaged_database_of_the_same_slot_are_mended_together(
    collected: Collected, folder: Path
) -> None:
    file = files(folder)[0]
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 0xFF
    file.write_bytes(content)
    write_rubbish(folder / "state" / "agent-00.db")
    assert_mended(collected, folder)


def test_an_old_copy_of_a_database_is_noticed(collected: Collected, folder: Path, tmp_path: Path) -> None:
    # given a crawl whose coordinator's database is one of an earlier day
    other = tmp_path / "other"
    ran = crawl(other, *collected.web.words("--agents", 2, "--set", "crawl.max_pages=5"))
    assert ran.code == 0, ran.err
    shutil.copy(other / "state" / "coordinator.db", folder / "state" / "coordinator.db")
    report = run("repair", "-C", folder, "--json").report
    assert not report["whole"] and "older" in " ".join(report["found"])


def test_a_whole_folder_is_left_as_it_is(folder: Path) -> None:
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.suffix in (".gz", ".db")}
    done = run("repair", "-C", folder)
    assert (done.code, "is whole" in done.out) == (0, True)
    assert {path: path.read_bytes() for path in before} == before


def test_a_lost_version_and_broken_settings_are_mended_or_told(folder: Path) -> None:
    (folder / "state" / "version").write_bytes(b"\xff\xfe")
    told = run("status", "-C", folder)
    assert told.code == 5 and "nephila repair" in told.err
    (folder / "nephila.toml").write_text("crawl = [broken")
    report = run("repair", "-C", folder, "--json").report
    assert len(report["found"]) == 2 and report["kept"] == ["nephila.toml.damaged-1"]
    assert run("status", "-C", folder).code == 0


def test_what_is_no_crawl_is_not_repaired(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    done = run("repair", "-C", tmp_path)
    assert done.code == 2 and "no crawl" in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_repair_waits_for_nobody(folder: Path) -> None:
    with CrawlFolder.open(folder).lock("a crawl"):
        done = run("repair", "-C", folder)
    assert done.code == 4 and "in use" in done.err
