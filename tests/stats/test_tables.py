"""The questions, on rows whose answer can be counted by hand."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

import nephila
from nephila.config.sections import Stats
from nephila.errors import NephilaError, UsageError
from nephila.stats.section import Section
from nephila.store.folder import CrawlFolder
from nephila.store.tables.duck import open_duck
from nephila.store.tables.views import create_views

from .conftest import described
from .made import AT, made


def page(number: int, url: str, state: str = "OK", **more: object) -> dict[str, object]:
    code = {"OK": 200, "code": 404}.get(state)
    outcome = {"OK": "ok", "code": "http_error"}.get(state, "reset")
    return {"page_id": number, "url": url, "state": state, "code": code, "outcome": outcome, "parse": "ok", **more}


@pytest.fixture
def folder(tmp_path: Path) -> CrawlFolder:
    """Two sites: one of four pages, one whose name has no address."""
    return made(
        tmp_path / "crawl",
        pages=[
            page(0, "http://www.a.co.kr/", depth=0, size=1000, visible_bytes=250, mime="text/html", language="ko",
                 checksum=b"0" * 16, simhash=1),
            page(1, "http://www.a.co.kr/one", depth=1, size=300_000, visible_bytes=0, mime="text/html",
                 checksum=b"1" * 16),
            page(2, "http://www.a.co.kr/two", depth=1, size=1000, visible_bytes=250, mime="text/html",
                 checksum=b"0" * 16, duplicate_of=0),
            page(3, "http://www.a.co.kr/gone", "code", depth=1),
        ],
        page_counts=[
            {"page_id": 0, "in_links": 3, "out_links": 2, "links_inside": 3, "links_outside": 1},
            {"page_id": 1, "in_links": 1}, {"page_id": 2}, {"page_id": 3},
        ],
        links=[{"source": 0, "target": 1, "resolved": 1, "kind": "a"}],
        sites=[
            {"site_id": 0, "url": "http://www.a.co.kr", "robots": "rules", "robots_disallows": 2, "crawl_delay_s": 5.0,
             "address": "1.11.0.9", "state": "done", "pages": 4},
            {"site_id": 1, "url": "http://b.org:81", "address": "", "state": "done", "outcome": "dns_nxdomain"},
        ],
        domains=[{"domain_id": 0, "domain": "a.co.kr", "sites": 1, "pages": 4}],
        seeds=[
            {"url": "http://b.org:81/", "site_id": 1, "given": True, "state": "noIP", "outcome": "dns_nxdomain"},
            {"url": "http://www.a.co.kr/", "site_id": 0, "page_id": 0, "given": True, "state": "OK", "outcome": "ok"},
            {"url": "http://www.a.co.kr/x", "site_id": 0, "given": False, "state": "code", "outcome": "redirect"},
        ],
        unfetched=[
            {"url": "http://b.org:81/", "depth": 0, "state": "noIP", "outcome": "dns_nxdomain"},
            {"url": "http://www.a.co.kr/no", "depth": 1, "state": "NULL", "outcome": "blocked_robots"},
        ],
        visits=[
            {"visit": 1, "page_id": 0, "role": "page", "at": AT, "code": 200, "outcome": "ok", "http": "1.1",
             "server": "Apache/2.4 (Unix)", "elapsed_ms": 40, "header_ms": 20, "connect_ms": 1, "body_bytes": 2000,
             "archive_file": "f", "wire_bytes": 900},
        ],
        archive_files=[{"file": "f", "slot": 0, "size_bytes": 500}],
    )  # fmt: skip


def table(folder: CrawlFolder, name: str, config: Stats | None = None) -> Section:
    return next(section for section in described(folder, config).tables if section.name == name)


def test_the_surveys_tables_count_what_was_asked_for(folder: CrawlFolder) -> None:
    tables = {section.name: section.rows for section in described(folder).tables}
    # S1-26: of the seeds given one has no address; S1-27: it is among the documents' rest
    assert tables["seed_responses"] == (("noIP", 1, 0.5), ("OK", 1, 0.5))
    assert tables["document_responses"] == (("code", 1, 0.2), ("OK", 3, 0.6), ("rest", 1, 0.2))
    # S1-28: without the scheme, with the port; without the site, so that a home page has 0
    assert tables["url_lengths"] == (("seed", 8, 11, 9.5, 2), ("document", 0, 4, 2.5, 4))
    # S1-29
    assert tables["seed_shapes"] == (("xxx.xxx", 1, 0.5), ("xxx.xxx.xxx.xxx", 1, 0.5))
    # S1-30: steps of 256 KiB
    assert tables["size_steps"] == ((0, 2, 2 / 3, 2 / 3, 1000.0), (262144, 1, 1 / 3, 1.0, 300_000.0))
    assert tables["visible_bytes"] == (
        ("visible", 500, 500 / 3, 500 / 302_000), ("invisible", 301_500, 100_500.0, 301_500 / 302_000),
    )  # fmt: skip
    # S1-32: what robots.txt forbids was not asked for, what has no address was
    assert tables["depths"] == ((0, 2, 1, 0.5, 3.0, 0), (1, 3, 2, 2 / 3, None, 1))
    # S1-31
    assert tables["compression"] == (("agent-00", 2000, 500, 0.25), ("all", 2000, 500, 0.25))


def test_what_servers_say_is_counted_by_site(folder: CrawlFolder) -> None:
    tables = {section.name: section.rows for section in described(folder).tables}
    assert tables["servers"] == (("apache", 1, 1.0),)
    assert tables["http_versions"] == (("HTTP/1.1", 1, 1.0),)
    assert tables["tls"] == (("http", "none", 1, 1.0),)
    assert tables["robots"] == (("not asked", 1, 0.5, 0, 0, None), ("rules", 1, 0.5, 1, 1, 5.0))
    assert tables["response_times"] == ((32, 63, 1, 1.0, 1 / 32),)


def test_copies_links_and_countries_are_told_apart(folder: CrawlFolder) -> None:
    tables = {section.name: section.rows for section in described(folder).tables}
    assert sorted(tables["duplicates"]) == [
        ("alone", 1, 1 / 3), ("copy within its site", 1, 1 / 3), ("first of several", 1, 1 / 3),
    ]  # fmt: skip
    assert tables["links_inside_outside"] == (("inside its site", 3, 0.75, 1.0), ("to other sites", 1, 0.25, 1 / 3))
    assert tables["in_degrees"] == ((0, 0, 1, 1 / 3, 1.0), (1, 1, 1, 1 / 3, 1.0), (2, 3, 1, 1 / 3, 0.5))
    assert tables["countries"] == (("KR", 1, 3, 0.5), ("none", 1, 0, 0.5))


def test_every_sql_gives_its_table_when_it_is_pasted(folder: CrawlFolder, tmp_path: Path) -> None:
    # given the text that is shown with each table, and the views that nephila.open(DIR).sql makes
    sections = [each for each in described(folder).tables if each.name != "power_laws"]  # its SQL gives what is fitted
    assert nephila.open(folder.path).sql(sections[0].sql).num_rows == len(sections[0].rows)
    with open_duck(2**30, 2, tmp_path / "scratch") as duck:
        create_views(duck, folder)
        for section in sections:
            # then the rows are the same
            rows = [tuple(row.values()) for row in duck.sql(section.sql).to_arrow_table().to_pylist()]
            assert [tuple(map(_plain, row)) for row in rows] == [tuple(row) for row in section.rows], section.name


def _plain(value: object) -> object:
    from decimal import Decimal

    return (int(value) if value == int(value) else float(value)) if isinstance(value, Decimal) else value


def test_an_empty_crawl_has_every_table_and_no_rows_to_trip_over(empty: CrawlFolder, folder: CrawlFolder) -> None:
    names = [section.name for section in described(empty).tables]
    assert names == [section.name for section in described(folder).tables]
    assert len(set(names)) == len(names)


def test_lists_end_with_all_others(tmp_path: Path) -> None:
    # given five kinds of content and room for three
    pages = [
        page(number, f"http://a/{number}", mime=f"x/{kind}") for number, kind in enumerate([1, 1, 1, 2, 2, 3, 3, 4, 5])
    ]
    rows = table(made(tmp_path / "crawl", pages=pages), "mime_types", Stats(top=3)).rows
    assert rows == (("x/1", 3, 3 / 9), ("x/2", 2, 2 / 9), ("x/3", 2, 2 / 9), ("all others", 2, 2 / 9))


def test_addresses_are_placed_by_the_ranges_that_are_configured(folder: CrawlFolder, data: Path) -> None:
    # given Korea's real ranges, of which 1.11.0.0 - 1.11.255.255 is the first
    config = Stats(country_ranges=(f"kr={data / 'misc' / 'kr_ipv4_ranges.csv.gz'}",))
    assert table(folder, "countries_by_address", config).rows == (("KR", 1, 1.0),)


def test_ipv6_addresses_are_placed_too(tmp_path: Path, data: Path) -> None:
    sites = [{"site_id": n, "url": f"http://{n}.kr", "address": address}
             for n, address in enumerate(("1.11.0.1", "2001:230::1", "2001:db8::1", ""))]  # fmt: skip
    ranges = tuple(f"KR={data / 'misc' / f'kr_ipv{family}_ranges.csv.gz'}" for family in (4, 6))
    found = table(made(tmp_path / "crawl", sites=sites), "countries_by_address", Stats(country_ranges=ranges))
    assert found.rows == (("KR", 2, 2 / 3), ("in no range", 1, 1 / 3))


@pytest.mark.parametrize(("text", "sentence"), [("1.2.3.4,x\n", "line 1 is no range"), ("\udc80", "cannot be read")])
def test_wrong_ranges_are_one_sentence(folder: CrawlFolder, tmp_path: Path, text: str, sentence: str) -> None:
    file = tmp_path / "ranges.csv"
    file.write_text(text, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(UsageError, match=sentence):
        described(folder, Stats(country_ranges=(f"XX={file}",)))
    with pytest.raises(UsageError, match='write "KR=FILE"'):
        described(folder, Stats(country_ranges=("ranges.csv",)))


def test_a_crawl_that_was_never_converted_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(NephilaError, match="run `nephila convert"):
        described(CrawlFolder.create(tmp_path / "crawl"))


def test_what_a_killed_counting_spilled_is_removed_and_what_a_living_one_spills_is_not(folder: CrawlFolder) -> None:
    # given the folder of a process that is no more, and one of a process that is
    gone = subprocess.Popen(["true"])
    gone.wait()
    dead, alive = (folder.path / f".counting-{process}-x" for process in (gone.pid, os.getppid()))
    for place in (dead, alive):
        (place / "spilled").mkdir(parents=True)
    described(folder)
    assert not dead.exists() and alive.exists()
    assert [place.name for place in folder.path.glob(".counting-*")] == [alive.name]
