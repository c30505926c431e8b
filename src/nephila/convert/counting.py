"""What only the whole web can tell, rewritten by every conversion: link counts, clusters, communities, sites, domains.

Everything here reads narrow columns (keys, and the two ids of a link), under DuckDB's memory limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from nephila.convert.clusters import clusters
from nephila.convert.communities import Communities, detect, from_file
from nephila.convert.crawled import SiteRobots, SiteRow
from nephila.convert.ids import IdStore, SiteIds
from nephila.convert.staging import batch_of
from nephila.convert.workshop import Workshop
from nephila.store.tables.duck import batches, in_list
from nephila.store.tables.schemas import COMMUNITIES, DOMAINS, LINKS, PAGE_COUNTS, SITES


@dataclass(frozen=True, slots=True)
class Found:
    communities: int
    clusters: int
    """near-duplicate clusters of two pages or more"""


def count(
    duck: Any, work: Workshop, ids: IdStore, sites: Sequence[SiteRow], site_ids: dict[int, SiteIds],
    robots: dict[int, SiteRobots], link_parts: Sequence[int], distance: int, communities_file: str,
) -> Found:  # fmt: skip
    """Prepare page_counts, sites, domains and communities."""
    _load_edges(duck, work, link_parts)
    _count_written(duck, work, link_parts)
    found = _page_counts(duck, work, distance)
    rows = sorted(sites, key=lambda row: site_ids[row.site].site_id)
    if communities_file:
        communities = from_file(Path(communities_file), [row.url for row in rows])
    else:
        graph = duck.execute(
            """SELECT a.site_id AS first, b.site_id AS second, count(*) AS weight
               FROM edges JOIN keys a ON a.page_id = source JOIN keys b ON b.page_id = resolved
               WHERE a.site_id <> b.site_id GROUP BY ALL ORDER BY ALL"""
        ).fetchnumpy()
        communities = detect(len(rows), graph["first"], graph["second"], graph["weight"])
    _sites(duck, work, ids, rows, site_ids, robots, communities)
    return Found(len(communities.names), found)


def _load_edges(duck: Any, work: Workshop, link_parts: Sequence[int]) -> None:
    files = in_list(work.newest(work.table_part(LINKS, part) for part in link_parts))
    source = f"SELECT DISTINCT source, resolved FROM read_parquet({files}) WHERE source <> resolved"  # noqa: S608
    empty = "SELECT page_id AS source, page_id AS resolved FROM keys WHERE false"
    duck.execute(f"CREATE TABLE edges AS {source if files else empty}")


def _count_written(duck: Any, work: Workshop, link_parts: Sequence[int]) -> None:
    """The table `written`: links of a page to its own site and to others, followed or not."""
    files = in_list(work.newest(work.raw_links(part) for part in link_parts))
    duck.execute("CREATE TABLE written (page_id BIGINT, inside BIGINT, outside BIGINT)")
    if files:
        duck.execute(
            f"""INSERT INTO written
                SELECT source, count(*) FILTER (target_site = own_site), count(*) FILTER (target_site <> own_site)
                FROM read_parquet({files}) JOIN keys ON page_id = source GROUP BY source"""  # noqa: S608
        )


def _page_counts(duck: Any, work: Workshop, distance: int) -> int:
    pages = duck.execute("SELECT page_id, simhash FROM keys WHERE simhash IS NOT NULL ORDER BY page_id").fetchnumpy()
    ids = np.asarray(pages["page_id"], np.int64)
    cluster = clusters(ids, np.asarray(pages["simhash"], np.int64), distance) if len(ids) else ids
    _, members, sizes = np.unique(cluster, return_inverse=True, return_counts=True)
    together = sizes[members] > 1 if len(ids) else np.empty(0, bool)
    duck.register("clustered", pa.table({"page_id": ids[together], "cluster": cluster[together]}))
    sql = """SELECT keys.page_id, coalesce(i.count, 0) AS in_links, coalesce(o.count, 0) AS out_links,
                    coalesce(inside, 0) AS links_inside, coalesce(outside, 0) AS links_outside, cluster
             FROM keys LEFT JOIN written USING (page_id)
             LEFT JOIN (SELECT resolved AS page_id, count(*) AS count FROM edges GROUP BY ALL) i USING (page_id)
             LEFT JOIN (SELECT source AS page_id, count(*) AS count FROM edges GROUP BY ALL) o USING (page_id)
             LEFT JOIN clustered USING (page_id) ORDER BY page_id"""
    work.prepare(work.table_file(PAGE_COUNTS), PAGE_COUNTS.schema, batches(duck, sql), PAGE_COUNTS.sorted_by)
    return int((sizes > 1).sum())


def _sites(
    duck: Any, work: Workshop, ids: IdStore, sites: Sequence[SiteRow], site_ids: dict[int, SiteIds],
    robots: dict[int, SiteRobots], communities: Communities,
) -> None:  # fmt: skip
    sql = """SELECT site_id, count(*), any_value(page_id) FILTER (is_home), any_value(home_title),
             any_value(home_description) FROM keys GROUP BY site_id"""
    homes = {int(row[0]): row[1:] for row in duck.execute(sql).fetchall()}
    rows, per_domain, per_community = [], _Tally(), _Tally()
    largest: dict[int, tuple[int, str]] = {}
    for row in sites:
        own = site_ids[row.site]
        pages, home, title, description = homes.get(own.site_id, (0, None, None, None))
        community = communities.of_site[own.site_id]
        alias = site_ids[row.alias_of].site_id if row.alias_of in site_ids else None
        said = robots.get(row.site)
        rows.append(
            (own.site_id, own.domain_id, community, row.url, row.state, row.outcome, alias, row.slot, row.address,
             said.standing if said else None, said.disallows if said else None, said.crawl_delay_s if said else None,
             bool(row.given), datetime.fromtimestamp(row.found_at, UTC), pages, home, title, description)
        )  # fmt: skip
        per_domain.add(own.domain_id, pages)
        per_community.add(community, pages)
        if community not in largest or pages > largest[community][0]:
            largest[community] = (pages, row.url)
    _prepare_rows(work, SITES, rows)
    _prepare_rows(work, DOMAINS, [(key, name, *per_domain.of(key)) for key, name in ids.domains()])
    _prepare_rows(
        work, COMMUNITIES,
        [(key, name or largest[key][1], *per_community.of(key)) for key, name in enumerate(communities.names)],
    )  # fmt: skip


class _Tally:
    """Sites and their pages under some id."""

    def __init__(self) -> None:
        self._counts: dict[int, tuple[int, int]] = {}

    def add(self, key: int, pages: int) -> None:
        sites, before = self.of(key)
        self._counts[key] = (sites + 1, before + pages)

    def of(self, key: int) -> tuple[int, int]:
        return self._counts.get(key, (0, 0))


def _prepare_rows(work: Workshop, table: Any, rows: list[tuple[Any, ...]]) -> None:
    batch = batch_of(table.schema, rows)
    work.prepare(work.table_file(table), table.schema, [batch], table.sorted_by)
