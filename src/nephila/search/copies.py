"""The cached copy of a hit: its body from the archive, with the date it was fetched. Bytes, never to be run."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from nephila.decode import decode
from nephila.errors import NephilaError
from nephila.search.results import Copy
from nephila.store.archive.reader import read_with_body
from nephila.store.folder import CrawlFolder
from nephila.store.tables.duck import in_list, open_duck
from nephila.store.tables.manifest import files_of
from nephila.store.tables.schemas import PART_IDS

_MOST_BYTES: Final = 64 * 2**20
_DUCK_BYTES: Final = 256 * 2**20


def archived_copy(folder: CrawlFolder, page_id: int) -> Copy:
    """The body of a page as the last conversion knows it."""
    parts = files_of(folder, "pages")
    place = page_id // PART_IDS
    rows = []
    if 0 <= place < len(parts):
        sql = f"""SELECT url, archive_file, archive_offset, mime, charset, epoch(fetched_at)
                  FROM read_parquet({in_list([parts[place]])})
                  WHERE page_id = ? AND archive_file IS NOT NULL"""  # noqa: S608
        with TemporaryDirectory() as scratch, open_duck(_DUCK_BYTES, 1, Path(scratch) / "duck") as duck:
            rows = duck.execute(sql, (page_id,)).fetchall()
    if not rows:
        raise NephilaError(f"page {page_id} has no content in {folder.path}; there is no copy to show.")
    url, file, offset, mime, charset, fetched_at = rows[0]
    slot = file.removeprefix("nephila-").rsplit("-", 1)[0]
    response = read_with_body(folder.archive, folder.archive / slot / file, offset)
    body = decode(response.body, response.codings, _MOST_BYTES).payload
    at = datetime.fromtimestamp(response.fetched_at if fetched_at is None else fetched_at, UTC)
    return Copy(url, page_id, at, mime or "", charset or "utf-8", body)
