"""From link URLs to page ids (S0-22, S3-12..18), and from the page written to the page meant.

A link's target is looked for in this order, and the first found counts:

    exact      a page with this site and path
    meaning    a page of this site whose path differs in case only (S3-18; `links.case`)
    alias      the same two on the site that its site is another name of (S0-9)

Two spellings that were both fetched stay two targets: exact comes first. `resolved` then follows where a page leads:

    redirect → alias's twin → canonical (if that was fetched with content) → the first spelling with the same content

The hops are followed to their end; pages that lead in a circle lead nowhere. The join is DuckDB's, over the distinct
targets first, under its memory limit, for a few parts of links at a time: the cost is linear and the memory bounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import pyarrow as pa
import pyarrow.compute as pc

from nephila.convert.workshop import Workshop, split_by_part
from nephila.store.tables.duck import batches, in_list, one
from nephila.store.tables.schemas import LINKS, PART_IDS

Case = Literal["meaning", "exact"]
_PART_BYTES: Final = 256 * 2**20  # of memory that the look-up of a part's links takes
_DOUBLINGS: Final = 6  # 64 hops; crawl follows no more than `crawl.max_redirects`
RESOLVED: Final = pa.schema(
    [pa.field("page_id", pa.int64(), nullable=False), pa.field("resolved", pa.int64(), nullable=False)]
)


@dataclass(frozen=True, slots=True)
class LinkCounts:
    """Links of the parts that were resolved in this conversion, by how their target was found."""

    written: int = 0
    exact: int = 0
    meaning: int = 0
    alias: int = 0
    elsewhere: int = 0
    """their target was never fetched; kept by key, so that it is found when it is"""
    moved: int = 0
    """found, and resolved to another page than the one written"""
    url_bytes: int = 0
    """of the targets that were found, as URLs; as S3-21's ids they are four bytes each (S0-22: the ratio)"""
    rows: int = 0

    def __add__(self, other: LinkCounts) -> LinkCounts:
        mine, theirs = (tuple(getattr(row, name) for name in self.__slots__) for row in (self, other))
        return LinkCounts(*(a + b for a, b in zip(mine, theirs, strict=True)))


def load_lookups(duck: Any, aliases: Sequence[tuple[int, int]], case: Case) -> None:
    """The tables that keys are looked up in: `spellings` for the meaning match, `aliases` by site."""
    table = pa.table({"site": [a for a, _ in aliases], "canonical": [c for _, c in aliases]},
                     schema=pa.schema([("site", pa.int64()), ("canonical", pa.int64())]))  # fmt: skip
    duck.register("given_aliases", table)
    duck.execute("CREATE TABLE aliases AS SELECT * FROM given_aliases")
    wanted = "true" if case == "meaning" else "false"
    duck.execute(
        f"""CREATE TABLE spellings AS
            SELECT own_site, own_folded, coalesce(min(page_id) FILTER (has_content), min(page_id)) AS page_id
            FROM keys WHERE {wanted} GROUP BY ALL"""  # noqa: S608
    )


