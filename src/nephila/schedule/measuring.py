"""The quantities of CHECKLIST 3 for one simulated run, and how two runs compare hour by hour."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from nephila.schedule.optimum import Quickest, alone_h, coming_rates
from nephila.schedule.policy import HOURS, Floats
from nephila.schedule.simulating import Simulated, World
from nephila.schedule.wrap_around import wrap_around

BEST_HOURS: Final = 4
_NOTHING: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Figures:
    """One run of one policy. Loads and shares are weighted by the volume collected."""

    hours: float
    hours_rounded_up: int
    utilisation: float  # of the robots, until the end
    load_at_fetch: float
    best_hours_share: float  # of the volume that came in each server's best 4 hours
    suspensions: int
    worst_delay_h: float  # the longest that a server ended later than it would have alone
    ratio_to_bound: float
    volume: tuple[float, ...]  # per hour


def figures(world: World, run: Simulated, bound_h: float) -> Figures:
    total = float(run.by_hour.sum())
    of_day = (world.start_hour + np.arange(run.by_hour.shape[1])) % HOURS
    best = np.zeros(world.loads.shape, dtype=np.bool_)
    np.put_along_axis(best, np.argsort(world.loads, axis=1, kind="stable")[:, :BEST_HOURS], True, axis=1)
    alone = alone_h(world.rates, world.volumes, world.start_hour)
    return Figures(
        hours=run.hours,
        hours_rounded_up=math.ceil(run.hours - _NOTHING) if math.isfinite(run.hours) else -1,
        utilisation=run.busy_h / (world.places * run.hours) if run.hours else 0.0,
        load_at_fetch=float((run.by_hour * world.loads[:, of_day]).sum()) / total if total else 0.0,
        best_hours_share=float((run.by_hour * best[:, of_day]).sum()) / total if total else 0.0,
        suspensions=run.suspensions,
        worst_delay_h=float(np.max(run.finished_h - alone, initial=0.0)),
        ratio_to_bound=run.hours / bound_h if bound_h else 1.0,
        volume=tuple(run.volume.tolist()),
    )


def laid_out(world: World, solved: Quickest) -> Simulated:
    """The optimum as a run: each hour's times laid out on the robots (`wrap_around`), and when each server ended."""
    count = solved.times_h.shape[1]
    rates = coming_rates(world.rates, world.start_hour, count)
    by_hour = rates * solved.times_h
    finished = np.zeros(len(world.volumes))
    splits, begin = 0, 0.0
    for k in range(count):
        length = float(solved.lengths_h[k])
        stretches = wrap_around(solved.times_h[:, k], world.places, length)
        splits += len(stretches) - len({one.site for one in stretches})
        for one in stretches:
            finished[one.site] = max(finished[one.site], begin + one.end_h)
        begin += length
    used = solved.times_h > _NOTHING
    hours_used = used.sum(axis=1)
    spans = np.where(used.any(axis=1), count - used[:, ::-1].argmax(axis=1) - used.argmax(axis=1), 0)
    gaps = int((spans - hours_used).clip(0).astype(bool).sum())
    return Simulated(solved.hours, by_hour.sum(axis=0), by_hour, float(solved.times_h.sum()), splits + gaps, finished)


def overtakes(one: Floats, other: Floats) -> int | None:
    """The first hour from which on `one` is above `other`, after having been below or equal; None if never."""
    length = min(len(one), len(other))
    above = one[:length] > other[:length] + _NOTHING
    for hour in range(length):
        if above[hour] and (hour == 0 or not above[hour - 1]):
            return hour
    return None


def longest_lead(one: Floats, other: Floats) -> tuple[int, int]:
    """The longest block of hours in a row in which `one` is above `other`: its first hour and its length."""
    length = min(len(one), len(other))
    best, begin = (0, 0), 0
    for hour in range(length + 1):
        if hour < length and one[hour] > other[hour] + _NOTHING:
            continue
        if hour - begin > best[1]:
            best = (begin, hour - begin)
        begin = hour + 1
    return best
