"""`docs/tables.md`, made from the schemas."""

from __future__ import annotations

from nephila.store.tables.schemas import TABLES, Table

_INTRODUCTION = """# The tables

Made from the code (`store/tables/documenting.py`); do not edit. `nephila convert` writes them as Parquet (zstd, with
statistics) into `DIR/tables/`: a folder of parts of 131,072 ids, or one file. `DIR/tables/manifest.json` names the
files that belong together and is renamed into place last. From Python:

    import nephila
    crawl = nephila.open("DIR")
    crawl.pages()               # an Arrow table; columns=["url", "title"] for some of it
    crawl.sql("SELECT language, count(*) FROM pages GROUP BY ALL")

Ids are dense integers from 0; page, site and domain ids never change, community ids belong to one conversion. Times
are UTC in microseconds.
"""


_IN_DATABASES = """
## In a database

`nephila load` gives DuckDB and PostgreSQL (there in the schema `nephila`) these same tables, and beside them:

| table | column | meaning |
|---|---|---|
| ranks | page_id, rank, … | `rank/ranks.parquet` as `nephila rank` wrote it; no rows before that |
| pages | rank | its rank there; empty where a page is not ranked |
| pages | words | PostgreSQL: the words of title and text; of Korean, Japanese, Chinese overlapping pairs of letters |
| pages | search | PostgreSQL: their tsvector in the configuration `simple`, with an index |
| quarantine | table, file, row, reason | PostgreSQL: rows that it refused |
"""


def document() -> str:
    """The whole page."""
    return _INTRODUCTION + "".join(_section(table) for table in TABLES.values()) + _IN_DATABASES


def _section(table: Table) -> str:
    place = f"{table.name}/part-*.parquet" if table.parts else f"{table.name}.parquet"
    lines = [
        f"\n## {table.name}\n",
        f"{table.meaning} File: `tables/{place}`, sorted by {', '.join(table.sorted_by)}.\n",
        "| column | type | may be empty | meaning |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {column.name} | {column.type} | {'yes' if column.may_be_null else ''} | {column.meaning} |"
        for column in table.columns
    ]
    return "\n".join(lines) + "\n"
