"""Where a crawl stops: each limit holds to the page, and raising it goes on from there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from nephila.config.sections import Lab
from nephila.lab.serve import LabServer
from nephila.lab.web import Web
from nephila.urls import host_of, registrable_domain, split

from .webs import (
    QUICK,
    Expected,
    assert_complete,
    assert_counted,
    crawl,
    expected,
    in_lab,
    outcomes,
    pages,
    pages_on_disk,
    running,
    settings_of,
    site_rows,
    slot_rows,
)


@pytest.fixture(scope="module")
def lab() -> Iterator[LabServer]:
    with LabServer(Lab(sites=30, max_depth=2, seed=5), processes=1) as server:
        yield server


@pytest.fixture(scope="module")
def true(lab: LabServer) -> Expected:
    return expected(lab)


@pytest.fixture
def words(lab: LabServer, tmp_path: Path) -> list[object]:
    return ["-i", lab.write_seeds(tmp_path / "seeds.txt"), *settings_of(QUICK, in_lab(lab))]


def requested(folder: Path) -> list[str]:
    return [
        row[0] for row in slot_rows(folder, "SELECT url || path FROM pages JOIN sites USING (site) WHERE tries > 0")
    ]


@pytest.mark.slow
@pytest.mark.parametrize("agents", [3])
def test_max_pages_is_reached_and_never_exceeded(
    words: list[object], true: Expected, tmp_path: Path, agents: int
) -> None:
    folder = tmp_path / "crawl"
    for limit in (7, 100):
        ran = crawl(folder, *words, "--agents", agents, "--set", f"crawl.max_pages={limit}")
        assert ran.code == 0, ran.err
        assert (ran.report["how"], ran.report["pages"]) == ("crawl.max_pages", limit)
        assert len(requested(folder)) == limit
        assert_counted(folder)
        words = []
    # raised beyond all there is, the crawl completes
    ran = crawl(folder, "--set", "crawl.max_pages=100000")
    assert ran.report["how"] == "done"
    assert_complete(true, folder)


@pytest.mark.slow
def test_max_pages_holds_when_everything_is_killed(words: list[object], tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    small = [
        "--agents",
        2,
        *settings_of({"crawl.max_pages": 150, "archive.group_pages": 5, "archive.group_delay": 0.01}),
    ]
    with running(folder, *words, *small) as started:
        started.until_pages(40)
        started.kill_all()
    ran = crawl(folder)
    assert (ran.report["how"], ran.report["pages"]) == ("crawl.max_pages", 150)
    assert len(requested(folder)) == 150


@pytest.mark.slow
def test_max_pages_counts_what_was_requested_while_there_was_no_limit(words: list[object], tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with running(folder, *words, "--agents", 3) as started:
        started.until_pages(150)
        started.interrupt()
        before = started.ended().report["pages"]
    ran = crawl(folder, "--agents", 3, "--set", f"crawl.max_pages={before + 10}")
    assert (ran.report["how"], ran.report["pages"]) == ("crawl.max_pages", before + 10)


@pytest.mark.slow
def test_limits_per_site_domain_and_address_hold_across_a_kill_and_can_be_raised(
    words: list[object], true: Expected, tmp_path: Path
) -> None:
    folder = tmp_path / "crawl"
    limits = {
        "crawl.max_pages_per_site": 9, "crawl.max_pages_per_domain": 14, "crawl.max_pages_per_address": 12,
        "archive.group_pages": 5, "archive.group_delay": 0.01,
    }  # fmt: skip
    # given a crawl with three limits that is killed on its way
    with running(folder, *words, "--agents", 2, *settings_of(limits)) as started:
        started.until_pages(60)
        started.kill_all()
    ran = crawl(folder)
    assert ran.report["how"] == "done"
    # then none of them was exceeded, each was reached, and the rest has the outcome `limit` with the limit's name
    urls = requested(folder)
    addresses = dict(slot_rows(folder, "SELECT url, address FROM sites"))
    per_site = Counter(split(url)[0] for url in urls)
    per_domain = Counter(registrable_domain(host_of(url)) for url in urls)
    per_address = Counter(addresses[split(url)[0]] for url in urls)
    assert max(per_site.values()) == 9
    assert max(per_domain.values()) <= 14
    assert max(per_address.values()) <= 12
    reasons = {page.reason for page in pages(folder).values() if page.outcome.value == "limit"}
    assert "crawl.max_pages_per_site" in reasons <= limits.keys()
    assert_counted(folder)
    # when the limits are taken off, the crawl completes
    none = dict.fromkeys(
        ("crawl.max_pages_per_site", "crawl.max_pages_per_domain", "crawl.max_pages_per_address"), "none"
    )
    ran = crawl(folder, *settings_of(none))
    assert ran.code == 0, ran.err
    assert len(ran.report["changes"]) == 3
    # (an alias whose canonical site was cut off before there was anything to compare is a site of its own)
    assert_complete(true, folder, true.alias_sites)


@pytest.mark.slow
def test_max_depth_0_collects_the_seeds_alone_and_raising_it_goes_on(
    lab: LabServer, words: list[object], true: Expected, tmp_path: Path
) -> None:
    folder = tmp_path / "crawl"
    assert lab.lab is not None
    seeds = set(Web(lab.lab).seeds())
    ran = crawl(folder, *words, "--set", "crawl.max_depth=0")
    assert ran.report["how"] == "done"
    targets = {row[0] for row in slot_rows(folder, "SELECT redirect_to FROM pages WHERE redirect_to <> ''")}
    assert set(requested(folder)) <= seeds | targets
    assert {page.depth for page in pages(folder).values() if page.outcome.value == "ok"} == {0}
    before = len(requested(folder))
    # depth 1 is more, and all of it at most one link away
    assert crawl(folder, "--set", "crawl.max_depth=1").code == 0
    assert len(requested(folder)) > before
    assert max(page.depth for page in pages(folder).values() if page.outcome.value == "ok") == 1
    # no limit is the truth
    assert crawl(folder, "--set", "crawl.max_depth=none").code == 0
    assert_complete(true, folder)


@pytest.mark.slow
def test_max_sites_counts_seeds_and_found_sites_and_can_be_raised(
    lab: LabServer, words: list[object], true: Expected, tmp_path: Path
) -> None:
    folder = tmp_path / "crawl"
    ran = crawl(folder, *words, "--set", "crawl.max_sites=5")
    assert ran.report["how"] == "done"
    assert site_rows(folder, "SELECT count(*) FROM sites") == [(5,)]
    left_out = {row[0] for row in site_rows(folder, "SELECT url FROM outside WHERE outcome = 'limit'")}
    assert len(left_out) >= 25
    # the seeds that were left out are in the output list all the same (S1-5)
    assert lab.lab is not None
    assert set(Web(lab.lab).seeds()) <= set((folder / "seeds.out").read_text().split())
    ran = crawl(folder, "--set", "crawl.max_sites=none")
    assert ran.report["how"] == "done"
    assert_complete(true, folder)


def test_max_seconds_and_max_bytes_stop_a_run_and_the_next_goes_on(
    words: list[object], true: Expected, tmp_path: Path
) -> None:
    folder = tmp_path / "crawl"
    ran = crawl(folder, *words, "--agents", 1, *settings_of({"politeness.min_delay": 0.2, "crawl.max_seconds": 0}))
    assert (ran.code, ran.report["how"]) == (0, "crawl.max_seconds")
    ran = crawl(folder, *settings_of({"crawl.max_seconds": "none", "crawl.max_bytes": "1KB"}))
    assert ran.report["how"] == "crawl.max_bytes"
    received = ran.report["received_bytes"]
    assert received >= 1000
    # what was received in earlier runs counts
    ran = crawl(folder)
    assert (ran.report["how"], ran.report["run_pages"]) == ("crawl.max_bytes", 0)
    assert pages_on_disk(folder) < len(true)
    assert "waiting" in outcomes(folder).values()