def _look_up(duck: Any, name: str, relation: str) -> None:
    """Make the table `name`: distinct keys of a relation, how many links have each, the page it means, how found.

    One join for the exact matches, which are nearly all; the others are tried on what is left.
    """
    duck.execute(
        f"""CREATE OR REPLACE TEMP TABLE wanted AS
            SELECT site, path, folded, count(*) AS links FROM {relation} GROUP BY ALL"""  # noqa: S608
    )
    duck.execute(
        f"""CREATE OR REPLACE TEMP TABLE {name} AS
            SELECT w.*, e.page_id, CASE WHEN e.page_id IS NOT NULL THEN 'exact' END AS how
            FROM wanted w LEFT JOIN keys e ON e.own_site = w.site AND e.own_path = w.path"""  # noqa: S608
    )
    duck.execute(
        f"""CREATE OR REPLACE TEMP TABLE wanted AS
            SELECT l.site, l.path, l.folded, l.links, coalesce(m.page_id, ae.page_id, am.page_id) AS page_id,
                   CASE WHEN m.page_id IS NOT NULL THEN 'meaning' ELSE 'alias' END AS how
            FROM {name} l
            LEFT JOIN spellings m ON m.own_site = l.site AND m.own_folded = l.folded
            LEFT JOIN aliases a ON a.site = l.site
            LEFT JOIN keys ae ON ae.own_site = a.canonical AND ae.own_path = l.path
            LEFT JOIN spellings am ON am.own_site = a.canonical AND am.own_folded = l.folded
            WHERE l.page_id IS NULL AND coalesce(m.page_id, ae.page_id, am.page_id) IS NOT NULL"""  # noqa: S608
    )
    duck.execute(
        f"DELETE FROM {name} l USING wanted w WHERE l.site = w.site AND l.path = w.path AND l.page_id IS NULL"  # noqa: S608
    )
    duck.execute(f"INSERT INTO {name} SELECT * FROM wanted")  # noqa: S608
    duck.execute("DROP TABLE wanted")


def find_resolved(duck: Any, case: Case) -> None:
    """The table `resolved`: every page that leads elsewhere, and the page at the end of its way."""
    for whose in ("redirect", "canonical"):
        relation = f"""(SELECT {whose}_site AS site, {whose}_path AS path, {whose}_folded AS folded FROM keys
                        WHERE {whose}_site IS NOT NULL)"""  # noqa: S608
        _look_up(duck, f"{whose}s", relation)
    case_rule = "true" if case == "meaning" else "false"
    duck.execute(
        f"""CREATE TABLE hops AS
            SELECT page_id, to_page AS next FROM (
                SELECT k.page_id, coalesce(
                    r.page_id,
                    twin.page_id,
                    CASE WHEN k.has_content AND ck.has_content THEN c.page_id END,
                    CASE WHEN {case_rule} AND k.has_content AND k.checksum IS NOT NULL
                         THEN min(k.page_id) OVER (PARTITION BY k.own_site, k.own_folded, k.has_content, k.checksum)
                    END) AS to_page
                FROM keys k
                LEFT JOIN redirects r ON r.site = k.redirect_site AND r.path = k.redirect_path
                LEFT JOIN aliases a ON a.site = k.own_site
                LEFT JOIN keys twin ON twin.own_site = a.canonical AND twin.own_path = k.own_path
                LEFT JOIN canonicals c ON c.site = k.canonical_site AND c.path = k.canonical_path
                LEFT JOIN keys ck ON ck.page_id = c.page_id)
            WHERE to_page IS NOT NULL AND to_page <> page_id"""  # noqa: S608
    )
    for _ in range(_DOUBLINGS):
        duck.execute(
            """CREATE OR REPLACE TABLE hops AS
               SELECT h.page_id, coalesce(further.next, h.next) AS next
               FROM hops h LEFT JOIN hops further ON further.page_id = h.next"""
        )
    duck.execute(
        """CREATE TABLE resolved AS SELECT page_id, next AS resolved FROM hops
           WHERE next NOT IN (SELECT page_id FROM hops)"""
    )


def affected_parts(duck: Any, work: Workshop, candidates: Iterable[int]) -> set[int]:
    """Parts of links whose sources were not extracted now and whose rows change all the same.

    A link is affected when a page at its target's key, in whatever case and under whatever of the site's names, was
    extracted now or leads elsewhere than it did.
    """
    files = in_list(path for part in candidates if (path := work.raw_links(part)).exists())
    if not files:
        return set()
    before = f"(SELECT * FROM read_parquet({in_list([work.resolved])}))" if work.resolved.exists() else "resolved"  # noqa: S608
    duck.execute(
        f"""CREATE TEMP TABLE changed AS
            WITH pages AS (
                SELECT page_id FROM fresh UNION
                SELECT coalesce(now.page_id, was.page_id) FROM resolved now FULL JOIN {before} was USING (page_id)
                WHERE now.resolved IS DISTINCT FROM was.resolved),
            keyed AS (SELECT own_site, own_folded FROM keys JOIN pages USING (page_id))
            SELECT own_site AS site, own_folded AS folded FROM keyed UNION
            SELECT a.site, own_folded FROM keyed JOIN aliases a ON a.canonical = own_site"""  # noqa: S608
    )
    sql = f"""SELECT DISTINCT source // ? FROM read_parquet({files}) l
              WHERE EXISTS (SELECT 1 FROM changed c WHERE c.site = l.target_site AND c.folded = l.target_folded)"""  # noqa: S608
    return {int(row[0]) for row in duck.execute(sql, (PART_IDS,)).fetchall()}


