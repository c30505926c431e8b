"""Which URL holds a place of a tree at a moment, and whether a URL of the past still answers (4.8).

A churning place is given to another URL at moments drawn like a page's changes; a passing place at midnight of the
web's own days, a brief one after two batches or four. Generations are numbered from the web's origin on, so that a URL
is found from its number alone. A URL that was replaced goes on answering for a day: who was told of it a moment ago
shall find it.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from nephila.lab.change import BATCH_S, DAY_S, first_after, last_before, moment_of
from nephila.lab.draw import Stream, draw, key_of, site_key
from nephila.lab.fates import Law
from nephila.lab.lives import Life
from nephila.lab.skeleton import Skeleton

GRACE_S: Final = DAY_S
GOES_PER_DAY: Final = 0.09396
"""Of churning URLs: 0.80 of them are left after S1's gap of 2.375 days (4.8: 0.7569 without the brief ones)."""

_FOUR_BATCHES_SHARE: Final = 0.3726  # of brief places; the others' URLs stay for two
_AWAY_SHARE: Final = 0.022
_A_DAY: Final = 16  # generations that one day may bring


class Holder(NamedTuple):
    """The URL at a place: its generation, since when it is linked to and until when (None: no end is known)."""

    generation: int
    since: float
    until: float | None

    @property
    def gone_at(self) -> float | None:
        """When it answers no more."""
        return None if self.until is None else self.until + GRACE_S


class Holders:
    """The holders of all places of one web; nothing is kept, all is computed."""

    def __init__(self, law: Law, origin: float) -> None:
        self._law = law
        self.origin = origin
        self._first_day = int(origin // DAY_S)
        self.changes_hands = law.profile == "study"

    def generation(self, site: int, skeleton: Skeleton, page: int, now: float) -> int:
        """Of the URL that holds a place now; 0 where it lasts."""
        if not self.changes_hands or skeleton.life.item(page) == Life.LASTING:
            return 0
        return self.now(site, skeleton, page, now).generation

    def now(self, site: int, skeleton: Skeleton, page: int, now: float) -> Holder:
        """The URL that holds a place."""
        life = skeleton.life.item(page)
        if life == Life.LASTING:
            return Holder(0, self.origin, None)
        if life == Life.PASSING:
            return self._of_day(max(0, int((now - self.origin) // DAY_S)))
        if life == Life.BRIEF:
            return self._of_turn(site, page, self._turn(site, page, now))
        key = self._key(site, page)
        day, count, since = last_before(key, GOES_PER_DAY, self.origin, now) or (self._first_day, 0, self.origin)
        return Holder((day - self._first_day) * _A_DAY + count, since, first_after(key, GOES_PER_DAY, now))

    def found(self, site: int, skeleton: Skeleton, page: int, generation: int, now: float) -> Holder | None:
        """The URL of a generation, if it answers now."""
        life = skeleton.life.item(page)
        if life == Life.LASTING:
            return Holder(0, self.origin, None) if generation == 0 else None
        if life == Life.PASSING:
            if generation < 1:
                return None
            holder = self._of_day(generation - 1)
        elif life == Life.BRIEF:
            if generation < 1:
                return None
            holder = self._of_turn(site, page, generation - 1)
        else:
            key = self._key(site, page)
            day, count = divmod(generation, _A_DAY)
            begun = moment_of(key, GOES_PER_DAY, self.origin, self._first_day + day, count) if count else None
            if begun is None and generation:
                return None
            since = self.origin if begun is None else begun
            holder = Holder(generation, since, first_after(key, GOES_PER_DAY, since))
        gone_at = holder.gone_at
        return holder if holder.since <= now and (gone_at is None or now < gone_at) else None

    def away(self, site: int, skeleton: Skeleton, page: int, now: float) -> bool:
        """Whether a lasting page without children is down in this batch; S1's lasting documents were, at times."""
        if not self.changes_hands or not page or skeleton.life.item(page) != Life.LASTING:
            return False
        if skeleton.first_child.item(page) != skeleton.first_child.item(page + 1):
            return False
        window = int((now - self.origin) // BATCH_S)
        key = key_of(site_key(self._law.seed, site, Stream.AWAY), page)
        return draw(key, window) < _AWAY_SHARE * 2.0**64

    def _of_day(self, day: int) -> Holder:
        since = self.origin + day * DAY_S
        return Holder(day + 1, since, since + DAY_S)

    def _turn(self, site: int, page: int, now: float) -> int:
        span_s, phase_s = self._span(site, page)
        return max(0, int((now - self.origin + phase_s) // span_s))

    def _of_turn(self, site: int, page: int, turn: int) -> Holder:
        span_s, phase_s = self._span(site, page)
        since = self.origin - phase_s + turn * span_s
        return Holder(turn + 1, max(since, self.origin), since + span_s)

    def _span(self, site: int, page: int) -> tuple[float, float]:
        """How long each URL holds a brief place, and how long the first had held it at the web's origin."""
        key = self._key(site, page)
        batches = 4 if key & 0xFFFF < _FOUR_BATCHES_SHARE * 65536 else 2
        return batches * BATCH_S, (key >> 16) % batches * BATCH_S

    def _key(self, site: int, page: int) -> int:
        return key_of(self._law.seed, site, Stream.HOLDER, page)
