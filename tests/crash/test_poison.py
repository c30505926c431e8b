"""Pages that kill whoever takes them apart cost a few agents each, and the crawl goes on (RELIABILITY C1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from ..circle.odd_web import OddWeb, Site, UrlOf, page, serving
from ..circle.webs import QUICK, assert_counted, crawl, outcomes, run, settings_of
from .faulty import fault

POISON = "these words kill"
DEATHS = 2
PAGES = 30


def the_sites(_: UrlOf) -> Mapping[str, Site]:
    plain = {f"/{number}": page(text=f"page {number}") for number in range(PAGES)}
    return {
        "plain.test": {"/": page(*plain), **plain},
        "deadly.test": {"/": page("/poison", "/other"), "/poison": page(text=POISON), "/other": page(text="other")},
        "raising.test": {"/": page("/error", "/fine"), "/error": page(text=f"{POISON} softly"), "/fine": page()},
    }


@pytest.fixture
def web() -> Iterator[OddWeb]:
    with serving(the_sites) as served:
        yield served


@pytest.mark.slow
def test_a_page_that_kills_agents_is_set_aside_and_everything_else_is_collected(web: OddWeb, tmp_path: Path) -> None:
    # given a web with a page that kills the process that reads it, and one over which it stumbles
    folder = tmp_path / "crawl"
    settings = {
        "net.hosts": web.write_hosts(tmp_path / "hosts"), "net.allow_private": "127.0.0.0/8", "traps.deaths": DEATHS,
    }  # fmt: skip
    words = [web.url(host) for host in web.addresses]
    with fault(f"poison:{POISON}"):
        # when it is crawled
        ran = crawl(folder, *words, "--agents", 1, *settings_of(QUICK, settings))
    # then all but these two are there
    assert ran.code == 0, ran.err
    found = outcomes(folder)
    aside = {web.url("deadly.test", "/poison"), web.url("raising.test", "/error")}
    assert {url for url, outcome in found.items() if outcome != "ok"} == aside
    assert len(found) == PAGES + 7
    assert {found[url] for url in aside} == {"trap_rejected"}
    # An agent may die with both in hand, which then counts for both.
    assert DEATHS <= ran.report["agent_deaths"] <= 2 * DEATHS + 1
    assert_counted(folder)
    # and the reason is told
    told = run("why", web.url("deadly.test", "/poison"), "-C", folder).out
    assert f"traps.deaths: {DEATHS} agents died with it in hand" in told
    # when the fault is mended and the page let in, it is collected
    mended = crawl(folder, "--agents", 1, *settings_of({"traps.let_in": web.url("*", "/*")}))
    assert mended.code == 0, mended.err
    assert set(outcomes(folder).values()) == {"ok"}
    assert_counted(folder)
