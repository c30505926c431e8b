"""Who takes the next free place: the line of sites that wait, in the order of the hour's plan (S2-1, S2-12).

Without a plan the line is first come, first served. With one, sites stand in its order; sites that the plan does not
know yet stand behind those it knows; a site whose quota is used up, or that failed or slowed down suddenly (S2-17),
stands behind all until the next plan. Nobody is ever taken out of the line, so nobody is lost.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import count
from typing import Final

from nephila.crawl.messages import Serve

Waiting = tuple[int, int]
"""Slot and site."""

_UNKNOWN: Final = 1 << 40
_BEHIND: Final = 1 << 41
SLOW_IN_A_ROW: Final = 3
SLEEPS_LONG_S: Final = 60.0
"""A failing site that sleeps longer than this gives its place to another, in simulated seconds."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What the plan says of one site, and its place in the order."""

    rank: int
    quota_s: float
    stays: bool
    expected_s: float


_NO_TURN: Final = Turn(_UNKNOWN, float("inf"), True, 0.0)


class Turns:
    """The line, and the plan that orders it. It behaves like a queue, so that whoever fills places need not care."""

    def __init__(self) -> None:
        self._line: list[tuple[int, int, Waiting]] = []
        self._came = count()
        self._before = count(-1, -1)
        self._turns: dict[int, Turn] = {}
        self._behind: set[int] = set()
        self._of_slot: dict[int, tuple[int, ...]] = {}

    def __len__(self) -> int:
        return len(self._line)

    def append(self, waiting: Waiting) -> None:
        heapq.heappush(self._line, (self.rank(waiting[1]), next(self._came), waiting))

    def appendleft(self, waiting: Waiting) -> None:
        """Before others of the same rank: it has waited already."""
        heapq.heappush(self._line, (self.rank(waiting[1]), next(self._before), waiting))

    def popleft(self) -> Waiting:
        return heapq.heappop(self._line)[2]

    def serve(self, plan: Serve) -> None:
        """A new plan for one slot: the line is cleared and filled again in its order (S2-12)."""
        for site in self._of_slot.get(plan.slot, ()):
            self._turns.pop(site, None)
            self._behind.discard(site)
        self._of_slot[plan.slot] = plan.sites
        columns = (plan.sites, plan.ranks, plan.quotas_s, plan.stays, plan.expected_s)
        for site, rank, quota_s, stays, expected_s in zip(*columns, strict=True):
            self._turns[site] = Turn(rank, quota_s, stays, expected_s)
        self._line = [(self.rank(waiting[1]), came, waiting) for _, came, waiting in self._line]
        heapq.heapify(self._line)

    def turn(self, site: int) -> Turn:
        return self._turns.get(site, _NO_TURN)

    def rank(self, site: int) -> int:
        rank = self.turn(site).rank
        return rank + _BEHIND if site in self._behind else rank

    def used_up(self, site: int) -> None:
        """The site has had its share of this hour."""
        self._behind.add(site)

    def has_had(self, site: int) -> bool:
        return site in self._behind

    def somebody_before(self, site: int) -> bool:
        """Whether anybody waits who stands before this site."""
        return bool(self._line) and self._line[0][0] < self.rank(site)

    @property
    def has_plan(self) -> bool:
        return bool(self._of_slot)


def is_slow(latency_s: float, expected_s: float, times_slower: float) -> bool:
    """Whether an answer was so much slower than usual at this hour that it counts."""
    return expected_s > 0 and latency_s > expected_s * times_slower
