"""Sitemaps: which of them a site has, whether one is asked for, and what its URLs become.

The life of a sitemap. Its address stands in robots.txt, in an index, or is guessed; if it is of the same site and
within the limits it waits (`learn`), is asked for in the site's own lane like everything else, archived as a visit of
the role `sitemap`, and read (`markup.sources`). Its URLs of the same site are offered with the link kind `sitemap`, one
link deep; those of other sites are left out, because nobody vouches for them (sitemaps.org: "Location"). What it says
about changes (lastmod) is kept with each page. It is asked for again as robots.txt is, when a day has passed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from nephila.config.sections import Sources
from nephila.crawl.fetcher import Fetched
from nephila.crawl.group import FoundLink, SourceRow
from nephila.crawl.harvest import WITH_CONTENT, unpacked
from nephila.crawl.recording import offer
from nephila.crawl.robots_state import FRESH_S
from nephila.crawl.scope import tally_of
from nephila.crawl.setup import Setup
from nephila.crawl.site import SiteContext
from nephila.crawl.slot import Slot
from nephila.markup.sources import Source, SourceKind, read_source
from nephila.records import LinkKind, Outcome
from nephila.urls import Refusal, join, url_hash

GUESSED: Final = "/sitemap.xml"
SAME_SITE: Final = "sitemap_same_site"
"""The rule that URLs of other sites are not taken from a sitemap; its name in counts."""

LISTED_DEPTH: Final = 1
_NO_SITEMAP: Final = "no sitemap"
_TOLD: Final = (_NO_SITEMAP, f"{Outcome.HTTP_ERROR.value} 4")
"""Failures that the server told us of: tomorrow is soon enough."""


def wants_sitemaps(sources: Sources) -> bool:
    """Whether sitemaps are looked for that nobody gave as a seed."""
    return sources.sitemaps in ("robots", "guess")


def learn_from_robots(setup: Setup, slot: Slot, context: SiteContext) -> None:
    """The sitemaps that robots.txt names, or the one that most sites have."""
    named = context.robots.rules.sitemaps if context.robots is not None else ()
    if not named and setup.config.sources.sitemaps == "guess":
        named = (GUESSED,)
    for written in named:
        learn(setup, slot, context, written, context.url + "/robots.txt", 0)


def learn(setup: Setup, slot: Slot, context: SiteContext, written: str, base: str, depth: int) -> None:
    """One more sitemap is known; it waits unless something speaks against it."""
    url = join(base, written.strip(), setup.strip)
    if isinstance(url, Refusal):
        return
    known = context.known_sources.get(url)
    now = setup.clock.now()
    if known is not None and (known.state == "refused" or now - known.asked_at < FRESH_S or known in context.sources):
        return
    row = SourceRow(context.number, url, depth if known is None else min(depth, known.depth))
    refused = _refusal(setup.config.sources, context, row)
    if refused:
        row = replace(row, state="refused", reason=refused, asked_at=now)
    else:
        context.sources.append(row)
    keep(slot, context, row)


def _refusal(sources: Sources, context: SiteContext, row: SourceRow) -> str:
    if not row.url.startswith(context.url + "/"):
        return "it is on another site"
    if row.depth > sources.max_sitemap_depth:
        return "sources.max_sitemap_depth"
    asked = sum(known.state != "refused" for url, known in context.known_sources.items() if url != row.url)
    if sources.max_sitemaps is not None and asked >= sources.max_sitemaps:
        return "sources.max_sitemaps"
    return ""


def keep(slot: Slot, context: SiteContext, row: SourceRow) -> None:
    context.known_sources[row.url] = row
    slot.group.sources[row.site, row.url] = row
    slot.touch()


def waiting_sources(rows: list[SourceRow], now: float, sources: Sources) -> list[SourceRow]:
    """Which of the sitemaps on disk are asked for when a site comes into memory: daily, and what did not answer."""
    if not wants_sitemaps(sources):
        return []
    return [row for row in rows if row.state == "waiting" or _is_due(row, now)]


def _is_due(row: SourceRow, now: float) -> bool:
    if row.state == "failed" and not row.reason.startswith(_TOLD):
        return True
    return row.state != "refused" and now - row.asked_at >= FRESH_S


def read_sitemap(fetched: Fetched, sources: Sources) -> Source | None:
    """What the answer lists; None where it is no sitemap, feed or list of URLs."""
    if fetched.outcome not in WITH_CONTENT or not fetched.payload:
        return None
    body = unpacked(fetched.payload, sources.max_sitemap_size)
    most = sources.max_sitemap_urls
    return read_source(body, most if most is not None else 10**9, lines=True)


def record_sitemap(
    setup: Setup, slot: Slot, context: SiteContext, row: SourceRow, fetched: Fetched, source: Source | None
) -> tuple[FoundLink, ...]:
    """What a sitemap brought: further sitemaps, or URLs of its site that are known from now on; gives its links."""
    now = setup.clock.now()
    context.sources = [each for each in context.sources if each.url != row.url]
    if fetched.outcome is Outcome.REDIRECT:  # within the site it is followed; each hop counts as a sitemap
        keep(slot, context, replace(row, state="read", reason="redirect", asked_at=now))
        learn(setup, slot, context, fetched.header("location") or "", row.url, row.depth)
        return ()
    if source is None:
        status = f" {fetched.status}" if fetched.status else ""
        reason = _NO_SITEMAP if fetched.outcome in WITH_CONTENT else f"{fetched.outcome.value}{status}"
        keep(slot, context, replace(row, state="failed", reason=reason, asked_at=now))
        return ()
    is_index = source.kind is SourceKind.INDEX
    links = () if is_index else _offer_listed(setup, slot, context, row, source)
    keep(slot, context, replace(row, state="read", reason=source.problem, urls=len(links), asked_at=now))
    for entry in source.entries if is_index else ():
        learn(setup, slot, context, entry.url, row.url, row.depth + 1)
    return links


def _offer_listed(
    setup: Setup, slot: Slot, context: SiteContext, row: SourceRow, source: Source
) -> tuple[FoundLink, ...]:
    most = setup.config.sources.max_sitemap_urls
    taken = sum(known.urls for url, known in context.known_sources.items() if url != row.url)
    prefix = context.url + "/"
    links: list[FoundLink] = []
    elsewhere = 0
    for entry in source.entries:
        if entry.picture and not setup.config.sources.pictures:
            continue
        url = join(row.url, entry.url, setup.strip)
        if isinstance(url, Refusal):
            slot.group.refused[url.value] += 1
            continue
        if not url.startswith(prefix):
            elsewhere += 1
            continue
        if most is not None and taken + len(links) >= most:
            break
        links.append(FoundLink(url, LinkKind.SITEMAP, ""))
        path = url[len(context.url) :]
        offer(setup, slot, context, path, row.url, LinkKind.SITEMAP.value, LISTED_DEPTH)
        if entry.stated_at is not None:
            slot.group.stated.append((entry.stated_at, context.number, url_hash(path)))
    if elsewhere:
        slot.group.tallies[tally_of(SAME_SITE)] += elsewhere
    return tuple(links)
