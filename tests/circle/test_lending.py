"""A robots.txt may redirect to an address that another agent owns: even then it is asked one thing at a time."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path

from .odd_web import Said, Site, UrlOf, moved, page, serving
from .webs import QUICK, crawl, outcomes, settings_of

LEADING = 8
PAGES = 40
ANSWERS_AFTER_S = 0.03  # long enough for two requests to meet, if nothing kept them apart


def slow(said: Said) -> Callable[[int], Said]:
    def answer(before: int) -> Said:
        time.sleep(ANSWERS_AFTER_S)  # the server's own slowness
        return said

    return answer


def the_sites(url: UrlOf) -> Mapping[str, Site]:
    rules = Said("User-agent: *\nDisallow: /closed\n")
    kept = {f"/rules{number}.txt": slow(rules) for number in range(LEADING)}
    paths = [f"/{number}" for number in range(PAGES)]
    owner: Site = {"/": page(*paths), **{path: slow(page(text=path)) for path in paths}, **kept}
    leading: dict[str, Site] = {
        f"leads{number}.test": {
            "/": page("/open", "/closed"), "/open": page(), "/closed": page(),
            "/robots.txt": moved(url("owner.test", f"/rules{number}.txt")),
        }
        for number in range(LEADING)
    }  # fmt: skip
    return {"owner.test": owner, **leading}


def test_an_address_of_another_agent_is_borrowed_for_its_robots_txt(tmp_path: Path) -> None:
    with serving(the_sites) as web:
        hosts = web.write_hosts(tmp_path / "hosts")
        settings = settings_of(QUICK, {"net.allow_private": "127.0.0.0/8", "net.hosts": hosts})
        seeds = [web.url(host) for host in web.addresses]

        ran = crawl(tmp_path / "crawl", *seeds, "--agents", 3, *settings)

        assert ran.code == 0, ran.err
        found = outcomes(tmp_path / "crawl")
        for number in range(LEADING):
            assert found[web.url(f"leads{number}.test", "/open")] == "ok"
            assert found[web.url(f"leads{number}.test", "/closed")] == "blocked_robots"
        assert sum(found[web.url("owner.test", f"/{number}")] == "ok" for number in range(PAGES)) == PAGES
        asked = sorted((row.at, row.ended_at) for row in web.asked if row.host == "owner.test")
        assert max(Counter(web.paths("owner.test")).values()) == 1
        assert {*web.paths("owner.test")} >= {"/robots.txt", *the_sites(web.url)["owner.test"]}
        assert all(ended_at <= at for (_, ended_at), (at, _) in pairwise(asked))
