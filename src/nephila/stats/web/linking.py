"""Links: how many lead where, and how unequal pages are."""

from __future__ import annotations

from typing import Final

from nephila.stats.question import Question, doubling, question
from nephila.stats.section import Plot

# An anti-join with the few pages that were not downloaded: a join with all the others takes five times the memory.
_OF_DOWNLOADED: Final = "page_counts ANTI JOIN (SELECT page_id FROM pages WHERE state <> 'OK') USING (page_id)"

IN_LINKS: Final = f"SELECT in_links FROM {_OF_DOWNLOADED} WHERE in_links > 0"  # noqa: S608
OUT_LINKS: Final = f"SELECT out_links FROM {_OF_DOWNLOADED} WHERE out_links > 0"  # noqa: S608
SITE_PAGES: Final = "SELECT count(*) AS pages FROM pages WHERE state = 'OK' GROUP BY site_id"

QUESTIONS: Final[tuple[Question, ...]] = (
    question(
        "links_inside_outside", "Links inside and outside",
        "Links as written on downloaded pages, whether or not they were followed, to their own site and to others.",
        """
        SELECT unnest(['inside its site', 'to other sites']) AS link,
               unnest([sum(links_inside), sum(links_outside)]) AS links,
               unnest([sum(links_inside), sum(links_outside)]) / nullif(sum(links_inside + links_outside), 0) AS share,
               unnest([avg(links_inside), avg(links_outside)]) AS per_page
        FROM page_counts ANTI JOIN (SELECT page_id FROM pages WHERE state <> 'OK') USING (page_id)
        """,
        "link links:count share:share per_page:number", Plot("bars", "link", ("links",), "", "links"),
    ),
    question(
        "links_between", "Links between pages of this crawl",
        "Distinct links whose two ends were asked for, followed through redirects, canonicals and aliases.",
        """
        SELECT CASE WHEN a.site_id = b.site_id THEN 'within a site'
                    WHEN a.domain_id = b.domain_id THEN 'to another site of its domain'
                    ELSE 'to another domain' END AS link,
               count(*) AS links, count(*) / sum(count(*)) OVER () AS share
        FROM links JOIN pages a ON a.page_id = source JOIN pages b ON b.page_id = resolved
        GROUP BY link
        ORDER BY links DESC, link
        """,
        "link links:count share:share", Plot("bars", "link", ("links",), "", "links"),
    ),
    question(
        "in_degrees", "Links to a page",
        """Downloaded pages by how many other pages link to them, by doubling steps; `per_value` is the mean over the
        numbers
        of a step, which on two logarithmic axes falls as a straight line where the law is a power.""",
        doubling("in_links", "pages", _OF_DOWNLOADED),
        "at_least:count at_most:count pages:count share:share per_value:number",
        Plot("log-log", "at_least", ("per_value",), "pages that link to it", "pages per number of links"),
    ),
    question(
        "out_degrees", "Links of a page", "Downloaded pages by how many other pages they link to, likewise.",
        doubling("out_links", "pages", _OF_DOWNLOADED),
        "at_least:count at_most:count pages:count share:share per_value:number",
        Plot("log-log", "at_least", ("per_value",), "pages that it links to", "pages per number of links"),
    ),
)  # fmt: skip
