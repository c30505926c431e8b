"""The database of one slot (`state/agent-NN.db`): its sites, their pages, every visit, and what is still to be sent.

S1-12's seed table and S1-13's document tables with all their columns; S0-11's A_cr and A_co are the pages with and
without `todo`, S0-12's ContentsTable is `contents`. A site's pages lie together on disk, because an agent works site
by site: the key (site, hash) is 14 times faster than the hash alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from nephila.store.database import Schema

_FIRST: Final = """
CREATE TABLE sites (
    site INTEGER PRIMARY KEY,           -- the coordinator's number
    url TEXT NOT NULL,                  -- scheme + host + port
    address TEXT NOT NULL,              -- '' where the name has none
    given INTEGER NOT NULL,             -- named by the user
    state TEXT NOT NULL,                -- waiting, asleep, done, alias, imported
    outcome TEXT NOT NULL DEFAULT '',   -- why it is asleep or an alias
    reason TEXT NOT NULL DEFAULT '',
    alias_of INTEGER,                   -- the canonical site (S0-9)
    distinct_from TEXT NOT NULL DEFAULT '',    -- sites on its address that it was compared with, and is not
    robots BLOB,                        -- the rules in force and until when
    home BLOB,                          -- checksum of its home page
    last_ms INTEGER NOT NULL DEFAULT 0, -- duration of the last download: l-time (S1-16)
    next_at REAL NOT NULL DEFAULT 0,    -- not to be asked before (UTC)
    failures INTEGER NOT NULL DEFAULT 0,       -- in a row
    sleeps INTEGER NOT NULL DEFAULT 0,
    failed_runs INTEGER NOT NULL DEFAULT 0,    -- runs in a row that ended without it (S1-11)
    delay_s REAL NOT NULL DEFAULT 0,           -- the last delay, waited for again after a restart
    requested INTEGER NOT NULL DEFAULT 0,      -- pages requested at least once
    received_bytes INTEGER NOT NULL DEFAULT 0,
    known INTEGER NOT NULL DEFAULT 0,          -- pages ever known; also the order of the next one found
    first_at REAL, last_at REAL
) STRICT;

CREATE INDEX sites_address ON sites (address);

CREATE TABLE seeds (
    seed INTEGER PRIMARY KEY,
    site INTEGER NOT NULL,
    hash INTEGER NOT NULL,              -- of the URL's path, as in pages
    checksum BLOB,                      -- content of the seed document
    party_s REAL,                       -- time to download the whole party
    state TEXT NOT NULL DEFAULT 'NULL', -- network state of the seed document (S1-10)
    UNIQUE (site, hash)
) STRICT;

