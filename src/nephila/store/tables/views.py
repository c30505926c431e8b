"""The tables of a crawl under their own names in DuckDB: `SELECT … FROM pages` reads the Parquet files in force."""

from __future__ import annotations

from typing import Any

from nephila.store.folder import CrawlFolder
from nephila.store.tables.duck import in_list
from nephila.store.tables.manifest import files_of
from nephila.store.tables.schemas import TABLES


def create_views(duck: Any, folder: CrawlFolder) -> None:
    """A view for every table, and `ranks` where there are some."""
    files = {name: files_of(folder, name) for name in TABLES}
    ranks = folder.rank / "ranks.parquet"
    if ranks.exists():
        files["ranks"] = [ranks]
    for name, paths in files.items():
        if paths:
            duck.execute(f"CREATE VIEW {name} AS SELECT * FROM read_parquet({in_list(paths)})")  # noqa: S608
        else:
            duck.register(name, TABLES[name].schema.empty_table())
