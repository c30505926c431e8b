"""What is believed of each site's hours: from faded sums to latencies, loads and how sure we are (S2-5).

    x_sh   mean logarithm of the seconds to the first byte of site s at hour h, from n_sh answers
    m_s    the site's own level, p the common shape of a day in local time, z_s the site's time zone
    belief = (n_sh x_sh + CALM (m_s + p_{h + z_s})) / (n_sh + CALM)

So an hour that was watched well is believed as measured, one that never was follows the day's common shape, and a site
that nobody knows has the level of all. `confidence` is n / (n + CALM).

Load is what the belief is slower than the quickest answers there are: 1 - quickest / latency, made larger by failures
(no answer, 429, 5xx), and smaller by the share of the hour in which our own requests were under way when it was
measured (S2-17). A site whose latest hour was not as believed is expected to go on like that, half as much with each
hour that passes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from nephila.schedule.policy import HOURS, Floats, Ints
from nephila.schedule.zones import fitted_zone, zone_hours
from nephila.store.hour_figures import HOUR_S, HourFigures

CALM: Final = 2.0
QUICK_SHARE: Final = 0.05
FRESH_HOURS: Final = 3
MOST_LOAD: Final = 0.99
_NOBODY_KNOWS_S: Final = 0.3  # S1's median answer, where nothing at all was measured
_ROUNDS: Final = 3


@dataclass(frozen=True, slots=True)
class Belief:
    """Sites × 24 hours of the day, UTC."""

    loads: Floats  # [0, MOST_LOAD], without what our own requests add
    latency_s: Floats
    failures: Floats  # share of requests
    confidence: Floats  # [0, 1)
    zones: Floats  # per site: hours ahead of UTC


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
    prior = level[:, None] + _local(shape, zones)
    belief = (answers * measured + CALM * prior) / (answers + CALM)
    belief += _surprise(figures, belief, now)
    latency = np.exp(belief)
    quickest = float(np.quantile(latency, QUICK_SHARE)) if latency.size else 1.0
    asked = answers + failures
    failing = np.divide(failures, asked + CALM, out=np.zeros_like(asked), where=asked > 0)
    own = np.divide(asked_s, watched * HOUR_S, out=np.zeros_like(asked_s), where=watched > 0)
    loads = np.clip(1.0 - np.minimum(1.0, quickest / latency) - own, 0.0, MOST_LOAD)
    loads = np.clip(1.0 - (1.0 - loads) * (1.0 - failing), 0.0, MOST_LOAD)
    return Belief(loads, latency, failing, answers / (answers + CALM), zones.astype(np.float64))


def _levels_and_shape(measured: Floats, answers: Floats, by_country: Ints) -> tuple[Floats, Floats, Ints]:
    """Each site's level, the common shape of the day in local hours, and each site's zone; found in turns."""
    shape, zones = np.zeros(HOURS), by_country
    total = answers.sum(axis=1)
    everybody = float(np.log(_NOBODY_KNOWS_S))
    level = np.full(len(measured), everybody)
    for _ in range(_ROUNDS):
        deviations = measured - _local(shape, zones)
        level = np.divide((answers * deviations).sum(axis=1), total, out=np.zeros(len(total)), where=total > 0)
        known = total > 0
        everybody = float(np.average(level[known])) if known.any() else everybody
        level = np.where(known, level, everybody)
        shape = _common_shape(measured - level[:, None], answers, zones)
        zones = np.array(
            [
                fitted_zone(one - one_level, weights, shape, int(country)) if weights.any() else int(country)
                for one, one_level, weights, country in zip(measured, level, answers, by_country, strict=True)
            ],
            dtype=np.int64,
        )
    return level, shape, zones


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
    for row, one in enumerate(figures):
        if one is None or not 0 <= hour_now - one.latest_hour < FRESH_HOURS:
            continue
        latest = one.latest
        asked = latest.answers + latest.failures
        if not asked:
            continue
        usual = belief[row, one.latest_hour % HOURS]
        slower = latest.log_sum / latest.answers - usual if latest.answers else 0.0
        slower += 3.0 * latest.failures / asked  # a failure weighs like an answer twenty times as slow
        sure = asked / (asked + CALM)
        for ahead in range(HOURS // 2):
            age = hour_now - one.latest_hour + ahead
            extra[row, (hour_now + ahead) % HOURS] += sure * slower * 0.5**age
    return extra
