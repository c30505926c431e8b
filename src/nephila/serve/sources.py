"""Where the pages' rows come from: plain functions, given by whoever starts the server."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from nephila.shown import (
    Copy,
    CrawlNow,
    Found,
    Freshness,
    Queue,
    RanksShown,
    ScheduleShown,
    SiteLines,
    SiteShown,
    Statistics,
    Timeline,
    UrlShown,
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A search as the page takes it."""

    text: str
    page: int
    show_all: bool  # also what gives way to a better hit of its cluster or site
    explain: bool


@dataclass(frozen=True, slots=True)
class Sources:
    """Each function reads the folder anew, and raises NephilaError with a sentence where it cannot."""

    name: str
    crawl: Callable[[], CrawlNow]
    timeline: Callable[[], Timeline]
    queue: Callable[[], Queue]
    sites: Callable[[str, str, str, int], SiteLines]  # order, part of the name, state, page
    site: Callable[[str], SiteShown | None]
    url: Callable[[str], UrlShown]
    copy: Callable[[str], Copy | None]
    search: Callable[[Asked], Found]
    opened: Callable[[str, str], bool]  # the words, and the hit that was opened; whether that was noted
    ranks: Callable[[], RanksShown | None]
    statistics: Callable[[], Statistics]
    report: Callable[[], bytes | None]
    schedule: Callable[[], ScheduleShown | None]  # None where nothing was learnt yet
    has_schedule: Callable[[], bool]
    freshness: Callable[[], Freshness | None]  # None where no page was requested yet
    has_freshness: Callable[[], bool]
    blocked: Callable[[], tuple[str, ...]]
    pause: Callable[[bool], None]
    block: Callable[[str, bool], bool]  # site, whether; False where there is no such site


SITE_ORDERS = ("largest", "slowest", "waiting", "name")
SITE_STATES = ("", "waiting", "asleep", "done", "alias", "new", "refused")
