"""A crawl's tables: which pages are ranked, which links count, and that its ranks are those of the same graph."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from graphs import dense_pagerank, random_edges

from nephila.cli import run as command_line
from nephila.config.sections import Rank
from nephila.engine import Engine
from nephila.errors import NephilaError
from nephila.rank.run import explain, run, run_compare
from nephila.store.folder import CrawlFolder
from nephila.store.tables.manifest import NAME as MANIFEST
from nephila.store.tables.manifest import Manifest, Part
from nephila.store.tables.schemas import TABLES

Row = dict[str, Any]


def tables(folder: CrawlFolder, **rows: list[Row]) -> None:
    """Publish tables with these rows; what a row does not say is empty, 0 or null."""
    parts = {}
    for name, table in TABLES.items():
        given = rows.get(name, [])
        columns = [
            pa.array([row.get(field.name, None if field.nullable else _empty(field.type)) for row in given], field.type)
            for field in table.schema
        ]
        path = folder.tables / (f"{name}/part-0000.parquet" if table.parts else f"{name}.parquet")
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table(columns, schema=table.schema), path)
        parts[name] = (Part(str(path.relative_to(folder.tables)), len(given), path.stat().st_size),)
    (folder.tables / MANIFEST).write_bytes(msgspec.json.encode(Manifest(parts, 1)))


def _empty(kind: Any) -> Any:
    if pa.types.is_string(kind):
        return ""
    return 0 if pa.types.is_integer(kind) or pa.types.is_timestamp(kind) else False


def page(number: int, site: int = 0, domain: int = 0, **more: Any) -> Row:
    row = {"page_id": number, "site_id": site, "domain_id": domain, "url": f"http://s{site}.example/{number}"}
    return {**row, "outcome": "ok", "parse": "ok", "code": 200, "mime": "text/html"} | more


def link(source: int, resolved: int, target: int | None = None, kind: str = "a") -> Row:
    return {"source": source, "target": resolved if target is None else target, "resolved": resolved, "kind": kind}


def site(number: int, domain: int = 0, community: int = 0, **more: Any) -> Row:
    row = {"site_id": number, "domain_id": domain, "community_id": community, "url": f"http://s{number}.example"}
    return row | {"state": "done"} | more


@pytest.fixture
def folder(tmp_path: Path) -> CrawlFolder:
    return CrawlFolder.create(tmp_path / "crawl")


def ranks_of(folder: CrawlFolder) -> dict[int, Row]:
    return {row["page_id"]: row for row in pq.read_table(folder.rank / "ranks.parquet").to_pylist()}


def test_only_html_pages_that_are_themselves_are_ranked(folder: CrawlFolder, inline: Engine) -> None:
    # given pages of every sort
    pages = [
        page(0), page(1, mime="application/xhtml+xml"), page(2, mime="image/png"), page(3, code=404),
        page(4, duplicate_of=0), page(5, code=None, mime=None, outcome="timeout_connect"), page(6, site=1),
        page(7, outcome="redirect", code=302), page(8), page(9, mime=None),
    ]  # fmt: skip
    links = [link(0, 1), link(0, 2), link(1, 3), link(1, 4), link(4, 8), link(1, 8), link(8, 0), link(6, 0), link(0, 6)]
    tables(folder, pages=pages, links=links, sites=[site(0), site(1, alias_of=0)], domains=[{"domain_id": 0}])
    report = run(Rank(tolerance=1e-13), folder, inline)
    # then HTML with code 200 is, and only links among those count
    ranks = ranks_of(folder)
    assert sorted(ranks) == [0, 1, 8]
    assert [ranks[number]["rank"] for number in (0, 1, 8)] == pytest.approx(
        dense_pagerank([(0, 1), (1, 2), (2, 0)], 3, 0.85), abs=1e-12
    )
    assert (report.links, report.links_left_out) == (3, 6)


def test_links_count_where_they_lead_in_the_end_and_once(folder: CrawlFolder, inline: Engine) -> None:
    pages = [page(0), page(1), page(2), page(3, code=301)]
    # given a link through a redirect, the same link as a frame, a link back to itself through it
    links = [link(0, 1, target=3), link(0, 1), link(0, 1, kind="f"), link(1, 1, target=3), link(1, 2)]
    tables(folder, pages=pages, links=links, sites=[site(0)])
    report = run(Rank(tolerance=1e-13), folder, inline)
    assert (report.links, report.repeated_links_dropped, report.self_links_dropped) == (2, 2, 1)
    assert [row["in_links"] for row in ranks_of(folder).values()] == [0, 1, 1]


def test_links_to_duplicates_may_count_for_the_original(folder: CrawlFolder, inline: Engine) -> None:
    pages = [page(0), page(1), page(2, duplicate_of=0)]
    tables(folder, pages=pages, links=[link(1, 2), link(2, 1), link(0, 2)], sites=[site(0)])
    assert run(Rank(), folder, inline).links == 0
    merged = run(Rank(duplicates="merge"), folder, inline)
    assert (merged.links, merged.self_links_dropped) == (1, 1)
    assert ranks_of(folder)[0]["in_links"] == 1


@pytest.mark.parametrize("unit", ["site", "domain", "community"])
def test_a_crawl_has_the_ranks_of_its_graph_by_any_block(
    unit: str, folder: CrawlFolder, inline: Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    # given 300 pages of 12 sites in 5 domains and 3 communities, ids not in the order of the sites
    count = 300
    edges = random_edges(1, count, 2500, 0.1)
    sites = [site(number, domain=number % 5, community=number % 3) for number in range(12)]
    pages = [page(number, site=number % 12, domain=(number % 12) % 5) for number in range(count)]
    tables(
        folder, pages=pages, links=[link(a, b) for a, b in sorted(set(edges))], sites=sites,
        domains=[{"domain_id": number, "domain": f"d{number}.example"} for number in range(5)],
    )  # fmt: skip
    true = dense_pagerank(edges, count, 0.85)
    for method in ("pagerank", "blocks"):
        settings = Rank(tolerance=1e-13, block=unit, method=method, restart=False)  # type: ignore[arg-type]
        report = run(settings, folder, inline)
        rows = ranks_of(folder)
        assert [rows[number]["rank"] for number in range(count)] == pytest.approx(true, abs=1e-12)
    # then sites and domains are ranked by their pages, and named
    of_site = [true[np.arange(count) % 12 == number].sum() for number in range(12)]
    assert rows[7]["site_rank"] == pytest.approx(of_site[7])
    assert report.top_sites[0].name == f"http://s{int(np.argmax(of_site))}.example"
    assert report.top_domains[0].name.endswith(".example")
    assert report.top[0].name == f"http://s{int(np.argmax(true)) % 12}.example/{int(np.argmax(true))}"
    # and the command line compares and explains them by URL
    assert run_compare(Rank(block=unit), folder, inline).blocks == {"site": 12, "domain": 5, "community": 3}[unit]  # type: ignore[arg-type]
    assert explain(folder.path, report.top[0].name).rank == pytest.approx(true.max())
    assert command_line(["rank", "--why", report.top[0].name, "-C", str(folder.path)]) == 0
    assert report.top[0].name in capsys.readouterr().out


def test_a_ranking_says_how_far_its_input_can_be_trusted(folder: CrawlFolder, inline: Engine) -> None:  # S3-25
    # given 5 requested URLs, 4 of them HTML, one a copy, two near copies of each other; 3 URLs never requested
    at = [datetime(2026, 1, 1, hour, tzinfo=UTC) for hour in range(5)]
    pages = [page(number, fetched_at=at[number]) for number in range(3)]
    pages += [page(3, duplicate_of=0, fetched_at=at[3]), page(4, code=404, fetched_at=at[4])]
    counts = [{"page_id": number, "cluster": cluster} for number, cluster in enumerate([0, None, 0, 0, None])]
    unfetched = [{"url": f"http://s0.example/u{number}", "outcome": "limit"} for number in range(3)]
    tables(folder, pages=pages, page_counts=counts, unfetched=unfetched, links=[link(0, 1)], sites=[site(0)])
    # when they are ranked
    found = run(Rank(), folder, inline).footing
    # then the report says how complete, how free of duplicates and how current they are
    assert found is not None
    assert (found.urls_known, found.urls_requested, found.complete) == (8, 5, 5 / 8)
    assert (found.duplicates_left_out, found.near_duplicates, found.duplicate_free) == (1, 1, 2 / 3)
    assert (found.newest_fetch_at, found.median_lag_s, found.longest_lag_s) == (at[2], 3600, 7200)


def test_a_crawl_without_tables_says_what_to_do(folder: CrawlFolder, inline: Engine) -> None:
    with pytest.raises(NephilaError, match="nephila convert"):
        run(Rank(), folder, inline)


def test_a_crawl_without_ranked_pages_has_an_empty_table(folder: CrawlFolder, inline: Engine) -> None:
    tables(folder, pages=[page(0, code=404)], links=[], sites=[site(0)])
    assert run(Rank(), folder, inline).pages == 0
    tables(folder, pages=[], links=[], sites=[])
    assert run(Rank(), folder, inline).pages == 0
    assert ranks_of(folder) == {}
