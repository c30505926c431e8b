"""The sums of S1's Tables 1-6, site by site, from a crawl's tables: what `lab check` compares, counted by SQL."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np

from nephila.errors import NephilaError
from nephila.lab import figures
from nephila.lab.tables import Tally
from nephila.store.folder import CrawlFolder
from nephila.store.tables.duck import open_duck
from nephila.store.tables.views import create_views

_MEMORY_BYTES: Final = 2 * 2**30

# Every document that S1 would have counted, once: those asked for, and those whose site's failure decided for them.
# URLs of a site that differ in case alone are one.
_DOCUMENTS: Final = """
    WITH asked AS (
        SELECT site_id, page_id, url, depth, state, size FROM pages WHERE state <> 'NULL'
        UNION ALL
        SELECT site_id, CAST(9e18 AS BIGINT), u.url, depth, u.state, NULL FROM unfetched u
        JOIN sites ON sites.url = regexp_extract(u.url, '^[a-z]+://[^/]*') WHERE u.state <> 'NULL' AND depth IS NOT NULL
    ), documents AS (
        SELECT site_id, min(depth) AS depth, arg_min(state, page_id) AS state, arg_min(size, page_id) AS size,
               length(regexp_replace(arg_min(url, page_id), '^[a-z]+://[^/]*/', '')) AS path
        FROM asked GROUP BY site_id, lower(url)
    )
"""
_SEED_RESPONSES: Final = """
    SELECT site_id, list_position(['code', 'noIP', 'dTim/hTim', 'OK', 'rest'],
        CASE WHEN state IN ('code', 'noIP', 'OK') THEN state
             WHEN state IN ('dTim', 'hTim') THEN 'dTim/hTim' ELSE 'rest' END) - 1, 1
    FROM seeds WHERE given"""
_DOCUMENT_RESPONSES: Final = """
    SELECT site_id, list_position(['cErr', 'dErr/dTim', 'code', 'OK', 'rest'],
        CASE WHEN state IN ('cErr', 'code', 'OK') THEN state
             WHEN state IN ('dErr', 'dTim') THEN 'dErr/dTim' ELSE 'rest' END) - 1 AS line, count(*)
    FROM documents GROUP BY ALL"""
_HOST_LENGTHS: Final = "SELECT site_id, 0, length(regexp_extract(url, '://([^:/]*)', 1)) FROM sites"
_LABELS: Final = """
    SELECT site_id, length(host) - length(replace(host, '.', '')) - 1, 1
    FROM (SELECT site_id, regexp_extract(url, '://([^:/]*)', 1) AS host FROM sites)"""
_PATHS: Final = """
    SELECT site_id, unnest([0, 1, 2]), unnest([sum(path), count(*), max(path)]) FROM documents GROUP BY site_id"""
_SIZE_STEPS: Final = """
    SELECT site_id, least(size // 262144, 7) AS step, count(*) FROM documents WHERE state = 'OK' GROUP BY ALL"""
_SIZES: Final = """
    SELECT site_id, unnest([0, 1]), unnest([sum(size), count(*)])
    FROM documents WHERE state = 'OK' GROUP BY site_id"""
_REQUESTED: Final = "SELECT site_id, depth, count(*) FROM documents GROUP BY ALL"
_DOWNLOADED: Final = "SELECT site_id, depth, count(*) FROM documents WHERE state = 'OK' GROUP BY ALL"


def tally_of(folder: CrawlFolder) -> Tally:
    """The sums of the sites of all seeds that were given."""
    with TemporaryDirectory() as scratch, open_duck(_MEMORY_BYTES, 2, Path(scratch) / "spilled") as duck:
        create_views(duck, folder)
        sites = [row[0] for row in duck.execute("SELECT DISTINCT site_id FROM seeds WHERE given ORDER BY 1").fetchall()]
        if not sites:
            raise NephilaError(f"{folder.path} has no seeds that were given; survey a crawl that began with a list.")
        return _tally(duck, sites)


def _tally(duck: Any, sites: list[int]) -> Tally:
    """Each row of an answer is site, column and value."""
    place = {site: row for row, site in enumerate(sites)}

    def by_site(sql: str, width: int) -> Any:
        made = np.zeros((len(sites), width))
        for site, column, value in duck.execute(sql).fetchall():
            if site in place and column is not None and 0 <= column < width:
                made[place[site], column] += float(value or 0)
        return made

    depths = len(figures.REQUESTED)
    return Tally(
        seed_responses=by_site(_SEED_RESPONSES, len(figures.SEED_RESPONSES)),
        document_responses=by_site(_DOCUMENTS + _DOCUMENT_RESPONSES, len(figures.DOCUMENT_RESPONSES)),
        host_lengths=by_site(_HOST_LENGTHS, 1),
        path_lengths=by_site(_DOCUMENTS + _PATHS, 3),
        labels=by_site(_LABELS, len(figures.LABELS)),
        size_steps=by_site(_DOCUMENTS + _SIZE_STEPS, len(figures.SIZE_STEPS)),
        size_bytes=by_site(_DOCUMENTS + _SIZES, 2),
        requested=by_site(_DOCUMENTS + _REQUESTED, depths),
        downloaded=by_site(_DOCUMENTS + _DOWNLOADED, depths),
    )
