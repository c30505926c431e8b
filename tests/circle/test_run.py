"""`nephila run`: from seeds to pages that can be searched, and again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from .odd_web import Site, UrlOf, page, serving
from .webs import QUICK, run, settings_of


def the_sites(url: UrlOf) -> Mapping[str, Site]:
    spider = page("/web", text="the golden orb-weaver spins the largest web of all spiders")
    return {
        "weaver.test": {"/": spider, "/web": page("/", text="거미가 그물을 짠다")},
        "other.test": {"/": page(url("weaver.test", "/"), text="who spins? an orb-weaver")},
    }


def test_one_command_leads_from_seeds_to_search_and_the_same_command_asks_for_nothing_again(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with serving(the_sites) as web:
        settings = {"net.allow_private": "127.0.0.0/8", "net.hosts": web.write_hosts(tmp_path / "hosts")}
        words = settings_of(QUICK, settings)
        ran = run("run", web.url("other.test"), "-C", folder, "--json", "-q", *words)
        assert ran.code == 0, ran.err
        requests = len(web.asked)
        again = run("run", "-C", folder, "--json", "-q")
        assert again.code == 0, again.err
        assert len(web.asked) == requests
        weaver = web.url("weaver.test", "/web")
    report = json.loads(ran.out)
    assert (report["crawl"]["pages"], report["convert"]["pages"], report["rank"]["pages"]) == (3, 3, 3)
    assert report["index"]["pages"] == 3
    found = json.loads(run("search", "그물", "-C", folder, "--json").out)
    assert [hit["url"] for hit in found["hits"]] == [weaver]


def test_without_seeds_nothing_is_begun(tmp_path: Path) -> None:
    ran = run("run", "-C", tmp_path / "crawl")
    assert ran.code == 2
    assert "give seeds" in ran.err
    assert not (tmp_path / "crawl").exists()
