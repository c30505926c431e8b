"""From an answer to what it says: links resolved and normalised, its own word to robots, its type and its checksum.

A pure function of one answer. Links are extracted here and never again: the archive keeps them with the page.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from nephila import markup
from nephila.crawl.contents import mime_of
from nephila.crawl.fetcher import Fetched
from nephila.crawl.group import FoundLink
from nephila.crawl.joined import Joined, Target
from nephila.crawl.outcome import refresh_is_redirect
from nephila.crawl.page_robots import PageRobots, from_headers
from nephila.decode import decode
from nephila.markup.findings import KINDS
from nephila.markup.scan import read_refresh
from nephila.markup.sources import SourceKind, looks_like_source, read_source
from nephila.records import LinkKind, Outcome
from nephila.urls import Refusal, StripRules, join

HTML: Final = frozenset({"text/html", "application/xhtml+xml"})
CHECKSUM_BYTES: Final = 16
SCANNED_BYTES: Final = 8 * 2**20
"""Of a body so much is looked through for links: 32 MiB would hold the loop up for 300 ms (I4), 8 MiB for 80."""

_FREE: Final = PageRobots()
_NO_KINDS: Final = "000"
_HTML_WORDS: Final = re.compile(rb"(?i)<(?:!doctype html|html|head|title|body|meta)\b")
WITH_CONTENT: Final = frozenset(
    {Outcome.OK, Outcome.TRUNCATED_LENGTH, Outcome.TRUNCATED_TIME, Outcome.TRUNCATED_DISCONNECT, Outcome.TOO_SLOW,
     Outcome.DECODE_LIMIT}
)  # fmt: skip
"""Outcomes with a body, whole or in part, that is the page's own content."""


@dataclass(frozen=True, slots=True)
class Harvest:
    """What one answer brought."""

    mime: str
    checksum: bytes | None = None  # SHA-1 of the decoded body, first 128 bits (S0-14)
    payload_sha1: bytes | None = None
    links: tuple[FoundLink, ...] = ()  # distinct by URL and kind
    targets: tuple[Target, ...] = ()  # of the links, in their order
    link_count: int = 0
    refused: Counter[Refusal] = field(default_factory=Counter)
    robots: PageRobots = _FREE
    refresh_to: str = ""  # a meta refresh or Refresh header that is a redirect
    link_kinds: str = _NO_KINDS
    unread: str = ""  # the name of the error that kept us from reading it
    is_read: bool = True  # False: its type is archived alone


@dataclass(frozen=True, slots=True)
class Reads:
    """Whether a page that is a sitemap or a feed is read as such, and how many of its URLs are taken."""

    sitemaps: bool = False
    feeds: bool = False
    most: int = 0


NO_SOURCES: Final = Reads()


def harvest_or_nothing(
    url: str, fetched: Fetched, rules: StripRules, robot_name: str, max_links: int, joined: Joined | None = None,
    reads: Reads = NO_SOURCES,
) -> Harvest:  # fmt: skip
    """As `harvest`; a page that our own code cannot read costs its links, not the agent that would meet it again."""
    try:
        return harvest(url, fetched, rules, robot_name, max_links, joined, reads)
    except Exception as problem:  # noqa: BLE001  # whatever the mistake is, it is one page's, and it is recorded
        payload_sha1 = hashlib.sha1(fetched.content, usedforsecurity=False).digest()
        checksum = hashlib.sha1(fetched.payload, usedforsecurity=False).digest()[:CHECKSUM_BYTES]
        return Harvest(mime_of(fetched.header("content-type")), checksum, payload_sha1, unread=type(problem).__name__)


