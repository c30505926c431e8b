"""Ranks, where `nephila rank` has left some: the best pages and sites, and how unequal ranks are."""

from __future__ import annotations

from nephila.stats.question import Question, question
from nephila.stats.section import Plot


def questions(top: int) -> tuple[Question, ...]:
    """The questions of this chapter."""
    return (
        question(
            "best_pages", "The best pages", "By PageRank; `times_mean` is the rank as a multiple of the mean.",
            f"""
            SELECT url, rank, rank / (SELECT avg(rank) FROM ranks) AS times_mean, in_links
            FROM ranks JOIN pages USING (page_id)
            ORDER BY rank DESC, url
            LIMIT {top}
            """,  # noqa: S608
            "url rank:number times_mean:number in_links:count",
        ),
        question(
            "best_sites", "The best sites", "By the sum of their pages' ranks.",
            f"""
            SELECT sites.url AS site, sum(rank) AS rank, count(*) AS pages
            FROM ranks JOIN pages USING (page_id) JOIN sites ON sites.site_id = pages.site_id
            GROUP BY site
            ORDER BY rank DESC, site
            LIMIT {top}
            """,  # noqa: S608
            "site rank:share pages:count",
        ),
        question(
            "rank_distribution", "How unequal ranks are",
            "Pages by their rank as a multiple of the mean, by doubling steps.",
            """
            SELECT 2 ** step AS times_mean, count(*) AS pages, count(*) / sum(count(*)) OVER () AS share
            FROM (SELECT floor(log2(rank / (SELECT avg(rank) FROM ranks))) AS step FROM ranks WHERE rank > 0)
            GROUP BY step
            ORDER BY step
            """,
            "times_mean:number pages:count share:share",
            Plot("log-log", "times_mean", ("pages",), "rank as a multiple of the mean", "pages"),
        ),
    )  # fmt: skip
