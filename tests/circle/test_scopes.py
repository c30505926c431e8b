"""Scopes and sources in whole crawls: what is let in, what is left out by which rule, and what nobody else is told."""

from __future__ import annotations

import gzip
import socket
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from nephila.config.layers import Layer
from nephila.config.sections import Config, Convert, Links
from nephila.convert.run import run as convert
from nephila.crawl.report import CrawlReport
from nephila.crawl.run import open_crawl
from nephila.crawl.run import run as run_crawl
from nephila.crawl.status import read_status
from nephila.crawl.why import why
from nephila.engine import open_engine
from nephila.errors import ConfigError
from nephila.jobs.repair import repair
from nephila.store.folder import CrawlFolder
from nephila.store.opened import OpenedCrawl

from .odd_web import OddWeb, Said, Site, UrlOf, moved, page, serving
from .webs import outcomes, slot_rows

FAST: Mapping[str, object] = {
    "politeness.min_delay": 0.0, "politeness.delay_factor": 0.0, "crawl.retries": 0, "crawl.sleep_min": 0.1,
    "archive.sync": False, "net.allow_private": ["127.0.0.0/8"],
}  # fmt: skip


def collect(web: OddWeb, folder: Path, seeds: list[str], **settings: object) -> CrawlReport:
    """A real crawl over HTTP in this process."""
    named = {key.replace("__", "."): value for key, value in settings.items()}
    hosts = {"net.hosts": str(web.write_hosts(folder.parent / "hosts"))}
    layer = Layer("the test", {**FAST, **hosts, **named})
    opened, seed_list = open_crawl(folder, [layer], [(seed, "the test") for seed in seeds], 1)
    try:
        with open_engine("inline", 1) as engine:
            return run_crawl(opened, seed_list, engine, 1)
    finally:
        opened.lock.release()


def pages_of(folder: Path) -> dict[str, tuple[Any, ...]]:
    sql = "SELECT path, outcome, reason, kind, depth FROM pages"
    return {row[0]: row[1:] for row in slot_rows(folder, sql)}


# Sitemaps and feeds


def listed(url: UrlOf) -> Mapping[str, Site]:
    def urlset(*paths: str) -> str:
        rows = "".join(f"<url><loc>{url('a.test', path)}</loc><lastmod>2020-02-03</lastmod></url>" for path in paths)
        elsewhere = f"<url><loc>{url('b.test', '/never')}</loc></url>"
        return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}{elsewhere}</urlset>'

    def index(*places: str) -> Said:
        rows = "".join(f"<sitemap><loc>{url('a.test', place)}</loc></sitemap>" for place in places)
        return Said(f"<sitemapindex>{rows}</sitemapindex>", content_type="application/xml")

    feed = "<rss version='2.0'><channel><item><title>News</title><link>/news</link></item></channel></rss>"
    robots = f"User-agent: *\nDisallow: /private/\nSitemap: {url('a.test', '/index.xml')}\n"
    robots += f"Sitemap: {url('b.test', '/other.xml')}\nSitemap: {url('a.test', '/private/map.xml')}\n"
    return {
        "a.test": {
            "/robots.txt": Said(robots, content_type="text/plain"),
            "/index.xml": index("/one.xml.gz", "/deeper.xml", "/gone.xml", "/moved.xml", "/index.xml"),
            "/moved.xml": moved("/here.xml", 301),
            "/here.xml": Said(urlset("/there"), content_type="text/xml"),
            "/there": page(),
            "/deeper.xml": index("/deepest.xml"),
            "/deepest.xml": index("/too-deep.xml"),
            "/too-deep.xml": Said(urlset("/beyond"), content_type="text/xml"),
            "/one.xml.gz": Said(gzip.compress(urlset("/hidden", "/private/listed").encode()),
                                content_type="application/gzip"),
            "/": page("/linked", head='<link rel="alternate" type="application/rss+xml" href="/feed">'),
            "/linked": page(), "/hidden": page(), "/news": page(),
            "/feed": Said(feed, content_type="application/rss+xml"),
            "/private/map.xml": Said(urlset("/secret"), content_type="text/xml"),
        },
        "b.test": {"/": page(), "/never": page(), "/other.xml": Said("<urlset/>", content_type="text/xml")},
    }  # fmt: skip


