"""How an estimate reads: one line before a crawl begins, a few lines where nothing else was asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nephila.cli.crawl_view import duration, size

if TYPE_CHECKING:
    from nephila.crawl.estimating import Estimate


def one_line(estimate: Estimate) -> str:
    """What a run will come to, and a warning where the disk will not hold it."""
    room = f"{size(estimate.free_bytes)} free"
    if estimate.pages is None:
        return (
            f"no limit says how many pages this will be; every 1,000 take about {duration(estimate.per_1000_seconds)} "
            f"and {size(estimate.per_1000_bytes)} ({room})"
        )
    assert estimate.seconds is not None and estimate.disk_bytes is not None
    line = (
        f"at most {estimate.pages:,} pages (by {estimate.pages_by}), about {duration(estimate.seconds)} and "
        f"{size(estimate.disk_bytes)} of disk ({room})"
    )
    return line if estimate.fits else f"{line}: THE DISK WILL NOT HOLD IT; it pauses when the disk is nearly full"


def as_text(estimate: Estimate) -> str:
    """The same with what it stands on."""
    basis = "this folder's own pages" if estimate.measured else "usual pages, because this folder has too few"
    return "\n".join(
        [
            one_line(estimate),
            f"  {estimate.sites:,} sites at least; per 1,000 pages {duration(estimate.per_1000_seconds)} and "
            f"{size(estimate.per_1000_bytes)}, reckoned from {basis}",
            "  nothing was asked for, and nothing was written",
        ]
    )
