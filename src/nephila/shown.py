"""Rows that people look at: rooms make them from what lies in the folder, `serve` shows them as pages and as JSON.

Times are UTC seconds. Whatever came from the web is text here and stays text.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SitesByState:
    new: int = 0
    leased: int = 0
    done: int = 0
    asleep: int = 0
    alias: int = 0
    refused: int = 0


@dataclass(frozen=True, slots=True)
class CrawlNow:
    """What a crawl has done and is doing."""

    begun: bool
    running: bool
    paused: bool
    how: str  # running, done, interrupted, killed, or the limit that was reached
    shown_at: float
    seconds: float  # of the last run
    pages: int  # URLs requested at least once
    known: int
    waiting_urls: int
    pages_per_s: float  # now, while it runs; else over the last run
    received_bytes: int
    archive_bytes: int
    agents: int
    agent_deaths: int
    active_sites: int
    sleeping_sites: int
    dns_queries: int
    outside: int
    outcomes: dict[str, int]
    sites: SitesByState


@dataclass(frozen=True, slots=True)
class Span:
    """What the requests that began in [`at`, `at` + width) have come to."""

    at: float
    outcomes: dict[str, int]


@dataclass(frozen=True, slots=True)
class Timeline:
    """The last run, in spans of equal width, without gaps."""

    width_s: float
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class SiteLine:
    """One site in a list."""

    url: str
    state: str
    outcome: str
    reason: str
    requested: int
    known: int
    received_bytes: int
    last_ms: int
    delay_s: float
    last_at: float | None


@dataclass(frozen=True, slots=True)
class SiteLines:
    """One page of a list of sites; `more` says whether another one follows."""

    sites: tuple[SiteLine, ...]
    page: int
    more: bool


@dataclass(frozen=True, slots=True)
class DepthLine:
    depth: int
    waiting: int


@dataclass(frozen=True, slots=True)
class Example:
    url: str
    reason: str
    code: int | None
    at: float | None


@dataclass(frozen=True, slots=True)
class ErrorLine:
    """An outcome that is no page, how often, and the latest URLs with it."""

    outcome: str
    count: int
    examples: tuple[Example, ...]


@dataclass(frozen=True, slots=True)
class Queue:
    """What waits and what went wrong."""

    depths: tuple[DepthLine, ...]
    errors: tuple[ErrorLine, ...]


@dataclass(frozen=True, slots=True)
class RobotsShown:
    """The rules in force for a site."""

    standing: str
    reason: str
    text: str
    read_at: float | None
    next_ask_at: float
    failures: int


@dataclass(frozen=True, slots=True)
class VisitLine:
    at: float
    url: str
    role: str
    outcome: str
    reason: str
    code: int | None
    elapsed_ms: int
    wire_bytes: int


@dataclass(frozen=True, slots=True)
class SiteShown:
    """All that is known of one site."""

    line: SiteLine
    address: str
    slot: int | None
    given: bool
    found_at: float
    referrer: str
    alias_of: str
    failures: int
    sleeps: int
    failed_runs: int
    next_at: float
    first_at: float | None
    blocked: bool
    waits_for: str  # one sentence: why nothing is asked of it now, or what is done
    robots: RobotsShown | None
    outcomes: dict[str, int]
    waiting: tuple[str, ...]  # the next URLs
    visits: tuple[VisitLine, ...]  # the latest first


@dataclass(frozen=True, slots=True)
class Happening:
    """One thing that happened to a URL, at a time where one is known."""

    at: float | None
    what: str


@dataclass(frozen=True, slots=True)
class UrlShown:
    """The story of one URL."""

    url: str
    outcome: str
    network_state: str
    reason: str
    events: tuple[Happening, ...]


@dataclass(frozen=True, slots=True)
class Copy:
    """What the archive holds of a URL: the body as a browser would decode it, cut at a limit."""

    url: str
    fetched_at: float
    code: int
    mime: str
    charset: str  # a Python codec
    body: bytes
    cut: bool


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text; `marked` where it is one of the words looked for."""

    text: str
    marked: bool


