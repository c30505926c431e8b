"""The report in a real browser: whole without a network, inert, readable on a phone and at night, printable."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed; make browser installs it")

from playwright.sync_api import Browser, Page, expect

from nephila.config.sections import Config, Serve, Stats
from nephila.engine import open_engine
from nephila.jobs.serve import make_sources
from nephila.serve.server import listen
from nephila.stats.report.make import make_report
from nephila.store.folder import CrawlFolder

from ..serve.conftest import Collected

pytestmark = pytest.mark.xdist_group("serve")


@pytest.fixture(scope="module")
def reported(collected: Collected, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The hostile little web of the server's tests, with a report."""
    path = shutil.copytree(collected.folder.path, tmp_path_factory.mktemp("reported") / "crawl")
    with open_engine("inline", 1) as engine:
        make_report(Stats(), CrawlFolder.open(path), engine, 1_800_000_000.0)
    return path


@pytest.fixture
def report(page: Page, reported: Path) -> Iterator[Page]:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: asked.append(f"dialog {dialog.message}"))
    page.goto((reported / "report" / "index.html").as_uri())
    yield page
    assert [url for url in asked if not url.startswith("data:")] == [(reported / "report" / "index.html").as_uri()]


def test_it_is_whole_without_a_network_and_nothing_in_it_acts(report: Page) -> None:
    expect(report.locator("h1")).to_contain_text("The web as found")
    assert report.locator("section").count() > 30
    assert report.locator("svg").count() >= 5
    assert report.locator("script").count() == 0
    assert report.evaluate("document.body.dataset.pwned ?? 'no'") == "no"
    # every bar and dot has a place on the page
    sizes = report.evaluate("[...document.querySelectorAll('svg rect')].map(bar => bar.getBoundingClientRect().height)")
    assert sizes and all(size >= 1 for size in sizes)


def test_the_sql_of_a_table_unfolds(report: Page) -> None:
    section = report.locator("#depths")
    expect(section.locator("pre")).to_be_hidden()
    section.locator("label").click()
    expect(section.locator("pre")).to_be_visible()
    expect(section.locator("pre")).to_contain_text("FROM documents")


def test_it_fits_a_phone_and_turns_dark(browser: Browser, reported: Path) -> None:
    context = browser.new_context(viewport={"width": 375, "height": 700}, color_scheme="dark")
    page = context.new_page()
    page.goto((reported / "report" / "index.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    red, green, blue = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
    assert max(red, green, blue) < 60
    context.close()


def test_it_prints_with_its_sql(report: Page) -> None:
    document = report.pdf(format="A4")
    assert document.startswith(b"%PDF") and len(document) > 50_000
    report.emulate_media(media="print")
    expect(report.locator("#depths pre")).to_be_visible()
    expect(report.locator("#depths label")).to_be_hidden()


def test_the_servers_statistics_page_shows_it(page: Page, reported: Path) -> None:
    sources = make_sources(CrawlFolder.open(reported), Config())
    with listen(sources, Serve(port=0), None).in_background() as url:
        page.goto(f"{url.rstrip('/')}/statistics")
        frame = page.frame_locator("iframe.report")
        expect(frame.locator("#depths h3")).to_contain_text("Table 6")
        expect(frame.locator("#depths rect").first).to_be_visible()
