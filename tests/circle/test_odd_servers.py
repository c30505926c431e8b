"""What servers do besides answering, in one crawl of a few sites that do it; then a test per behaviour."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from .archives import assert_archive_whole, kinds_by_warcio
from .odd_web import OddWeb, Said, Site, UrlOf, moved, page, serving
from .webs import QUICK, crawl_inline, outcomes, pages, run, running, settings_of, slot_rows, wait_until

LONG = "/" + "x" * 3000


def the_sites(url: UrlOf) -> Mapping[str, Site]:
    chain = {f"/chain{hop}": moved(f"/chain{hop + 1}") for hop in range(14)}
    same = page("/from-copy", text="the same words")
    busy = Said("later", 429, (("Retry-After", "1"),))
    return {
        "dup.test": {
            "/": page("/first", "/second"), "/first": same, "/second": same,
            "/from-copy": same,  # a copy that was found through a copy
            "/moved-here": page(text="reached from another site"),
        },
        "redirect.test": {
            "/": page("/chain0", "/loop1", "/self", "/away", "/nowhere", "/refresh"),
            **chain, "/loop1": moved("/loop2"), "/loop2": moved("/loop1"), "/self": moved("/self", 301),
            "/away": moved(url("dup.test", "/moved-here")), "/nowhere": moved("mailto:nobody@example.org"),
            "/refresh": page(head='<meta http-equiv="refresh" content="0; url=/refreshed">'),
            "/refreshed": page(text="refreshed"),
        },
        "nofollow.test": {
            "/": page("/meta", "/header", "/plain"),
            "/meta": page("/hidden1", head='<meta name="robots" content="noindex, nofollow">'),
            "/header": Said(page("/hidden2").body, 200, (("X-Robots-Tag", "nofollow"),)),
            "/plain": page("/seen"), "/seen": page(),
            "/hidden1": page(), "/hidden2": page(),
        },
        "long.test": {
            "/": page(LONG, "/p?sid=1", "/p?PHPSESSID=abc", "/p;jsessionid=9", "/q?b=1&utm_source=x", "ftp://f.test/"),
            "/p": page(text="one page"), "/q?b=1": page(text="another"),
        },
        "busy.test": {
            "/": page("/busy", "/down"),
            "/busy": lambda before: busy if before == 0 else page(text="at last"),
            "/down": lambda before: Said("no", 503) if before == 0 else page(text="up again"),
        },
        "norobots.test": {"/": page("/a"), "/a": page(), "/robots.txt": Said("broken", 500)},
        "rules.test": {
            "/": page("/open", "/closed/x", "/p.cgi"), "/open": page(), "/closed/x": page(), "/p.cgi": page(),
            "/robots.txt": moved("/where/robots.txt"),
            "/where/robots.txt": Said("User-agent: *\nDisallow: /closed/\nDisallow: /*.cgi$\n"),
        },
    }  # fmt: skip


@pytest.fixture(scope="module")
def web() -> Iterator[OddWeb]:
    with serving(the_sites) as served:
        yield served


def options(web: OddWeb, folder: Path, **more: object) -> list[str]:
    hosts = web.write_hosts(folder / "hosts")
    odd = {"net.allow_private": "127.0.0.0/8", "net.hosts": hosts, "crawl.retries": 2, "crawl.retry_wait": 0.2}
    return settings_of(QUICK, odd, {key.replace("__", "."): value for key, value in more.items()})


@pytest.fixture(scope="module")
def folder(web: OddWeb, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of one crawl of all these sites."""
    place = tmp_path_factory.mktemp("odd")
    ran = crawl_inline(place / "crawl", *(web.url(host) for host in web.addresses), *options(web, place))
    assert ran.code == 0, ran.err
    assert ran.report["how"] == "done"
    return place / "crawl"


@pytest.fixture(scope="module")
def found(folder: Path) -> dict[str, str]:
    return outcomes(folder)


def test_a_copy_in_a_site_is_a_revisit_record_and_its_links_are_followed_once(
    web: OddWeb, folder: Path, found: dict[str, str]
) -> None:
    sql = (
        "SELECT path, duplicate_of IS NOT NULL FROM pages WHERE checksum = (SELECT checksum FROM pages WHERE path = ?)"
    )
    rows = slot_rows(folder, sql, "/first")
    assert sorted(rows) == [("/first", 0), ("/from-copy", 1), ("/second", 1)]
    assert kinds_by_warcio(folder)["revisit"] == 2
    assert web.paths("dup.test").count("/from-copy") == 1
    assert_archive_whole(folder)


def test_chains_end_loops_end_and_each_hop_is_a_url_of_its_own(web: OddWeb, found: dict[str, str]) -> None:
    def outcome(path: str) -> str | None:
        return found.get(web.url("redirect.test", path))

    assert [outcome(f"/chain{hop}") for hop in range(10)] == ["redirect"] * 10
    assert outcome("/chain10") == "redirect_limit"
    assert outcome("/chain11") is None
    assert {outcome("/loop1"), outcome("/loop2")} == {"redirect", "redirect_loop"}
    assert outcome("/self") == "redirect_loop"
    assert outcome("/nowhere") == "http_error"
    assert outcome("/away") == "redirect"
    assert found[web.url("dup.test", "/moved-here")] == "ok"
    assert outcome("/refreshed") == "ok"


