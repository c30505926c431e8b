"""Over real HTTP: a crawl goes on where an imported archive ends, and what was forgotten is never asked for again."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from nephila.cli import run

from .archives import assert_archive_whole
from .odd_web import OddWeb, Site, UrlOf, page, serving
from .webs import QUICK, outcomes, settings_of


def two_sites(url: UrlOf) -> Mapping[str, Site]:
    return {
        "one.test": {
            "/": page("/a", "/secret", url("two.test", "/")), "/a": page("/b", "/secret"), "/b": page(),
            "/secret": page(text="quicksilver"),
        },
        "two.test": {"/": page(url("one.test", "/secret"), "/deep"), "/deep": page()},
    }  # fmt: skip


@pytest.fixture
def web() -> Iterator[OddWeb]:
    with serving(two_sites) as served:
        yield served


def crawl(web: OddWeb, folder: Path, *words: object) -> None:
    own = {"net.allow_private": "127.0.0.0/8", "net.hosts": web.write_hosts(folder.parent / "hosts")}
    words = ("-C", folder, "-q", "--engine", "inline", "--agents", 1, *settings_of(QUICK, own), *words)
    assert run(["crawl", *map(str, words)]) == 0


def test_a_crawl_goes_on_where_an_imported_archive_ends(web: OddWeb, tmp_path: Path) -> None:
    # given the first pages of a web in an archive, imported into a folder that has never asked anybody
    crawl(web, tmp_path / "first", web.url("one.test"), "--set", "crawl.max_pages=2")
    assert run(["export", "wacz", str(tmp_path / "first.wacz"), "-C", str(tmp_path / "first")]) == 0
    assert run(["import", str(tmp_path / "first.wacz"), "-C", str(tmp_path / "crawl"), "-q"]) == 0
    asked = len(web.asked)
    # when the crawl goes on there
    crawl(web, tmp_path / "crawl")
    # then every page is here, and what the archive had was not asked for again
    assert set(outcomes(tmp_path / "crawl").values()) == {"ok"}
    assert len(outcomes(tmp_path / "crawl")) == 6
    pages = [row.path for row in web.asked[asked:] if row.path != "/robots.txt" and not row.path.startswith("/nephila")]
    assert sorted(pages) == sorted({"/a", "/b", "/secret", "/", "/deep"} - {web.asked[2].path}), web.asked
    assert_archive_whole(tmp_path / "crawl")


def test_what_was_forgotten_is_asked_for_neither_by_crawl_nor_by_refresh(web: OddWeb, tmp_path: Path) -> None:
    # given a complete crawl with tables
    folder, secret = tmp_path / "crawl", web.url("one.test", "/secret")
    clock = {"clock.rate": 100_000.0, "clock.origin": time.time(), "clock.real_origin": time.time()}
    crawl(web, folder, web.url("one.test"), *settings_of(clock))  # a real second is more than a day
    assert run(["convert", "-C", str(folder), "--engine", "inline", "-q"]) == 0
    assert outcomes(folder)[secret] == "ok"
    # when one page of it is forgotten, and given as a seed, and the crawl and a round of refresh go on
    assert run(["forget", secret, "-C", str(folder), "--engine", "inline", "-q"]) == 0
    asked = len(web.asked)
    crawl(web, folder, secret, web.url("two.test", "/deep"))
    words = ["refresh", "-C", str(folder), "-q", "--engine", "inline", "--agents", "1", "--budget", "20"]
    assert run(words) == 0
    # then others were visited again, and this one was not
    again = [row.path for row in web.asked[asked:]]
    assert "/a" in again and "/secret" not in again
    assert outcomes(folder)[secret] == "forgotten"
    assert run(["crawl", secret, "-C", str(folder), "-q"]) == 2
