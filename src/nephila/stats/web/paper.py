"""S1's Tables 1 to 6 and its Figure 4, for any crawl (S1-26 .. S1-33).

S1's robot asked for every URL it knew; so "requested" here are the URLs whose network state (S1-10) is not NULL: those
with a visit, and those whose site's failure (no address, no connection) decided for them. What was left alone for a
reason of ours (robots.txt, limits, aliases) is told apart.
"""

from __future__ import annotations

from typing import Final

from nephila.stats.question import Question, question
from nephila.stats.section import Plot

_DOCUMENTS: Final = """\
WITH documents AS (
    SELECT state, depth FROM pages WHERE state <> 'NULL'
    UNION ALL
    SELECT state, depth FROM unfetched WHERE state <> 'NULL'
)"""

SUMMARY: Final[tuple[Question, ...]] = (
    question(
        "summary", "The crawl in figures",
        """Pages are URLs asked for at least once; downloaded are those whose state is OK. Links are distinct ones
        between
        pages of this crawl. A party is what is reached from a seed without leaving its site.""",
        """
        SELECT figure, value
        FROM (SELECT 1 AS place, 'pages asked for' AS figure, count(*) AS value FROM pages
              UNION ALL SELECT 2, 'of them downloaded', count(*) FROM pages WHERE state = 'OK'
              UNION ALL SELECT 3, 'URLs known and not asked for', count(*) FROM unfetched
              UNION ALL SELECT 4, 'sites', count(*) FROM sites
              UNION ALL SELECT 5, 'sites with a page downloaded', count(DISTINCT site_id) FROM pages WHERE state = 'OK'
              UNION ALL SELECT 6, 'domains', count(*) FROM domains
              UNION ALL SELECT 7, 'seeds given', count(*) FROM seeds WHERE given
              UNION ALL SELECT 8, 'links between pages', count(*) FROM links
              UNION ALL SELECT 9, 'visits', count(*) FROM visits
              UNION ALL SELECT 10, 'bytes received', coalesce(sum(wire_bytes), 0) FROM visits
              UNION ALL SELECT 11, 'bytes of the archive', coalesce(sum(size_bytes), 0) FROM archive_files
              UNION ALL SELECT 12, 'mean bytes of a downloaded page', coalesce(round(avg(size)), 0)
                        FROM pages WHERE state = 'OK'
              UNION ALL SELECT 13, 'downloaded pages per downloaded seed that was given',
                         coalesce(round((SELECT count(*) FROM pages WHERE state = 'OK')
                                        / nullif(count(*) FILTER (state = 'OK' AND given), 0), 1), 0) FROM seeds
              UNION ALL SELECT 14, 'median seconds of a party', coalesce(round(median(party_s), 1), 0) FROM seeds)
        ORDER BY place
        """,
        "figure value:number", paper="S1-33",
    ),
    question(
        "requests", "Requests over time",
        """Visits of every kind, robots.txt among them, by when they began (UTC), in 48 spans of equal length.""",
        """
        WITH spans AS (
            SELECT min(epoch("at")) AS first,
                   greatest(1, ceil((max(epoch("at")) - min(epoch("at")) + 1) / 48)) AS width_s
            FROM visits
        )
        SELECT strftime(make_timestamp(CAST((first + span * width_s) * 1e6 AS BIGINT)), '%m-%d %H:%M:%S') AS begun,
               visits, ok, received, visits / width_s AS per_second
        FROM (SELECT floor((epoch("at") - (SELECT first FROM spans)) / (SELECT width_s FROM spans)) AS span,
                     count(*) AS visits, count(*) FILTER (outcome = 'ok') AS ok, sum(wire_bytes) AS received
              FROM visits GROUP BY span), spans
        ORDER BY span
        """,
        "begun visits:count ok:count received:bytes per_second:number",
        Plot("columns", "begun", ("per_second",), "", "visits per second"),
    ),
)  # fmt: skip

