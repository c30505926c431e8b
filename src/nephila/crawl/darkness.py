"""A site that goes dark in mid-crawl and comes back is complete all the same (RELIABILITY H13).

A page whose tries have run out may be to blame, or its site. So it is held until the site shows which: a site that
answers again and had not slept blames the page, whose last outcome stands; one that answers after a sleep was dark, and
what is held is asked again, each page once in a run. When the run ends without the site, what is held waits for the
next run with all the other pages. A page that got no answer waits on disk while it is held, so that a kill loses none;
one that got an answer, an error, has it in the archive, and is decided as far as the disk knows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from nephila.crawl.outcome import Then, consequence
from nephila.crawl.slot_state import PageTask
from nephila.records import Outcome

TRIES_AGAIN = 1
"""Of a page that is asked again: all further tries are before it, and it is not counted as a new one."""


@dataclass(frozen=True, slots=True)
class HeldPage:
    """A page whose tries have run out since its site last answered well."""

    task: PageTask  # with the outcome that it has for now
    reason: str
    answered: bool  # with an error, which is in the archive

    @property
    def again(self) -> PageTask:
        return replace(self.task, tries=TRIES_AGAIN)


@dataclass(frozen=True, slots=True)
class Decided:
    """What becomes of held pages."""

    again: tuple[HeldPage, ...]
    final: tuple[HeldPage, ...]


def is_held(task: PageTask, outcome: Outcome, status: int) -> bool:
    """Whether a page with its last try behind it is held: what failed may be the site, and this is no revisit."""
    return task.kept is None and consequence(outcome, status).then is Then.RETRY


def decide_held(held: Iterable[HeldPage], asked_again: Collection[int], *, was_dark: bool) -> Decided:
    """The site answers, or has nothing else to ask: `was_dark` says that it slept, `asked_again` who had its turn."""
    pages = tuple(held)
    again = tuple(page for page in pages if was_dark and page.task.hash not in asked_again)
    return Decided(again, tuple(page for page in pages if page not in again))
