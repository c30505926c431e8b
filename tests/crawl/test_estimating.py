"""An estimate stands on the limits given and on what the folder has seen, and says where nothing can be said."""

from __future__ import annotations

from pathlib import Path

import pytest

from nephila.cli import run
from nephila.config.sections import Crawl, Politeness
from nephila.crawl.estimating import USUAL_PAGE_BYTES, SeenSoFar, estimate

GB = 10**9
POLITE = Politeness(min_delay=1.0, delay_factor=10.0)


def test_without_a_limit_nobody_knows() -> None:
    found = estimate(Crawl(), POLITE, 3, SeenSoFar(), 2, GB)
    assert (found.pages, found.seconds, found.disk_bytes, found.fits) == (None, None, None, True)
    assert found.per_1000_bytes == 1000 * USUAL_PAGE_BYTES


@pytest.mark.parametrize(
    ("limits", "pages", "by"),
    [
        (Crawl(max_pages=100), 100, "crawl.max_pages"),
        (Crawl(mode="sites", max_pages_per_site=10), 30, "crawl.max_pages_per_site"),
        (Crawl(max_pages_per_site=10), None, ""),  # links lead to sites without number
        (Crawl(max_pages_per_site=10, max_sites=5), 50, "crawl.max_pages_per_site"),
        (Crawl(max_depth=0), 3, "crawl.max_depth"),
        (Crawl(max_pages=100, max_seconds=11.0), 30, "crawl.max_seconds"),
    ],
)
def test_the_limit_that_binds_first_decides(limits: Crawl, pages: int | None, by: str) -> None:
    found = estimate(limits, POLITE, 3, SeenSoFar(), 1, GB)
    assert (found.pages, found.pages_by) == (pages, by)


def test_pages_of_one_site_come_one_after_the_other_and_sites_side_by_side() -> None:
    # S1-18: a page of 0.1 s is followed by max(1 s, 10 × 0.1 s)
    one = estimate(Crawl(max_pages=100), POLITE, 1, SeenSoFar(), 1, GB)
    ten = estimate(Crawl(max_pages=100), POLITE, 10, SeenSoFar(), 1, GB)
    assert one.seconds == pytest.approx(110.0)
    assert ten.seconds == pytest.approx(11.0)


def test_what_was_seen_is_believed_more_than_what_is_usual() -> None:
    seen = SeenSoFar(pages=1000, sites=1, disk_bytes=50_000_000, last_s=0.5)
    found = estimate(Crawl(max_pages=2000), POLITE, 0, seen, 1, GB)
    assert (found.pages, found.disk_bytes, found.measured) == (1000, 50_000_000, True)
    assert found.seconds == pytest.approx(1000 * 5.5)


def test_a_disk_that_is_too_small_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = estimate(Crawl(max_pages=10**6), POLITE, 1, SeenSoFar(), 1, GB)
    assert not found.fits
    words = [
        "crawl",
        "http://a.test/",
        "-C",
        str(tmp_path / "none"),
        "--set",
        "crawl.max_pages=1000000000000",
        "--estimate",
    ]
    assert run(words) == 0
    assert "THE DISK WILL NOT HOLD IT" in capsys.readouterr().out
    assert not (tmp_path / "none").exists()
