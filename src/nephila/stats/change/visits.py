"""The batches side by side: downloads with what changed since the one before, and documents with their whole story.

`downloads` is kept as DIR/study/downloads.parquet: every measure's verdict on every pair of downloads in a row. `seeds`
is one row per seed, whatever came of it, `documents` one per URL ever downloaded. A document's interval is S1's: the
days from its first to its last download, divided by the changes seen (S1-41); it has none where nothing changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal

from nephila.errors import NephilaError
from nephila.stats.change.observing import OBSERVATIONS
from nephila.store.durable import aside_of, publish
from nephila.store.tables.duck import in_list, open_duck

Measure = Literal["bytes", "text", "simhash"]
MEASURES: Final[tuple[Measure, ...]] = ("bytes", "text", "simhash")
DOWNLOADS: Final = "downloads.parquet"

_DOWNLOADS_SQL: Final = """
COPY (
    SELECT url, batch, seen_at, nullif(greatest(seen_at - lag(seen_at) OVER visits, 0), 0) / 86400 AS gap_days,
           checksum IS DISTINCT FROM lag(checksum) OVER visits AS changed_bytes,
           text_checksum IS DISTINCT FROM lag(text_checksum) OVER visits AS changed_text,
           coalesce(bit_count(xor(simhash, lag(simhash) OVER visits)) > 3,
                    simhash IS DISTINCT FROM lag(simhash) OVER visits) AS changed_simhash
    FROM observations WHERE ok
    WINDOW visits AS (PARTITION BY url ORDER BY batch)
    ORDER BY url, batch
) TO $file (FORMAT parquet, COMPRESSION zstd)
"""

_DOCUMENTS_SQL: Final = """
CREATE TABLE documents AS
SELECT url, site, tld, suffix, seed, depth, link_kinds, size, language, has_query, modified_ago_s, links, visible_bytes,
       downloads, first_batch, last_batch, days, gaps, changes, days / nullif(changes, 0) AS interval_days
FROM (
    SELECT url, count(*) AS downloads, min(batch) AS first_batch, max(batch) AS last_batch,
           (max(seen_at) - min(seen_at)) / 86400 AS days, count(gap_days) AS gaps,
           count(*) FILTER (gap_days IS NOT NULL AND {changed}) AS changes
    FROM downloads GROUP BY url
) JOIN (
    SELECT url, site, tld, suffix, bool_or(seed) AS seed, min(depth) AS depth,
           arg_min(link_kinds, batch) AS link_kinds, arg_min(size, batch) AS size, arg_min(language, batch) AS language,
           any_value(has_query) AS has_query, arg_min(modified_ago_s, batch) AS modified_ago_s,
           arg_min(links, batch) AS links, arg_min(visible_bytes, batch) AS visible_bytes
    FROM observations WHERE ok GROUP BY url, site, tld, suffix
) USING (url)
"""


_SEEDS_SQL: Final = """
CREATE TABLE seeds AS
SELECT url, site, tld, suffix, times, looked, coalesce(changes, 0) AS changes, interval_days
FROM (
    SELECT url, site, tld, suffix, count(*) FILTER (ok) AS times, count(DISTINCT batch) AS looked
    FROM observations WHERE seed GROUP BY url, site, tld, suffix
) LEFT JOIN (SELECT url, changes, interval_days FROM documents) USING (url)
"""


def changed_column(measure: Measure) -> str:
    return f"changed_{measure}"


@contextmanager
def open_study(study: Path, measure: Measure, memory_bytes: int, threads: int) -> Iterator[Any]:
    """A connection that knows `observations`, `downloads` and `documents` of all batches that are complete."""
    files = sorted((study / OBSERVATIONS).glob("????.parquet"))
    if not files:
        raise NephilaError(f"there is no batch in {study} yet; run `nephila study` and wait for its first one.")
    with open_duck(memory_bytes, threads, study / "counting") as duck:
        duck.execute(f"CREATE VIEW observations AS SELECT * FROM read_parquet({in_list(files)})")  # noqa: S608
        aside = aside_of(study / DOWNLOADS)
        duck.execute(_DOWNLOADS_SQL, {"file": str(aside)})
        publish(aside, study / DOWNLOADS)
        path = in_list([study / DOWNLOADS])
        duck.execute(f"CREATE VIEW downloads AS SELECT * FROM read_parquet({path})")  # noqa: S608
        duck.execute(_DOCUMENTS_SQL.format(changed=changed_column(measure)))
        duck.execute(_SEEDS_SQL)
        yield duck
