"""How many pages, how long and how much disk a crawl will come to: a plain function of limits, seeds and what was seen.

Pages: the smallest of the limits that bind; without any nobody knows, and that is what is said.
Time: a site is asked one thing at a time, so its pages take pages × (delay + duration); sites go on side by side, and
all of them together no faster than this machine.
Disk: bytes of archive, state and tables per page, as this folder has them, or as measured on 33 KB pages of HTML.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from nephila.config.sections import Crawl, Politeness

USUAL_PAGE_BYTES: Final = 16_000
"""Archive (8.4 KB of a 33 KB page, decision 6, and its two other records), state and tables of one page."""

USUAL_LAST_S: Final = 0.1
"""The duration of a download while none was measured; S1's sites took 0.3 s, today's take less."""

USUAL_PAGES_PER_S: Final = 300.0
"""Of one agent, where nobody asks for patience; the README has what was measured."""


@dataclass(frozen=True, slots=True)
class SeenSoFar:
    """What the folder can tell: nothing where it is new."""

    pages: int = 0
    sites: int = 0  # with pages
    waiting: int = 0  # URLs known and not asked
    disk_bytes: int = 0
    last_s: float = 0.0  # mean duration of a download


@dataclass(frozen=True, slots=True)
class Estimate:
    """`pages` is None where no limit says how many there will be; then `per_1000_…` is all that can be said."""

    sites: int  # at least
    pages: int | None  # still to be asked, at most
    pages_by: str  # the limit that binds
    seconds: float | None
    disk_bytes: int | None
    per_1000_seconds: float
    per_1000_bytes: int
    free_bytes: int
    measured: bool  # by this folder's own pages

    @property
    def fits(self) -> bool:
        """Whether the disk holds it, with a tenth to spare; what is not known is not warned of."""
        return self.disk_bytes is None or self.disk_bytes * 1.1 <= self.free_bytes


def estimate(
    crawl: Crawl, politeness: Politeness, seed_sites: int, seen: SeenSoFar, agents: int, free_bytes: int
) -> Estimate:
    """What this run will come to at most, by the limits given."""
    sites = max(seed_sites, seen.sites, 1)
    pages, by = _pages(crawl, sites, seen)
    page_bytes = seen.disk_bytes // seen.pages if seen.pages >= 100 else USUAL_PAGE_BYTES
    last_s = seen.last_s if seen.pages >= 100 and seen.last_s > 0 else USUAL_LAST_S
    delay_s = min(max(politeness.min_delay, politeness.delay_factor * last_s), max(politeness.max_delay, 0.0))
    at_once = min(sites, crawl.active_sites * agents) * politeness.connections_per_site
    page_s = max((delay_s + last_s) / at_once, 1 / (USUAL_PAGES_PER_S * agents))
    seconds = None if pages is None else pages * page_s
    if crawl.max_seconds is not None and (seconds is None or seconds > crawl.max_seconds):
        seconds = crawl.max_seconds
        in_time = round(crawl.max_seconds / page_s)
        if pages is None or in_time < pages:
            pages, by = in_time, "crawl.max_seconds"
    disk_bytes = None if pages is None else pages * page_bytes
    return Estimate(
        sites, pages, by, seconds, disk_bytes, round(1000 * page_s, 3), 1000 * page_bytes, free_bytes,
        measured=seen.pages >= 100,
    )  # fmt: skip


def _pages(crawl: Crawl, sites: int, seen: SeenSoFar) -> tuple[int | None, str]:
    """The limit that binds first. Where links lead to new sites, a limit per site says nothing without one of sites."""
    found: list[tuple[int, str]] = []
    if crawl.max_pages is not None:
        found.append((max(0, crawl.max_pages - seen.pages), "crawl.max_pages"))
    most_sites = crawl.max_sites if crawl.mode == "web" else sites
    if crawl.max_pages_per_site is not None and most_sites is not None:
        found.append((max(0, most_sites * crawl.max_pages_per_site - seen.pages), "crawl.max_pages_per_site"))
    if crawl.max_depth == 0 and not seen.pages:
        found.append((max(sites, seen.waiting), "crawl.max_depth"))
    if crawl.max_bytes is not None:
        page_bytes = seen.disk_bytes // seen.pages if seen.pages >= 100 else USUAL_PAGE_BYTES
        found.append((max(0, crawl.max_bytes // max(1, page_bytes) - seen.pages), "crawl.max_bytes"))
    return min(found) if found else (None, "")
