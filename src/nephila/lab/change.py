"""When pages change and when home pages are down, as functions of time (4.2, 4.6). Only the `study` profile changes.

A page changes by a Poisson process whose rate is drawn once, from its domain's gamma distribution for home pages and
from its link kind's for others (S1-42, S1-43, S1-47), with S1-45's factor by depth. The changes of one day are drawn
from the day's number, so the last change before any moment is found without a history: 70 % of a day's changes fall in
05-17 h. URLs that appear and vanish (4.8) are the matter of `lives` and `holders`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from nephila.lab.draw import Stream, Table, draw, key_of, share, site_key
from nephila.lab.fates import Fate, Law, batches_alive
from nephila.lab.lives import LIST_SHARE_OF_0A0, gamma_rate, home_rate, is_list
from nephila.lab.skeleton import KINDS, Skeleton

DAY_S: Final = 86_400.0
BATCH_S: Final = 19 / 8 * DAY_S
"""Between two batches of S1's: nine of them span the 19 days that its intervals speak of (S1-41, I1-6)."""

_BATCHES: Final = 9
_WORKING_SHARE: Final = 0.7
_NEVER: Final = 1e-6

# (shape, scale per day), fitted to S1-47 as documents of all lives (4.8) show it in nine batches: `bench/study_fit.py`.
_BY_KIND: Final = {
    "000": (0.1470, 0.009919),
    "00f": (0.09074, 0.01492),
    "0a0": (0.1478, 16.82),
    "h00": (1.560, 0.05264),
    "h0f": (1.024, 0.01395),
    "ha0": (1.334, 0.2018),
}
_HAF_PER_DAY: Final = 0.01174
# By depth, from 1 on: with these factors the intervals seen are to each other as S1-45's.
_INTERVAL_BY_DEPTH: Final = (1.0, 0.5777, 1.1851, 1.5213, 0.7328, 0.9553, 0.8861, 0.9839, 0.7737, 0.3591)

# What a home page that is down today does; a refused connection or a lost name would be another site's.
_DOWN: Final = (Fate.SERVER_ERROR, Fate.NOT_FOUND, Fate.RESET, Fate.STALL_BODY, Fate.SHORT_HEADER)
_DOWN_SHARES: Final = Table([4, 2, 2, 1, 1])


@dataclass(frozen=True, slots=True)
class Version:
    """One state of a page: its number, and from when to when it is shown (`until` None: for as long as was looked)."""

    number: int
    since: float
    until: float | None = None


def rate_per_day(law: Law, site: int, skeleton: Skeleton, page: int, depth: int, generation: int = 0) -> float:
    """Expected changes of a page per day; 0 in the survey."""
    if law.profile == "survey":
        return 0.0
    if page == 0:
        return home_rate(law, site)
    kind = KINDS[skeleton.kind.item(page)]
    slower = _INTERVAL_BY_DEPTH[min(depth, len(_INTERVAL_BY_DEPTH) - 1)]
    if kind == "haf":
        return _HAF_PER_DAY / slower
    key = site_key(law.seed, site, Stream.RATE)
    place = share(draw(key_of(key, generation) if generation else key, page))
    if kind == "0a0":  # lists are its most restless part
        place = 1 - LIST_SHARE_OF_0A0 * place if is_list(law, site, page) else (1 - LIST_SHARE_OF_0A0) * place
    return gamma_rate(_BY_KIND[kind][0], _BY_KIND[kind][1] / slower, place)


def changes_of_day(key: int, per_day: float, day: int) -> list[float]:
    """The moments of one day (counted from 1970) at which a page changes, in order."""
    word = draw(key, day)
    left = share(word)
    chance = math.exp(-per_day)
    count = 0
    while left > chance and count < 200:
        left -= chance
        count += 1
        chance *= per_day / count
    moments = []
    for number in range(count):
        inner = draw(word, number)
        half_day = share(draw(word, 1000 + number)) * 12
        working = inner < _WORKING_SHARE * 2.0**64
        hour = 5 + half_day if working else (17 + half_day) % 24
        moments.append((day + hour / 24) * DAY_S)
    return sorted(moments)


def last_before(key: int, per_day: float, origin: float, now: float) -> tuple[int, int, float] | None:
    """(day, number within the day, moment) of the last change up to now; None if there was none since the origin."""
    for day in range(int(now // DAY_S), int(origin // DAY_S) - 1, -1):
        past = [moment for moment in changes_of_day(key, per_day, day) if origin < moment <= now]
        if past:
            return day, len(past), past[-1]
    return None


def first_after(key: int, per_day: float, now: float, horizon_days: int = 60) -> float | None:
    """The first change after a moment, None if there is none within the horizon."""
    first = int(now // DAY_S)
    for day in range(first, first + horizon_days + 1):
        for moment in changes_of_day(key, per_day, day):
            if moment > now:
                return moment
    return None


def moment_of(key: int, per_day: float, origin: float, day: int, number: int) -> float | None:
    """When the change of a number within its day happened; None if there is no such."""
    moments = [moment for moment in changes_of_day(key, per_day, day) if moment > origin]
    return moments[number - 1] if 0 < number <= len(moments) else None


def version_at(
    law: Law, site: int, page: int, per_day: float, origin: float, now: float, generation: int = 0
) -> Version:
    """The version that is shown at a moment; the number is 0 until the first change after the origin."""
    found = None
    if per_day >= _NEVER:
        found = last_before(_change_key(law, site, page, generation), per_day, origin, now)
    number, since = (0, origin) if found is None else (found[0] * 256 + found[1], found[2])
    return Version(number | generation << 32, since)


def next_change(
    law: Law, site: int, page: int, per_day: float, now: float, horizon_days: int = 60, generation: int = 0
) -> float | None:
    """The first change of a page after a moment, None if there is none within the horizon."""
    if per_day < _NEVER:
        return None
    return first_after(_change_key(law, site, page, generation), per_day, now, horizon_days)


def _change_key(law: Law, site: int, page: int, generation: int) -> int:
    key = key_of(law.seed, site, Stream.CHANGE, page)
    return key_of(key, generation) if generation else key


def home_fate_at(law: Law, site: int, origin: float, now: float) -> Fate | None:
    """What a home page that is otherwise fine does in a batch in which it is down; None: it is up (S1-37).

    A site is up in as many of nine batches in a row as Table 8 says, and its bad batches come one after another.
    """
    if law.profile == "survey" or not law.faults:
        return None
    alive = batches_alive(law, site)
    if alive in (0, _BATCHES):
        return None
    key = key_of(law.seed, site, Stream.LIVENESS)
    window, batch = divmod(int((now - origin) // BATCH_S), _BATCHES)
    if (batch - draw(key, window)) % _BATCHES < alive:
        return None
    return _DOWN[_DOWN_SHARES.pick(draw(key, -1))]
