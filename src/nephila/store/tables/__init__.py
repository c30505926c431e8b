"""The tables of a crawl folder: what their columns mean, how a part is written, which parts belong together.

The life of a row in this room: convert hands over record batches in the order of their ids; they become one Parquet
part (`parts`), prepared aside. When every touched part of every table is on the disk, all are renamed into place and
the manifest (`manifest`) last; a reader that goes by the manifest sees one conversion or the next. What a column
means is said once, in `schemas`; `docs/tables.md` is made from there (`documenting`). `duck` opens DuckDB with one
set of rules.
"""
