"""Keep a crawl fresh for weeks: round after round in one process, tables, ranks and index following each of them.

Every page has its own schedule, which is its score; a round takes those whose time has come. What the watch does and
will do next is in `DIR/plan/watch.json`. Killed and started again, it goes on with the round that was under way, or
waits for the next as it would have done.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from nephila.clock import Clock
from nephila.crawl.opening import Opened
from nephila.crawl.setup import make_clock
from nephila.crawl.totals import read_totals
from nephila.engine import Engine
from nephila.errors import NephilaError
from nephila.jobs.refine import refine
from nephila.jobs.refresh import Budget, RoundReport, refresh
from nephila.store.plan import WatchNote, read_plan, read_watch, write_watch

DAY_S = 86_400.0
INTERRUPTED = "interrupted"
FOLLOWS = "brings tables, ranks and index up to date"


@dataclass(frozen=True, slots=True)
class WatchReport:
    """What a watch came to, until it was stopped or had made its rounds."""

    how: str
    rounds: int
    visited: int
    changed: int
    new_pages: int
    requests: int
    next_at: float
    last: RoundReport | None


def watch(
    opened: Opened, engine: Engine, agents: int, rounds: int | None, tell: Callable[[str], None] = lambda line: None
) -> WatchReport:
    """Rounds every `refresh.every` until stopped, or so many; blocking."""
    config, folder = opened.effective.config, opened.folder
    if not read_totals(folder).pages:
        raise NephilaError(f"no page of {folder.path} was collected yet; `nephila crawl -C {folder.path}` does that.")
    clock, every_s = make_clock(config), config.refresh.every
    noted, head = read_watch(folder), read_plan(folder)
    underway = head is not None and head.ended_at is None
    next_at = clock.now() if noted is None or underway else min(noted.next_at, clock.now() + every_s)
    done = visited = changed = new_pages = requests = 0
    last: RoundReport | None = None
    how = "done"

    def note(doing: str, *, ended: bool = False) -> None:
        write_watch(folder, WatchNote(clock.now(), doing, next_at, done, every_s, ended, _requests(opened, every_s)))

    def follow() -> None:
        started = time.monotonic()
        note(FOLLOWS)
        refined = refine(config, folder, engine)
        tell(
            f"tables, ranks and index follow in {time.monotonic() - started:.1f} s: "
            f"{refined.convert.extracted_pages:,} of {refined.convert.pages:,} pages were looked at"
        )

    if noted is not None and noted.doing == FOLLOWS and not noted.ended:
        follow()  # it was killed on the way
    while rounds is None or done < rounds:
        note("waits for the next round")
        if next_at > clock.now():
            wait = _span((next_at - clock.now()) / clock.rate)
            tell(f"the next round begins in {wait}, and makes up to {_requests(opened, every_s):,} visits")
        if _is_stopped_before(clock, next_at):
            how = INTERRUPTED
            break
        next_at = clock.now() + every_s
        note("visits what is due")
        last = refresh(opened, engine, agents, Budget(_requests(opened, every_s)))
        visited, changed = visited + last.visited, changed + last.changed
        new_pages, requests = new_pages + last.new_pages, requests + last.requests
        if last.how == INTERRUPTED:
            how = INTERRUPTED
            break
        done += 1
        found = f"{last.visited:,} visited, {last.changed:,} changed, {last.new_pages:,} new, {last.gone:,} gone"
        tell(f"round {last.round}: {found}")
        follow()
    note("does nothing", ended=True)
    return WatchReport(how, done, visited, changed, new_pages, requests, next_at, last)


def _requests(opened: Opened, every_s: float) -> int:
    """A round's share of the visits per page and day."""
    pages = read_totals(opened.folder).pages
    return max(1, round(opened.effective.config.refresh.per_day * pages * every_s / DAY_S))


def _is_stopped_before(clock: Clock, until: float) -> bool:
    """Wait for a moment of simulated time; True when somebody asked to stop."""
    with _stoppable() as stop:
        while not stop.is_set():
            left_s = (until - clock.now()) / clock.rate
            if left_s <= 0:
                return False
            stop.wait(min(left_s, 1.0))
    return True


@contextmanager
def _stoppable() -> Iterator[threading.Event]:
    """Ctrl-C and SIGTERM end the waiting; while a round runs crawl listens to them itself."""
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    signals = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(each, lambda *_: stop.set()) for each in signals]
    try:
        yield stop
    finally:
        for each, handler in zip(signals, before, strict=True):
            signal.signal(each, handler)


def _span(seconds: float) -> str:
    if seconds >= 5400:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"