def prepare_links(duck: Any, work: Workshop, parts: Sequence[int], memory_bytes: int) -> LinkCounts:
    """The given parts of `links`, as many at a time as the memory allows."""
    counts = LinkCounts()
    at_once = max(1, memory_bytes // _PART_BYTES)
    for start in range(0, len(parts), at_once):
        counts += _prepare_some(duck, work, parts[start : start + at_once])
    return counts


def _prepare_some(duck: Any, work: Workshop, parts: Sequence[int]) -> LinkCounts:
    files = in_list(work.newest(work.raw_links(part) for part in parts))
    relation = f"""(SELECT target_site AS site, target_path AS path, target_folded AS folded
                    FROM read_parquet({files}))"""  # noqa: S608
    _look_up(duck, "found", relation)
    duck.execute(
        """CREATE OR REPLACE TEMP TABLE targets AS
           SELECT f.*, coalesce(r.resolved, f.page_id) AS resolved
           FROM found f LEFT JOIN resolved r ON r.page_id = f.page_id"""
    )
    duck.execute("DROP TABLE found")
    row = one(
        duck,
        """SELECT coalesce(sum(links), 0), coalesce(sum(links) FILTER (how = 'exact'), 0),
                  coalesce(sum(links) FILTER (how = 'meaning'), 0), coalesce(sum(links) FILTER (how = 'alias'), 0),
                  coalesce(sum(links) FILTER (how IS NULL), 0), coalesce(sum(links) FILTER (resolved <> page_id), 0)
           FROM targets""",
    )
    sql = f"""SELECT source, page_id AS target, resolved, kind, anchor, url_bytes
              FROM read_parquet({files}) l JOIN targets t ON t.site = l.target_site AND t.path = l.target_path
              WHERE page_id IS NOT NULL ORDER BY source, target, kind, anchor = '', anchor"""  # noqa: S608
    distinct = _Distinct()
    rows = 0
    left = set(parts)
    for part, stream in split_by_part(distinct.rows(batches(duck, sql)), "source"):
        left.remove(part)
        rows += work.prepare(work.table_part(LINKS, part), LINKS.schema, stream, LINKS.sorted_by)
    for part in sorted(left):  # none of its links leads to a page
        work.prepare(work.table_part(LINKS, part), LINKS.schema, [], LINKS.sorted_by)
    written, exact, meaning, alias, elsewhere, moved = map(int, row)
    return LinkCounts(written, exact, meaning, alias, elsewhere, moved, distinct.url_bytes, rows)


class _Distinct:
    """The first of the rows with the same source, target and kind, out of a sorted stream; grouping costs far more."""

    def __init__(self) -> None:
        self.url_bytes = 0

    def rows(self, found: Iterable[Any]) -> Iterator[Any]:
        last: tuple[Any, ...] = (None, None, None)
        for batch in found:
            if not batch.num_rows:
                continue
            self.url_bytes += pc.sum(batch.column("url_bytes")).as_py()
            columns = [batch.column(name) for name in ("source", "target", "kind")]
            differs = [pc.not_equal(column[1:], column[:-1]) for column in columns]
            new = pc.or_(pc.or_(differs[0], differs[1]), differs[2])
            first = tuple(column[0].as_py() for column in columns) != last
            last = tuple(column[-1].as_py() for column in columns)
            yield batch.filter(pa.concat_arrays([pa.array([first]), new]))
