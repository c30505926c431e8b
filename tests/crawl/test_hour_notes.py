"""What agents note of every page (S2-5)."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path

import pytest

from nephila.clock import Clock
from nephila.crawl.fetcher import Fetched
from nephila.crawl.hour_notes import HourNotes, keep_noting
from nephila.records import Outcome
from nephila.store.folder import CrawlFolder
from nephila.store.hour_figures import DAY_S, HOUR_S, HoursFile, hours_path, read_hours

NOW = 20_000 * DAY_S
SITE = "http://a.example"


def answer(status: int, first_byte_ms: float = 120.0, connect_ms: float = 20.0, at: float = NOW) -> Fetched:
    return Fetched(Outcome.OK, "", at, "127.0.0.1", status=status, connect_ms=connect_ms, first_byte_ms=first_byte_ms,
                   total_ms=first_byte_ms + 100)  # fmt: skip


def test_time_to_the_first_byte_counts_without_connecting_and_by_the_simulated_clock() -> None:
    notes = HourNotes(Clock(rate=10.0))
    notes.note(SITE, answer(200))
    [((site, hour), note)] = notes.take().items()
    assert (site, hour) == (SITE, int(NOW // HOUR_S))
    assert note.log_sum == pytest.approx(math.log(1.0))  # 100 ms, ten times as fast
    assert note.asked_s == pytest.approx(2.2)
    assert notes.take() == {}


@pytest.mark.parametrize(
    ("status", "answers", "failures"), [(200, 1, 0), (404, 1, 0), (429, 1, 1), (503, 1, 1), (0, 0, 1)]
)
def test_no_answer_429_and_5xx_are_failures(status: int, answers: int, failures: int) -> None:
    notes = HourNotes(Clock())
    notes.note(SITE, answer(status, first_byte_ms=120.0 if status else 0.0))
    [note] = notes.take().values()
    assert (note.answers, note.failures) == (answers, failures)


async def test_notes_are_written_when_the_agent_ends_also_those_of_the_last_moment(tmp_path: Path) -> None:
    # given notes of two hours, and an agent that ends before the first writing
    folder = CrawlFolder.create(tmp_path / "crawl")
    clock = Clock(1.0, NOW, 0.0)
    notes = HourNotes(clock)
    noting = asyncio.create_task(keep_noting(notes, lambda: HoursFile(hours_path(folder, "00"), 7 * DAY_S), clock))
    await asyncio.sleep(0)
    for hour in (0, 1, 1):
        notes.note(SITE, answer(200, at=NOW + hour * HOUR_S))
    # when
    noting.cancel()
    await asyncio.gather(noting, return_exceptions=True)
    # then
    known = read_hours(folder, 0.0, 7 * DAY_S)
    assert known[SITE].answers[:3] == [1.0, 2.0, 0.0]


async def test_a_damaged_hours_file_stops_nobody(tmp_path: Path) -> None:
    folder = CrawlFolder.create(tmp_path / "crawl")
    hours_path(folder, "00").write_bytes(b"")
    notes = HourNotes(Clock())
    notes.note(SITE, answer(200))
    noting = asyncio.create_task(keep_noting(notes, lambda: HoursFile(hours_path(folder, "00"), DAY_S), Clock()))
    await asyncio.sleep(0)
    noting.cancel()
    [ended] = await asyncio.gather(noting, return_exceptions=True)
    assert isinstance(ended, asyncio.CancelledError)
