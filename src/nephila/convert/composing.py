"""Page parts, their keys and their links by key: what was extracted now, laid over what was there before.

Only parts with new rows, or with a page whose duplicates changed, are written again. A page that was visited again and
is as it was, or did not answer, or is gone, keeps what it said at its last full answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from nephila.convert.extract import Extracted
from nephila.convert.staging import KEYS, LINK_STAGE
from nephila.convert.workshop import Workshop
from nephila.store.tables.duck import batches, in_list
from nephila.store.tables.parts import schema_of
from nephila.store.tables.schemas import FIELDS, PAGES, PART_IDS

Portions = dict[int, list[Extracted]]
"""What was extracted, by part."""

_ALWAYS_FRESH: Final = frozenset(
    {
        "page_id",
        "site_id",
        "domain_id",
        "url",
        "depth",
        "outcome",
        "reason",
        "state",
        "code",
        "flags",
        "fetched_at",
        "elapsed_ms",
    }
)
_STAGED: Final = tuple(name for name in PAGES.names if name != "duplicate_of")
_KEY_COLUMNS: Final = ", ".join(name for name in KEYS.names if name != "duplicate_of")
_FRESH: Final = """
    CREATE TABLE fresh AS
    SELECT page_id, site_id, domain_id, checksum, simhash, text_checksum,
           coalesce(code BETWEEN 200 AND 299, false) AS has_content,
           own_site, own_path, own_folded, redirect_site, redirect_path, redirect_folded,
           canonical_site, canonical_path, canonical_folded,
           CASE WHEN is_home THEN title END AS home_title,
           CASE WHEN is_home THEN description END AS home_description, is_home, inherits
"""


def load_keys(duck: Any, work: Workshop, extracted: Portions, parts: Iterable[int]) -> None:
    """The tables `keys` (every page; `duplicate_of` as it was) and `fresh` (the pages extracted now)."""
    before = work.newest(work.keys(part) for part in parts)
    old = in_list(before)
    files = in_list(portion.pages_file for portions in extracted.values() for portion in portions)
    duck.register("no_keys", KEYS.empty_table())
    duck.execute("CREATE TABLE keys AS SELECT * FROM no_keys")
    if files:
        duck.execute(f"{_FRESH} FROM read_parquet({files})")
    else:
        duck.execute("CREATE TABLE fresh AS SELECT *, false AS inherits FROM keys")
    if old:
        # Keys of an earlier Nephila may lack a column; then all its pages are read anew, and this matters to none.
        known = schema_of(before[0]).names
        kept = ", ".join(name for name in KEYS.names if name in known)
        duck.execute(
            f"""INSERT INTO keys BY NAME SELECT {kept} FROM read_parquet({old})
                WHERE page_id NOT IN (SELECT page_id FROM fresh WHERE NOT inherits)"""  # noqa: S608
        )
    duck.execute(
        f"""INSERT INTO keys BY NAME SELECT {_KEY_COLUMNS} FROM fresh
            WHERE NOT inherits OR page_id NOT IN (SELECT page_id FROM keys)"""  # noqa: S608
    )


def find_duplicates(duck: Any) -> set[int]:
    """The table `duplicates` (S0-14: same content in one site; the smallest id is the first); parts that change."""
    duck.execute(
        """CREATE TABLE duplicates AS
           SELECT page_id, first AS duplicate_of FROM (
               SELECT page_id, min(page_id) OVER (PARTITION BY site_id, checksum) AS first
               FROM keys WHERE has_content AND checksum IS NOT NULL)
           WHERE first < page_id"""
    )
    changed = duck.execute(
        """SELECT DISTINCT page_id // ? FROM keys LEFT JOIN duplicates USING (page_id)
           WHERE keys.duplicate_of IS DISTINCT FROM duplicates.duplicate_of""",
        (PART_IDS,),
    )
    return {int(row[0]) for row in changed.fetchall()}


def prepare_pages(duck: Any, work: Workshop, extracted: Portions, part: int) -> int:
    """One part of `pages`, and its part of the keys."""
    path = work.table_part(PAGES, part)
    duck.execute(f"""CREATE OR REPLACE TEMP VIEW merged AS {_merged(work, extracted.get(part, []), part)}""")
    columns = ", ".join(f"merged.{name}" if name != "duplicate_of" else "d.duplicate_of" for name in PAGES.names)
    sql = f"SELECT {columns} FROM merged LEFT JOIN duplicates d USING (page_id) ORDER BY page_id"  # noqa: S608
    rows = work.prepare(path, PAGES.schema, batches(duck, sql), PAGES.sorted_by)
    sql = f"""SELECT {_KEY_COLUMNS}, d.duplicate_of FROM keys LEFT JOIN duplicates d USING (page_id)
              WHERE page_id >= ? AND page_id < ? ORDER BY page_id"""  # noqa: S608
    found = batches(duck, sql, (part * PART_IDS, (part + 1) * PART_IDS))
    work.prepare(work.keys(part), KEYS, found, ("page_id",))
    return rows


def _merged(work: Workshop, portions: list[Extracted], part: int) -> str:
    """SQL for a part's rows: the fresh ones, and of the old ones those that are not."""
    columns = ", ".join(_STAGED)
    files = in_list(portion.pages_file for portion in portions)
    before = work.newest([work.table_part(PAGES, part)])
    old = in_list(before)
    if not old:
        return f"SELECT {columns} FROM read_parquet({files})"  # noqa: S608
    # A part of an earlier Nephila may lack a column; then all its pages are read anew, and no row of it is kept as is.
    known = schema_of(before[0]).names
    kept = ", ".join(name if name in known else f"NULL AS {name}" for name in _STAGED)
    if not files:
        return f"SELECT {kept} FROM read_parquet({old})"  # noqa: S608
    chosen = ", ".join(
        f"f.{name}" if name in _ALWAYS_FRESH or name not in known
        else f"CASE WHEN f.inherits AND o.page_id IS NOT NULL THEN o.{name} ELSE f.{name} END AS {name}"
        for name in _STAGED
    )  # fmt: skip
    return f"""SELECT {chosen} FROM read_parquet({files}) f LEFT JOIN read_parquet({old}) o USING (page_id)
               UNION ALL SELECT {kept} FROM read_parquet({old})
               WHERE page_id NOT IN (SELECT page_id FROM read_parquet({files}))"""  # noqa: S608


