"""The JSON beside the pages: one table of routes, from which both the server and its OpenAPI document are made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from nephila.serve.parameters import Given, Parameter
from nephila.serve.sources import SITE_ORDERS, SITE_STATES, Asked, Sources
from nephila.shown import (
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
class ControlShown:
    """What is asked of the crawl; `form_token` is what a change must bring in the header X-Nephila-Token."""

    paused: bool
    blocked: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Session:
    form_token: str


@dataclass(frozen=True, slots=True)
class CopyShown:
    """What the archive holds of a URL, without its body."""

    url: str
    fetched_at: float
    code: int
    mime: str
    charset: str
    bytes: int
    cut: bool


@dataclass(frozen=True, slots=True)
class Problem:
    """Why there is no answer."""

    problem: str


@dataclass(frozen=True, slots=True)
class Route:
    """One question, or one change, and the rows that answer it; None is 404."""

    path: str
    summary: str
    answer: type
    ask: Callable[[Sources, Given], object | None]
    parameters: tuple[Parameter, ...] = ()
    method: Literal["GET", "POST"] = "GET"


_URL: Final = Parameter("url", "a URL", required=True)
_SITE: Final = Parameter("site", "a site: scheme, host and port", required=True)
_PAGE: Final = Parameter("page", "which page of the list, from 1", "number")


def _control(sources: Sources) -> ControlShown:
    return ControlShown(sources.crawl().paused, sources.blocked())


def _pause(sources: Sources, *, on: bool) -> ControlShown:
    sources.pause(on)
    return ControlShown(on, sources.blocked())


def _block(sources: Sources, site: str, *, on: bool) -> ControlShown | None:
    return _control(sources) if sources.block(site, on) else None


def _copy(sources: Sources, given: Given) -> CopyShown | None:
    copy = sources.copy(given.text("url"))
    if copy is None:
        return None
    return CopyShown(copy.url, copy.fetched_at, copy.code, copy.mime, copy.charset, len(copy.body), copy.cut)


def _search(sources: Sources, given: Given) -> Found:
    asked = Asked(given.text("q"), given.number("page"), given.switch("all"), given.switch("explain"))
    return sources.search(asked)


ROUTES: Final[tuple[Route, ...]] = (
    Route("/api/crawl", "What the crawl has done and is doing", CrawlNow, lambda s, _: s.crawl()),
    Route("/api/timeline", "Outcomes over time, of the last run", Timeline, lambda s, _: s.timeline()),
    Route("/api/queue", "What waits, by depth, and errors with examples", Queue, lambda s, _: s.queue()),
    Route(
        "/api/sites", "Sites, page by page", SiteLines,
        lambda s, g: s.sites(g.text("order"), g.text("containing"), g.text("state"), g.number("page")),
        (
            Parameter("order", "what comes first", "choice", choices=SITE_ORDERS),
            Parameter("containing", "a part of the site's URL"),
            Parameter("state", "only sites in this state", "choice", choices=SITE_STATES),
            _PAGE,
        ),
    ),
    Route("/api/site", "All that is known of one site", SiteShown, lambda s, g: s.site(g.text("site")), (_SITE,)),
    Route("/api/why", "The story of one URL", UrlShown, lambda s, g: s.url(g.text("url")), (_URL,)),
    Route("/api/copy", "What the archive holds of one URL", CopyShown, _copy, (_URL,)),
    Route(
        "/api/search", "Pages found", Found, _search,
        (
            Parameter("q", "the words, phrases and limits looked for", required=True),
            _PAGE,
            Parameter("all", "also what gives way to a better hit of its cluster or site", "switch"),
            Parameter("explain", "with the line that explains each score", "switch"),
        ),
    ),
    Route("/api/ranks", "The last ranking", RanksShown, lambda s, _: s.ranks()),
    Route("/api/statistics", "The web as found", Statistics, lambda s, _: s.statistics()),
    Route("/api/schedule", "The sites' hours, and tonight's plan", ScheduleShown, lambda s, _: s.schedule()),
    Route("/api/freshness", "What is due, fresh and changing", Freshness, lambda s, _: s.freshness()),
    Route("/api/control", "What is asked of the crawl", ControlShown, lambda s, _: _control(s)),
    Route("/api/control/pause", "Request nothing new", ControlShown, lambda s, _: _pause(s, on=True), method="POST"),
    Route("/api/control/resume", "Go on", ControlShown, lambda s, _: _pause(s, on=False), method="POST"),
    Route(
        "/api/control/block", "Leave a site alone", ControlShown,
        lambda s, g: _block(s, g.text("site"), on=True), (_SITE,), "POST",
    ),
    Route(
        "/api/control/unblock", "Ask a site again, from the next run on", ControlShown,
        lambda s, g: _block(s, g.text("site"), on=False), (_SITE,), "POST",
    ),
)  # fmt: skip
