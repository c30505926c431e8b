"""One batch becomes observations: what was asked for, what came of it, and what its content was by three measures.

A change is seen where two downloads of a URL differ in their bytes (S1's measure, and the default), in their main text,
or in their simhashes by more than three bits (2.7). All three are kept for every observation, so that what counts as a
change can be chosen when the tables are made.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from nephila.records import Outcome
from nephila.store.durable import aside_of, make_directory, publish
from nephila.store.folder import CrawlFolder
from nephila.store.tables.duck import in_list, open_duck
from nephila.store.tables.manifest import files_of
from nephila.urls import host_of, public_suffix

OBSERVATIONS: Final = "observations"

OBSERVE: Final = """
COPY (
    SELECT $batch::INTEGER AS batch, $began_at::DOUBLE AS began_at, seed_or_page.url, site, tld, suffix,
           seed.url IS NOT NULL AS seed, coalesce(depth, 0) AS depth, page.url IS NOT NULL AS requested,
           coalesce(outcome IN $downloaded AND code = 200 AND lower(coalesce(mime, 'text/html')) IN
                    ('text/html', 'application/xhtml+xml'), false) AS ok,
           coalesce(outcome, 'not requested') AS outcome,
           epoch(fetched_at) AS seen_at, checksum, md5(text) AS text_checksum, simhash, link_kinds, size, language,
           visible_bytes, contains(seed_or_page.url, '?') AS has_query, mime,
           epoch(fetched_at) - epoch(modified_at) AS modified_ago_s, links_inside + links_outside AS links
    FROM (SELECT url FROM pages UNION SELECT url FROM seeds) AS seed_or_page
    LEFT JOIN pages AS page USING (url)
    LEFT JOIN seeds AS seed USING (url)
    LEFT JOIN page_counts USING (page_id)
    JOIN hosts ON hosts.prefix = regexp_extract(seed_or_page.url, '^[a-z]+://[^/?#]+')
    ORDER BY seed_or_page.url
) TO $file (FORMAT parquet, COMPRESSION zstd)
"""
_DOWNLOADED: Final = [
    Outcome.OK.value, Outcome.NOT_MODIFIED.value, Outcome.TRUNCATED_LENGTH.value, Outcome.DECODE_LIMIT.value,
]  # fmt: skip
_PREFIXES: Final = """SELECT DISTINCT regexp_extract(url, '^[a-z]+://[^/?#]+')
FROM (SELECT url FROM pages UNION ALL SELECT url FROM seeds)"""
_MEMORY_BYTES: Final = 2 * 2**30


def observation_file(study: Path, batch: int) -> Path:
    return study / OBSERVATIONS / f"{batch:04}.parquet"


def observe(batch_folder: CrawlFolder, batch: int, began_at: float, seeds: tuple[str, ...], study: Path) -> int:
    """Write the observations of one batch; returns how many pages were downloaded."""
    file = observation_file(study, batch)
    make_directory(file.parent)
    aside = aside_of(file)
    with open_duck(_MEMORY_BYTES, 2, batch_folder.state / "observing") as duck:
        for table in ("pages", "page_counts"):
            paths = in_list(files_of(batch_folder, table))
            duck.execute(f"CREATE VIEW {table} AS SELECT * FROM read_parquet({paths})")  # noqa: S608
        duck.execute("CREATE TABLE seeds AS SELECT unnest($urls::VARCHAR[]) AS url", {"urls": sorted(set(seeds))})
        _tell_hosts(duck)
        values = {"batch": batch, "began_at": began_at, "downloaded": _DOWNLOADED, "file": str(aside)}
        duck.execute(OBSERVE, values)
        (downloaded,) = duck.execute("SELECT count(*) FILTER (ok) FROM read_parquet(?)", [str(aside)]).fetchone()
    publish(aside, file)
    return int(downloaded)


def _tell_hosts(duck: Any) -> None:
    """Site, top-level domain and public suffix of each scheme, host and port, as a table."""
    prefixes = [row[0] for row in duck.execute(_PREFIXES).fetchall()]
    hosts = [host_of(prefix + "/") for prefix in prefixes]
    duck.execute(
        "CREATE TABLE hosts AS SELECT unnest($prefix::VARCHAR[]) AS prefix, unnest($prefix::VARCHAR[]) AS site, "
        "unnest($tld::VARCHAR[]) AS tld, unnest($suffix::VARCHAR[]) AS suffix",
        {
            "prefix": prefixes,
            "tld": [host.rpartition(".")[2] for host in hosts],
            "suffix": [public_suffix(host) for host in hosts],
        },
    )
