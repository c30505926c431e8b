"""What visits say where a change of the main text counts, instead of one of any byte (`refresh.change`).

Crawl logs a change by bytes with the visit itself, because it does not read texts. Convert reads them, and writes into
the table `visits` what the main text was; here the same sums as in `store/change_log.py` are made from that table. A
text that was replaced before it was converted is not known: its visit is left out, and the interval goes on. Pages
that never have a text (pictures, archives, redirects) are judged by bytes in every case.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final, Literal

import numpy as np

from nephila.errors import NephilaError
from nephila.refresh.forgetting import with_visit
from nephila.refresh.ledger import Array, Ledger
from nephila.store.folder import CrawlFolder
from nephila.store.tables.duck import in_list, open_duck
from nephila.store.tables.manifest import files_of
from nephila.store.tables.parts import schema_of
from nephila.store.tables.schemas import VISITS

Change = Literal["bytes", "text", "simhash"]
NEAR_BITS: Final = 3
"""Simhashes that differ by no more are of texts that are nearly the same (2.7), as in the change study."""

_MEMORY_BYTES: Final = 2**30
_MOST_VISITS: Final = 64
"""Of one page, the latest: what was before them has faded."""

_CHANGED: Final = {
    "text": "text_checksum IS DISTINCT FROM lag(text_checksum) OVER visits",
    "simhash": f"""coalesce(bit_count(xor(simhash, lag(simhash) OVER visits)) > {NEAR_BITS},
                   text_checksum IS DISTINCT FROM lag(text_checksum) OVER visits)""",
}
_INTERVALS: Final = """
WITH told AS (
    SELECT page_id, slot, visit, epoch("at") / 86400 AS day, changed, text_checksum, simhash,
           count(text_checksum) OVER (PARTITION BY page_id) > 0 AS has_text
    FROM read_parquet({files})
    WHERE role = 'page' AND page_id IS NOT NULL AND (changed IS NOT NULL OR code BETWEEN 200 AND 299) {which}
), intervals AS (
    SELECT page_id, day, greatest(day - lag(day) OVER visits, 0) AS gap,
           CASE WHEN has_text THEN {changed} ELSE coalesce(changed, false) END AS is_change,
           row_number() OVER visits - 2 AS number, count(*) OVER (PARTITION BY page_id) - 1 AS visits
    FROM told WHERE has_text = (text_checksum IS NOT NULL)
    WINDOW visits AS (PARTITION BY page_id ORDER BY slot, visit)
)
SELECT page_id, greatest(number - greatest(visits - {most}, 0), 0) AS number, day, gap, is_change, visits,
       sum(is_change::INTEGER) OVER (PARTITION BY page_id) AS changed_visits
FROM intervals WHERE number >= greatest(visits - {most}, 0) ORDER BY number, page_id
"""


def by_texts(ledger: Ledger, folder: CrawlFolder, change: Change, pages: Sequence[int] = ()) -> Ledger:
    """The ledger with the changes of pages counted so; `pages` limits the look to a few of them.

    What was not converted, or was converted by an earlier Nephila, stays as bytes tell it.
    """
    files = [] if change == "bytes" else _files(folder)
    if not files or not len(ledger):
        return ledger
    found = _sums(files, change, pages)
    page_id = found[0]
    count = int(max(page_id.max(initial=-1), ledger.page_id.max(initial=-1))) + 1
    place = np.full(count, -1, np.int64)
    place[page_id] = np.arange(len(page_id))
    has_id = ledger.page_id >= 0
    at = np.where(has_id, place[np.where(has_id, ledger.page_id, 0)], -1) if count else np.full(len(ledger), -1)
    known = at >= 0
    names = ("changes", "changed_days", "unchanged_days", "visits", "changed_visits", "changed_on")
    columns = {name: getattr(ledger, name).copy() for name in names}
    for name, values in zip(names, found[1:], strict=True):
        most = np.iinfo(columns[name].dtype).max if columns[name].dtype.kind == "u" else np.inf
        columns[name][known] = np.minimum(values[at[known]], most)
    return replace(ledger, **columns)


def _files(folder: CrawlFolder) -> list[Path]:
    """The parts of `visits`, where all of them tell of texts; none while a conversion is cut off or under way."""
    with suppress(NephilaError):
        paths = files_of(folder, VISITS.name)
        return paths if all("text_checksum" in schema_of(path).names for path in paths) else []
    return []


def _sums(files: list[Path], change: Change, pages: Sequence[int]) -> list[Array]:
    """Page ids, and their sums and counts in the order of the ledger's columns."""
    which = f"AND page_id IN ({', '.join(str(int(page)) for page in pages)})" if pages else ""
    sql = _INTERVALS.format(files=in_list(files), which=which, changed=_CHANGED[change], most=_MOST_VISITS)
    with (
        tempfile.TemporaryDirectory(prefix="nephila-texts-") as scratch,
        open_duck(_MEMORY_BYTES, 2, Path(scratch) / "duck") as duck,
    ):
        found = duck.execute(sql).fetchnumpy()
    return _folded(*(np.asarray(column) for column in found.values()))


def _folded(
    page_id: Array, number: Array, day: Array, gap: Array, is_change: Array, visits: Array, changed_visits: Array
) -> list[Array]:
    """Intervals, all first ones first, then all second ones …, folded as crawl folds those of one page."""
    ids, place = np.unique(page_id, return_inverse=True)
    count = len(ids)
    changes, changed_days, unchanged_days = np.zeros(count), np.zeros(count), np.zeros(count)
    changed_on, last = np.zeros(count, np.uint32), np.zeros(count, np.int64)
    all_visits, all_changed = np.zeros(count, np.int64), np.zeros(count, np.int64)
    all_visits[place], all_changed[place] = visits, changed_visits
    begins = np.flatnonzero(np.diff(number, prepend=-1)) if len(number) else np.zeros(0, int)
    for begin, end in zip(begins, [*begins[1:], len(number)], strict=True):
        at, changed = place[begin:end], is_change[begin:end].astype(bool)
        before = (changes[at], changed_days[at], unchanged_days[at])
        changes[at], changed_days[at], unchanged_days[at] = with_visit(before, gap[begin:end], changed)
        today = np.floor(day[begin:end]).astype(np.int64)
        passed = np.clip(today - last[at], 0, 16).astype(np.uint32)
        changed_on[at] = (np.left_shift(changed_on[at], passed) | changed) & 0xFFFF
        last[at] = today
    return [ids, changes, changed_days, unchanged_days, all_visits, all_changed, changed_on]
