"""Every table of the contract, column by column: Arrow type, whether it may be empty, and what it means.

Times are UTC in microseconds, checksums 16 bytes, ids dense integers from 0. Whoever writes a table writes exactly
these columns in this order; whoever reads one may rely on them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import pyarrow as pa

PART_IDS: Final = 2**17
"""Ids per part: part n of `pages` and `links` holds the ids from n · 2¹⁷ on (of `links`: the sources)."""

_ID = pa.int64()
_SMALL_ID = pa.int32()
_COUNT = pa.int64()
_TEXT = pa.string()
_SECONDS = pa.float64()
_TIME = pa.timestamp("us", tz="UTC")
_CHECKSUM = pa.binary(16)


@dataclass(frozen=True, slots=True)
class Column:
    """One column; `may_be_null` says when."""

    name: str
    type: Any
    meaning: str
    may_be_null: bool = False


@dataclass(frozen=True)
class Table:
    """One table; `parts` says whether it is a folder of parts or one file that is rewritten whole."""

    name: str
    meaning: str
    sorted_by: tuple[str, ...]
    columns: tuple[Column, ...]
    parts: bool = False

    @cached_property
    def schema(self) -> Any:
        """The Arrow schema."""
        fields = [pa.field(column.name, column.type, nullable=column.may_be_null) for column in self.columns]
        return pa.schema(fields)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)


PAGES: Final = Table(
    "pages",
    "One row per URL requested at least once, whatever came of it (S0-16, S0-21).",
    ("page_id",),
    (
        Column("page_id", _ID, "dense from 0; never changes (S0-18)"),
        Column("site_id", _SMALL_ID, "its site in `sites`"),
        Column("domain_id", _SMALL_ID, "its registrable domain in `domains`"),
        Column("url", _TEXT, "in normal form"),
        Column("depth", _SMALL_ID, "links from the nearest seed of its site, as known when it was fetched (S1-4)"),
        Column("outcome", _TEXT, "the latest that became of it, from the closed list of outcomes"),
        Column("reason", _TEXT, "what the outcome leaves open; often empty"),
        Column("state", _TEXT, "S1-10's network state of the outcome: OK, code, cErr, cTim, hSht, hNpr, hErr, hTim, "
               "dErr, dTim, noIP; NULL where it tells of no request"),
        Column("parse", _TEXT, "what convert found in the body: ok, charset (not in the one declared, and read in "
               "the one it looks like), limit (only its beginning was read), empty, binary, other, crash, timeout, "
               "damaged, undecodable; none where there is no content"),
        Column("code", _SMALL_ID, "HTTP status of the last answer", True),
        Column("redirect_to", _TEXT, "where a redirect leads, in normal form", True),
        Column("mime", _TEXT, "type in the Content-Type header, without parameters", True),
        Column("charset", _TEXT, "charset the text was read in (a Python codec)", True),
        Column("charset_declared", _TEXT, "charset that header or page declared, as written", True),
        Column("language", _TEXT, "ISO 639-1 code of the main text's language", True),
        Column("size", _COUNT, "bytes of the decoded body", True),
        Column("wire_bytes", _COUNT, "bytes received for it", True),
        Column("visible_bytes", _COUNT, "bytes, in the page's own charset, of the text a reader sees; the rest is tags "
               "and code (S1-30)", True),
        Column("checksum", _CHECKSUM, "first 128 bits of the SHA-1 of the decoded body (S0-14)", True),
        Column("duplicate_of", _ID, "smallest id of the site's pages with the same content, if not its own", True),
        Column("fetched_at", _TIME, "when the last answer was asked for", True),
        Column("elapsed_ms", _COUNT, "duration of the last request", True),
        Column("title", _TEXT, "title element, else og:title, else first heading", True),
        Column("description", _TEXT, "meta description, else og:description, else the first sentences", True),
        Column("text", _TEXT, "main text without boilerplate", True),
        Column("canonical", _TEXT, "the URL that the page names as its canonical one, in normal form", True),
        Column("published_at", _TIME, "when it says that it was published", True),
        Column("modified_at", _TIME, "when it, or its Last-Modified header, says that it was changed", True),
        Column("link_kinds", _TEXT, "S1-46: h, a, f, each 0 where absent", True),
        Column("simhash", _ID, "64-bit simhash of the main text, as a signed integer (2.7)", True),
        Column("flags", _TEXT, "noindex, nofollow, truncated:…, archive_only, off:topic, off:language …, "
               "separated by blanks"),
        Column("archive_file", _TEXT, "name of the WARC file, in archive/agent-NN/", True),
        Column("archive_offset", _COUNT, "byte of the response or revisit record there", True),
    ),
    parts=True,
)  # fmt: skip

LINKS: Final = Table(
    "links",
    "One row per distinct link between two pages: source, target and kind (S0-22, S3-18).",
    ("source", "target", "kind"),
    (
        Column("source", _ID, "page with the link"),
        Column("target", _ID, "page at the URL as written (exactly, else by meaning, else on the canonical site)"),
        Column("resolved", _ID, "the target followed through redirects, canonicals, aliases and case variants"),
        Column("kind", _TEXT, "a, f or h (S1-46); sitemap or feed where the source is one"),
        Column("anchor", _TEXT, "text of the link; often empty"),
    ),
    parts=True,
)

PAGE_COUNTS: Final = Table(
    "page_counts",
    "What changes globally, one row per page; rewritten whole by every conversion.",
    ("page_id",),
    (
        Column("page_id", _ID, "the page"),
        Column("in_links", _COUNT, "other pages whose links lead here (distinct, resolved)"),
        Column("out_links", _COUNT, "other pages its links lead to (distinct, resolved)"),
        Column("links_inside", _COUNT, "links on it to its own site, as written, whether or not they were followed"),
        Column("links_outside", _COUNT, "links on it to other sites, likewise"),
        Column("cluster", _ID, "smallest page id of its near-duplicate cluster; empty where it is alone", True),
    ),
)

SITES: Final = Table(
    "sites",
    "One row per site known: scheme, host and port (S0-17, S0-21).",
    ("site_id",),
    (
        Column("site_id", _SMALL_ID, "dense from 0; never changes"),
        Column("domain_id", _SMALL_ID, "its registrable domain"),
        Column("community_id", _SMALL_ID, "its community in this conversion"),
        Column("url", _TEXT, "scheme, host and port"),
        Column("state", _TEXT, "new, leased, done, asleep, alias or refused"),
        Column("outcome", _TEXT, "why it is asleep or refused; often empty"),
        Column("alias_of", _SMALL_ID, "site_id of the canonical site, where it is an alias (S0-9)", True),
        Column("slot", _SMALL_ID, "the slot that owns it", True),
        Column("address", _TEXT, "IP address; empty where its name has none"),
        Column(
            "robots",
            _TEXT,
            "its robots.txt: rules, all_allowed (there is none) or unreachable; empty where it was not asked for",
            True,
        ),
        Column("robots_disallows", _SMALL_ID, "rules there that forbid something to this robot", True),
        Column("crawl_delay_s", _SECONDS, "the Crawl-delay there", True),
        Column("given", pa.bool_(), "named by the user"),
        Column("found_at", _TIME, "when it became known"),
        Column("pages", _COUNT, "its rows in `pages`"),
        Column("home_page_id", _ID, "its index page, /", True),
        Column("title", _TEXT, "of its index page (S0-21)", True),
        Column("description", _TEXT, "of its index page", True),
    ),
)

DOMAINS: Final = Table(
    "domains",
    "One row per registrable domain (public suffix list).",
    ("domain_id",),
    (
        Column("domain_id", _SMALL_ID, "dense from 0; never changes"),
        Column("domain", _TEXT, "such as kaist.ac.kr"),
        Column("sites", _COUNT, "its sites"),
        Column("pages", _COUNT, "their pages"),
    ),
)

COMMUNITIES: Final = Table(
    "communities",
    "One row per community of related sites (S0-17); the ids belong to one conversion.",
    ("community_id",),
    (
        Column("community_id", _SMALL_ID, "dense from 0, by the smallest site id"),
        Column("name", _TEXT, "as in the user's file, else the URL of its site with the most pages"),
        Column("sites", _COUNT, "its sites"),
        Column("pages", _COUNT, "their pages"),
    ),
)

UNFETCHED: Final = Table(
    "unfetched",
    "URLs known and never requested.",
    ("url",),
    (
        Column("url", _TEXT, "in normal form"),
        Column(
            "depth", _SMALL_ID, "links from the nearest seed of its site; empty where the site is not collected", True
        ),
        Column("outcome", _TEXT, "why it was not requested"),
        Column("reason", _TEXT, "the rule or limit that decided it; often empty"),
        Column(
            "state",
            _TEXT,
            "S1-10's network state: noIP where its name has no address, that of the site's failure "
            "where it waits for the site, else NULL",
        ),
        Column("referrer", _TEXT, "the page that first linked to it; empty for a seed"),
        Column("found_at", _TIME, "when it became known"),
    ),
)

VISITS: Final = Table(
    "visits",
    "One row per visit: the change log.",
    ("slot", "visit"),
    (
        Column("slot", _SMALL_ID, "the slot that made it"),
        Column("visit", _ID, "number within the slot, in order of time"),
        Column("page_id", _ID, "the page, where the role is page", True),
        Column("site_id", _SMALL_ID, "the site asked"),
        Column("url", _TEXT, "the URL asked for"),
        Column("role", _TEXT, "page, robots, sample, probe or sitemap"),
        Column("at", _TIME, "when it began"),
        Column("outcome", _TEXT, "what became of it"),
        Column("reason", _TEXT, "what the outcome leaves open"),
        Column("code", _SMALL_ID, "HTTP status", True),
        Column("checksum", _CHECKSUM, "of the decoded body", True),
        Column("wire_bytes", _COUNT, "received"),
        Column("body_bytes", _COUNT, "of the decoded body"),
        Column("connect_ms", _COUNT, "to an open connection", True),
        Column("header_ms", _COUNT, "to the whole header", True),
        Column("elapsed_ms", _COUNT, "in all"),
        Column("address", _TEXT, "asked"),
        Column("http", _TEXT, "HTTP version of the answer, such as 1.1", True),
        Column("tls", _TEXT, "version of TLS, such as TLSv1.3; empty without", True),
        Column("server", _TEXT, "Server header", True),
        Column("archive_file", _TEXT, "name of the WARC file", True),
        Column("archive_offset", _COUNT, "byte there", True),
        Column("changed", pa.bool_(), "S4-3's Boolean: other than at the visit before; empty: not told", True),
        Column("compare_bytes", _COUNT, "S4-3's Compare_Size: larger than at the visit before by so much", True),
        Column("etag", _TEXT, "ETag header", True),
        Column("last_modified", _TEXT, "Last-Modified header, as sent", True),
        Column(
            "text_checksum",
            _CHECKSUM,
            "first 128 bits of the SHA-1 of the main text then; empty where there is "
            "none, or where the page was another before it was converted",
            True,
        ),
        Column("simhash", _ID, "64-bit simhash of the main text then, likewise", True),
    ),
    parts=True,
)

SEEDS: Final = Table(
    "seeds",
    "One row per seed: a URL given by the user, or a link to another site (S1-1, S1-3, S1-12).",
    ("url",),
    (
        Column("url", _TEXT, "in normal form"),
        Column("site_id", _SMALL_ID, "its site"),
        Column("page_id", _ID, "its page; empty where it was never requested", True),
        Column("given", pa.bool_(), "named by the user"),
        Column("outcome", _TEXT, "the latest that became of it, or of its site where that decides"),
        Column("reason", _TEXT, "what the outcome leaves open"),
        Column("state", _TEXT, "S1-10's network state of it"),
        Column("referrer", _TEXT, "the page that first linked to it; empty for one that was given"),
        Column("found_at", _TIME, "when it became known"),
        Column("party_s", _SECONDS, "seconds that its party took; empty before that ended", True),
    ),
)

ARCHIVE_FILES: Final = Table(
    "archive_files",
    "One row per file of the archive (S1-31).",
    ("file",),
    (
        Column("file", _TEXT, "name of the WARC file"),
        Column("slot", _SMALL_ID, "the slot that wrote it: its folder is agent-NN"),
        Column("size_bytes", _COUNT, "its length, as far as it is committed"),
    ),
)

FIELDS: Final = Table(
    "fields",
    "One row per value that a wrapper found on a page (S4-1); empty without `convert.wrappers`.",
    ("page_id", "field", "place"),
    (
        Column("page_id", _ID, "the page"),
        Column("wrapper", _TEXT, "the wrapper's name"),
        Column("field", _TEXT, "the field's name"),
        Column("place", _SMALL_ID, "0 for the first value of a field, 1 for the next …"),
        Column("text", _TEXT, "as on the page, blanks collapsed; a field of type url in normal form"),
        Column("number", pa.float64(), "the same as a number, where that is its type and it is one", True),
        Column("moment", _TIME, "the same as a moment, where its type is date and it is one", True),
    ),
    parts=True,
)

TABLES: Final = {
    table.name: table
    for table in (
        PAGES, LINKS, PAGE_COUNTS, SITES, DOMAINS, COMMUNITIES, SEEDS, UNFETCHED, VISITS, ARCHIVE_FILES, FIELDS,
    )
}  # fmt: skip
