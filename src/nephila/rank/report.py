"""What a ranking has to say: counts, seconds of each step, residuals, the best pages."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class TopPage:
    place: int
    page_id: int
    name: str
    rank: float
    in_links: int


@dataclass(frozen=True, slots=True)
class Step:
    name: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Bin:
    """Pages whose rank, as a multiple of the mean, lies from 2^power to below 2^(power + 1)."""

    power: int
    pages: int


@dataclass(frozen=True, slots=True)
class Footing:
    """What the ranks of a crawl stand on: input that is complete, free of duplicates and current (S3-25).

    `complete` is the share of the known URLs that were requested, `duplicate_free` the share of the ranked pages that
    are no near copy of another ranked one (exact copies are left out before). Lags are counted back from the newest
    page: half of the ranked pages were fetched within `median_lag_s` before it.
    """

    urls_known: int
    urls_requested: int
    complete: float
    duplicates_left_out: int
    near_duplicates: int
    duplicate_free: float
    newest_fetch_at: datetime | None
    median_lag_s: float
    longest_lag_s: float


@dataclass(frozen=True, slots=True)
class RankReport:
    """A ranking. `residual` is the L1 distance of the last round, `total` the sum of all ranks.

    `footing` is known of a crawl, not of an edge list.
    """

    method: str
    damping: float
    pages: int
    links: int
    dangling: int
    self_links_dropped: int
    repeated_links_dropped: int
    links_left_out: int
    rounds: int
    residual: float
    residuals: tuple[float, ...]
    total: float
    restarted: bool
    compiled: bool
    seconds: float
    steps: tuple[Step, ...]
    top: tuple[TopPage, ...]
    top_sites: tuple[TopPage, ...]
    top_domains: tuple[TopPage, ...]
    distribution: tuple[Bin, ...]
    file: str
    tolerance: float = 0.0
    footing: Footing | None = None
