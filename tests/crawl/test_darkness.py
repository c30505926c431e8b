"""A site that goes dark in mid-crawl and comes back is complete all the same (RELIABILITY H13)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from nephila.config.sections import Archive, Config, Crawl
from nephila.crawl.collecting import Collecting
from nephila.crawl.darkness import HeldPage, decide_held, is_held
from nephila.crawl.fetcher import Fetched
from nephila.crawl.group import Kept, SiteRow
from nephila.crawl.outcome import Health
from nephila.crawl.politeness import Pace
from nephila.crawl.recording import offer, record_page
from nephila.crawl.seen import PackedHashes
from nephila.crawl.setup import make_clock, make_setup
from nephila.crawl.site import SiteContext
from nephila.crawl.slot import Slot
from nephila.crawl.slot_state import PageTask, SlotState
from nephila.records import Outcome
from nephila.store.archive.exchange import Software
from nephila.store.folder import CrawlFolder
from nephila.urls import url_hash

ARCHIVE = Archive(group_delay=0.0, sync=False)
SLEPT = Health(failures=4, sleeps=1)


def task(path: str = "/a", **more: object) -> PageTask:
    return PageTask(1, 0, url_hash(path), path, 0, False, 2, Outcome.RESET, **more)  # type: ignore[arg-type]


def held(path: str = "/a") -> HeldPage:
    return HeldPage(task(path), "connection reset", answered=False)


@pytest.mark.parametrize(
    ("outcome", "status", "expected"),
    [
        (Outcome.RESET, 0, True), (Outcome.TIMEOUT_CONNECT, 0, True), (Outcome.HTTP_ERROR, 502, True),
        (Outcome.HTTP_ERROR, 404, False), (Outcome.OK, 200, False), (Outcome.HEADERS_TOO_LARGE, 0, False),
    ],
)  # fmt: skip
def test_a_failure_that_may_be_the_sites_is_held_and_no_other(outcome: Outcome, status: int, expected: bool) -> None:
    assert is_held(task(), outcome, status) is expected


def test_a_page_that_is_visited_again_is_not_held_because_it_is_planned_anew() -> None:
    assert not is_held(task(kept=Kept(200, None, 0)), Outcome.RESET, 0)


def test_a_site_that_never_slept_blames_the_page_and_a_dark_one_is_to_blame_itself() -> None:
    assert decide_held([held()], (), was_dark=False).final == (held(),)
    assert decide_held([held()], (), was_dark=True).again == (held(),)


def test_darkness_excuses_a_page_once_in_a_run() -> None:
    decided = decide_held([held("/a"), held("/b")], {url_hash("/a")}, was_dark=True)
    assert (decided.again, decided.final) == ((held("/b"),), (held("/a"),))


def test_a_page_that_is_asked_again_has_its_further_tries_and_is_no_new_page() -> None:
    assert held().again.tries == 1
    assert not held().again.is_new


# With a slot and its disk


class Dark:
    """One site of three pages with its slot, and what its server says."""

    def __init__(self, slot: Slot) -> None:
        self.slot = slot
        config = Config(crawl=Crawl(retries=0))
        self.setup = make_setup(config, make_clock(config))
        self.collecting = Collecting(self.setup, {0: slot}, lambda _: None, lambda _: None, max_open=1)
        slot.keep(SiteRow(1, "http://a.test", "127.0.0.1", True, "waiting"))
        self.site = SiteContext(
            number=1, slot=0, url="http://a.test", address="127.0.0.1", given=True, seen=PackedHashes(),
            known=0, retries=0, patience_s=80.0, longest_delay_s=300.0, pace=Pace(), more_on_disk=False,
        )  # fmt: skip
        self.collecting.contexts[1] = self.site
        for path in ("/a", "/b", "/c"):
            offer(self.setup, slot, self.site, path, "http://a.test/", "a", 1)

    def says(self, outcome: Outcome, status: int = 0) -> bool:
        """The next page is asked for; False when the site has been given up."""
        entry = self.site.tasks[0] if self.site.tasks else self.site.later[0]
        self.site.take(entry[2])
        header = b"HTTP/1.1 200 OK\r\n\r\n" if status else b""
        fetched = Fetched(outcome, "so it is", 1.0, "127.0.0.1", b"GET", status, raw_header=header)
        record_page(self.setup, self.slot, self.site, entry[2], fetched)
        return self.collecting._judge_site(self.site, fetched)

    async def on_disk(self) -> dict[str, tuple[str, int, int]]:
        await self.slot.flush()
        sql = "SELECT path, outcome, todo, tries FROM pages"
        return {path: (outcome, todo, tries) for path, outcome, todo, tries in self.slot.state._rows(sql)}


@pytest.fixture
async def dark(tmp_path: Path) -> AsyncIterator[Dark]:
    state = SlotState(CrawlFolder.create(tmp_path / "crawl"), 0, ARCHIVE, Software("nephila", "nephila", "", "obey"))
    slot = Slot(state, ARCHIVE, lambda *_: None)
    committing = asyncio.create_task(slot.keep_committing())
    yield Dark(slot)
    slot.stop_committing()
    await committing
    slot.close()


async def test_what_is_held_waits_on_disk_where_a_kill_would_find_it(dark: Dark) -> None:
    dark.says(Outcome.RESET)
    assert (await dark.on_disk())["/a"] == ("reset", 1, 1)


async def test_a_page_has_failed_for_good_when_its_site_answers_without_having_slept(dark: Dark) -> None:
    dark.says(Outcome.RESET)
    dark.says(Outcome.OK, 200)
    assert (await dark.on_disk())["/a"] == ("reset", 0, 1)
    assert dark.site.held == {}
    assert dark.slot.state.outcomes() == {"reset": 1, "ok": 1, "waiting": 1}


@pytest.mark.parametrize(("outcome", "status"), [(Outcome.RESET, 0), (Outcome.HTTP_ERROR, 502)])
async def test_pages_that_failed_in_the_dark_are_asked_again_when_the_site_is_back(
    dark: Dark, outcome: Outcome, status: int
) -> None:
    # given a page that failed, and a site that slept
    dark.says(outcome, status)
    dark.site.health = SLEPT
    # when the site answers
    dark.says(Outcome.OK, 200)
    assert (await dark.on_disk())["/a"][1] == 1
    # then the page is asked for once more, and can succeed
    dark.says(Outcome.OK, 200)
    dark.says(Outcome.OK, 200)
    assert set((await dark.on_disk()).values()) == {("ok", 0, 1), ("ok", 0, 2)}
    assert dark.slot.state.outcomes() == {"ok": 3}
    assert dark.slot.state.how_far().pages == 3


async def test_a_visit_in_the_same_commit_as_the_second_chance_has_the_last_word(dark: Dark) -> None:
    # all of it happens before anything is on disk
    dark.says(Outcome.HTTP_ERROR, 502)
    dark.site.health = SLEPT
    dark.says(Outcome.OK, 200)
    dark.says(Outcome.OK, 200)
    dark.says(Outcome.OK, 200)
    assert {row[:2] for row in (await dark.on_disk()).values()} == {("ok", 0)}


async def test_a_site_with_nothing_else_to_ask_asks_again_for_what_it_lost_in_the_dark_but_once(dark: Dark) -> None:
    for _ in range(3):
        dark.says(Outcome.REFUSED)
    dark.site.health = SLEPT
    assert not await dark.collecting.end(dark.site, alone=True)
    dark.site.health = Health()  # it may fail five times now before it sleeps again
    for _ in range(3):
        dark.says(Outcome.REFUSED)
    dark.site.health = SLEPT
    assert await dark.collecting.end(dark.site, alone=True)
    assert {row[:2] for row in (await dark.on_disk()).values()} == {("refused", 0)}


@pytest.mark.parametrize(("first", "status"), [(Outcome.RESET, 0), (Outcome.HTTP_ERROR, 502)])
async def test_one_error_answer_of_a_page_is_archived_however_often_it_is_asked(
    dark: Dark, first: Outcome, status: int
) -> None:
    dark.says(first, status)
    dark.site.health = SLEPT
    dark.says(Outcome.OK, 200)
    dark.says(Outcome.OK, 200)
    dark.says(Outcome.HTTP_ERROR, 502)  # the first page once more
    dark.site.health = Health()
    dark.collecting._decide_held(dark.site, was_dark=False)
    assert (await dark.on_disk())["/a"][:2] == ("http_error", 0)
    sql = "SELECT count(*) FROM visits WHERE hash = ? AND archive_file IS NOT NULL"
    assert list(dark.slot.state._rows(sql, url_hash("/a"))) == [(1,)]
    [(file,)] = dark.slot.state._rows("SELECT archive_file FROM pages WHERE hash = ?", url_hash("/a"))
    assert file is not None


async def test_when_a_site_is_given_up_all_that_it_cost_waits_for_the_next_run_with_all_tries(dark: Dark) -> None:
    dark.says(Outcome.RESET)
    dark.says(Outcome.HTTP_ERROR, 502)
    dark.site.health = Health(failures=4, sleeps=99)
    assert dark.says(Outcome.RESET) is False
    assert set((await dark.on_disk()).values()) == {("deferred_host", 1, 1)}
    assert dark.slot.state.outcomes() == {"deferred_host": 3}