def test_sitemaps_and_feeds_bring_urls_within_their_limits_and_robots_txt(tmp_path: Path) -> None:
    with serving(listed) as web:
        # when a site is collected with its sitemaps and feeds
        report = collect(web, tmp_path / "crawl", [web.url("a.test")], sources__sitemaps="robots", sources__feeds="all")
        asked = web.paths("a.test")
    found = pages_of(tmp_path / "crawl")
    # then the sitemap's page came through index and gzip, one link deep, with its kind, and the feed's likewise
    assert found["/hidden"] == ("ok", "", "sitemap", 1)
    assert found["/there"] == ("ok", "", "sitemap", 1)
    assert asked.count("/index.xml") == 1
    assert found["/news"] == ("ok", "", "feed", 2)
    assert found["/private/listed"][0] == "blocked_robots"
    # and what robots.txt, the depth of indexes or the other site forbids was not asked for
    assert not {"/private/map.xml", "/too-deep.xml"} & set(asked)
    assert "/other.xml" not in web.paths("b.test") and web.paths("b.test") == []
    states = dict(
        slot_rows(tmp_path / "crawl", "SELECT replace(url, rtrim(url, replace(url, '/', '')), ''), state FROM sources")
    )
    assert states["one.xml.gz"] == "read" and states["gone.xml"] == "failed"
    assert states["map.xml"] == states["other.xml"] == states["too-deep.xml"] == "refused"
    # and sitemaps are no pages: they are visits of their own role, archived, and lastmod is kept
    assert {"/index.xml", "/one.xml.gz"}.isdisjoint(found)
    roles = slot_rows(tmp_path / "crawl", "SELECT path FROM visits WHERE role = 'sitemap' AND archive_file IS NOT NULL")
    assert ("/one.xml.gz",) in roles
    assert slot_rows(tmp_path / "crawl", "SELECT stated_at FROM pages WHERE path = '/hidden'") == [(1580688000.0,)]
    assert report.refused_by_rule["sitemap_same_site"] == 2
    story = why(CrawlFolder(tmp_path / "crawl"), Config(), web.url("a.test", "/hidden"))
    assert any("the sitemap" in event.what for event in story.events)


def test_without_being_asked_nobody_looks_for_sitemaps_but_a_seed_that_is_one_is_read(tmp_path: Path) -> None:
    with serving(listed) as web:
        collect(web, tmp_path / "plain", [web.url("a.test")])
        assert "/index.xml" not in web.paths("a.test")
        # when the index itself is a seed
        collect(web, tmp_path / "crawl", [web.url("a.test", "/index.xml")])
    found = pages_of(tmp_path / "crawl")
    # then it is a page, and so are the sitemaps that it lists
    assert found["/hidden"][0] == "ok" and found["/hidden"][2] == "sitemap"
    assert found["/index.xml"][2] == "s"


def test_a_killed_site_goes_on_with_the_sitemaps_that_it_had_not_read(tmp_path: Path) -> None:
    with serving(listed) as web:
        limits = {"crawl__max_pages": 1, "sources__sitemaps": "robots"}
        collect(web, tmp_path / "crawl", [web.url("a.test")], **limits)
        before = web.paths("a.test").count("/index.xml")
        collect(web, tmp_path / "crawl", [], crawl__max_pages="none")
        # then what was read today is not asked for again
        assert web.paths("a.test").count("/index.xml") == before == 1
    assert outcomes(tmp_path / "crawl")[web.url("a.test", "/hidden")] == "ok"


def test_pages_that_only_a_sitemap_lists_are_there_again_after_a_lost_database(tmp_path: Path) -> None:
    with serving(listed) as web:
        collect(web, tmp_path / "crawl", [web.url("a.test")], sources__sitemaps="robots")
        before = outcomes(tmp_path / "crawl")
    for path in (tmp_path / "crawl" / "state").glob("agent-00.db*"):
        path.unlink()
    # when the slot is made anew from the archive
    report = repair(tmp_path / "crawl")
    assert report.rebuilt
    after = outcomes(tmp_path / "crawl")
    assert after[web.url("a.test", "/hidden")] == "ok"
    answered = {url for url, outcome in before.items() if outcome == "ok"}
    assert {url for url, outcome in after.items() if outcome == "ok"} == answered