def prepare_fields(duck: Any, work: Workshop, portions: list[Extracted], part: int) -> int:
    """One part of `fields`; what wrappers find now replaces what they found on the same pages."""
    path = work.table_part(FIELDS, part)
    files = in_list(portion.fields_file for portion in portions)
    sources = [f"SELECT * FROM read_parquet({files})"]  # noqa: S608
    old = in_list(work.newest([path]))
    if old:
        sources.append(
            f"""SELECT * FROM read_parquet({old})
                WHERE page_id NOT IN (SELECT page_id FROM fresh WHERE NOT inherits)"""  # noqa: S608
        )
    sql = f"SELECT * FROM ({' UNION ALL '.join(sources)}) ORDER BY page_id, field, place"  # noqa: S608
    return work.prepare(path, FIELDS.schema, batches(duck, sql), FIELDS.sorted_by)


def prepare_raw_links(duck: Any, work: Workshop, portions: list[Extracted], part: int) -> int:
    """One part of the links by key; the links of a page extracted now replace those it had."""
    path = work.raw_links(part)
    sources = [f"SELECT * FROM read_parquet({in_list(portion.links_file for portion in portions)})"]  # noqa: S608
    old = in_list(work.newest([path]))
    if old:
        sources.append(
            f"""SELECT * FROM read_parquet({old})
                WHERE source NOT IN (SELECT page_id FROM fresh WHERE NOT inherits)"""  # noqa: S608
        )
    order = ", ".join(LINK_STAGE.names)
    sql = f"SELECT * FROM ({' UNION ALL '.join(sources)}) ORDER BY {order}"  # noqa: S608
    return work.prepare(path, LINK_STAGE, batches(duck, sql), ("source",))
