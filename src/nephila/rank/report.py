"""What a ranking has to say: counts, seconds of each step, residuals, the best pages."""

from __future__ import annotations

from dataclasses import dataclass


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
class RankReport:
    """A ranking. `residual` is the L1 distance of the last round, `total` the sum of all ranks."""

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
