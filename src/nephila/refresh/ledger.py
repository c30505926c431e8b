"""Every page of a slot in a few arrays: `state/refresh/agent-NN.npz`, brought up to date from the slot's database.

Reading ten million rows from SQLite takes a minute, so it is done once; afterwards only the pages that were visited
since are read again. The file can be deleted at any time. It is the only thing that this room keeps outside `plan/`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from itertools import islice
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import quote
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from nephila.errors import NephilaError
from nephila.store.database import database_errors, open_reader
from nephila.store.durable import aside_of, make_directory, publish
from nephila.store.folder import CrawlFolder

KINDS: Final = ("000", "00f", "0a0", "0af", "h00", "h0f", "ha0", "haf")
"""Link kinds by number; pages without any count as 000."""

_ROWS: Final = 100_000
_DAY_S: Final = 86_400.0
_FORMAT: Final = 1
_REREAD: Final = 8
"""One page looked up costs as much as eight read in a row."""

_SELECT: Final = """
SELECT p.site, p.hash, coalesce(max(c.last_at, c.asked_at), p.fetched_at, p.found_at), p.depth, p.link_kinds,
       coalesce(p.code, 0), p.revisit, p.todo, coalesce(c.changes, 0), coalesce(c.changed_days, 0),
       coalesce(c.unchanged_days, 0), coalesce(c.visits, 0), coalesce(c.changed_visits, 0), coalesce(c.changed_on, 0),
       {page_id}
FROM pages p LEFT JOIN changes c ON c.site = p.site AND c.hash = p.hash {ids}
"""
_ASKED: Final = "p.outcome <> 'alias' AND (p.code IS NOT NULL OR p.tries > 0)"
Array = NDArray[Any]


class OlderFolderError(NephilaError):
    """The state has no change log yet; the next crawl of the folder adds it."""


@dataclass(frozen=True, slots=True)
class Ledger:
    """One entry per page that was requested, by (site, hash); days since 1970."""

    site: Array
    hash: Array
    last_day: Array
    depth: Array
    kinds: Array
    code: Array
    planned: Array  # it waits for another visit already
    waits: Array  # it is to be requested, for whatever reason
    changes: Array
    changed_days: Array
    unchanged_days: Array
    visits: Array
    changed_visits: Array
    changed_on: Array
    page_id: Array  # -1: not converted yet

    @classmethod
    def empty(cls) -> Self:
        return cls(*(np.zeros(0, kind) for kind in _TYPES))

    def __len__(self) -> int:
        return len(self.site)

    def at(self, which: Array) -> Self:
        return type(self)(*(getattr(self, each.name)[which] for each in fields(self)))


_TYPES: Final = (
    np.int32, np.int64, np.float64, np.uint8, np.uint8, np.int16, np.bool_, np.bool_, np.float32, np.float32,
    np.float32, np.uint16, np.uint16, np.uint16, np.int64,
)  # fmt: skip


def read_ledger(folder: CrawlFolder, slot: int, *, keeps: bool = False) -> Ledger:
    """The slot's pages as they are now; the file is brought up to date where `keeps`, by one process at a time."""
    path = ledger_file(folder, slot)
    kept, last_visit, converted = _load(path)
    conversions = _conversions(folder)
    database = folder.agent_database(slot)
    with database_errors(database):
        reader: Any = open_reader(database)
        try:
            select = _select(reader, folder)
            reader.execute("BEGIN")
            newest = int(next(reader.execute("SELECT coalesce(max(visit), 0) FROM visits"))[0])
            touched = _touched(reader, kept, last_visit, converted=conversions != converted)
            if not len(kept) or newest < last_visit or len(touched) > len(kept) / _REREAD:
                ledger = _joined(_all(reader, select))
            else:
                ledger = _updated(reader, select, kept, touched)
        finally:
            reader.close()
    if not keeps:
        return ledger
    make_directory(path.parent)
    aside = aside_of(path)
    with aside.open("wb") as file:
        columns = {each.name: getattr(ledger, each.name) for each in fields(ledger)}
        figures = {"format": _FORMAT, "last_visit": newest, "conversions": conversions}
        np.savez(file, allow_pickle=False, **{name: np.array(value) for name, value in figures.items()}, **columns)
    publish(aside, path)
    return ledger


def read_entry(folder: CrawlFolder, slot: int, site: int, key: int) -> Ledger:
    """One page as it is now, looked up by its key; empty where it was never requested."""
    database = folder.agent_database(slot)
    with database_errors(database):
        reader: Any = open_reader(database)
        try:
            sql = f"{_select(reader, folder)} WHERE p.site = ? AND p.hash = ? AND {_ASKED}"
            rows = reader.execute(sql, (site, key)).fetchall()
        finally:
            reader.close()
    return _ledger(rows) if rows else Ledger.empty()