@dataclass(frozen=True, slots=True)
class HitShown:
    place: int  # from 1
    url: str
    title: tuple[Piece, ...]
    snippet: tuple[Piece, ...]
    site: str
    domain: str
    community: str
    language: str
    dated_at: float | None  # published, else modified
    fetched_at: float | None
    times_mean: float  # its rank as a multiple of the mean
    score: float
    explanation: str


@dataclass(frozen=True, slots=True)
class Found:
    """One page of hits."""

    text: str
    page: int
    hits: tuple[HitShown, ...]
    total: int
    has_more: bool
    given_way: int
    remarks: tuple[str, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class Ranked:
    place: int
    name: str
    rank: float
    in_links: int


@dataclass(frozen=True, slots=True)
class RankBin:
    """Pages whose rank, as a multiple of the mean, lies from 2^power to below 2^(power + 1)."""

    power: int
    pages: int


@dataclass(frozen=True, slots=True)
class RanksShown:
    """The last ranking."""

    method: str
    damping: float
    pages: int
    links: int
    dangling: int
    rounds: int
    residual: float
    seconds: float
    residuals: tuple[float, ...]
    distribution: tuple[RankBin, ...]
    top: tuple[Ranked, ...]
    top_sites: tuple[Ranked, ...]
    top_domains: tuple[Ranked, ...]


@dataclass(frozen=True, slots=True)
class Counted:
    name: str
    count: int


@dataclass(frozen=True, slots=True)
class Counts:
    """One distribution, in the order in which it is read."""

    title: str
    unit: str
    rows: tuple[Counted, ...]


@dataclass(frozen=True, slots=True)
class Statistics:
    """What there is to say about the web as found; `converted` says whether tables were there to read."""

    converted: bool
    counts: tuple[Counts, ...]


@dataclass(frozen=True, slots=True)
class SiteDay:
    """One site over the 24 hours from now on: how busy it is believed to be, and when it is to be collected."""

    url: str
    zone: int  # hours ahead of UTC
    pages_left: float
    loads: tuple[float, ...]  # [0, 1), from the current hour on
    sure: tuple[float, ...]  # [0, 1): how much of that was measured at this hour
    planned: tuple[float, ...]  # share of what is left that comes in each hour
    slower: float  # times as slow as is usual at this hour (S2-17); 1: as usual


@dataclass(frozen=True, slots=True)
class ScheduleShown:
    """Tonight's plan. Without a policy, or with nothing left to collect, only the loads are told."""

    policy: str
    made_at: float
    first_hour: int  # of the day, UTC
    places: int
    sites_open: int
    hours: float | None  # until everything known is collected, if all goes as believed
    rows: tuple[SiteDay, ...]


@dataclass(frozen=True, slots=True)
class DuePage:
    url: str
    due_at: float | None  # None: not within ten years at this budget
    last_at: float
    every_days: float  # expected days between two changes
    visits: int
    changed_visits: int
    weight: float  # as a multiple of a mean page's
    sentence: str


@dataclass(frozen=True, slots=True)
class SiteFreshness:
    """A site's change log in one line."""

    url: str
    pages: int
    visits: int
    changed_visits: int
    changes_per_day: float  # expected, of all its pages
    fresh: float  # expected share of current copies
    due: int


@dataclass(frozen=True, slots=True)
class Freshness:
    """What `serve` and `status` show: nothing here is stored."""

    now: float
    policy: str
    change: str  # what counts as one: bytes, text or simhash
    searched: bool  # whether what users search for is part of the weights
    pages: int
    reseen: int  # visited at least twice
    planned: int  # wait for their visit now
    due_now: int
    overdue: int  # due for more than a day
    fresh: float
    changing: float  # pages that are expected to change within a day
    round: int
    round_ended: bool
    by_day: tuple[int, ...]  # pages that become due in each of the next 14 days
    soon: tuple[DuePage, ...]
    sites: tuple[SiteFreshness, ...]
