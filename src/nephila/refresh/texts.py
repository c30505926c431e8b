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
from nephila.refresh.ledger import Array, Ledger
from nephila.store.change_log import HALF_LIFE_DAYS
from nephila.store.folder import CrawlFolder
from nephila.store.tables.duck import in_list, open_duck
from nephila.store.tables.manifest import files_of
from nephila.store.tables.parts import schema_of
from nephila.store.tables.schemas import VISITS

Change = Literal["bytes", "text", "simhash"]
NEAR_BITS: Final = 3
"""Simhashes that differ by no more are of texts that are nearly the same (2.7), as in the change study."""

_MEMORY_BYTES: Final = 2**30
_FORGOTTEN_DAYS: Final = 10 * HALF_LIFE_DAYS
_CHANGED: Final = {
    "text": "text_checksum IS DISTINCT FROM lag(text_checksum) OVER visits",
    "simhash": f"""coalesce(bit_count(xor(simhash, lag(simhash) OVER visits)) > {NEAR_BITS},
                   text_checksum IS DISTINCT FROM lag(text_checksum) OVER visits)""",
}
_SUMS: Final = """
WITH told AS (
    SELECT page_id, slot, visit, epoch("at") / 86400 AS day, changed, text_checksum, simhash,
           count(text_checksum) OVER (PARTITION BY page_id) > 0 AS has_text
    FROM read_parquet({files})
    WHERE role = 'page' AND page_id IS NOT NULL AND (changed IS NOT NULL OR code BETWEEN 200 AND 299) {which}
), intervals AS (
    SELECT page_id, day, day - lag(day) OVER visits AS gap,
           (CASE WHEN has_text THEN {changed} ELSE coalesce(changed, false) END)::DOUBLE AS is_change,
           max(day) OVER (PARTITION BY page_id) AS last_day
    FROM told WHERE has_text = (text_checksum IS NOT NULL)
    WINDOW visits AS (PARTITION BY page_id ORDER BY slot, visit)
), weighed AS (
    SELECT *, pow(0.5, (last_day - day) / {half_life}) AS weight, floor(last_day) - floor(day) AS days_ago
    FROM intervals WHERE gap IS NOT NULL AND last_day - day < {forgotten}
)
SELECT page_id, sum(is_change * weight), sum(is_change * gap * weight), sum((1 - is_change) * gap * weight),
       count(*), sum(is_change)::BIGINT,
       coalesce(bit_or(CASE WHEN is_change = 1 AND days_ago < 16 THEN 1 << days_ago::INTEGER END), 0)
FROM weighed GROUP BY page_id
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
    which = f"AND page_id IN ({', '.join(str(int(page)) for page in pages)})" if pages else ""
    sql = _SUMS.format(
        files=in_list(files), which=which, changed=_CHANGED[change], half_life=HALF_LIFE_DAYS,
        forgotten=_FORGOTTEN_DAYS,
    )  # fmt: skip
    with (
        tempfile.TemporaryDirectory(prefix="nephila-texts-") as scratch,
        open_duck(_MEMORY_BYTES, 2, Path(scratch) / "duck") as duck,
    ):
        found = duck.execute(sql).fetchnumpy()
    return [np.asarray(column) for column in found.values()]
