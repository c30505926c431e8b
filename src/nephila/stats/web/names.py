"""Sites and domains: states, sizes, suffixes, the largest."""

from __future__ import annotations

from nephila.stats.question import Question, doubling, most, question
from nephila.stats.section import Plot

_HOST = "regexp_extract(url, '^[a-z]+://([^:/]*)', 1)"
_DOWNLOADED = "(SELECT site_id, count(*) AS pages FROM pages WHERE state = 'OK' GROUP BY site_id)"


def questions(top: int) -> tuple[Question, ...]:
    """The questions of this chapter."""
    return (
        question(
            "site_states", "Sites by state", "How far the crawl is with each site, and why some are asleep or refused.",
            """
            SELECT state, coalesce(nullif(outcome, ''), '–') AS because, count(*) AS sites,
                   count(*) / sum(count(*)) OVER () AS share
            FROM sites
            GROUP BY state, because
            ORDER BY sites DESC, state, because
            """,
            "state because sites:count share:share", Plot("bars", "state", ("sites",), "", "sites"),
        ),
        question(
            "site_sizes", "Sizes of sites", "Sites by how many pages of theirs were downloaded, by doubling steps.",
            doubling("pages", "sites", _DOWNLOADED),
            "at_least:count at_most:count sites:count share:share per_value:number",
            Plot("log-log", "at_least", ("per_value",), "downloaded pages of a site", "sites per number of pages"),
        ),
        question(
            "largest_sites", "The largest sites", "By downloaded pages.",
            f"""
            SELECT url AS site, d.pages AS pages, d.pages / sum(d.pages) OVER () AS share
            FROM {_DOWNLOADED} d JOIN sites USING (site_id)
            ORDER BY pages DESC, site
            LIMIT {top}
            """,  # noqa: S608
            "site pages:count share:share",
        ),
        question(
            "largest_domains", "The largest domains", "Registrable domains (public suffix list) by pages asked for.",
            f"""
            SELECT domain, sites, pages, pages / sum(pages) OVER () AS share
            FROM domains
            ORDER BY pages DESC, domain
            LIMIT {top}
            """,  # noqa: S608
            "domain sites:count pages:count share:share",
        ),
        question(
            "top_level_domains", "Top-level domains",
            """Sites by the last label of their name; addresses in numbers are one.""",
            most(f"CASE WHEN {_HOST} SIMILAR TO '[0-9.]*' THEN 'an address' ELSE split_part({_HOST}, '.', -1) END",
                 "sites", "sites", top),
            "name sites:count share:share", Plot("bars", "name", ("sites",), "", "sites"), "S1-42",
        ),
        question(
            "second_level_domains", "Second-level domains under countries",
            """Sites under a suffix such as co.kr or ac.uk: a country's two letters with a label of two to three
            before it.""",
            most(f"regexp_extract({_HOST}, '\\.([a-z]{{2,3}}\\.[a-z]{{2}})$', 1)", "sites",
                 f"sites WHERE regexp_matches({_HOST}, '.\\.[a-z]{{2,3}}\\.[a-z]{{2}}$')", top),
            "name sites:count share:share", Plot("bars", "name", ("sites",), "", "sites"), "S1-43",
        ),
    )  # fmt: skip
