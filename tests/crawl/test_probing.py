"""A probe is as polite as a crawl, and leaves nothing but times (S2-15, J-2)."""

from __future__ import annotations

from pathlib import Path

import pytest

from nephila.config.layers import lay, read_settings
from nephila.config.sections import Lab
from nephila.errors import UsageError
from nephila.jobs.probed import probe_sites
from nephila.lab import witness
from nephila.lab.serve import LabServer
from nephila.store.folder import CrawlFolder
from nephila.store.hour_figures import read_hours


def test_home_pages_are_asked_one_at_a_time_with_delays_and_only_times_are_kept(tmp_path: Path) -> None:
    # given eight sites without faults
    with LabServer(Lab(sites=8, max_depth=2, seed=3, faults=False), processes=1) as lab:
        seeds = lab.write_seeds(tmp_path / "seeds.txt").read_text().split()
        settings = (
            "net.allow_private=127.0.0.0/8", f"net.nameservers={lab.dns}", "politeness.min_delay=0.3",
            "politeness.delay_factor=0",
        )  # fmt: skip
        config = lay([read_settings(settings)]).config
        # when they are probed twice, and asked at once would be too soon
        report = probe_sites(config, tmp_path / "crawl", [(seed, "a test") for seed in seeds], 2, 0.0)
        seen = lab.witnessed()
    # then every home page was asked twice after one robots.txt, each after its delay
    assert (report.sites, report.rounds) == (8, 2)
    assert report.answered + report.failed == 2 * (8 - report.forbidden)
    assert max(witness.overlaps(seen, "address").values()) == 1
    assert min(witness.gaps(seen, "address").values()) > 0.28
    assert {row.target for row in seen.rows()} == {"/", "/robots.txt"}
    folder = CrawlFolder.open(tmp_path / "crawl")
    known = read_hours(folder, 0.0, 7 * 86_400.0)
    assert sum(sum(one.answers) for one in known.values()) == pytest.approx(report.answered, abs=0.5)
    assert not folder.archive.exists()


def test_a_probe_without_sites_says_what_to_give(tmp_path: Path) -> None:
    config = lay([]).config
    with pytest.raises(UsageError, match="There is no crawl"):
        probe_sites(config, tmp_path / "crawl", [], 1, 0.0)
    with pytest.raises(UsageError, match="none of the seeds"):
        probe_sites(config, tmp_path / "crawl", [("ftp://x/", "a test")], 1, 0.0)
    assert not (tmp_path / "crawl").exists()
