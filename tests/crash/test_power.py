"""The power goes in the middle of a crawl, and a kill falls into a checkpoint: the same command completes both (F3).

What a disk may hold after a power cut is computed at the cut: all that was synced, and any part of the rest.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from nephila.store.archive.reader import read
from nephila.store.folder import CrawlFolder

from ..circle.webs import LONG, slot_rows
from .faulty import SmallWeb, fault, small_web

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("crash-disk")]


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallWeb]:
    with small_web(tmp_path_factory.mktemp("web")) as served:
        yield served


def claims_without_ground(folder: Path) -> list[str]:
    """Pages and visits that say where their record is, and it is not there."""
    archive = CrawlFolder(folder).archive
    wrong = []
    for table in ("pages", "visits"):
        sql = f"""SELECT sites.url || path, archive_file, archive_offset FROM {table} JOIN sites USING (site)
                  WHERE archive_file IS NOT NULL"""
        for url, file, offset in slot_rows(folder, sql):
            record = read(archive / file.removeprefix("nephila-").rsplit("-", 1)[0] / file, offset)
            if record.url != url and table == "pages":
                wrong.append(f"{url} leads to {record.url}")
    return wrong


@pytest.mark.parametrize("nth", range(5, 400, 3) if LONG else [40, 230])
def test_after_a_power_cut_nothing_is_claimed_that_is_not_there(web: SmallWeb, tmp_path: Path, nth: int) -> None:
    # given a crawl whose machine loses its power at the nth write or sync
    since_ns = time.monotonic_ns()
    folder, left = tmp_path / "crawl", tmp_path / "left"
    with fault(f"power:{nth}:{nth}:{folder}:{left}"):
        ran = web.inline(folder)
    assert ran.code == -9, "the crawl ended before the cut"
    # then what is left on the disk claims nothing that is not there
    if left.exists():
        assert claims_without_ground(left) == []
    # and the same command completes it
    ran = web.inline(left)
    assert ran.code == 0, ran.err
    assert web.findings(left, since_ns, allowed_again=100) == []


@pytest.mark.parametrize("nth", range(1, 40) if LONG else [25])
def test_a_kill_in_a_checkpoint_costs_nothing(web: SmallWeb, tmp_path: Path, nth: int) -> None:
    since_ns = time.monotonic_ns()
    with fault(f"checkpoint:{nth}"):
        ran = web.inline(tmp_path / "crawl")
    assert ran.code == -9
    ran = web.inline(tmp_path / "crawl")
    assert ran.code == 0, ran.err
    assert web.findings(tmp_path / "crawl", since_ns, allowed_again=100) == []
