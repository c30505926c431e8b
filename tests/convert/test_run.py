"""Whole conversions of a lab web, held against its truth."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from nephila.lab.truth import TruthRow
from nephila.records import Outcome
from nephila.store.folder import CrawlFolder
from nephila.store.tables.manifest import files_of
from nephila.store.tables.schemas import TABLES

from .conftest import Collected, bytes_of, convert, crawl_on

pytestmark = pytest.mark.xdist_group("convert")


def rows(path: Path, table: str, *columns: str) -> list[dict]:  # type: ignore[type-arg]
    files = files_of(CrawlFolder.open(path), table)
    return [row for file in files for row in pq.read_table(file, columns=list(columns) or None).to_pylist()]


def urls(path: Path) -> dict[int, str]:
    return {row["page_id"]: row["url"] for row in rows(path, "pages", "page_id", "url")}


def test_the_tables_have_the_columns_that_are_documented(converted: Path) -> None:
    for name, table in TABLES.items():
        for file in files_of(CrawlFolder.open(converted), name):
            assert pq.read_schema(file).equals(table.schema), name


def test_every_requested_url_has_one_row_and_every_other_known_url_is_unfetched(
    converted: Path, collected: Collected
) -> None:
    # given the URLs that the lab says a crawl must come to know
    pages = {row["url"]: row for row in rows(converted, "pages", "url", "outcome", "checksum")}
    unfetched = {row["url"]: row["outcome"] for row in rows(converted, "unfetched")}
    # then each of them is in exactly one of the two tables, with its true outcome and content
    assert not pages.keys() & unfetched.keys()
    assert pages.keys() | unfetched.keys() == collected.truth.keys()
    for url, true in collected.truth.items():
        assert (pages[url]["outcome"] if url in pages else unfetched[url]) == true.outcome.value
        if true.outcome is Outcome.OK:
            assert pages[url]["checksum"] == true.digest


def test_page_ids_are_dense_and_each_slot_has_one_range(converted: Path) -> None:
    """S0-18: disjoint, gap-free, each as long as the slot's count."""
    slots = {row["site_id"]: row["slot"] for row in rows(converted, "sites", "site_id", "slot")}
    by_slot: dict[int, list[int]] = {}
    for row in rows(converted, "pages", "page_id", "site_id"):
        by_slot.setdefault(slots[row["site_id"]], []).append(row["page_id"])
    start = 0
    for _, ids in sorted(by_slot.items()):
        assert sorted(ids) == list(range(start, start + len(ids)))
        start += len(ids)
    assert len(by_slot) == 2


def test_site_and_domain_ids_are_dense(converted: Path) -> None:
    for table, column in (("sites", "site_id"), ("domains", "domain_id"), ("communities", "community_id")):
        ids = [row[column] for row in rows(converted, table, column)]
        assert ids == list(range(len(ids)))


def _meant(url: str, truth: dict[str, TruthRow], requested: set[str], hops: int = 0) -> str | None:
    """Where a link leads in the end, by the truth alone, as far as pages were requested; None: to no page."""
    row = truth[url]
    if row.outcome is Outcome.ALIAS:
        return _meant(row.canonical_site + url.removeprefix(row.site), truth, requested, hops)
    if url not in requested:
        return None
    further = _meant(row.redirect_to, truth, requested, hops + 1) if row.redirect_to and hops < 30 else None
    return further or row.case_of or url


def test_the_links_are_the_true_links_through_redirects_aliases_and_case(converted: Path, collected: Collected) -> None:
    # given the links table by URL; of two spellings of a page either may stand for both
    names, truth = urls(converted), collected.truth
    found: dict[str, set[str]] = {}
    for row in rows(converted, "links", "source", "resolved"):
        resolved = names[row["resolved"]]
        found.setdefault(names[row["source"]], set()).add(truth[resolved].case_of or resolved)
    # when the truth's links are followed by the truth alone
    meant = {url: _meant(url, truth, set(names.values())) for url in truth}
    flags = {row["url"]: row["flags"] for row in rows(converted, "pages", "url", "flags")}
    compared = 0
    for url, true in truth.items():
        if true.outcome is not Outcome.OK or "nofollow" in flags[url]:
            continue
        expected = {meant[link] for link in true.links} - {None}
        # then they are the same, page by page
        assert found.get(url, set()) == expected, url
        compared += len(expected)
    assert compared > 2000
    assert {Outcome.ALIAS, Outcome.REDIRECT} <= {row.outcome for row in truth.values()}
    assert sum(row.case_of is not None for row in truth.values()) > 20


def test_link_counts_are_those_of_the_links_table(converted: Path) -> None:
    pairs = {(row["source"], row["resolved"]) for row in rows(converted, "links", "source", "resolved")}
    pairs = {(source, resolved) for source, resolved in pairs if source != resolved}
    for row in rows(converted, "page_counts"):
        assert row["in_links"] == sum(resolved == row["page_id"] for _, resolved in pairs)
        assert row["out_links"] == sum(source == row["page_id"] for source, _ in pairs)


def test_converting_again_changes_no_byte(fresh: Path) -> None:
    convert(fresh)
    before = bytes_of(fresh)
    report = convert(fresh)
    assert bytes_of(fresh) == before
    assert report.extracted_pages == report.page_parts == report.link_parts == 0


def test_workers_and_inline_give_the_same_bytes(fresh: Path, converted: Path) -> None:
    convert(fresh, engine="local")
    assert bytes_of(fresh) == bytes_of(converted)


def test_ids_stay_and_only_what_is_new_is_read_after_more_crawling(
    collected: Collected, converted: Path, tmp_path: Path
) -> None:
    # given a crawl that was converted halfway
    path = tmp_path / "crawl"
    shutil.copytree(collected.halfway, path)
    first = convert(path)
    before = urls(path)
    sites = {row["url"]: row["site_id"] for row in rows(path, "sites", "url", "site_id")}
    # when it is crawled to its end and converted again
    crawl_on(path, collected.whole)
    second = convert(path)
    # then every page, site and domain keeps its id, new ones follow, and nothing is read twice
    after = urls(path)
    assert {page_id: after[page_id] for page_id in before} == before
    assert sorted(after) == list(range(len(after)))
    assert {row["url"]: row["site_id"] for row in rows(path, "sites", "url", "site_id")}.items() >= sites.items()
    assert second.extracted_pages < second.pages
    assert first.pages + second.new_pages == second.pages
    # and the tables say the same as those of one conversion at the end
    assert _by_url(path) == _by_url(converted)


def _by_url(path: Path) -> tuple[set[tuple[object, ...]], set[tuple[object, ...]]]:
    """Pages and links without ids."""
    names = urls(path)
    pages = {
        (row["url"], row["outcome"], row["checksum"], row["title"], row["text"], row["simhash"])
        for row in rows(path, "pages")
    }
    links = {(names[row["source"]], names[row["target"]], row["kind"], row["anchor"]) for row in rows(path, "links")}
    return pages, links