# Countries


def abroad(url: UrlOf) -> Mapping[str, Site]:
    return {
        "home.test": {"/": page(url("abroad.test", "/x"), url("near.test", "/")), "/y": page()},
        "abroad.test": {"/x": page()},
        "near.test": {"/": page()},
    }


def test_s1_8_only_sites_whose_address_is_in_the_country_are_asked_and_the_share_refused_is_told(
    tmp_path: Path,
) -> None:
    with serving(abroad) as web:
        ranges = tmp_path / "kr.txt"
        ranges.write_text(f"# ours\n{web.addresses['home.test']}/32\n{web.addresses['near.test']}\n")
        settings = {"scope__include_countries": ["KR"], "scope__country_ranges": [f"KR={ranges}"]}
        report = collect(web, tmp_path / "crawl", [web.url("home.test")], **settings)
        # then nothing was asked of the other
        assert web.paths("abroad.test") == [] and "/" in web.paths("near.test")
        abroad_url, address = web.url("abroad.test", "/x"), web.addresses["abroad.test"]
    assert outcomes(tmp_path / "crawl")[abroad_url] == "scope_rejected"
    assert report.refused_by_rule == {"country": 1}
    assert (report.refused_sites, report.located_sites) == ({"country": 1}, 3)
    folder = CrawlFolder(tmp_path / "crawl")
    assert why(folder, Config(), abroad_url).reason == f"country: {address} is in no range"
    status = read_status(folder, 0.0)
    assert status is not None and status.report.refused_by_rule == {"country": 1}


# Types of content


def mixed(url: UrlOf) -> Mapping[str, Site]:
    return {
        "a.test": {
            "/": page("/a.png", "/picture", "/doc.pdf", "/notes.txt"),
            "/picture": Said("x" * 200_000, content_type="image/png"),
            "/doc.pdf": Said("%PDF-1.4 no real one", content_type="application/pdf"),
            "/notes.txt": Said("searchable words stand in a plain text", content_type="text/plain"),
        }
    }


def test_types_are_skipped_by_name_or_header_archived_only_or_read(tmp_path: Path) -> None:
    with serving(mixed) as web:
        settings = {"content__images": "skip", "content__pdf": "archive"}
        report = collect(web, tmp_path / "crawl", [web.url("a.test")], **settings)
        assert "/a.png" not in web.paths("a.test")
    found = pages_of(tmp_path / "crawl")
    assert found["/a.png"][:2] == ("scope_rejected", "content")
    assert found["/picture"][:2] == ("truncated_length", "content.images=skip: image/png")
    [(wire_bytes, body_bytes, checksum)] = slot_rows(
        tmp_path / "crawl", "SELECT wire_bytes, body_bytes, checksum FROM pages WHERE path = '/picture'"
    )
    assert body_bytes == 0 and checksum is None and wire_bytes < 200_000
    assert report.judged == {"archived": 1, "skipped": 1}
    # and convert reads the text, and leaves alone what is archived only
    with open_engine("inline", 1) as engine:
        convert(Convert(), Links(), CrawlFolder(tmp_path / "crawl"), engine)
    rows = OpenedCrawl(tmp_path / "crawl").pages(["url", "parse", "text", "flags"]).to_pylist()
    by_path = {row["url"].rpartition("/")[2]: row for row in rows}
    assert by_path["notes.txt"]["text"] == "searchable words stand in a plain text"
    assert by_path["doc.pdf"]["parse"] == "other" and by_path["doc.pdf"]["flags"] == "archive_only"


# Own sites


def own(url: UrlOf) -> Mapping[str, Site]:
    return {
        "own.test": {"/": page("/in", url("other.test", "/")), "/in": moved(url("other.test", "/landed"))},
        "other.test": {"/": page(), "/landed": page()},
    }