def harvest(
    url: str,
    fetched: Fetched,
    rules: StripRules,
    robot_name: str,
    max_links: int,
    joined: Joined | None = None,
    reads: Reads = NO_SOURCES,
) -> Harvest:
    """All that follows from an answer that has a body; `url` is the page's own, in normal form."""
    mime = mime_of(fetched.header("content-type"))
    payload_sha1 = hashlib.sha1(fetched.content, usedforsecurity=False).digest()
    same = fetched.payload is fetched.content or fetched.payload == fetched.content
    body_sha1 = payload_sha1 if same else hashlib.sha1(fetched.payload, usedforsecurity=False).digest()
    checksum = body_sha1[:CHECKSUM_BYTES]
    said = from_headers((value for name, value in fetched.headers if name == "x-robots-tag"), robot_name)
    if fetched.outcome in WITH_CONTENT and reads is not NO_SOURCES:
        listed = _listed(url, fetched.payload, rules, max_links, reads)
        if listed is not None:
            targets = tuple(Target(link.url) for link in listed)
            return Harvest(mime, checksum, payload_sha1, listed, targets, len(listed), robots=said)
    if fetched.outcome not in WITH_CONTENT or not is_html(mime, fetched.payload):
        return Harvest(mime, checksum, payload_sha1, robots=said)
    readable = fetched.payload[:SCANNED_BYTES]
    encoding = markup.choose(readable, fetched.header("content-type")).encoding
    scan = markup.scan(readable, encoding, markup.Limits(links=max_links))
    base = markup.document_base(url, scan, rules)
    joined = Joined(rules) if joined is None else joined
    known = joined.beside(base, encoding)
    found = _Found()
    refused: Counter[Refusal] = Counter()
    if scan.too_long:
        refused[Refusal.TOO_LONG] += scan.too_long
    for href, origin, _, anchor in scan.links:
        target = known.get(href) or joined.join(known, base, href, encoding)
        if isinstance(target, Target):
            found.add(target, KINDS[origin], anchor)
        else:
            refused[target] += 1
    refresh = scan.refresh or read_refresh(fetched.header("refresh") or "")
    refresh_to = ""
    if refresh is not None and refresh.href is not None:
        target = joined.join(known, base, refresh.href, encoding)
        if isinstance(target, Target):
            found.add(target, LinkKind.H, "")
            refresh_to = target.url if refresh_is_redirect(refresh.delay_s) else ""
    return Harvest(
        mime=mime,
        checksum=checksum,
        payload_sha1=payload_sha1,
        links=tuple(found.links),
        targets=tuple(found.targets),
        link_count=scan.link_count,
        refused=refused,
        robots=said & PageRobots(index=not scan.noindex, follow=not scan.nofollow),
        refresh_to=refresh_to,
        link_kinds=scan.link_kinds,
    )


class _Found:
    """Links of one page, one per URL and kind, in the order they were written."""

    __slots__ = ("_urls", "links", "targets")

    def __init__(self) -> None:
        self.links: list[FoundLink] = []
        self.targets: list[Target] = []
        self._urls: dict[LinkKind, set[str]] = {LinkKind.H: set(), LinkKind.A: set(), LinkKind.F: set()}

    def add(self, target: Target, kind: LinkKind, anchor: str) -> None:
        url, known = target.url, self._urls[kind]
        if url not in known:
            known.add(url)
            self.links.append(FoundLink(url, kind, anchor))
            self.targets.append(target)


def _listed(url: str, payload: bytes, rules: StripRules, max_links: int, reads: Reads) -> tuple[FoundLink, ...] | None:
    """The links of a page that is a sitemap or feed to be read; None where it is none."""
    body = unpacked(payload, SCANNED_BYTES)
    if not looks_like_source(body):
        return None
    source = read_source(body[:SCANNED_BYTES], max(max_links, reads.most))
    if source is None or not (reads.feeds if source.kind is SourceKind.FEED else reads.sitemaps):
        return None
    is_feed = source.kind is SourceKind.FEED
    kind = LinkKind.FEED if is_feed else LinkKind.SITEMAP
    links: dict[str, FoundLink] = {}
    for entry in source.entries[: max_links if is_feed else reads.most]:
        target = join(url, entry.url, rules)
        if not isinstance(target, Refusal) and not entry.picture:
            links.setdefault(target, FoundLink(target, kind, entry.title[:1024]))
    return tuple(links.values())


def unpacked(body: bytes, max_bytes: int) -> bytes:
    """A sitemap may be a gzip file; what is damaged or too long is cut where it is."""
    return decode(body, ("gzip",), max_bytes).payload if body.startswith(b"\x1f\x8b") else body


def _strayed(start: bytes) -> bool:
    """Whether a few NULs have strayed into what is HTML all the same (G7): browsers drop them."""
    return start.count(0) <= len(start) // 50 + 1 and bool(_HTML_WORDS.search(start))


def is_html(mime: str, body: bytes) -> bool:
    """By the header; without one, by whether the body looks like a page (G9: a picture called HTML is no page)."""
    if mime and mime not in HTML:
        return False
    start = body[:1024]
    if b"\x00" in start and not start.startswith((b"\xff\xfe", b"\xfe\xff")) and not _strayed(start):
        return False
    return bool(mime) or b"<" in start
