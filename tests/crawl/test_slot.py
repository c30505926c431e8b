"""One slot: credit that no crash can lose or double, and pages that are on disk as they were found."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from nephila.config.sections import Archive, Config, Crawl, Links, Scope
from nephila.crawl.collecting import Collecting
from nephila.crawl.fetcher import Fetched
from nephila.crawl.group import SiteRow
from nephila.crawl.messages import Credit
from nephila.crawl.politeness import Pace
from nephila.crawl.recording import offer, record_page, report
from nephila.crawl.seen import PackedHashes
from nephila.crawl.setup import Setup, make_clock, make_setup
from nephila.crawl.site import SiteContext
from nephila.crawl.slot import Slot
from nephila.crawl.slot_state import PageTask, SlotState
from nephila.crawl.trapped import SiteTraps
from nephila.records import Outcome
from nephila.store.archive.exchange import Software
from nephila.store.folder import CrawlFolder
from nephila.urls import url_hash

ARCHIVE = Archive(group_delay=0.0, sync=False)


def open_slot(path: Path) -> Slot:
    state = SlotState(CrawlFolder.create(path), 0, ARCHIVE, Software("nephila", "nephila", "", "obey"))
    return Slot(state, ARCHIVE, lambda *_: None)


@pytest.fixture
async def slot(tmp_path: Path) -> AsyncIterator[Slot]:
    opened = open_slot(tmp_path / "crawl")
    committing = asyncio.create_task(opened.keep_committing())
    yield opened
    opened.stop_committing()
    await committing
    opened.close()


def a_site(slot: Slot) -> SiteContext:
    slot.keep(SiteRow(1, "http://a.test", "127.0.0.1", True, "waiting"))
    return SiteContext(
        number=1, slot=0, url="http://a.test", address="127.0.0.1", given=True, seen=PackedHashes(),
        known=0, retries=2, patience_s=80.0, longest_delay_s=300.0, pace=Pace(), more_on_disk=False,
    )  # fmt: skip


def a_setup(**crawl: object) -> Setup:
    config = Config(crawl=Crawl(**crawl), scope=Scope(exclude_paths=("/no/*",)), links=Links())  # type: ignore[arg-type]
    return make_setup(config, make_clock(config))


def a_task(path: str) -> PageTask:
    return PageTask(0, 0, url_hash(path), path, 0, False, 0, Outcome.WAITING)


def answer(body: bytes) -> Fetched:
    return Fetched(
        Outcome.OK, "", 0.0, "127.0.0.1", b"GET", 200, "1.1", (("content-type", "text/html"),), b"HTTP/1.1 200 OK",
        body, body, body,
    )  # fmt: skip


async def test_credit_is_taken_from_all_purses_or_from_none(slot: Slot) -> None:
    slot.receive((Credit("pages", 2), Credit("domain:a.test", 1)))
    both = ("pages", "domain:a.test")
    assert slot.spend(both) is None
    assert slot.spend(both) == "domain:a.test"
    assert slot.credit["pages"] == 1


async def test_credit_that_was_taken_but_not_used_is_there_again_after_a_crash(slot: Slot, tmp_path: Path) -> None:
    slot.receive((Credit("pages", 3),))
    assert slot.spend(("pages",)) is None
    slot.spent(("pages",))
    assert slot.spend(("pages",)) is None  # a request under way: its page is in no group yet
    await slot.flush()
    assert slot.credit["pages"] == 1
    assert slot.state.purses() == {"pages": 2}


async def test_what_is_given_back_is_exactly_what_is_unspent(slot: Slot) -> None:
    slot.receive((Credit("pages", 3),))
    slot.spend(("pages",))
    slot.spent(("pages",))
    slot.give_back("pages")
    assert slot.group.returned == [Credit("pages", 2)]
    slot.give_back("pages")
    assert slot.group.returned[1] == Credit("pages", 0)  # an answer all the same
    await slot.flush()
    assert slot.state.purses() == {"pages": 0}
    assert slot.spend(("pages",)) == "pages"


async def test_credit_is_given_back_when_what_is_under_way_is_done(slot: Slot) -> None:
    slot.receive((Credit("pages", 3),))
    slot.spend(("pages",))
    slot.give_back("pages")
    assert slot.group.returned == []
    assert slot.spend(("pages",)) == "pages"  # it is promised to others
    slot.spent(("pages",))
    assert slot.group.returned == [Credit("pages", 2)]


async def test_pages_requested_without_a_limit_are_told_as_a_negative_return(slot: Slot, tmp_path: Path) -> None:
    slot.spent(("pages",))
    slot.spent(("pages",))
    slot.note(a_site(slot))
    await slot.flush()
    again = Counter(slot.state.purses())
    assert again == {"pages": -2}
    slot.credit = again
    slot.give_back("pages")
    assert slot.group.returned == [Credit("pages", -2)]
    await slot.flush()
    assert slot.state.purses() == {"pages": 0}


async def test_a_url_that_is_offered_waits_once_in_memory_and_on_disk(slot: Slot) -> None:
    setup, context = a_setup(max_depth=2), a_site(slot)
    assert offer(setup, slot, context, "/a", "http://a.test/", "a", 1)
    assert not offer(setup, slot, context, "/a", "http://a.test/b", "f", 2)
    assert offer(setup, slot, context, "/deep", "http://a.test/a", "a", 3)
    assert offer(setup, slot, context, "/no/x", "http://a.test/a", "a", 1)
    assert [entry[2].path for entry in context.tasks] == ["/a"]
    assert context.known == 3
    await slot.flush()
    assert [task.path for task in slot.state.todo(1, 10)] == ["/a"]
    assert slot.state.outcomes() == {"waiting": 1, "limit": 1, "scope_rejected": 1}
    assert all(slot.state.knows(1, url_hash(path)) for path in ("/a", "/deep", "/no/x"))


async def test_a_url_of_another_site_is_reported_once_or_left_out_with_its_rule(slot: Slot) -> None:
    setup = a_setup()
    report(setup, slot, "http://b.test/x", "http://a.test/", "a")
    report(setup, slot, "http://b.test/x", "http://a.test/", "a")
    report(setup, slot, "http://b.test/no/x", "http://a.test/", "a")
    assert [found.url for found in slot.group.links] == ["http://b.test/x"]
    assert [(row.url, row.outcome) for row in slot.group.outside] == [("http://b.test/no/x", Outcome.SCOPE_REJECTED)]


@pytest.mark.parametrize("mode", ["web", "parties"])
async def test_a_link_of_another_site_does_not_keep_a_site_from_following_its_own(slot: Slot, mode: str) -> None:
    # given a page of another site with a link to a page of this one, which mode `parties` refuses
    setup = a_setup(mode=mode)
    site = a_site(slot)
    other = replace(site, number=2, url="http://b.test", seen=PackedHashes(), tasks=[], traps=SiteTraps())
    slot.keep(SiteRow(2, "http://b.test", "127.0.0.2", True, "waiting"))
    body = b"<html><a href='http://a.test/x'>x</a><a href='http://a.test/x#again'>x</a></html>"
    record_page(setup, slot, other, a_task("/"), answer(body))
    assert [link.url for link in slot.group.links] == (["http://a.test/x"] if mode == "web" else [])
    # when a page of this site has the link, too, and then another of its pages
    for path in ("/", "/again"):
        record_page(setup, slot, site, a_task(path), answer(body + path.encode()))
    # then it waits, once
    assert [task.path for _, _, task in site.tasks] == ["/x"]


async def test_figures_of_a_site_are_committed_with_its_pages(slot: Slot) -> None:
    context = a_site(slot)
    await slot.flush()
    context.requested, context.known, context.pace = 7, 9, Pace(delay_s=1.5)
    slot.note(context)
    await slot.flush()
    row = slot.state.site(1)
    assert row is not None
    assert (row.requested, row.known, row.delay_s) == (7, 9, 1.5)


async def test_a_home_page_is_on_disk_with_the_visit_that_brought_it(slot: Slot) -> None:
    # Without it a site that was killed would look unlike its aliases, and they would be collected too (S0-9).
    context = a_site(slot)
    await slot.flush()
    context.home = b"checksum of home"
    slot.note(context)
    await slot.flush()
    kept = slot.state.site(1)
    assert kept is not None and kept.home == b"checksum of home"


@pytest.mark.parametrize("meanwhile", ["a seed", "limits that changed"])
async def test_what_comes_while_a_site_waits_for_the_disk_is_not_taken_for_being_there(
    slot: Slot, meanwhile: str
) -> None:
    # given a site that has more on disk than in memory, and takes it from there
    setup, context = a_setup(), a_site(slot)
    context.more_on_disk = True
    offer(setup, slot, context, "/first", "", "a", 1)
    collecting = Collecting(setup, {0: slot}, lambda _: None, lambda _: None, max_open=1)
    loading = asyncio.create_task(collecting.load(context))
    while not slot.committing.found:  # noqa: ASYNC110  # turns of the loop, not time
        await asyncio.sleep(0)
    # when something comes that can only be in the next commit
    if meanwhile == "a seed":
        offer(setup, slot, context, "/late", "", "s", 0, seed=True)
    else:
        context.more_on_disk = True
    await loading
    # then the site does not end without it
    waiting = {task.path for _, _, task in context.tasks}
    assert waiting == ({"/first", "/late"} if meanwhile == "a seed" else {"/first"})
    assert context.more_on_disk == (meanwhile != "a seed")
