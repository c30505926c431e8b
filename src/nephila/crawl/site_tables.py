"""The coordinator's database (`state/coordinator.db`): every site known, who has it, and its seeds.

S0-8's V_cr is the sites in state `new`, V_co all others; S0-10: no site is stored twice. Leases are rows, so they
survive the coordinator's death.
"""

from __future__ import annotations

from typing import Final

from nephila.store.database import Schema

_FIRST: Final = """
CREATE TABLE sites (
    site INTEGER PRIMARY KEY,
    url TEXT NOT NULL UNIQUE,
    state TEXT NOT NULL,                -- new, leased, done, asleep, alias, refused
    slot INTEGER,
    address TEXT NOT NULL DEFAULT '',
    outcome TEXT NOT NULL DEFAULT '',
    reason TEXT NOT NULL DEFAULT '',
    alias_of INTEGER,
    given INTEGER NOT NULL,
    found_at REAL NOT NULL,
    referrer TEXT NOT NULL,
    ordered INTEGER NOT NULL DEFAULT 0, -- the last parcel that concerned it; an older "ended" does not count
    tries INTEGER NOT NULL DEFAULT 0    -- look-ups of its name that failed
) STRICT;
CREATE INDEX sites_new ON sites (site) WHERE state = 'new';
CREATE INDEX sites_leased ON sites (site) WHERE state = 'leased';
CREATE INDEX sites_without_slot ON sites (site) WHERE slot IS NULL;
CREATE INDEX sites_slot ON sites (slot, state);

CREATE TABLE seeds (
    site INTEGER NOT NULL,
    hash INTEGER NOT NULL,
    path TEXT NOT NULL,
    given INTEGER NOT NULL,
    found_at REAL NOT NULL,
    referrer TEXT NOT NULL,
    kind TEXT NOT NULL,
    hops INTEGER NOT NULL,
    PRIMARY KEY (site, hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE addresses (address TEXT PRIMARY KEY, slot INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE slots (                    -- how far the parcels of both ways are
    slot INTEGER PRIMARY KEY, applied INTEGER NOT NULL, sent INTEGER NOT NULL
) STRICT;
CREATE TABLE outbox (slot INTEGER NOT NULL, sequence INTEGER NOT NULL, parcel BLOB NOT NULL,
    PRIMARY KEY (slot, sequence)) STRICT, WITHOUT ROWID;
CREATE TABLE purses (purse TEXT NOT NULL, slot INTEGER NOT NULL, granted INTEGER NOT NULL,
    PRIMARY KEY (purse, slot)) STRICT, WITHOUT ROWID;
CREATE TABLE outside (                  -- URLs that no slot will ever have: their site is not collected
    hash BLOB PRIMARY KEY, url TEXT NOT NULL, outcome TEXT NOT NULL, reason TEXT NOT NULL,
    referrer TEXT NOT NULL, found_at REAL NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE limits (                   -- one row: the limits that were in force when the last run began
    one INTEGER PRIMARY KEY CHECK (one = 1), text TEXT NOT NULL
) STRICT;
CREATE TABLE runs (                     -- one row per start of the command
    run INTEGER PRIMARY KEY, started_at REAL NOT NULL, ended_at REAL, how TEXT NOT NULL DEFAULT '',
    agents INTEGER NOT NULL, changes TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE TABLE progress (                 -- one row: what `nephila status` shows of a running crawl
    one INTEGER PRIMARY KEY CHECK (one = 1), at REAL NOT NULL, report BLOB NOT NULL
) STRICT;
"""

_SECOND: Final = """
CREATE TABLE inner_sites (              -- sites of a registrable domain that were found on pages of the same domain
    domain TEXT PRIMARY KEY, sites INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
"""

_PLANS: Final = """
CREATE TABLE plans (                    -- how many rows of a plan of refresh were posted to the slots
    plan INTEGER PRIMARY KEY, posted INTEGER NOT NULL, posted_at REAL NOT NULL
) STRICT;
"""

_SCOPES: Final = """
ALTER TABLE seeds ADD COLUMN strayed INTEGER NOT NULL DEFAULT 0;   -- as in the slots' pages
CREATE TABLE tallies (what TEXT PRIMARY KEY, count INTEGER NOT NULL) STRICT, WITHOUT ROWID;  -- URLs that a rule refused
"""

SITE_SCHEMA: Final = Schema("coordinator", (_FIRST, _SECOND, _PLANS, _SCOPES))
