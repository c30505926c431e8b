"""What a person sees and does, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import quote

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed; make browser installs it")

from playwright.sync_api import Browser, Page, expect

from nephila.config.layers import lay, read_file
from nephila.config.sections import Serve
from nephila.jobs.serve import make_sources
from nephila.serve.server import listen
from nephila.store.control import write_paused
from nephila.store.folder import CrawlFolder

from ..circle.odd_web import OddWeb, Site, UrlOf, serving
from ..circle.odd_web import page as said
from ..circle.webs import QUICK, Running, running, settings_of, wait_until
from ..serve.conftest import HOSTILE_TITLE, Client, Collected

pytestmark = pytest.mark.xdist_group("serve")  # one server, one collected web

PAGES = ["/crawl", "/sites", "/search", "/search?q=weaver", "/ranks", "/statistics", "/why"]
CHAIN = 2_000


def open_page(page: Page, client: Client, path: str) -> None:
    page.goto(f"http://127.0.0.1:{client.port}{path}")


def test_a_search_finds_a_page_and_opens_its_copy(page: Page, client: Client, collected: Collected) -> None:
    # given the search page, its field ready to type
    open_page(page, client, "/search")
    page.keyboard.type("nephilaunique")
    page.keyboard.press("Enter")
    # when the first hit, its word marked, is opened
    expect(page.locator(".hits mark").first).to_have_text("nephilaunique")
    page.locator(".hits h2 a").first.click()
    # then the copy is shown in its frame, with its date
    expect(page.locator(".banner time")).to_contain_text("20")
    expect(page.frame_locator("iframe.copy").locator("h1")).to_have_text("Golden orb weaver")


def test_korean_words_are_found(page: Page, client: Client) -> None:
    open_page(page, client, f"/search?q={quote('검색')}")
    expect(page.locator(".hits mark").first).to_have_text("검색")
    expect(page.locator(".hits h2").first).to_have_text("거미와 검색")


def test_a_hostile_page_stays_text_wherever_it_is_shown(page: Page, client: Client, collected: Collected) -> None:
    # given a browser that tells every answer and every dialog; what a policy stops has no answer
    asked: list[str] = []
    page.on("response", lambda response: asked.append(f"{response.request.method} {response.url}"))
    page.on("dialog", lambda dialog: asked.append(f"dialog {dialog.message}"))
    url = quote(collected.url("evil.test"), safe="")
    payloads = [f"/search?q=payload&all=true&page={number}" for number in range(1, 8)]
    for path in ("/search?q=nemesis&all=true", *payloads, f"/why?url={url}", f"/copy?url={url}", "/crawl", "/ranks"):
        open_page(page, client, path)
        page.wait_for_load_state("load")
        # then nothing of it ran, here or in the frame
        assert page.evaluate("document.body.dataset.pwned === undefined && window.pwned === undefined"), path
        assert page.evaluate("document.querySelectorAll('main script, [onerror]').length") == 0, path
    # and nobody was asked anything but our own pages
    own = f"http://127.0.0.1:{client.port}/"
    assert [line for line in asked if not line.startswith(f"GET {own}")] == []
    assert not any("/metrics" in line or "/api/control" in line for line in asked)
    open_page(page, client, "/search?q=nemesis&all=true")
    expect(page.locator(".hits h2").first).to_have_text(HOSTILE_TITLE)


def test_nothing_in_a_copy_can_leave_its_frame(page: Page, client: Client, collected: Collected) -> None:
    open_page(page, client, f"/copy?url={quote(collected.url('evil.test'), safe='')}")
    frame = page.frame_locator("iframe.copy")
    here = page.url
    # when a person clicks what the page offers
    frame.locator("#leave").click()
    frame.locator("#go").click()
    # then the page around it is still there, and the crawl is not paused
    page.wait_for_timeout(300)  # nothing is awaited: something that must not happen is given its chance
    assert page.url == here
    assert not (collected.folder.control / "paused").exists()


@pytest.mark.parametrize("path", PAGES)
def test_a_phone_shows_every_page_without_sideways_scrolling(browser: Browser, client: Client, path: str) -> None:
    context = browser.new_context(viewport={"width": 360, "height": 740})
    page = context.new_page()
    open_page(page, client, path)
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    context.close()
    assert wide == 0


@pytest.mark.parametrize("path", PAGES)
def test_no_page_complains_or_asks_anybody_else(page: Page, client: Client, path: str) -> None:
    complaints: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    open_page(page, client, path)
    page.wait_for_load_state("load")
    assert complaints == []
    assert all(url.startswith(f"http://127.0.0.1:{client.port}/") for url in asked)


def test_the_keyboard_reaches_everything(page: Page, client: Client) -> None:
    open_page(page, client, "/crawl")
    # given the first stop is the way past the navigation
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "To the content"
    # then every page of the navigation follows, and each stop can be seen
    reached = []
    for _ in range(12):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.textContent.trim() || document.activeElement.name"))
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
    assert reached[:6] == ["Nephila", "Crawl", "Sites", "Search", "Ranks", "Statistics"]
    assert "url" in reached and "Why?" in reached
    # and a slash leads to the search
    page.locator("h1").click()
    page.keyboard.press("/")
    page.wait_for_url("**/search")


def test_day_and_night_have_colours_that_can_be_read(browser: Browser, client: Client) -> None:
    for scheme in ("light", "dark"):
        context = browser.new_context(color_scheme=scheme)
        page = context.new_page()
        open_page(page, client, "/crawl")
        contrasts = page.evaluate(CONTRASTS)
        context.close()
        assert min(contrasts.values()) >= 4.5, (scheme, contrasts)


CONTRASTS = """() => {
  const light = (colour) => {
    const [r, g, b] = colour.match(/[0-9.]+/g).map(Number).map((v) => v / 255)
      .map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const paper = getComputedStyle(document.documentElement).backgroundColor;
  const found = {};
  for (const where of ["h1", "main a", ".more", "footer", "th", ".top nav a:not([aria-current])"]) {
    const [a, b] = [light(getComputedStyle(document.querySelector(where)).color), light(paper)].sort((x, y) => y - x);
    found[where] = (a + 0.05) / (b + 0.05);
  }
  return found;
}"""


# A crawl that runs


def chain(url: UrlOf) -> Mapping[str, Site]:
    pages = {f"/{number}": said(f"/{number + 1}") for number in range(CHAIN)}
    return {host: {"/": said("/0"), **pages} for host in ("left.test", "right.test")}


@pytest.fixture
def live(tmp_path: Path) -> Iterator[tuple[Running, OddWeb, Client, CrawlFolder]]:
    """A crawl of its own process, slow enough to be looked at, and a server beside it."""
    folder = CrawlFolder(tmp_path / "crawl")
    with serving(chain) as web:
        hosts = web.write_hosts(tmp_path / "hosts")
        slowly = {"net.allow_private": "127.0.0.0/8", "net.hosts": hosts, "politeness.min_delay": 0.02}
        words = [web.url("left.test"), web.url("right.test"), *settings_of(QUICK, slowly)]
        with running(folder.path, *words) as run:
            run.until_pages(10)
            config = lay([read_file(folder.config_file)]).config
            listening = listen(make_sources(folder, config), Serve(port=0), None)
            with listening.in_background():
                yield run, web, Client(listening.port, None), folder


def pages_shown(page: Page) -> int:
    return int(page.locator(".tiles dd").first.inner_text().replace(",", ""))


def test_the_live_page_moves_while_a_crawl_runs_and_pause_really_pauses(
    page: Page, live: tuple[Running, OddWeb, Client, CrawlFolder]
) -> None:
    run, web, client, folder = live
    # given the page of a crawl that runs
    open_page(page, client, "/crawl")
    expect(page.locator(".lamp.on")).to_have_text("Collecting")
    first = pages_shown(page)
    # then its figures move without anybody touching it
    wait_until(lambda: pages_shown(page) > first + 20, 20.0, "a moving figure")
    assert page.locator(".chart rect").count() > 0
    # when a person pauses it
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    assert (folder.control / "paused").exists()
    wait_until(lambda: _quiet(web, page), 20.0, "a pause")
    before = len(web.asked)
    page.wait_for_timeout(1_000)  # in which it would have asked for fifty pages
    assert len(web.asked) == before
    expect(page.locator(".lamp.resting")).to_have_text("Paused.")
    assert run.process.poll() is None
    # then it goes on when it is resumed
    page.get_by_role("button", name="Resume").click()
    wait_until(lambda: len(web.asked) > before + 10, 20.0, "pages after the pause")
    # and the page's own buttons follow what somebody else asks for
    write_paused(folder, on=True)
    expect(page.get_by_role("button", name="Resume")).to_be_visible(timeout=10_000)


def test_a_site_is_blocked_from_its_page(page: Page, live: tuple[Running, OddWeb, Client, CrawlFolder]) -> None:
    _, web, client, _ = live
    open_page(page, client, f"/site?url={quote(web.url('left.test', ''), safe='')}")
    page.get_by_role("button", name="Block this site").click()
    expect(page.get_by_role("button", name="Unblock")).to_be_visible()
    expect(page.locator(".state")).to_contain_text("You have blocked it")
    # then it is left alone while the other one goes on
    right = len(web.paths("right.test"))
    wait_until(lambda: len(web.paths("right.test")) > right + 60, 20.0, "pages of the other site")
    left = len(web.paths("left.test"))
    wait_until(lambda: len(web.paths("right.test")) > right + 90, 20.0, "more pages of the other site")
    assert len(web.paths("left.test")) == left


def _quiet(web: OddWeb, page: Page) -> bool:
    before = len(web.asked)
    page.wait_for_timeout(500)
    return len(web.asked) == before