QUESTIONS: Final[tuple[Question, ...]] = (
    question(
        "seed_responses", "Table 1: responses of seeds",
        """What became of the seeds that were given, in the paper's rows of network states (S1-10). Shares are of those
        that were asked. Where a seed was left alone (robots.txt, an alias, a limit), S1's robot would have asked.""",
        """
        SELECT CASE WHEN state IN ('code', 'noIP', 'OK') THEN state
                    WHEN state IN ('dTim', 'hTim') THEN 'dTim/hTim'
                    WHEN state = 'NULL' THEN 'not asked' ELSE 'rest' END AS response,
               count(*) AS seeds,
               CASE WHEN response <> 'not asked' THEN
                   count(*) / nullif((SELECT count(*) FROM seeds WHERE given AND state <> 'NULL'), 0) END AS share
        FROM seeds
        WHERE given
        GROUP BY response
        ORDER BY list_position(['code', 'noIP', 'dTim/hTim', 'OK', 'rest', 'not asked'], response)
        """,
        "response seeds:count share:share", Plot("bars", "response", ("seeds",), "", "seeds"), "S1-26",
    ),
    question(
        "document_responses", "Table 2: responses of documents",
        """What became of every URL asked for, seeds among them, in the paper's rows. S1 counted an answer that is
        not HTML
        as "code"; here whatever was downloaded is OK.""",
        f"""
{_DOCUMENTS}
SELECT CASE WHEN state IN ('cErr', 'code', 'OK') THEN state
            WHEN state IN ('dErr', 'dTim') THEN 'dErr/dTim' ELSE 'rest' END AS response,
       count(*) AS documents, count(*) / sum(count(*)) OVER () AS share
FROM documents
GROUP BY response
ORDER BY list_position(['cErr', 'dErr/dTim', 'code', 'OK', 'rest'], response)
""",  # noqa: S608
        "response documents:count share:share", Plot("bars", "response", ("documents",), "", "documents"), "S1-27",
    ),
    question(
        "url_lengths", "Table 3: lengths of URLs",
        """Characters. Of the sites of the given seeds: host and port, without the scheme. Of documents: what follows
        the site's slash, so that a home page has 0.""",
        """
        SELECT 'seed' AS url, min(length) AS least, max(length) AS most, avg(length) AS mean, count(*) AS urls
        FROM (SELECT length(regexp_replace(sites.url, '^[a-z]+://', '')) AS length
              FROM seeds JOIN sites USING (site_id) WHERE seeds.given)
        UNION ALL
        SELECT 'document', min(length), max(length), avg(length), count(*)
        FROM (SELECT length(pages.url) - length(sites.url) - 1 AS length
              FROM pages JOIN sites USING (site_id) WHERE pages.state <> 'NULL')
        ORDER BY url DESC
        """,
        "url least:count most:count mean:number urls:count", paper="S1-28",
    ),
    question(
        "seed_shapes", "Table 4: shapes of seeds",
        """Labels of the host name of each seed that was given: xxx.xxx has two. Addresses in numbers are a row of
        their own.""",
        """
        SELECT CASE WHEN host SIMILAR TO '[0-9.]+' OR host LIKE '[%' THEN 'an address'
                    WHEN labels > 5 THEN 'more'
                    ELSE array_to_string(list_transform(range(labels), lambda i: 'xxx'), '.') END AS shape,
               count(*) AS seeds, count(*) / sum(count(*)) OVER () AS share
        FROM (SELECT host, length(host) - length(replace(host, '.', '')) + 1 AS labels
              FROM (SELECT regexp_extract(sites.url, '^[a-z]+://(\\[[^\\]]*\\]|[^:/]*)', 1) AS host
                    FROM seeds JOIN sites USING (site_id) WHERE seeds.given))
        GROUP BY shape
        ORDER BY min(labels), shape
        """,
        "shape seeds:count share:share", Plot("bars", "shape", ("seeds",), "", "seeds"), "S1-29",
    ),
    question(
        "size_steps", "Table 5: sizes of documents",
        "Downloaded pages by the size of their body, content coding undone, in the paper's steps of 256 KiB.",
        """
        SELECT step * 262144 AS from_byte, count(*) AS documents, count(*) / sum(count(*)) OVER () AS share,
               sum(count(*)) OVER (ORDER BY step) / sum(count(*)) OVER () AS cumulative, avg(size) AS mean_size
        FROM (SELECT size, size // 262144 AS step FROM pages WHERE state = 'OK' AND size IS NOT NULL)
        GROUP BY step
        ORDER BY step
        """,
        "from_byte:bytes documents:count share:share cumulative:share mean_size:bytes",
        Plot("columns", "from_byte", ("documents",), "bytes, from", "documents"), "S1-30",
    ),
    question(
        "visible_bytes", "What a reader sees of a page",
        """Of HTML pages whose body was read whole: bytes of the text that a reader sees, and the rest,
        which is
        tags, scripts and styles.""",
        """
        SELECT CASE part WHEN 1 THEN 'visible' ELSE 'invisible' END AS part,
               CASE part WHEN 1 THEN sum(visible_bytes) ELSE sum(size - visible_bytes) END AS bytes,
               CASE part WHEN 1 THEN avg(visible_bytes) ELSE avg(size - visible_bytes) END AS mean_bytes,
               bytes / sum(size) AS share
        FROM pages, (VALUES (1), (2)) parts (part)
        WHERE state = 'OK' AND mime IN ('text/html', 'application/xhtml+xml') AND parse IN ('ok', 'charset', 'empty')
              AND visible_bytes IS NOT NULL
        GROUP BY pages_part
        ORDER BY pages_part
        """.replace("pages_part", "parts.part"),
        "part bytes:bytes mean_bytes:bytes share:share", Plot("bars", "part", ("mean_bytes",), "", "bytes of a page"),
        "S1-30",
    ),
    question(
        "depths", "Table 6: documents by depth",
        """URLs asked for and downloaded by their distance from the nearest seed of their site; `found` is how many
        URLs of
        the next depth were asked for, per downloaded page; `left_alone` are known URLs of that depth that were not
        asked for.""",
        f"""
{_DOCUMENTS}, counted AS (
    SELECT depth, count(*) AS requested, count(*) FILTER (state = 'OK') AS downloaded
    FROM documents WHERE depth IS NOT NULL GROUP BY depth
)
SELECT depth, requested, downloaded, downloaded / requested AS success,
       lead(requested) OVER (ORDER BY depth) / nullif(downloaded, 0) AS found,
       coalesce(left_alone, 0) AS left_alone
FROM counted LEFT JOIN (
    SELECT depth, count(*) AS left_alone FROM unfetched WHERE state = 'NULL' GROUP BY depth) USING (depth)
ORDER BY depth
""",  # noqa: S608
        "depth:number requested:count downloaded:count success:share found:number left_alone:count",
        Plot("pairs", "depth", ("requested", "downloaded"), "depth", "documents"), "S1-32",
    ),
    question(
        "compression", "Figure 4: the archive's compression",
        """For each slot (its folder may lie on a disk of its own): bytes of the decoded bodies of its visits, and
        what its
        WARC files take with requests, headers, found links and all; contents that a site repeats are kept once.""",
        """
        SELECT coalesce(printf('agent-%02d', slot), 'all') AS disk, sum(raw) AS raw_bytes, sum(kept) AS archive_bytes,
               sum(kept) / nullif(sum(raw), 0) AS share
        FROM (SELECT slot, sum(body_bytes) AS raw, 0 AS kept FROM visits WHERE archive_file IS NOT NULL GROUP BY slot
              UNION ALL SELECT slot, 0, sum(size_bytes) FROM archive_files GROUP BY slot)
        GROUP BY ROLLUP (slot)
        ORDER BY slot NULLS LAST
        """,
        "disk raw_bytes:bytes archive_bytes:bytes share:share",
        Plot("pairs", "disk", ("raw_bytes", "archive_bytes"), "", "bytes"), "S1-31",
    ),
)  # fmt: skip
