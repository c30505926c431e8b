"""What people ask of a crawl through DIR/control/: it rests, goes on, and leaves a site alone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from nephila.store.control import read_control, write_blocked, write_paused
from nephila.store.folder import CrawlFolder

from .odd_web import OddWeb, Site, UrlOf, page, serving
from .webs import QUICK, crawl_inline, running, settings_of, slot_rows, wait_until

CHAIN = 150


def chain(url: UrlOf) -> Mapping[str, Site]:
    """Two sites, each a chain of pages that must be asked for one after the other."""
    pages = {f"/{number}": page(f"/{number + 1}") for number in range(CHAIN)}
    return {host: {"/": page("/0"), **pages} for host in ("left.test", "right.test")}


def words_for(web: OddWeb, tmp_path: Path, **settings: object) -> list[object]:
    hosts = web.write_hosts(tmp_path / "hosts")
    return [
        web.url("left.test"), web.url("right.test"),
        *settings_of(QUICK, {"net.allow_private": "127.0.0.0/8", "net.hosts": hosts}, settings),
    ]  # fmt: skip


def test_a_paused_crawl_asks_nobody_and_goes_on_when_it_is_resumed(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path / "crawl")
    with (
        serving(chain) as web,
        running(folder.path, *words_for(web, tmp_path, **{"politeness.min_delay": 0.02})) as run,
    ):
        run.until_pages(10)
        # when it is asked to pause
        write_paused(folder, on=True)
        wait_until(lambda: _asked_stays(web), 20.0, "a pause")
        before = len(web.asked)
        # then nothing is asked for a second, in which it would have asked for fifty pages
        assert _quiet_for_a_second(web)
        assert len(web.asked) == before < 2 * CHAIN
        assert run.process.poll() is None
        # and it goes on where it was
        write_paused(folder, on=False)
        wait_until(lambda: len(web.asked) > before + 20, 20.0, "pages after the pause")


def test_a_crawl_that_starts_while_paused_asks_nobody(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path / "crawl")
    with serving(chain) as web:
        words = words_for(web, tmp_path, **{"crawl.max_seconds": 1.5})
        crawl_inline(folder.path, *words, "--set", "crawl.max_pages=1")
        before = len(web.asked)
        write_paused(folder, on=True)
        ran = crawl_inline(folder.path, "--set", "crawl.max_pages=none")
        assert (ran.report["how"], ran.report["paused"], len(web.asked)) == ("crawl.max_seconds", True, before)


def test_a_blocked_site_is_left_alone_and_its_urls_wait_for_the_first_run_without_the_block(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path / "crawl")
    with serving(chain) as web:
        words = words_for(web, tmp_path, **{"politeness.min_delay": 0.005})
        with running(folder.path, *words) as run:
            run.until_pages(10)
            # when one of two sites is blocked while both are collected
            write_blocked(folder, [web.url("left.test", "")])
            ended = run.ended(within_s=60.0)
        # then the other one is collected to its end, and the run ends
        assert ended.code == 0, ended.err
        assert len(web.paths("right.test")) == CHAIN + 4  # and robots.txt, the home page, a probe, a 404 at the end
        asked = len(web.paths("left.test"))
        assert asked < CHAIN
        assert slot_rows(folder.path, "SELECT outcome, reason, todo FROM pages WHERE todo = 1") == [
            ("deferred_host", "control/blocked", 1)
        ]
        # the next run asks it nothing either, and does not count it as a failure
        assert crawl_inline(folder.path).code == 0
        assert len(web.paths("left.test")) == asked
        assert slot_rows(folder.path, "SELECT state, failed_runs FROM sites WHERE outcome != ''") == [("asleep", 0)]
        # and without the block it is collected to its end, every page once
        write_blocked(folder, [])
        assert crawl_inline(folder.path, within_s=60.0).code == 0
        pages = [path for path in web.paths("left.test") if path != "/robots.txt"]
        assert len(pages) == len(set(pages)) == CHAIN + 3


def test_a_slip_of_the_pen_in_the_block_list_is_passed_over(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path)
    folder.control.mkdir()
    (folder.control / "blocked").write_bytes(b"http://a.test/\n\xff\xfe odd\n\nleft.test\n  https://b.test:8080 \n")
    assert read_control(folder).blocked == {"http://a.test", "https://b.test:8080"}


def _asked_stays(web: OddWeb) -> bool:
    """Whether nothing more was asked for a while, many times as long as the delay between two requests."""
    before = len(web.asked)
    return not _changes(lambda: len(web.asked) != before, 0.5)


def _quiet_for_a_second(web: OddWeb) -> bool:
    before = len(web.asked)
    return not _changes(lambda: len(web.asked) != before, 1.0)


def _changes(condition: object, within_s: float) -> bool:
    assert callable(condition)
    try:
        wait_until(condition, within_s, "a change")
    except AssertionError:
        return False
    return True