CREATE TABLE pages (
    site INTEGER NOT NULL,
    hash INTEGER NOT NULL,
    path TEXT NOT NULL,                 -- path and query
    depth INTEGER NOT NULL,
    place INTEGER NOT NULL,             -- order in which the site's pages were found
    todo INTEGER NOT NULL,              -- 1: to be requested
    outcome TEXT NOT NULL,
    reason TEXT NOT NULL DEFAULT '',
    found_at REAL NOT NULL,
    referrer TEXT NOT NULL,
    kind TEXT NOT NULL,                 -- how the first referrer links to it: a, f, h, sitemap, feed, or s for a seed
    hops INTEGER NOT NULL DEFAULT 0,
    via_duplicate INTEGER NOT NULL DEFAULT 0,
    tries INTEGER NOT NULL DEFAULT 0,
    code INTEGER, mime TEXT, redirect_to TEXT,
    checksum BLOB, duplicate_of INTEGER,       -- hash of the first page of the site with this content
    wire_bytes INTEGER, body_bytes INTEGER,
    etag TEXT, modified TEXT,
    fetched_at REAL, elapsed_ms INTEGER,
    archive_file TEXT, archive_offset INTEGER,
    link_kinds TEXT,                    -- S1-46: h-a-f with 0 for absent
    flags TEXT NOT NULL DEFAULT '',     -- noindex, nofollow, truncated
    PRIMARY KEY (site, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX pages_todo ON pages (site, depth, place) WHERE todo = 1;

CREATE TABLE contents (                 -- S0-14: 128-bit checksums of a site's contents, and the first page with each
    site INTEGER NOT NULL,
    checksum BLOB NOT NULL,
    hash INTEGER NOT NULL,
    payload_sha1 BLOB NOT NULL,         -- of the body as sent, content coding included: what a revisit record repeats
    fetched_at REAL NOT NULL,
    archive_file TEXT NOT NULL, archive_offset INTEGER NOT NULL,
    PRIMARY KEY (site, checksum)
) STRICT, WITHOUT ROWID;

CREATE TABLE visits (
    visit INTEGER PRIMARY KEY,
    site INTEGER NOT NULL,
    hash INTEGER NOT NULL,
    path TEXT NOT NULL,
    role TEXT NOT NULL,                 -- page, robots, sample, probe, sitemap
    at REAL NOT NULL,
    outcome TEXT NOT NULL,
    reason TEXT NOT NULL,
    code INTEGER,
    checksum BLOB,
    wire_bytes INTEGER NOT NULL,
    body_bytes INTEGER NOT NULL,
    connect_ms INTEGER, header_ms INTEGER, elapsed_ms INTEGER NOT NULL,
    address TEXT NOT NULL, http TEXT, tls TEXT, server TEXT,
    archive_file TEXT, archive_offset INTEGER
) STRICT;
CREATE INDEX visits_page ON visits (site, hash);

CREATE TABLE outside (                  -- URLs of other sites that this slot found and refused
    hash BLOB PRIMARY KEY,
    url TEXT NOT NULL,
    outcome TEXT NOT NULL,
    reason TEXT NOT NULL,
    referrer TEXT NOT NULL,
    found_at REAL NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE outbox (sequence INTEGER PRIMARY KEY, parcel BLOB NOT NULL) STRICT;
CREATE TABLE purses (purse TEXT PRIMARY KEY, granted INTEGER NOT NULL, used INTEGER NOT NULL) STRICT;
CREATE TABLE outcomes (outcome TEXT PRIMARY KEY, count INTEGER NOT NULL) STRICT;   -- of all pages, kept as they change
CREATE TABLE refused (why TEXT PRIMARY KEY, count INTEGER NOT NULL) STRICT;        -- links that are no URLs to keep

CREATE TABLE slot (                     -- one row: how far everything is
    slot INTEGER PRIMARY KEY,
    applied INTEGER NOT NULL,           -- the coordinator's last parcel
    sent INTEGER NOT NULL,              -- our last parcel
    archive_file TEXT NOT NULL, archive_offset INTEGER NOT NULL,
    requests INTEGER NOT NULL, pages INTEGER NOT NULL, received_bytes INTEGER NOT NULL
) STRICT;
"""

_SECOND: Final = """
CREATE TABLE patterns (                 -- URL patterns of a site with many pages (RELIABILITY U1)
    site INTEGER NOT NULL,
    pattern INTEGER NOT NULL,           -- hash of its name
    name TEXT NOT NULL,
    asked INTEGER NOT NULL,             -- pages of it that came
    recent INTEGER NOT NULL,            -- which of the last 64 brought nothing new, as bits
    grown INTEGER NOT NULL,             -- pages that made it larger in an endless way
    PRIMARY KEY (site, pattern)
) STRICT, WITHOUT ROWID;
CREATE TABLE domains (domain TEXT PRIMARY KEY, pages INTEGER NOT NULL) STRICT, WITHOUT ROWID;  -- requested, per domain
"""

_VISITED_AGAIN: Final = """
ALTER TABLE pages ADD COLUMN revisit INTEGER NOT NULL DEFAULT 0;   -- 1: it was requested before and is asked again
CREATE INDEX pages_revisit ON pages (site, depth, place) WHERE revisit = 1;
ALTER TABLE visits ADD COLUMN changed INTEGER;         -- S4-3's Boolean; NULL where a visit does not tell
ALTER TABLE visits ADD COLUMN compare_bytes INTEGER;   -- S4-3's Compare_Size: larger than before by so much
ALTER TABLE visits ADD COLUMN etag TEXT;
ALTER TABLE visits ADD COLUMN modified TEXT;
CREATE TABLE changes (                  -- of pages visited again: `store/change_log.py`, a row per page however long
    site INTEGER NOT NULL,
    hash INTEGER NOT NULL,
    first_at REAL NOT NULL, last_at REAL NOT NULL, changed_at REAL,
    visits INTEGER NOT NULL, changed_visits INTEGER NOT NULL,
    changes REAL NOT NULL, changed_days REAL NOT NULL, unchanged_days REAL NOT NULL,
    missing INTEGER NOT NULL,           -- 404 or 410 in a row
    changed_on INTEGER NOT NULL,        -- bit d: a change was seen d days before the day of last_at
    recent BLOB NOT NULL,               -- the last visits one by one
    PRIMARY KEY (site, hash)
) STRICT, WITHOUT ROWID;
"""

_ASKED: Final = """
ALTER TABLE changes ADD COLUMN asked_at REAL NOT NULL DEFAULT 0;   -- the last visit, whether it told or not
"""

_TAKEN_OUT: Final = """
CREATE TABLE erasures (                 -- exchanges that no row leads to any more and that are still in the archive
    archive_file TEXT NOT NULL, archive_offset INTEGER NOT NULL, PRIMARY KEY (archive_file, archive_offset)
) STRICT, WITHOUT ROWID;
CREATE TABLE retired (archive_file TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;   -- files that newer ones have replaced
"""

_SCOPES: Final = """
ALTER TABLE pages ADD COLUMN strayed INTEGER NOT NULL DEFAULT 0;   -- pages in a row before it that are off the scope
ALTER TABLE pages ADD COLUMN stated_at REAL;    -- lastmod of a sitemap: when its site says that it was changed
CREATE TABLE sources (                  -- sitemaps of a site
    site INTEGER NOT NULL,
    url TEXT NOT NULL,
    depth INTEGER NOT NULL,             -- indexes above it
    state TEXT NOT NULL,                -- waiting, read, failed, refused
    reason TEXT NOT NULL,
    urls INTEGER NOT NULL,              -- that it lists
    asked_at REAL NOT NULL,
    PRIMARY KEY (site, url)
) STRICT, WITHOUT ROWID;
CREATE TABLE tallies (                  -- URLs that a rule refused, pages on topic and off …, kept as they change
    what TEXT PRIMARY KEY, count INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
"""

_DEATHS: Final = """
CREATE TABLE deaths (                   -- pages that agents had in hand when they died (`in_hand`)
    site INTEGER NOT NULL,
    hash INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (site, hash)
) STRICT, WITHOUT ROWID;
"""

SLOT_SCHEMA: Final = Schema("slot", (_FIRST, _SECOND, _VISITED_AGAIN, _ASKED, _TAKEN_OUT, _SCOPES, _DEATHS))


@dataclass(frozen=True, slots=True)
class SlotRow:
    """How far a slot is."""

    applied: int
    sent: int
    requests: int
    pages: int
    received_bytes: int


@dataclass(frozen=True, slots=True)
class Content:
    """The record that holds a content of a site."""

    url: str
    payload_sha1: bytes
    fetched_at: float
    file: str
    offset: int
