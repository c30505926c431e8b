"""One group of results: all that is committed together, or not at all.

The agent's loop fills a group while the last one is being written. A group is closed after `group_pages` visits or
`group_delay`, so that one wait for the disk serves many pages.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Literal, NamedTuple

from nephila.crawl.fetcher import Fetched
from nephila.crawl.messages import Credit, OutLink, SiteEnded
from nephila.crawl.trapped import KeptPattern
from nephila.records import LinkKind, Outcome

IMPORTED: Final = "imported"
"""The state of a site whose pages came out of an archive: nothing is asked of it before its address is looked up."""

Role = Literal["page", "robots", "sample", "probe", "sitemap"]
_TO_BE_REQUESTED: Final = frozenset({Outcome.WAITING, Outcome.DEFERRED_HOST, Outcome.DEFERRED_ROBOTS})


@dataclass(frozen=True, slots=True)
class FoundPage:
    """A URL of one of the slot's sites, known from now on."""

    site: int
    hash: int
    path: str
    depth: int
    place: int
    outcome: Outcome
    reason: str
    found_at: float
    referrer: str
    kind: str
    hops: int = 0
    via_duplicate: bool = False
    seed: bool = False
    strayed: int = 0  # pages in a row, up to the one it was found on, that are off topic or in another language

    @property
    def todo(self) -> bool:
        return self.outcome in _TO_BE_REQUESTED


@dataclass(frozen=True, slots=True)
class OutsideUrl:
    """A URL of another site that was refused here and now."""

    url: str
    outcome: Outcome
    reason: str
    referrer: str
    found_at: float


@dataclass(frozen=True, slots=True)
class SourceRow:
    """A sitemap of a site: where it is, how many indexes above it, and what came of it."""

    site: int
    url: str
    depth: int
    state: str = "waiting"  # waiting, read, failed, refused
    reason: str = ""
    urls: int = 0  # that it lists
    asked_at: float = 0.0


