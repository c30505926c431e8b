"""A crawl folder for Python: `nephila.open("DIR")` gives its tables as Arrow, answers SQL, and finds bodies again."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from nephila.decode import decode
from nephila.errors import NephilaError
from nephila.store.archive.reader import read_with_body
from nephila.store.folder import CrawlFolder
from nephila.store.tables.duck import open_duck
from nephila.store.tables.manifest import files_of
from nephila.store.tables.schemas import TABLES
from nephila.store.tables.views import create_views

_BODY_BYTES = 64 * 2**20
_SQL_MEMORY_BYTES = 2 * 2**30


class OpenedCrawl:
    """The tables of one crawl; each method reads what the last conversion or ranking published."""

    def __init__(self, path: str | Path) -> None:
        self.folder = CrawlFolder.open(Path(path))

    def __repr__(self) -> str:
        return f"nephila.open({str(self.folder.path)!r})"

    def pages(self, columns: Sequence[str] | None = None) -> pa.Table:
        """One row per URL requested; name the columns you need, the texts are large."""
        return self.table("pages", columns)

    def links(self, columns: Sequence[str] | None = None) -> pa.Table:
        return self.table("links", columns)

    def sites(self, columns: Sequence[str] | None = None) -> pa.Table:
        return self.table("sites", columns)

    def ranks(self, columns: Sequence[str] | None = None) -> pa.Table:
        path = self.folder.rank / "ranks.parquet"
        if not path.exists():
            raise NephilaError(
                f"there are no ranks in {self.folder.path} yet; run `nephila rank -C {self.folder.path}`."
            )
        return pq.read_table(path, columns=list(columns) if columns is not None else None)

    def table(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Any table of docs/tables.md by its name."""
        if name not in TABLES:
            raise NephilaError(f"there is no table {name!r}; the tables are: {', '.join(TABLES)}.")
        wanted = list(columns) if columns is not None else None
        return self.dataset(name).to_table(columns=wanted)

    def dataset(self, name: str) -> ds.Dataset:
        """A table as an Arrow dataset, to be read batch by batch."""
        return ds.dataset([str(path) for path in files_of(self.folder, name)], TABLES[name].schema, format="parquet")

    def sql(self, query: str) -> pa.Table:
        """The answer of DuckDB to a query over the tables, by their names, and `ranks` where there are some."""
        with tempfile.TemporaryDirectory() as scratch, open_duck(_SQL_MEMORY_BYTES, 2, Path(scratch) / "sql") as duck:
            create_views(duck, self.folder)
            return duck.sql(query).to_arrow_table()

    def body(self, url: str) -> bytes:
        """The content of a page, its content coding undone; `url` in normal form."""
        row = self._place(url)
        if row is None:
            raise NephilaError(f"{url} has no content in {self.folder.path}; `nephila why {url}` tells its story.")
        file, offset = row
        slot = file.removeprefix("nephila-").rsplit("-", 1)[0]
        response = read_with_body(self.folder.archive, self.folder.archive / slot / file, offset)
        return decode(response.body, response.codings, _BODY_BYTES).payload

    def _place(self, url: str) -> tuple[str, int] | None:
        found = self.dataset("pages").to_table(
            columns=["archive_file", "archive_offset"],
            filter=(ds.field("url") == url) & ds.field("archive_file").is_valid(),
        )
        for row in found.to_pylist():
            return row["archive_file"], row["archive_offset"]
        return None
