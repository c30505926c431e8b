"""Pages that kill agents: noted before, counted after, set aside in the end, and let in again (RELIABILITY C1)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from nephila.config.sections import Archive
from nephila.crawl.group import FoundPage, Group, Kept, SiteRow
from nephila.crawl.in_hand import InHand, Noted
from nephila.crawl.slot_state import SlotState
from nephila.records import Outcome
from nephila.store.archive.exchange import Software
from nephila.store.folder import CrawlFolder
from nephila.urls import url_hash

PAGE, ROBOTS = url_hash("/deadly"), url_hash("/robots.txt")


def test_what_is_in_hand_outlives_whoever_had_it(tmp_path: Path) -> None:
    first = InHand(tmp_path / "hand")
    first.mark(7, PAGE).take()
    # an agent that is killed closes nothing
    assert InHand(tmp_path / "hand").left == {Noted(7, PAGE)}
    # and the next one begins with nothing in hand
    assert InHand(tmp_path / "hand").left == frozenset()


def test_what_was_laid_down_is_not_left(tmp_path: Path) -> None:
    hand = InHand(tmp_path / "hand")
    mark = hand.mark(7, PAGE)
    mark.take()
    mark.lay_down()
    with mark.aside():
        pass
    assert InHand(tmp_path / "hand").left == frozenset()


def test_work_in_threads_is_noted_beside_that_of_the_loop(tmp_path: Path) -> None:
    hand = InHand(tmp_path / "hand")
    hand.mark(1, 11).take()
    with hand.mark(2, 12).aside(), hand.mark(3, -13).aside():
        found = InHand(tmp_path / "hand").left
    assert found == {Noted(1, 11), Noted(2, 12), Noted(3, -13)}


def test_an_error_leaves_its_page_noted(tmp_path: Path) -> None:
    hand = InHand(tmp_path / "hand")
    with pytest.raises(ValueError, match="parser"), hand.mark(2, 12).aside():
        raise ValueError("parser")
    hand.close()
    assert InHand(tmp_path / "hand").left == {Noted(2, 12)}


def test_a_damaged_file_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / "hand").write_bytes(b"\xff" * 37)
    assert InHand(tmp_path / "hand").left == {Noted(-1, -1)}


@contextmanager
def agent(folder: CrawlFolder, deaths: int | None = 3) -> Iterator[SlotState]:
    """One life of an agent's slot."""
    software = Software("nephila", "nephila", "", "obey")
    state = SlotState(folder, 0, Archive(sync=False), software, InHand(folder.in_hand(0)))
    state.blame(deaths)
    try:
        yield state
    finally:
        state.close()


def dies_with(state: SlotState, key: int) -> None:
    state.in_hand.mark(1, key).take()


@pytest.fixture
def folder(tmp_path: Path) -> CrawlFolder:
    """A slot with one site of two pages that wait."""
    made = CrawlFolder.create(tmp_path / "crawl")
    with agent(made) as state:
        found = [
            FoundPage(1, url_hash(path), path, 1, place, Outcome.WAITING, "", 1.0, "", "a")
            for place, path in enumerate(("/deadly", "/plain"))
        ]
        group = Group(found=found, sites={1: SiteRow(1, "http://a.test", "127.0.0.1", True, "waiting")})
        group.outcomes["waiting"] = 2
        state.commit(group, 1)
    return made


def waiting(state: SlotState) -> list[str]:
    return [task.path for task in state.todo(1, 10)]


def test_a_page_is_set_aside_when_enough_agents_died_with_it(folder: CrawlFolder) -> None:
    for _ in range(3):
        with agent(folder) as state:
            assert waiting(state) == ["/deadly", "/plain"]
            dies_with(state, PAGE)
    with agent(folder) as state:
        assert waiting(state) == ["/plain"]
        assert state.outcomes() == {"waiting": 1, "trap_rejected": 1}
        [(reason,)] = state._rows("SELECT reason FROM pages WHERE hash = ?", PAGE)
        assert reason == "traps.deaths: 3 agents died with it in hand"


def test_without_a_limit_nothing_is_set_aside(folder: CrawlFolder) -> None:
    for _ in range(9):
        with agent(folder, None) as state:
            dies_with(state, PAGE)
    with agent(folder, None) as state:
        assert waiting(state) == ["/deadly", "/plain"]


def test_a_page_that_is_on_disk_was_not_to_blame(folder: CrawlFolder) -> None:
    with agent(folder) as state:
        state._writer.execute("UPDATE pages SET todo = 0, outcome = 'ok' WHERE hash = ?", (PAGE,))
        dies_with(state, PAGE)
    with agent(folder) as state:
        assert list(state._rows("SELECT * FROM deaths")) == []


def test_a_robots_txt_that_kills_sets_its_site_aside(folder: CrawlFolder) -> None:
    for _ in range(3):
        with agent(folder) as state:
            dies_with(state, ROBOTS)
    with agent(folder) as state:
        assert waiting(state) == []
        assert state.outcomes() == {"waiting": 0, "trap_rejected": 2} or state.outcomes() == {"trap_rejected": 2}


def test_what_was_found_and_killed_before_any_commit_is_refused_when_it_is_found_again(folder: CrawlFolder) -> None:
    unknown = url_hash("/found-only-just-now")
    for _ in range(3):
        with agent(folder) as state:
            assert state.refusal(1, unknown) is None
            dies_with(state, unknown)
    with agent(folder) as state:
        assert waiting(state) == ["/deadly", "/plain"]
        assert state.refusal(1, unknown) == "traps.deaths: 3 agents died with it in hand"
        assert state.refusal(1, PAGE) is None


def test_a_page_visited_again_that_kills_keeps_what_is_known_of_it(folder: CrawlFolder) -> None:
    with agent(folder) as state:
        state._writer.execute("UPDATE pages SET outcome = 'ok', revisit = 1, tries = 1 WHERE hash = ?", (PAGE,))
        [first, _] = state.todo(1, 10)
        assert isinstance(first.kept, Kept)
    for _ in range(3):
        with agent(folder) as state:
            dies_with(state, PAGE)
    with agent(folder) as state:
        assert waiting(state) == ["/plain"]
        assert list(state._rows("SELECT outcome, todo, revisit FROM pages WHERE hash = ?", PAGE)) == [("ok", 0, 0)]


def test_what_was_set_aside_is_let_in_with_the_other_refused_pages_and_with_all_its_lives(folder: CrawlFolder) -> None:
    for _ in range(3):
        with agent(folder) as state:
            dies_with(state, PAGE)
    with agent(folder) as state:
        state.commit(Group(let_in=True), 1)
        assert waiting(state) == ["/deadly", "/plain"]
        dies_with(state, PAGE)
    with agent(folder) as state:
        assert waiting(state) == ["/deadly", "/plain"]


def test_the_loop_is_not_held_up_by_notes(tmp_path: Path) -> None:
    """A note is one write into the system's memory: thousands a second cost nothing worth counting."""

    async def note_all() -> float:
        hand = InHand(tmp_path / "hand")
        loop = asyncio.get_running_loop()
        started = loop.time()
        for number in range(2_000):
            hand.mark(1, number).take()
            hand.lay_down()
        return loop.time() - started

    assert asyncio.run(note_all()) < 2.0