def ledger_file(folder: CrawlFolder, slot: int) -> Path:
    return folder.state / "refresh" / f"agent-{slot:02}.npz"


def _load(path: Path) -> tuple[Ledger, int, int]:
    """What is kept, and the visit and the conversion up to which it is true; nothing where it cannot be read."""
    try:
        with np.load(path) as kept:
            if int(kept["format"]) == _FORMAT:
                ledger = Ledger(*(kept[each.name] for each in fields(Ledger)))
                return ledger, int(kept["last_visit"]), int(kept["conversions"])
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):
        pass
    return Ledger.empty(), 0, 0


def _conversions(folder: CrawlFolder) -> int:
    """How often this crawl was converted: afterwards more pages have ids."""
    path = folder.state / "convert.db"
    if not path.exists():
        return 0
    with database_errors(path):
        reader: Any = open_reader(path)
        try:
            return int(next(reader.execute("SELECT conversions FROM progress"))[0])
        finally:
            reader.close()


def _select(reader: Any, folder: CrawlFolder) -> str:
    """The question, with the ids that convert gave, which lead to the ranks; -1 where nothing was converted."""
    if not reader.execute("SELECT 1 FROM pragma_table_info('changes') WHERE name = 'asked_at'").fetchone():
        raise OlderFolderError(
            f"{folder.path} was made by an earlier Nephila; `nephila crawl -C {folder.path}` brings it up to date."
        )
    ids = folder.state / "convert.db"
    if not ids.exists():
        return _SELECT.format(page_id="-1", ids="")
    reader.execute("ATTACH ? AS ids", (f"file:{quote(str(ids.absolute()))}?mode=ro",))
    join = "LEFT JOIN ids.pages i ON i.site = p.site AND i.hash = p.hash"
    return _SELECT.format(page_id="coalesce(i.page_id, -1)", ids=join)


def _all(reader: Any, select: str) -> Iterator[Ledger]:
    cursor = iter(reader.execute(f"{select} WHERE {_ASKED} ORDER BY p.site, p.hash"))
    while rows := list(islice(cursor, _ROWS)):
        yield _ledger(rows)


def _touched(reader: Any, kept: Ledger, last_visit: int, *, converted: bool) -> set[tuple[int, int]]:
    """Pages whose entries may be other than they were: visited, planned, still waiting or without an id."""
    sql = "SELECT DISTINCT site, hash FROM visits WHERE visit > ? AND role = 'page'"
    touched = set(reader.execute(sql, (last_visit,)))
    touched |= set(reader.execute("SELECT site, hash FROM pages WHERE revisit = 1"))
    unsettled = np.flatnonzero(kept.planned | kept.waits | (kept.page_id < 0 if converted else False))
    return touched | set(zip(kept.site[unsettled].tolist(), kept.hash[unsettled].tolist(), strict=True))


def _updated(reader: Any, select: str, kept: Ledger, touched: set[tuple[int, int]]) -> Ledger:
    """The kept entries with those replaced that were touched since."""
    if not touched:
        return kept
    rows = []
    for key in sorted(touched):
        rows += reader.execute(f"{select} WHERE p.site = ? AND p.hash = ? AND {_ASKED}", key).fetchall()
    marked = np.array(sorted(touched), np.int64).reshape(-1, 2)
    stay = kept.at(~np.isin(_key(kept.site, kept.hash), _key(marked[:, 0], marked[:, 1])))
    return _joined(iter([stay, _ledger(rows)] if rows else [stay]))


def _key(site: Array, key: Array) -> Array:
    """One number for both; two pages of ten million meet with a chance of 1 in 400,000."""
    with np.errstate(over="ignore"):
        result: Array = key.astype(np.uint64) ^ (site.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15))
    return result


def _joined(some: Iterator[Ledger]) -> Ledger:
    ledgers = list(some)
    if not ledgers:
        return Ledger.empty()
    joined = Ledger(*(np.concatenate([getattr(each, name.name) for each in ledgers]) for name in fields(Ledger)))
    follows = (joined.site[1:] > joined.site[:-1]) | (joined.hash[1:] > joined.hash[:-1])
    return joined if bool(follows.all()) else joined.at(np.lexsort((joined.hash, joined.site)))


def _ledger(rows: list[tuple[Any, ...]]) -> Ledger:
    columns = list(zip(*rows, strict=True))
    numbers = {kinds: number for number, kinds in enumerate(KINDS)}
    columns[4] = tuple(numbers.get(kinds or KINDS[0], 0) for kinds in columns[4])
    columns[3] = tuple(min(depth, 255) for depth in columns[3])
    ledger = Ledger(*(np.array(column, kind) for column, kind in zip(columns, _TYPES, strict=True)))
    return replace(ledger, last_day=ledger.last_day / _DAY_S)
