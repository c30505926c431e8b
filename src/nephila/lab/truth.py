"""What a crawl of the lab must find: one row per URL, computed from the model and never from the crawler's own code.

A URL's row tells its outcome with robots.txt obeyed, its digest, and the links that may be followed from it. Case
variants are URLs of their own with their true form in `case_of`; session ids never appear; an alias has one row per URL
that somebody links to. `reach` walks the model from any list of seeds.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from nephila.errors import UsageError
from nephila.lab.card import Card
from nephila.lab.fates import Fate
from nephila.lab.pages import look_of, original
from nephila.lab.paths import page_of, path_of, place_of
from nephila.lab.skeleton import Skeleton
from nephila.lab.validity import validity
from nephila.lab.web import Web
from nephila.records import Outcome

MOST_PAGES: Final = 1_000_000
_DIGEST_BYTES: Final = 16

_OUTCOMES: Final = {
    Fate.OK: Outcome.OK,
    Fate.NOT_FOUND: Outcome.HTTP_ERROR,
    Fate.FORBIDDEN: Outcome.HTTP_ERROR,
    Fate.SERVER_ERROR: Outcome.HTTP_ERROR,
    Fate.MOVED: Outcome.REDIRECT,
    Fate.FOUND: Outcome.REDIRECT,
    Fate.RESET: Outcome.RESET,
    Fate.CUT_BODY: Outcome.TRUNCATED_DISCONNECT,
    Fate.STALL_BODY: Outcome.TRUNCATED_TIME,
    Fate.SHORT_HEADER: Outcome.BAD_HTTP,
    Fate.NOT_HTTP: Outcome.BAD_HTTP,
    Fate.HANG: Outcome.TIMEOUT_HEADERS,
    Fate.NO_NAME: Outcome.DNS_NXDOMAIN,
    Fate.NAME_FAILS: Outcome.DNS_FAIL,
    Fate.REFUSED: Outcome.DEFERRED_ROBOTS,  # robots.txt cannot be reached, so nothing may be asked (RFC 9309)
}
_STATUS: Final = {
    Fate.OK: 200,
    Fate.NOT_FOUND: 404,
    Fate.FORBIDDEN: 403,
    Fate.SERVER_ERROR: 500,
    Fate.MOVED: 301,
    Fate.FOUND: 302,
    Fate.CUT_BODY: 200,
    Fate.STALL_BODY: 200,
}
_UNREACHED_SITES: Final = (Fate.NO_NAME, Fate.NAME_FAILS, Fate.REFUSED)


@dataclass(frozen=True, slots=True)
class TruthRow:
    """What is true of one URL at one moment. `depth` counts from the home page; None: that does not lead there."""

    url: str
    site: str
    canonical_site: str
    outcome: Outcome
    status: int | None
    digest: bytes | None
    links: tuple[str, ...]
    redirect_to: str | None
    case_of: str | None
    depth: int | None
    reachable: bool
    valid_from: float
    valid_to: float | None


@dataclass(frozen=True, slots=True)
class Finding:
    """What a request for one URL meets, and where it leads; enough to walk the web without writing its pages."""

    outcome: Outcome
    fate: Fate
    page: int | None
    generation: int = 0
    links: tuple[str, ...] = ()
    redirect_to: str | None = None


def split_url(web: Web, url: str) -> tuple[str, str, int | None]:
    """(origin, path, site) of a URL of the lab; the site is None for strangers."""
    slash = url.find("/", len("http://"))
    origin, path = (url, "/") if slash < 0 else (url[:slash], url[slash:])
    return origin, path, web.cards.site_of(origin[len("http://") :].partition(":")[0])


def meet(web: Web, card: Card, skeleton: Skeleton, origin: str, path: str, now: float) -> Finding:
    """What becomes of a URL (in normal form) when it is asked for at a moment, robots.txt obeyed."""
    if origin != card.origin:
        return Finding(Outcome.ALIAS, card.fate, None)
    if card.fate in _UNREACHED_SITES:
        return Finding(_OUTCOMES[card.fate], card.fate, 0 if path == "/" else None)
    if card.robots is not None and card.robots.closes(path):
        return Finding(Outcome.BLOCKED_ROBOTS, Fate.OK, page_of(card.paths, path, skeleton.pages))
    place = place_of(card.paths, path, skeleton.pages)
    if place is None:
        return Finding(Outcome.HTTP_ERROR, Fate.NOT_FOUND, None)
    page, generation = place
    fate = web.fate(card, skeleton, page, now, generation)
    if fate in (Fate.MOVED, Fate.FOUND):
        target = "".join(web.redirect_target(card, skeleton, page, now))
        return Finding(Outcome.REDIRECT, fate, page, generation, redirect_to=target)
    if fate is not Fate.OK or not look_of(card, skeleton, original(skeleton, page)).follow:
        return Finding(_OUTCOMES[fate], fate, page, generation)
    links = {link.origin + link.path for link in web.linker.links(card, skeleton, page, now, generation)}
    return Finding(Outcome.OK, fate, page, generation, tuple(sorted(links)))


def reach(web: Web, seeds: Iterable[str], now: float) -> dict[int, set[str]]:
    """Every URL that a polite crawl in `web` mode comes to know from the seeds, by site number."""
    known: dict[int, set[str]] = {}
    waiting: dict[int, list[str]] = {}

    def note(url: str) -> None:
        _, _, site = split_url(web, url)
        if site is not None and url not in known.setdefault(site, set()):
            known[site].add(url)
            waiting.setdefault(site, []).append(url)

    for url in seeds:
        note(url)
    while waiting:  # one site at a time, so that its skeleton is at hand
        site, urls = waiting.popitem()
        card, skeleton = web.card(site), web.skeleton(site)
        while urls:
            origin, path, _ = split_url(web, urls.pop())
            finding = meet(web, card, skeleton, origin, path, now)
            for link in (*finding.links, *([finding.redirect_to] if finding.redirect_to else [])):
                note(link)
            urls += waiting.pop(site, [])
    return known


def site_rows(web: Web, site: int, now: float, known: set[str] | None = None) -> Iterator[TruthRow]:
    """The rows of one site. Without `known` (from `reach`), what its own home page leads to counts as reachable."""
    card, skeleton = web.card(site), web.skeleton(site)
    urls = {
        card.origin + path_of(card.paths, page, web.generation(card, skeleton, page, now))
        for page in range(skeleton.pages)
    }
    if known is None:
        known = _reached_at_home(web, card, skeleton, now)
    rows: dict[str, TruthRow] = {}
    for url in sorted(urls | known):
        rows[url] = _row(web, card, skeleton, url, url in known, now)
    depths = _depths(card.origin + "/", rows)
    for url, row in rows.items():
        yield replace(row, depth=depths.get(url))


def truth(web: Web, now: float | None = None, seeds: Iterable[str] | None = None) -> Iterator[TruthRow]:
    """All rows, site by site; exact reachability, which is why it stops at a million pages."""
    moment = web.clock_origin if now is None else now
    pages = 0
    for site in range(web.number_of_sites):
        pages += web.skeleton(site).pages
        if pages > MOST_PAGES:
            raise UsageError(
                f"The truth is written for at most {MOST_PAGES:,} pages; "
                "take fewer sites (lab.sites) or a smaller depth (lab.max_depth), or read it site by site."
            )
    known = reach(web, web.seeds() if seeds is None else seeds, moment)
    for site in range(web.number_of_sites):
        yield from site_rows(web, site, moment, known.get(site, set()))


def _row(web: Web, card: Card, skeleton: Skeleton, url: str, reachable: bool, now: float) -> TruthRow:
    origin, path, _ = split_url(web, url)
    finding = meet(web, card, skeleton, origin, path, now)
    digest, since, until, case_of = None, web.clock_origin, None, None
    if finding.outcome in (Outcome.OK, Outcome.HTTP_ERROR):
        answer = web.answer(card.host, web.lab.port, path, "", now)
        digest = hashlib.sha1(answer.body, usedforsecurity=False).digest()[:_DIGEST_BYTES]
    if finding.page is not None:
        true_form = card.origin + path_of(card.paths, finding.page, finding.generation)
        case_of = true_form if true_form != url else None
        since, until = validity(web, card, skeleton, finding.page, finding.generation, finding.fate, now)
    return TruthRow(
        url=url,
        site=origin,
        canonical_site=card.origin,
        outcome=finding.outcome,
        status=_STATUS.get(finding.fate) if finding.outcome in _ANSWERED else None,
        digest=digest,
        links=finding.links,
        redirect_to=finding.redirect_to,
        case_of=case_of,
        depth=None,
        reachable=reachable,
        valid_from=since,
        valid_to=until,
    )


_ANSWERED: Final = (
    Outcome.OK,
    Outcome.HTTP_ERROR,
    Outcome.REDIRECT,
    Outcome.TRUNCATED_DISCONNECT,
    Outcome.TRUNCATED_TIME,
)


def _reached_at_home(web: Web, card: Card, skeleton: Skeleton, now: float) -> set[str]:
    reached = {card.origin + "/"}
    waiting = list(reached)
    while waiting:
        origin, path, _ = split_url(web, waiting.pop())
        finding = meet(web, card, skeleton, origin, path, now)
        for link in (*finding.links, *([finding.redirect_to] if finding.redirect_to else [])):
            if link.startswith(card.origin + "/") and link not in reached:
                reached.add(link)
                waiting.append(link)
    return reached


def _depths(home: str, rows: dict[str, TruthRow]) -> dict[str, int]:
    """Breadth first from the home page inside the site (S1-4); a redirect's target counts as one deeper."""
    depths = {home: 0}
    waiting = deque([home])
    while waiting:
        url = waiting.popleft()
        row = rows[url]
        for link in (*row.links, *([row.redirect_to] if row.redirect_to else [])):
            if link in rows and link not in depths and rows[link].site == row.site:
                depths[link] = depths[url] + 1
                waiting.append(link)
    return depths
