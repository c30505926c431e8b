"""The web as found, counted from the tables that convert made: a few distributions, each one constant question."""

from __future__ import annotations

from typing import Final

from nephila.shown import Counted, Counts, Statistics
from nephila.store.folder import CrawlFolder
from nephila.store.opened import OpenedCrawl

_MOST: Final = 12

# title, unit, SQL that gives (key, count) in the order of reading, and whether the key is a power of two
_QUESTIONS: Final = (
    ("Depth", "pages", "SELECT depth, count(*) FROM pages GROUP BY 1 ORDER BY 1", False),
    (
        "Kind of content", "pages",
        """SELECT coalesce(nullif(mime, ''), 'not told'), count(*) AS n FROM pages WHERE code IS NOT NULL
           GROUP BY 1 ORDER BY n DESC, 1""",
        False,
    ),
    (
        "Size of a page, in bytes", "pages",
        """SELECT CASE WHEN size = 0 THEN 0 ELSE 1 + CAST(floor(log2(size)) AS INTEGER) END, count(*) FROM pages
           WHERE outcome = 'ok' AND size IS NOT NULL GROUP BY 1 ORDER BY 1""",
        True,
    ),
    (
        "Language", "pages",
        "SELECT language, count(*) AS n FROM pages WHERE language IS NOT NULL GROUP BY 1 ORDER BY n DESC, 1",
        False,
    ),
    (
        "Links to a page", "pages",
        """SELECT CASE WHEN in_links = 0 THEN 0 ELSE 1 + CAST(floor(log2(in_links)) AS INTEGER) END, count(*)
           FROM page_counts GROUP BY 1 ORDER BY 1""",
        True,
    ),
    (
        "Pages of a site", "sites",
        """SELECT CASE WHEN pages = 0 THEN 0 ELSE 1 + CAST(floor(log2(pages)) AS INTEGER) END, count(*)
           FROM sites GROUP BY 1 ORDER BY 1""",
        True,
    ),
    (
        "Status", "answers",
        "SELECT code, count(*) AS n FROM pages WHERE code IS NOT NULL GROUP BY 1 ORDER BY n DESC, 1",
        False,
    ),
)  # fmt: skip


def read_statistics(folder: CrawlFolder) -> Statistics:
    """Count anew; empty where nothing was converted yet."""
    if not (folder.tables / "pages").is_dir():
        return Statistics(False, ())
    opened = OpenedCrawl(folder.path)
    counts = []
    for title, unit, sql, doubling in _QUESTIONS:
        rows = [(key, int(count)) for key, count in zip(*opened.sql(sql).to_pydict().values(), strict=True)]
        shown = rows if doubling else rows[:_MOST]
        named = tuple(Counted(_range(key) if doubling else str(key), count) for key, count in shown)
        if named:
            counts.append(Counts(title, unit, named))
    return Statistics(True, tuple(counts))


def _range(power: int) -> str:
    """The range that a bin of doubling width stands for."""
    if power == 0:
        return "0"
    first, last = 2 ** (power - 1), 2**power - 1
    return f"{first:,}" if first == last else f"{first:,} – {last:,}"