class FoundLink(NamedTuple):
    """A link as the archive keeps it: resolved, with its kind and its anchor text. A tuple: a page has forty."""

    url: str
    kind: LinkKind
    anchor: str


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept of a page that is visited again: what to ask with, and what to compare the answer with."""

    code: int
    checksum: bytes | None
    body_bytes: int
    etag: str = ""
    modified: str = ""
    missing: int = 0  # 404 or 410 in a row


class Seen(StrEnum):
    """What a further visit says about the page (S4-3's Boolean, and when there is none)."""

    AS_IT_WAS = "as it was"
    CHANGED = "changed"
    MISSING = "missing"  # 404 or 410: what is kept of it stays
    GONE = "gone"  # missing so often that it is marked
    UNTOLD = "untold"  # no answer, or one that says nothing about the page
    OLDER = "older"  # from before what is kept: part of the page's history, and nothing else


@dataclass(frozen=True, slots=True)
class Visited:
    """One request and what came of it. For a page, also what its row becomes."""

    site: int
    site_url: str
    hash: int
    path: str
    role: Role
    fetched: Fetched
    outcome: Outcome
    reason: str
    archived: bool  # only the last answer of a run is, so that a page stands in the archive once
    checksum: bytes | None = None
    payload_sha1: bytes | None = None
    duplicate_of: int | None = None
    first_of_content: bool = False
    todo: bool = False
    tries: int = 0
    mime: str = ""
    redirect_to: str = ""
    link_kinds: str = ""
    flags: str = ""
    links: tuple[FoundLink, ...] = ()
    link_count: int = 0
    seen: Seen | None = None  # None at a first visit
    kept: Kept | None = None

    @property
    def repeats(self) -> bool:
        """Whether its body is in the archive already."""
        if self.seen is Seen.OLDER:
            return not self.first_of_content
        return self.duplicate_of is not None or self.seen is Seen.AS_IT_WAS


@dataclass(frozen=True, slots=True)
class Judged:
    """A page whose outcome was decided without asking its server."""

    site: int
    hash: int
    outcome: Outcome
    reason: str
    todo: bool = False


@dataclass(frozen=True, slots=True)
class Swept:
    """All pages of a site that wait to be requested get one outcome; `todo` keeps them for the next run."""

    site: int
    outcome: Outcome
    reason: str
    todo: bool
    untried: bool = False  # only those that were never requested


@dataclass(frozen=True, slots=True)
class SiteRow:
    """What is kept of a site context on disk."""

    site: int
    url: str
    address: str
    given: bool
    state: str
    outcome: str = ""
    reason: str = ""
    alias_of: int | None = None
    distinct_from: str = ""
    robots: bytes | None = None
    home: bytes | None = None
    last_ms: int = 0
    next_at: float = 0.0
    failures: int = 0
    sleeps: int = 0
    failed_runs: int = 0
    delay_s: float = 0.0
    requested: int = 0
    received_bytes: int = 0
    known: int = 0
    first_at: float | None = None
    last_at: float | None = None


@dataclass(frozen=True, slots=True)
class SiteFigures:
    """What every visit changes in its site's row; committed with it, so that a kill leaves limits and manners right."""

    last_ms: int
    delay_s: float
    requested: int
    received_bytes: int
    known: int
    first_at: float | None
    last_at: float | None
    home: bytes | None  # without it a site that was killed would look unlike its aliases


@dataclass(slots=True)
class Group:
    """Results in the order they came; filled by the loop, then handed over whole."""

    found: list[FoundPage] = field(default_factory=list)
    visited: list[Visited] = field(default_factory=list)
    judged: list[Judged] = field(default_factory=list)
    swept: list[Swept] = field(default_factory=list)
    opened: list[int] = field(default_factory=list)  # sites that can be collected once this group is on disk
    sites: dict[int, SiteRow] = field(default_factory=dict)
    figures: dict[int, SiteFigures] = field(default_factory=dict)  # of sites whose row is not in `sites`
    revisits: list[tuple[int, int]] = field(default_factory=list)  # site and hash: to be asked again
    again: dict[tuple[int, int], None] = field(default_factory=dict)  # site and hash: failed in the dark (`darkness`)
    let_in: bool = False  # what limits had cut off waits again, and its sites are open again
    parties: list[tuple[int, float]] = field(default_factory=list)  # site and seconds: its parties have ended
    outside: list[OutsideUrl] = field(default_factory=list)
    links: list[OutLink] = field(default_factory=list)
    ended: list[SiteEnded] = field(default_factory=list)
    returned: list[Credit] = field(default_factory=list)
    granted: Counter[str] = field(default_factory=Counter)
    used: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)  # changes of the counts
    orders: list[int] = field(default_factory=list)  # the coordinator's parcels applied in this group
    refused: Counter[str] = field(default_factory=Counter)  # links that are no URLs to keep, by what is wrong
    forgotten: int = 0  # our parcels up to this one were applied by the coordinator
    pages: int = 0
    body_bytes: int = 0
    patterns: dict[tuple[int, int], KeptPattern] = field(default_factory=dict)  # by site and pattern
    domains: Counter[str] = field(default_factory=Counter)  # pages requested for the first time
    sources: dict[tuple[int, str], SourceRow] = field(default_factory=dict)  # by site and URL
    stated: list[tuple[float, int, int]] = field(default_factory=list)  # lastmod, site and hash of a sitemap's URL
    tallies: Counter[str] = field(default_factory=Counter)  # what rules refused, what pages were found to be

    def is_empty(self) -> bool:
        return not (
            self.found or self.visited or self.judged or self.swept  or self.opened or self.sites
            or self.parties or self.outside or self.links or self.ended or self.returned or self.granted or self.orders
            or self.figures or self.let_in or self.revisits or self.sources or self.tallies or self.again
        )  # fmt: skip