def test_a_login_goes_to_its_own_site_alone_and_stands_in_no_file_of_the_crawl(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OWN_PASSWORD", "hunter2-of-the-test")
    (tmp_path / "cookie").write_text("sugar-and-salt\n")
    with serving(own) as web:
        credentials = tmp_path / "credentials.toml"
        credentials.write_text(
            f"""[{web.url("own.test", "")!r}]
            basic = {{ user = "robot", password = "env:OWN_PASSWORD" }}
            cookies = {{ session = "file:{tmp_path / "cookie"}" }}
            headers = {{ X-Team = "blue-green-red" }}
            """
        )
        collect(web, tmp_path / "crawl", [web.url("own.test")], net__credentials=str(credentials))
        asked = list(web.asked)
    # then every request of the own site has them, robots.txt too
    mine = [row.headers for row in asked if row.host == "own.test"]
    assert len(mine) == 3
    assert all(headers["Authorization"].startswith("Basic ") for headers in mine)
    assert all(
        (headers["Cookie"], headers["X-Team"]) == ("session=sugar-and-salt", "blue-green-red") for headers in mine
    )
    # and none of the other site's, which was reached by a link and by a redirect
    others = [row for row in asked if row.host == "other.test"]
    assert {row.path for row in others} >= {"/", "/landed"}
    assert all({"Authorization", "Cookie", "X-Team"}.isdisjoint(row.headers) for row in others)
    # and no file of the crawl holds any of the secrets, unpacked or not
    secrets = [b"hunter2-of-the-test", b"sugar-and-salt", b"blue-green-red", b"cm9ib3Q6aHVudGVyMi1vZi10aGUtdGVzdA"]
    masked = 0
    for path in (tmp_path / "crawl").rglob("*"):
        content = path.read_bytes() if path.is_file() else b""
        content = gzip.decompress(content) if path.suffix == ".gz" else content
        assert not any(secret in content for secret in secrets), path
        masked += content.count(b"Authorization: ***")
    assert masked == 3


def test_a_site_on_an_ipv6_address_is_collected_unless_ipv6_is_off(tmp_path: Path) -> None:
    class Six(ThreadingHTTPServer):
        address_family = socket.AF_INET6

    class Answering(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<a href=/two>two</a>")

        def log_message(self, *_: Any) -> None: ...

    asked: list[str] = []
    try:
        server = Six(("::1", 0), Answering)
    except OSError:
        pytest.skip("this machine has no IPv6 loopback")
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        web = OddWeb(server.server_port, {})
        seed = f"http://[::1]:{server.server_port}/"
        local = ["::1/128"]
        collect(web, tmp_path / "off", [seed], net__allow_private=local, net__ipv6=False)
        assert (outcomes(tmp_path / "off"), asked) == ({seed: "dns_fail"}, [])
        collect(web, tmp_path / "on", [seed], net__allow_private=local)
    finally:
        server.shutdown()
        server.server_close()
    assert set(outcomes(tmp_path / "on").values()) == {"ok"} and len(outcomes(tmp_path / "on")) == 2


# Topics, languages and wrappers (S4-1)

VIDEO = "This page is about video and codec, about decoding video with a codec, and what players do with it. "
COOKS = "This page is about soup and bread, about cooking soup for guests, and what to eat with it afterwards. "
KOREAN = (
    "이 문서는 웹 로봇이 어떻게 문서를 수집하고 색인을 만드는지를 설명하는 한국어 문서입니다. 검색 엔진에 쓰입니다. "
)


def topics(url: UrlOf) -> Mapping[str, Site]:
    return {
        "v.test": {
            "/": page("/more", "/soup", text=VIDEO),
            "/more": page(url("w.test", "/"), text=VIDEO),
            "/soup": page("/bread", "/more", text=COOKS),
            "/bread": page("/salt", text=COOKS),
            "/salt": page("/pepper", text=COOKS),
        },
        "w.test": {"/": page("/off", text=VIDEO), "/off": page("/offer", text=COOKS), "/offer": page(text=COOKS)},
    }


def test_links_of_pages_off_topic_are_followed_within_the_margin_alone(tmp_path: Path) -> None:
    with serving(topics) as web:
        settings = {"topic__wanted": ["video", "codec"], "crawl__profile": "topical", "scope__margin": 1}
        report = collect(web, tmp_path / "crawl", [web.url("v.test")], **settings)
        salt = web.url("v.test", "/salt")
        begun = collect(web, tmp_path / "begun", [web.url("v.test", "/soup")], **{**settings, "scope__margin": 0})
    # then one page off topic is read from a page on topic, and one from that, but nothing that the second links to
    assert {path for path, row in pages_of(tmp_path / "crawl").items() if row[0] == "ok"} == {
        "/", "/more", "/soup", "/bread", "/off", "/offer",
    }  # fmt: skip
    assert outcomes(tmp_path / "crawl").get(salt) is None
    story = why(CrawlFolder(tmp_path / "crawl"), Config(), salt)
    assert (story.outcome, story.reason) == ("scope_rejected", "topic: 2 pages in a row")
    # and how much of what came was wanted is told
    assert report.judged == {"on": 3, "topic": 4}
    assert report.harvest_ratio == round(3 / 7, 4)
    assert report.refused_by_rule == {"topic": 1}
    # and a seed is where the user begins, on topic or not
    assert begun.judged == {"on": 2, "topic": 3}
    flags = dict(slot_rows(tmp_path / "crawl", "SELECT path, flags FROM pages"))
    assert flags["/soup"] == "off:topic" and flags["/more"] == ""


def test_a_topic_is_learnt_from_example_pages_and_kept_with_the_crawl(tmp_path: Path) -> None:
    for name, text in (("wanted", VIDEO), ("unwanted", COOKS)):
        (tmp_path / name).mkdir()
        for number in range(3):
            (tmp_path / name / f"{number}.html").write_text(f"<p>{text * (number + 1)}</p>")
    with serving(topics) as web:
        settings = {
            "topic__wanted_pages": [str(tmp_path / "wanted")], "topic__unwanted_pages": [str(tmp_path / "unwanted")],
            "scope__margin": 0, "crawl__max_pages": 2,
        }  # fmt: skip
        collect(web, tmp_path / "crawl", [web.url("v.test")], **settings)
        for path in tmp_path.glob("*wanted/*"):
            path.unlink()
        # when the crawl goes on without the examples
        report = collect(web, tmp_path / "crawl", [], crawl__max_pages="none")
    assert report.judged == {"on": 3, "topic": 2}
    assert report.refused_by_rule == {"topic": 3}


def test_a_link_that_a_page_off_topic_has_is_followed_where_a_page_on_topic_has_it_too(tmp_path: Path) -> None:
    def web_of(url: UrlOf) -> Mapping[str, Site]:
        return {
            "v.test": {
                "/": page("/soup", "/more", text=VIDEO), "/soup": page("/late", text=COOKS),
                "/more": page("/late", text=VIDEO), "/late": page(text=VIDEO),
            }
        }  # fmt: skip

    with serving(web_of) as web:
        settings = {"topic__wanted": ["video"], "topic__min_hits": 1, "scope__margin": 0}
        collect(web, tmp_path / "crawl", [web.url("v.test")], **settings)
    assert pages_of(tmp_path / "crawl")["/late"][0] == "ok"
    # and it is not among the unfetched because it was left out where it was found first
    with open_engine("inline", 1) as engine:
        convert(Convert(), Links(), CrawlFolder(tmp_path / "crawl"), engine)
    assert OpenedCrawl(tmp_path / "crawl").table("unfetched").num_rows == 0


def test_pages_in_other_languages_lead_no_further(tmp_path: Path) -> None:
    def web_of(url: UrlOf) -> Mapping[str, Site]:
        return {
            "k.test": {
                "/": page("/ko", "/en", text=KOREAN * 3), "/ko": page("/ko2", text=KOREAN * 3), "/ko2": page(),
                "/en": page("/en2", text=VIDEO), "/en2": page("/en3", text=COOKS),
            }
        }  # fmt: skip

    with serving(web_of) as web:
        report = collect(web, tmp_path / "crawl", [web.url("k.test")], scope__languages=["ko"], scope__margin=0)
    assert sorted(pages_of(tmp_path / "crawl")) == ["/", "/en", "/ko", "/ko2"]
    assert report.judged == {"language": 1, "on": 2}  # the page without a text tells nothing
    assert report.refused_by_rule == {"language": 1}


WRAPPERS = """
[item]
match = ["http://shop.test:*/item/*"]
fields.name = "h1"
fields.price = { json_ld = "offers.price", type = "number" }
fields.since = { xpath = "//time/@datetime", type = "date" }
fields.tags = { css = "li.tag", many = true }
"""


def shop(url: UrlOf) -> Mapping[str, Site]:
    def item(number: int, *links: str) -> Said:
        said = page(
            *links,
            text=f"""<h1>Thing {number}</h1><time datetime="2021-03-0{number}">x</time>
            <ul><li class=tag>a<li class=tag>b</ul>
            <script type="application/ld+json">{{"@type": "Product", "offers": {{"price": {number}.5}}}}</script>""",
        )
        return said  # noqa: RET504

    return {
        "shop.test": {
            "/": page("/item/1", "/about", "/list/2"), "/about": page(), "/list/2": page("/item/2"),
            "/item/1": item(1, "/item/2", "/about"), "/item/2": item(2, "/"),
        }
    }  # fmt: skip


def test_a_wrapper_based_crawl_asks_for_named_pages_alone_and_convert_takes_their_fields(tmp_path: Path) -> None:
    wrappers = tmp_path / "wrappers.toml"
    wrappers.write_text(WRAPPERS)
    with serving(shop) as web:
        settings = {"crawl__profile": "wrapper", "convert__wrappers": str(wrappers)}
        report = collect(web, tmp_path / "crawl", [web.url("shop.test")], **settings)
        assert sorted(web.paths("shop.test")) == ["/", "/item/1", "/item/2", "/robots.txt"]
    assert report.refused_by_rule == {"wrappers": 2}
    with open_engine("inline", 1) as engine:
        told = convert(Convert(wrappers=str(wrappers)), Links(), CrawlFolder(tmp_path / "crawl"), engine)
        again = convert(Convert(wrappers=str(wrappers)), Links(), CrawlFolder(tmp_path / "crawl"), engine)
    assert told.fields == again.fields == 10
    sql = """SELECT url, field, place, fields.text, number, moment FROM fields JOIN pages USING (page_id)
             WHERE url LIKE '%/2' ORDER BY field, place"""
    rows = OpenedCrawl(tmp_path / "crawl").sql(sql).to_pylist()
    assert [(row["field"], row["text"], row["number"]) for row in rows] == [
        ("name", "Thing 2", None), ("price", "2.5", 2.5), ("since", "2021-03-02", None), ("tags", "a", None),
        ("tags", "b", None),
    ]  # fmt: skip
    assert rows[2]["moment"].isoformat() == "2021-03-02T00:00:00+00:00"
    # and another file of wrappers makes other rows of pages that were read before
    wrappers.write_text('[all]\nmatch = ["*"]\nfields.h = "h1"\n')
    with open_engine("inline", 1) as engine:
        assert convert(Convert(wrappers=str(wrappers)), Links(), CrawlFolder(tmp_path / "crawl"), engine).fields == 2


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"crawl__profile": "topical"}, "needs a topic"),
        ({"crawl__profile": "wrapper"}, "convert.wrappers names no file"),
        ({"scope__include_countries": ["KR"]}, "scope.country_ranges names no file"),
        ({"scope__include_countries": ["Korea"], "scope__country_ranges": ["x"]}, "no country code"),
        ({"topic__wanted_pages": ["nowhere"]}, "go together"),
        ({"scope__languages": ["korean"]}, "no language code"),
        ({"net__proxy": "http://user:secret-of-the-test@proxy.test:1"}, "must not hold a login"),
        ({"net__credentials": "nowhere.toml"}, "cannot be read"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_touched(
    settings: dict[str, object], said: str, tmp_path: Path
) -> None:
    layer = Layer("the test", {key.replace("__", "."): value for key, value in settings.items()})
    with pytest.raises(ConfigError, match=said) as caught:
        open_crawl(tmp_path / "crawl", [layer], [("http://a.test/", "the test")], 1)
    assert "secret-of-the-test" not in str(caught.value)
    assert not (tmp_path / "crawl").exists()
