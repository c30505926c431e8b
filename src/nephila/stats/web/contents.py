"""What was downloaded: kinds, charsets, languages, sizes, copies and near copies."""

from __future__ import annotations

from nephila.stats.question import Question, doubling, most, question
from nephila.stats.section import Plot

_OK = "pages WHERE state = 'OK'"


def questions(top: int) -> tuple[Question, ...]:
    """The questions of this chapter."""
    return (
        question(
            "mime_types", "Kinds of content", "Type in the Content-Type header of every page that answered.",
            most("coalesce(nullif(mime, ''), 'not told')", "pages", "pages WHERE code IS NOT NULL", top),
            "name pages:count share:share", Plot("bars", "name", ("pages",), "", "pages"),
        ),
        question(
            "parses", "What was found in the bodies", "The column `parse` of docs/tables.md, of downloaded pages.",
            most("parse", "pages", _OK, top),
            "name pages:count share:share",
        ),
        question(
            "charsets", "Charsets",
            "Downloaded texts by the charset they were read in; `declared` says how many of them declared one.",
            """
            SELECT charset, count(*) AS pages, count(*) / sum(count(*)) OVER () AS share,
                   count(charset_declared) AS declared
            FROM pages
            WHERE state = 'OK' AND charset IS NOT NULL
            GROUP BY charset
            ORDER BY pages DESC, charset
            """,
            "charset pages:count share:share declared:count", Plot("bars", "charset", ("pages",), "", "pages"),
        ),
        question(
            "languages", "Languages", "Downloaded pages by the language of their main text, where it can be told.",
            most("language", "pages", f"{_OK} AND language IS NOT NULL", top),
            "name pages:count share:share", Plot("bars", "name", ("pages",), "", "pages"),
        ),
        question(
            "sizes", "Sizes of pages", "Downloaded pages by the bytes of their decoded body, by doubling steps.",
            doubling("size", "pages", f"{_OK} AND size IS NOT NULL"),
            "at_least:bytes at_most:bytes pages:count share:share per_value:number",
            Plot("columns", "at_least", ("pages",), "bytes, from", "pages"),
        ),
        question(
            "link_kinds", "Link kinds",
            """S1-46's three letters of a downloaded page: h for a link in a script or elsewhere, a for <a>, f for a
            frame; 0
            where it has none.""",
            most("link_kinds", "pages", f"{_OK} AND link_kinds IS NOT NULL", 8),
            "name pages:count share:share", Plot("bars", "name", ("pages",), "", "pages"), "S1-46",
        ),
        question(
            "duplicates", "Copies",
            """Downloaded pages by their exact content (SHA-1 of the decoded body): alone, the first of several, a
            copy within
            its site (S0-14), or a copy of a page of another site.""",
            """
            WITH contents AS (
                SELECT count(*) AS copies, count(duplicate_of) AS within
                FROM pages WHERE state = 'OK' AND checksum IS NOT NULL GROUP BY checksum
            )
            SELECT kind, sum(number) AS pages, sum(number) / sum(sum(number)) OVER () AS share
            FROM (SELECT unnest(['alone', 'first of several', 'copy within its site', 'copy of another site']) AS kind,
                         unnest(CASE WHEN copies = 1 THEN [1, 0, 0, 0]
                                     ELSE [0, 1, within, copies - 1 - within] END) AS number
                  FROM contents)
            GROUP BY kind
            HAVING pages > 0
            ORDER BY pages DESC, kind
            """,
            "kind pages:count share:share", Plot("bars", "kind", ("pages",), "", "pages"), "S0-14",
        ),
        question(
            "near_duplicates", "Near copies",
            """Clusters of pages whose main texts are nearly the same (simhashes that differ in few bits), by
            doubling size.
            Pages without a near copy are in none.""",
            """
            SELECT at_least, 2 * at_least - 1 AS at_most, count(*) AS clusters, sum(members) AS pages,
                   sum(members) / (SELECT count(*) FROM pages WHERE simhash IS NOT NULL) AS share
            FROM (SELECT count(*) AS members, CAST(2 ** floor(log2(count(*))) AS BIGINT) AS at_least
                  FROM page_counts WHERE cluster IS NOT NULL GROUP BY cluster)
            GROUP BY at_least
            ORDER BY at_least
            """,
            "at_least:count at_most:count clusters:count pages:count share:share",
            Plot("columns", "at_least", ("pages",), "pages of a cluster, from", "pages"),
        ),
    )  # fmt: skip
