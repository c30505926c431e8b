"""Countries: by the suffix of a name, and, where ranges of addresses are configured, by the address that was asked."""

from __future__ import annotations

from typing import Final

from nephila.stats.question import Question, question
from nephila.stats.section import Plot

QUESTIONS: Final[tuple[Question, ...]] = (
    question(
        "countries", "Countries by suffix",
        """Sites and downloaded pages by the country of the top-level domain (two letters; uk is GB); names under
        com, org and
        the like belong to none.""",
        """
        SELECT CASE WHEN NOT regexp_matches(suffix, '^[a-z]{2}$') THEN 'none'
                    WHEN suffix = 'uk' THEN 'GB' ELSE upper(suffix) END AS country,
               count(*) AS sites, coalesce(sum(downloaded), 0) AS pages, count(*) / sum(count(*)) OVER () AS share
        FROM (SELECT site_id, split_part(regexp_extract(url, '^[a-z]+://([^:/]*)', 1), '.', -1) AS suffix FROM sites)
        LEFT JOIN (SELECT site_id, count(*) AS downloaded FROM pages WHERE state = 'OK' GROUP BY site_id)
                  USING (site_id)
        GROUP BY country
        ORDER BY sites DESC, country
        """,
        "country sites:count pages:count share:share", Plot("bars", "country", ("sites",), "", "sites"),
    ),
)  # fmt: skip

BY_ADDRESS: Final = question(
    "countries_by_address", "Countries by address",
    """Sites by the country that their address, IPv4 or IPv6, is in. `address_countries` (address, country) is what
    the
    files that stats.country_ranges names say of the addresses of sites.""",
    """
    SELECT coalesce(country, 'in no range') AS country, count(*) AS sites, count(*) / sum(count(*)) OVER () AS share
    FROM sites LEFT JOIN address_countries USING (address)
    WHERE address <> ''
    GROUP BY ALL
    ORDER BY sites DESC, country
    """,
    "country sites:count share:share", Plot("bars", "country", ("sites",), "", "sites"), "S1-8",
)  # fmt: skip