def test_nofollow_is_honoured_and_noindex_recorded(web: OddWeb, folder: Path, found: dict[str, str]) -> None:
    assert found[web.url("nofollow.test", "/seen")] == "ok"
    for hidden in ("/hidden1", "/hidden2"):
        assert web.url("nofollow.test", hidden) not in found
        assert hidden not in web.paths("nofollow.test")
    flags = dict(slot_rows(folder, "SELECT path, flags FROM pages WHERE path IN ('/meta', '/header')"))
    assert flags == {"/meta": "noindex nofollow", "/header": "nofollow"}


def test_long_urls_are_counted_and_session_ids_cut_off(web: OddWeb, folder: Path, found: dict[str, str]) -> None:
    of_site = {url for url in found if url.startswith(web.url("long.test"))}
    assert of_site == {web.url("long.test", path) for path in ("/", "/p", "/q?b=1")}
    assert web.paths("long.test").count("/p") == 1
    counts = dict(slot_rows(folder, "SELECT why, sum(count) FROM refused GROUP BY why"))
    status = json.loads(run("status", "-C", folder, "--json").out)
    assert counts["url_too_long"] == 1
    assert status["report"]["refused_links"] == {"blocked_scheme": 1, "url_too_long": 1}


def test_a_busy_server_is_left_alone_as_long_as_it_asks_and_then_answers(web: OddWeb, found: dict[str, str]) -> None:
    assert found[web.url("busy.test", "/busy")] == found[web.url("busy.test", "/down")] == "ok"
    asked = [row for row in web.asked if row.host == "busy.test"]
    [first] = [place for place, row in enumerate(asked) if row.status == 429]
    assert asked[first + 1].at - asked[first].ended_at >= 1.0


def test_nothing_is_asked_of_a_site_whose_robots_txt_cannot_be_had(web: OddWeb, found: dict[str, str]) -> None:
    assert set(web.paths("norobots.test")) == {"/robots.txt"}
    assert found[web.url("norobots.test")] == "deferred_robots"


def test_rules_behind_a_redirect_bind_the_site(web: OddWeb, folder: Path, found: dict[str, str]) -> None:
    assert {found[web.url("rules.test", path)] for path in ("/closed/x", "/p.cgi")} == {"blocked_robots"}
    assert found[web.url("rules.test", "/open")] == "ok"
    assert web.paths("rules.test")[:2] == ["/robots.txt", "/where/robots.txt"]
    assert not {"/closed/x", "/p.cgi"} & set(web.paths("rules.test"))
    assert pages(folder)[web.url("rules.test", "/p.cgi")].reason == "Disallow: /*.cgi$"


def test_why_tells_the_story_of_a_url(web: OddWeb, folder: Path) -> None:
    def story(url: str) -> str:
        told = run("why", url, "-C", folder)
        assert told.code == 0, told.err
        return told.out

    closed = story(web.url("rules.test", "/closed/x"))
    assert "blocked_robots: Disallow: /closed/" in closed
    assert f"{web.url('rules.test')} has an <a> link to it; depth 1" in closed
    copy = story(web.url("dup.test", "/second"))
    assert "its content is the same as that of /first" in copy
    assert "kept in nephila-agent-0" in copy
    assert "it leads to" in story(web.url("redirect.test", "/away"))
    assert "redirected to it (hop 1)" in story(web.url("dup.test", "/moved-here"))
    assert "unknown" in story("http://nobody.test/")
    deferred = story(web.url("norobots.test"))
    assert "deferred_robots" in deferred
    assert "it waits to be requested" in deferred


def test_a_deferred_site_is_asked_again_by_the_next_run(tmp_path: Path) -> None:
    """5xx for robots.txt means no until it answers: deferred, not lost."""

    def sites(url: UrlOf) -> Mapping[str, Site]:
        return {
            "later.test": {
                "/": page("/a"),
                "/a": page(),
                "/robots.txt": lambda before: Said("", 503 if before < 2 else 404),
            }
        }

    with serving(sites) as web:
        words = options(web, tmp_path, crawl__give_up=1, crawl__sleep_min=0.05)
        ran = crawl_inline(tmp_path / "crawl", web.url("later.test"), *words)
        assert ran.report["outcomes"] == {"deferred_robots": 1}
        assert ran.report["sites"]["asleep"] == 1
        assert set(web.paths("later.test")) == {"/robots.txt"}
        ran = crawl_inline(tmp_path / "crawl")
        assert ran.report["outcomes"] == {"ok": 2}


def test_a_running_crawl_is_seen_from_another_process(tmp_path: Path) -> None:
    def sites(url: UrlOf) -> Mapping[str, Site]:
        return {
            "slow.test": {"/": page(*(f"/{n}" for n in range(100))), **{f"/{n}": page(text=str(n)) for n in range(100)}}
        }

    with serving(sites) as web:
        words = options(web, tmp_path, politeness__min_delay=0.3)
        with running(tmp_path / "crawl", web.url("slow.test"), "--agents", 1, *words) as started:
            started.until_pages(3)

            def seen() -> bool:
                told = run("status", "-C", tmp_path / "crawl", "--json")
                return told.code == 0 and told.report["running"] and told.report["report"]["pages"] >= 3

            wait_until(seen, 20.0, "a status with pages")
            text = run("status", "-C", tmp_path / "crawl").out
            assert text.startswith("Running.")
            # and a second crawl of the folder is refused
            second = crawl_inline(tmp_path / "crawl")
            assert second.code == 4
            assert "in use" in second.err
            started.interrupt()
            assert started.ended().code == 130
        assert json.loads(run("status", "-C", tmp_path / "crawl", "--json").out)["running"] is False
