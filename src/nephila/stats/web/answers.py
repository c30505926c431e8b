"""What servers said, and how: outcomes, status codes, versions of HTTP and TLS, software, robots.txt, times."""

from __future__ import annotations

from nephila.stats.question import Question, doubling, most, question
from nephila.stats.section import Plot

_LAST_OF_SITE = (
    'SELECT site_id, arg_max({column}, "at") AS {column} FROM visits WHERE code IS NOT NULL GROUP BY site_id'
)


def questions(top: int) -> tuple[Question, ...]:
    """The questions of this chapter."""
    server = f"({_LAST_OF_SITE.format(column='server')})"
    return (
        question(
            "outcomes", "Outcomes of all URLs known",
            """The latest that became of each URL, the network state of S1-10 that it stands for, and whether it was
            asked
            for.""",
            """
            SELECT outcome, state, asked, count(*) AS urls, count(*) / sum(count(*)) OVER () AS share
            FROM (SELECT outcome, state, 'yes' AS asked FROM pages
                  UNION ALL SELECT outcome, state, 'no' FROM unfetched)
            GROUP BY outcome, state, asked
            ORDER BY urls DESC, outcome, asked
            """,
            "outcome state asked urls:count share:share", Plot("bars", "outcome", ("urls",), "", "URLs"), "S1-10",
        ),
        question(
            "refusals", "URLs left out, by rule",
            """URLs that were known and not asked for because a rule of the scope said so; `nephila why URL` names the
            rule of one.""",
            """
            SELECT split_part(reason, ':', 1) AS rule, count(*) AS urls, count(*) / sum(count(*)) OVER () AS share
            FROM unfetched
            WHERE outcome IN ('scope_rejected', 'forgotten', 'blocked_scheme')
            GROUP BY rule
            ORDER BY urls DESC, rule
            """,
            "rule urls:count share:share", Plot("bars", "rule", ("urls",), "", "URLs"), "S1-8",
        ),
        question(
            "status_codes", "Status codes", "The last answer of every page that answered.",
            """
            SELECT code, count(*) AS pages, count(*) / sum(count(*)) OVER () AS share
            FROM pages
            WHERE code IS NOT NULL
            GROUP BY code
            ORDER BY pages DESC, code
            """,
            "code:number pages:count share:share", Plot("bars", "code", ("pages",), "", "pages"),
        ),
        question(
            "http_versions", "HTTP versions", "Sites by the version of their last answer.",
            f"""
            SELECT coalesce('HTTP/' || http, 'not told') AS version, count(*) AS sites,
                   count(*) / sum(count(*)) OVER () AS share
            FROM ({_LAST_OF_SITE.format(column="http")})
            GROUP BY version
            ORDER BY sites DESC, version
            """,  # noqa: S608
            "version sites:count share:share",
        ),
        question(
            "tls", "TLS", "Sites that answered, by scheme and by the version of TLS of their last answer.",
            f"""
            SELECT split_part(url, ':', 1) AS scheme, coalesce(tls, 'none') AS tls, count(*) AS sites,
                   count(*) / sum(count(*)) OVER () AS share
            FROM ({_LAST_OF_SITE.format(column="tls")}) JOIN sites USING (site_id)
            GROUP BY scheme, tls
            ORDER BY sites DESC, scheme, tls
            """,  # noqa: S608
            "scheme tls sites:count share:share",
        ),
        question(
            "servers", "Servers",
            """Sites by the software that the Server header of their last answer names, without its version.""",
            most("coalesce(lower(regexp_extract(trim(server), '^[^/ ]*')), 'not told')", "sites", server, top),
            "name sites:count share:share", Plot("bars", "name", ("sites",), "", "sites"),
        ),
        question(
            "robots", "Use of robots.txt",
            """What came of asking for it: rules (there is one), all_allowed (there is none) or unreachable, which
            means no
            (RFC 9309); how many forbid this robot something, and how many ask for a delay.""",
            """
            SELECT coalesce(robots, 'not asked') AS robots_txt, count(*) AS sites,
                   count(*) / sum(count(*)) OVER () AS share,
                   count(*) FILTER (robots_disallows > 0) AS forbid_something,
                   count(crawl_delay_s) AS ask_for_delay, median(crawl_delay_s) AS median_delay_s
            FROM sites
            GROUP BY robots_txt
            ORDER BY sites DESC, robots_txt
            """,
            "robots_txt sites:count share:share forbid_something:count ask_for_delay:count median_delay_s:number",
            Plot("bars", "robots_txt", ("sites",), "", "sites"),
        ),
        question(
            "response_times", "Response times",
            """Milliseconds of the visits to pages that were answered, from the request to the whole answer, by
            doubling steps.""",
            doubling("elapsed_ms", "visits", "visits WHERE role = 'page' AND code IS NOT NULL"),
            "at_least:ms at_most:ms visits:count share:share per_value:number",
            Plot("columns", "at_least", ("visits",), "milliseconds, from", "visits"),
        ),
        question(
            "response_percentiles", "Response times, percentiles",
            """How long connecting, waiting for the whole header and the whole answer took, in milliseconds; visits
            to pages
            that were answered. A connection that was still open took none.""",
            """
            WITH counted AS (
                SELECT 'connection' AS step, connect_ms AS ms, count(*) AS number
                FROM visits WHERE role = 'page' AND code IS NOT NULL GROUP BY ms
                UNION ALL SELECT 'header', header_ms, count(*)
                FROM visits WHERE role = 'page' AND code IS NOT NULL GROUP BY header_ms
                UNION ALL SELECT 'answer', elapsed_ms, count(*)
                FROM visits WHERE role = 'page' AND code IS NOT NULL GROUP BY elapsed_ms
            ), summed AS (
                SELECT step, ms, sum(number) OVER (PARTITION BY step ORDER BY ms) AS so_far,
                       sum(number) OVER (PARTITION BY step) AS visits
                FROM counted WHERE ms IS NOT NULL
            )
            SELECT step, visits, min(ms) FILTER (so_far >= 0.05 * visits) AS p5,
                   min(ms) FILTER (so_far >= 0.5 * visits) AS p50, min(ms) FILTER (so_far >= 0.95 * visits) AS p95,
                   min(ms) FILTER (so_far >= 0.99 * visits) AS p99, max(ms) AS most
            FROM summed
            GROUP BY step, visits
            ORDER BY list_position(['connection', 'header', 'answer'], step)
            """,
            "step visits:count p5:ms p50:ms p95:ms p99:ms most:ms",
        ),
    )  # fmt: skip
