"""The keys that say what a crawl is about: its scope, where URLs come from, types of content, and a topic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from nephila.config.values import Bytes, Count, Limit, Positive, Share
from nephila.config.values import key as _key


@dataclass(frozen=True, slots=True)
class Scope:
    """Which sites and URLs are in. A pattern may hold `*`; an empty list of includes lets everything in."""

    include_hosts: tuple[str, ...] = _key([], 'hosts to collect, such as ["*.ac.kr"]')
    exclude_hosts: tuple[str, ...] = _key([], "hosts never asked (the block list)", changeable=True)
    include_domains: tuple[str, ...] = _key([], 'registrable domains to collect, such as ["kaist.ac.kr"]')
    exclude_domains: tuple[str, ...] = _key([], "registrable domains never asked", changeable=True)
    include_paths: tuple[str, ...] = _key([], 'paths to collect, such as ["/docs/*"]')
    exclude_paths: tuple[str, ...] = _key([], "paths never asked", changeable=True)
    block: tuple[str, ...] = _key(
        [], 'pages, sites, hosts and patterns never asked, as "http://www.example.org/private/*"', changeable=True
    )
    include_countries: tuple[str, ...] = _key([], 'countries, by address, to collect, such as ["KR"] (S1-8)')
    exclude_countries: tuple[str, ...] = _key([], "countries, by address, never asked", changeable=True)
    country_ranges: tuple[str, ...] = _key(
        [],
        "which address is where: MaxMind .mmdb files, RIR delegated files, lists of ranges or CIDR blocks "
        '(["KR=kr.csv.gz", "KR=kr.txt", "GeoLite2-Country.mmdb", "delegated-apnic-latest"])',
        changeable=True,
    )
    languages: tuple[str, ...] = _key(
        [], 'languages to collect, such as ["ko"]: links of pages in others are followed within the margin alone'
    )
    margin: Count = _key(1, "pages in a row that may be off topic or in another language before links are not followed")


@dataclass(frozen=True, slots=True)
class Sources:
    """Where URLs come from beside links: sitemaps and feeds."""

    sitemaps: Literal["off", "seeds", "robots", "guess"] = _key(
        "seeds",
        "seeds: a sitemap given as a seed is read; robots: also those that robots.txt names; guess: /sitemap.xml, too",
        changeable=True,
    )
    feeds: Literal["off", "seeds", "all"] = _key(
        "seeds",
        "seeds: an RSS or Atom feed given as a seed is read; all: also those that pages lead to (rel=alternate)",
        changeable=True,
    )
    max_sitemaps: Limit = _key(50, "sitemaps of one site that are asked for, indexes included", changeable=True)
    max_sitemap_urls: Limit = _key(50_000, "URLs taken from all sitemaps of one site", changeable=True)
    max_sitemap_size: Bytes = _key(
        50 * 2**20, "bytes of one sitemap, on the wire and unpacked (50 MiB by the protocol)", changeable=True
    )
    max_sitemap_depth: Count = _key(2, "indexes below each other; 0 reads no index", changeable=True)
    pictures: bool = _key(False, "take pictures and videos that sitemaps list, too", changeable=True)


Handling = Literal["fetch", "archive", "skip"]


@dataclass(frozen=True, slots=True)
class Content:
    """What is done with what is no HTML: fetch (and read its text where we can), archive only, or skip."""

    pdf: Handling = _key("fetch", "application/pdf; its text is read where nephila[pdf] is installed", changeable=True)
    text: Handling = _key("fetch", "text/plain", changeable=True)
    feeds: Handling = _key("fetch", "RSS and Atom", changeable=True)
    images: Handling = _key("fetch", "image/…", changeable=True)
    media: Handling = _key("fetch", "audio/… and video/…", changeable=True)
    other: Handling = _key("fetch", "everything else: archives, style sheets, scripts, office files …", changeable=True)


@dataclass(frozen=True, slots=True)
class Topic:
    """What a topical crawl is about (S4-1): words, example pages, or both; links off topic end at `scope.margin`."""

    wanted: tuple[str, ...] = _key([], 'words or phrases of pages that are wanted, such as ["video", "codec"]')
    unwanted: tuple[str, ...] = _key([], "words or phrases of pages that are not")
    min_hits: Positive = _key(2, "wanted words that a page must hold, more than unwanted ones")
    wanted_pages: tuple[str, ...] = _key([], "files or folders of example pages that are wanted")
    unwanted_pages: tuple[str, ...] = _key([], "files or folders of example pages that are not")
    min_certainty: Share = _key(0.5, "how certain the classifier must be that a page is wanted")
