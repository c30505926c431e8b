"""What is believed of each site's hours: from faded sums to latencies, loads and how sure we are (S2-5).

    x_sh   mean logarithm of the seconds to the first byte of site s at hour h, from n_sh answers
    m_s    the site's own level, p the common shape of a day in local time, z_s the site's time zone
    prior_sh = mean of the site's answers in the hours around h, and CALM times m_s + p_{h + z_s}
    belief   = (n_sh x_sh + NEAR prior_sh) / (n_sh + NEAR)

So an hour that was watched well is believed as measured, one that was watched little is like the hours around it, one
in a time that never was watched follows the day's common shape, and a site that nobody knows has the level of all.
`confidence` is n / (n + CALM).

Load is what the belief is slower than the quickest answers there are: 1 - quickest / latency, made larger by failures
(no answer, 429, 5xx), and smaller by what our own requests added while it was measured (S2-17): one under way is a load
of OWN_LOAD, which counts for the share of the hour in which there was one. A site whose latest hour was not as believed
is expected to go on like that, half as much with each hour that passes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from nephila.schedule.policy import HOURS, Floats, Ints
from nephila.schedule.zones import fitted_zones, zone_hours
from nephila.store.hour_figures import HOUR_S, HourFigures

CALM: Final = 2.0
NEAR: Final = 6.0
_AROUND: Final = ((1, 1.0), (2, 0.5), (3, 0.25))  # hours away, and what their answers weigh
QUICK_SHARE: Final = 0.05
OWN_LOAD: Final = 0.05
"""What one request under way adds to a server's load (CHECKLIST 3)."""

FRESH_HOURS: Final = 3
MOST_LOAD: Final = 0.99
_NOBODY_KNOWS_S: Final = 0.3  # S1's median answer, where nothing at all was measured
_ROUNDS: Final = 2


@dataclass(frozen=True, slots=True)
class Belief:
    """Sites × 24 hours of the day, UTC."""

    loads: Floats  # [0, MOST_LOAD], without what our own requests add
    latency_s: Floats
    failures: Floats  # share of requests
    confidence: Floats  # [0, 1)
    zones: Floats  # per site: hours ahead of UTC
    slower: Floats  # per site: times as slow now as is usual at this hour (S2-17); 1 where nothing is surprising


def believe(urls: Sequence[str], known: dict[str, HourFigures], now: float) -> Belief:
    """The belief about these sites at `now`, in their order."""
    figures = [known.get(url) for url in urls]
    nobody = HourFigures()
    answers, log_sum, failures, asked_s, watched = (
        np.array([getattr(one or nobody, name) for one in figures], dtype=np.float64).reshape(len(urls), HOURS)
        for name in ("answers", "log_sum", "failures", "asked_s", "watched")
    )
    by_country = np.array([zone_hours(url, now) for url in urls], dtype=np.int64)
    measured = np.divide(log_sum, answers, out=np.zeros_like(log_sum), where=answers > 0)
    level, shape, zones = _levels_and_shape(measured, answers, by_country)
    common = level[:, None] + _local(shape, zones)
    near_answers, near_sum = _neighbours(answers), _neighbours(log_sum)
    prior = (near_sum + CALM * common) / (near_answers + CALM)
    belief = (answers * measured + NEAR * prior) / (answers + NEAR)
    extra = _surprise(figures, belief, now)
    belief += extra
    latency = np.exp(belief)
    quickest = float(np.quantile(latency, QUICK_SHARE)) if latency.size else 1.0
    asked = answers + failures
    failing = np.divide(failures, asked + CALM, out=np.zeros_like(asked), where=asked > 0)
    own = np.divide(asked_s, watched * HOUR_S, out=np.zeros_like(asked_s), where=watched > 0)
    loads = np.clip(1.0 - np.minimum(1.0, quickest / latency) - OWN_LOAD * own, 0.0, MOST_LOAD)
    loads = np.clip(1.0 - (1.0 - loads) * (1.0 - failing), 0.0, MOST_LOAD)
    slower = np.exp(extra[:, int(now // HOUR_S) % HOURS])
    return Belief(loads, latency, failing, answers / (answers + CALM), zones.astype(np.float64), slower)


def _levels_and_shape(measured: Floats, answers: Floats, by_country: Ints) -> tuple[Floats, Floats, Ints]:
    """Each site's level, the common shape of the day in local hours, and each site's zone; found in turns."""
    shape, zones = np.zeros(HOURS), by_country
    total = answers.sum(axis=1)
    everybody = float(np.log(_NOBODY_KNOWS_S))
    level = np.full(len(measured), everybody)
    for number in range(_ROUNDS):
        deviations = measured - _local(shape, zones)
        level = np.divide((answers * deviations).sum(axis=1), total, out=np.zeros(len(total)), where=total > 0)
        known = total > 0
        everybody = float(np.average(level[known])) if known.any() else everybody
        level = np.where(known, level, everybody)
        shape = _common_shape(measured - level[:, None], answers, zones)
        if number == 0:  # later rounds would move few sites, and each costs as much as all the rest
            zones = fitted_zones(measured - level[:, None], answers, shape, by_country)
    return level, shape, zones


def _neighbours(sums: Floats) -> Floats:
    """Of each hour, the weighted sum over the hours around it, without itself; days are round."""
    around = np.zeros_like(sums)
    for away, weight in _AROUND:
        around += weight * (np.roll(sums, away, axis=1) + np.roll(sums, -away, axis=1))
    return around


def _common_shape(deviations: Floats, answers: Floats, zones: Ints) -> Floats:
    """The mean deviation per local hour; every site counts at most CALM answers per hour, so that none outvotes all."""
    weights = np.minimum(answers, CALM)
    local = (np.arange(HOURS) + zones[:, None]) % HOURS
    sums = np.bincount(local.ravel(), (weights * deviations).ravel(), HOURS)
    counts = np.bincount(local.ravel(), weights.ravel(), HOURS)
    shape: Floats = sums / (counts + CALM)
    return shape - float(np.average(shape, weights=counts)) if counts.any() else shape


def _local(shape: Floats, zones: Ints) -> Floats:
    """The common shape (local hours) at each site's UTC hours."""
    table: Floats = shape[(np.arange(HOURS) + zones[:, None]) % HOURS]
    return table


def _surprise(figures: Sequence[HourFigures | None], belief: Floats, now: float) -> Floats:
    """How much slower (or quicker) the coming hours are expected, because the latest one was (S2-17)."""
    extra = np.zeros_like(belief)
    hour_now = int(now // HOUR_S)
    fresh = [
        row for row, one in enumerate(figures)
        if one is not None and 0 <= hour_now - one.latest_hour < FRESH_HOURS
        and one.latest.answers + one.latest.failures
    ]  # fmt: skip
    for row in fresh:
        one = figures[row]
        assert one is not None
        latest = one.latest
        asked = latest.answers + latest.failures
        slower = latest.log_sum / latest.answers - belief[row, one.latest_hour % HOURS] if latest.answers else 0.0
        slower += 3.0 * latest.failures / asked  # a failure weighs like an answer twenty times as slow
        sure = asked / (asked + CALM)
        ahead = np.arange(HOURS // 2)
        extra[row, (hour_now + ahead) % HOURS] = sure * slower * 0.5 ** (hour_now - one.latest_hour + ahead)
    return extra
