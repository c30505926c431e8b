"""Pages that are requested again: what changed is read anew, what did not stays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import nephila
from nephila.convert.ids import Block, IdStore
from nephila.crawl.slot_tables import SLOT_SCHEMA
from nephila.store.database import open_writer, transaction
from nephila.store.folder import CrawlFolder

from .conftest import convert

pytestmark = pytest.mark.xdist_group("convert")


def row_of(path: Path, url: str) -> dict[str, Any]:
    return next(row for row in nephila.open(path).pages().to_pylist() if row["url"] == url)


def links_of(path: Path, page_id: int) -> list[tuple[int, str]]:
    rows = nephila.open(path).links().to_pylist()
    return [(row["target"], row["kind"]) for row in rows if row["source"] == page_id]


def visit_again(path: Path, url: str, changes: dict[str, object]) -> None:
    """What crawl writes when it requests a page again."""
    folder = CrawlFolder.open(path)
    for slot in folder.slots():
        database = open_writer(folder.agent_database(slot), SLOT_SCHEMA)
        key = database.execute(
            "SELECT site, hash FROM pages JOIN sites USING (site) WHERE url || path = ?", (url,)
        ).fetchone()
        if key is not None:
            with transaction(database):
                columns = ", ".join(f"{name} = ?" for name in changes)
                database.execute(f"UPDATE pages SET {columns} WHERE site = ? AND hash = ?", (*changes.values(), *key))
                database.execute(
                    """INSERT INTO visits (visit, site, hash, path, role, at, outcome, reason, code, checksum,
                       wire_bytes, body_bytes, connect_ms, header_ms, elapsed_ms, address, http, tls, server,
                       archive_file, archive_offset)
                       SELECT (SELECT max(visit) + 1 FROM visits), p.site, p.hash, p.path, 'page', p.fetched_at,
                       p.outcome, '', p.code, p.checksum, 0, 0, 1, 1, 1, '', NULL, NULL, NULL,
                       p.archive_file, p.archive_offset FROM pages p WHERE site = ? AND hash = ?""",
                    key,
                )
        database.close()


def test_a_page_that_was_not_modified_keeps_what_it_said(fresh: Path) -> None:
    # given a converted page of which its server says later that nothing changed
    convert(fresh)
    before = next(row for row in nephila.open(fresh).pages().to_pylist() if row["parse"] == "ok" and row["text"])
    links = links_of(fresh, before["page_id"])
    visit_again(fresh, before["url"], {"outcome": "not_modified", "elapsed_ms": 7})
    # when it is converted again
    report = convert(fresh)
    # then only its outcome and its duration are new
    after = row_of(fresh, before["url"])
    assert report.extracted_pages == 1 and report.new_pages == 0
    assert after == before | {"outcome": "not_modified", "elapsed_ms": 7}
    assert links_of(fresh, before["page_id"]) == links


def test_a_page_with_a_new_content_is_read_anew_and_its_old_links_are_gone(fresh: Path) -> None:
    # given a page that has, since the last conversion, the content of another site's page
    convert(fresh)
    pages = [row for row in nephila.open(fresh).pages().to_pylist() if row["parse"] == "ok" and not row["duplicate_of"]]
    first = pages[0]
    other = next(
        row for row in pages if row["title"] != first["title"] and row["archive_file"] == first["archive_file"]
    )
    changes = {name: other[name] for name in ("archive_file", "archive_offset", "checksum")}
    visit_again(fresh, first["url"], changes)
    # when it is converted again
    report = convert(fresh)
    # then it says what the other says, under its own id
    after = row_of(fresh, first["url"])
    assert report.extracted_pages == 1
    assert after["page_id"] == first["page_id"]
    assert (after["title"], after["text"]) == (other["title"], other["text"])
    assert links_of(fresh, first["page_id"]) == links_of(fresh, other["page_id"])


def test_ids_are_given_in_one_block_per_conversion_divided_by_slot(tmp_path: Path) -> None:
    """S0-18: [sum of the counts before, that plus its own count)."""
    ids = IdStore(tmp_path / "convert.db")
    first = ids.give_page_ids([(0, [(1, 10), (1, 11)]), (1, [(2, 10)])])
    assert first == [Block(0, 0, 2), Block(1, 2, 1)]
    # what has an id keeps it, what is new comes behind everything
    second = ids.give_page_ids([(0, [(1, 11), (1, 12)]), (1, [(2, 10), (2, 11)])])
    assert second == [Block(0, 3, 1), Block(1, 4, 1)]
    assert [ids.page_id(1, 10), ids.page_id(1, 12), ids.page_id(2, 11), ids.page_id(9, 9)] == [0, 3, 4, None]
    assert ids.pages == 5
    ids.close()


def test_sites_of_one_registrable_domain_share_its_id(tmp_path: Path) -> None:
    ids = IdStore(tmp_path / "convert.db")
    given = ids.give_site_ids(
        [(5, "http://www.kaist.ac.kr"), (7, "http://cs.kaist.ac.kr:8080"), (9, "http://127.0.0.1")]
    )
    assert [(row.site_id, row.domain_id) for row in given.values()] == [(0, 0), (1, 0), (2, 1)]
    assert list(ids.domains()) == [(0, "kaist.ac.kr"), (1, "127.0.0.1")]
    again = ids.give_site_ids([(5, "http://www.kaist.ac.kr"), (10, "http://snu.ac.kr")])
    assert (again[5].site_id, again[10].site_id, again[10].domain_id) == (0, 3, 2)
    ids.close()
