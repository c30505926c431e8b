"""When pages change and when home pages are down, as functions of time (4.2, 4.6). Only the `study` profile changes.

A page changes by a Poisson process whose rate is drawn once, from its domain's gamma distribution for home pages and
from its link kind's for others (S1-42, S1-43, S1-47), with S1-45's factor by depth. The changes of one day are drawn
from the day's number, so the last change before any moment is found without a history: 70 % of a day's changes fall in
05-17 h. Documents that appear and vanish (4.8) are not made yet.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from nephila.lab.draw import Stream, Table, draw, key_of, share
from nephila.lab.fates import Fate, Law, batches_alive
from nephila.lab.skeleton import KINDS, Skeleton

DAY_S: Final = 86_400.0
BATCH_S: Final = 2 * DAY_S
_BATCHES: Final = 9
_MOST_PER_DAY: Final = 24.0
_WORKING_SHARE: Final = 0.7
_NEVER: Final = 1e-6

# (shape, scale per day)
_BY_DOMAIN: Final = {
    "ac.kr": (0.1583, 0.4364),
    "co.kr": (0.0893, 11.64),
    "go.kr": (0.1260, 0.6439),
    "or.kr": (0.0692, 1.434),
    "pe.kr": (0.3785, 0.0423),
    "kr": (0.0897, 5.570),
    "com": (0.1062, 8.224),
    "net": (0.1506, 0.9354),
    "org": (0.1885, 4.659),
}
_BY_KIND: Final = {
    "000": (0.0179, 0.0835),
    "00f": (0.0742, 0.0192),
    "0a0": (0.0825, 418.8),
    "h00": (0.3192, 0.3656),
    "h0f": (0.7774, 0.0194),
    "ha0": (0.3603, 1.861),
}
_HAF_PER_DAY: Final = 0.01174
_INTERVAL_BY_DEPTH: Final = (1.40, 0.98, 1.06, 1.16, 0.89, 0.98, 0.95, 0.99, 0.91, 0.69)

# What a home page that is down today does; a refused connection or a lost name would be another site's.
_DOWN: Final = (Fate.SERVER_ERROR, Fate.NOT_FOUND, Fate.RESET, Fate.STALL_BODY, Fate.SHORT_HEADER)
_DOWN_SHARES: Final = Table([4, 2, 2, 1, 1])


@dataclass(frozen=True, slots=True)
class Version:
    """One state of a page: its number, and from when to when it is shown (`until` None: for as long as was looked)."""

    number: int
    since: float
    until: float | None = None


def rate_per_day(law: Law, site: int, host: str, skeleton: Skeleton, page: int, depth: int) -> float:
    """Expected changes of a page per day; 0 in the survey."""
    if law.profile == "survey":
        return 0.0
    kind = KINDS[skeleton.kind[page]]
    if page == 0:
        labels = host.split(".")
        shape_scale = _BY_DOMAIN.get(".".join(labels[-2:])) or _BY_DOMAIN.get(labels[-1]) or _BY_DOMAIN["com"]
    elif kind == "haf":
        return _HAF_PER_DAY
    else:
        shape_scale = _BY_KIND[kind]
    from scipy.special import gammaincinv  # heavy, and needed by the study alone

    word = draw(key_of(law.seed, site, Stream.RATE), page)
    drawn = float(gammaincinv(shape_scale[0], share(word))) * shape_scale[1]
    ratio = 1.0 if page == 0 else _INTERVAL_BY_DEPTH[min(depth, len(_INTERVAL_BY_DEPTH) - 1)]
    # Six digits: what a later release of the library computes differently in the last place must not move a change.
    return min(float(f"{drawn / ratio:.6g}"), _MOST_PER_DAY)


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


def version_at(law: Law, site: int, page: int, per_day: float, origin: float, now: float) -> Version:
    """The version that is shown at a moment; the number is 0 until the first change after the origin."""
    if per_day < _NEVER:
        return Version(0, origin)
    key = key_of(law.seed, site, Stream.CHANGE, page)
    for day in range(int(now // DAY_S), int(origin // DAY_S) - 1, -1):
        past = [moment for moment in changes_of_day(key, per_day, day) if origin < moment <= now]
        if past:
            return Version(day * 256 + len(past), past[-1])
    return Version(0, origin)


def next_change(law: Law, site: int, page: int, per_day: float, now: float, horizon_days: int = 60) -> float | None:
    """The first change after a moment, None if there is none within the horizon."""
    if per_day < _NEVER:
        return None
    key = key_of(law.seed, site, Stream.CHANGE, page)
    first = int(now // DAY_S)
    for day in range(first, first + horizon_days + 1):
        for moment in changes_of_day(key, per_day, day):
            if moment > now:
                return moment
    return None


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
