"""The simulator: robots on servers, hour by hour, under a policy (S2-15).

Rates are constant inside an hour, so that everything happens at three kinds of moments: a server is complete, a quota
is used up, an hour ends. A robot takes one server at a time, a server has one robot at most. When the order of the hour
is used up, servers whose quota is used up are taken again rather than leaving a robot idle (`policy`).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from nephila.schedule.policy import HOURS, Floats, HourOrder, Policy, Situation

MOST_HOURS: Final = 24 * 30
_NOTHING: Final = 1e-12


@dataclass(frozen=True, slots=True)
class World:
    """How things are; servers × 24, and what there is to collect."""

    loads: Floats
    rates: Floats
    volumes: Floats
    places: int
    start_hour: int = 0


@dataclass(frozen=True, slots=True)
class Simulated:
    """What came of it."""

    hours: float  # until everything was complete; infinite if it never was
    volume: Floats  # collected in each hour
    by_hour: Floats  # servers × hours of the run
    busy_h: float  # robot time used
    suspensions: int  # servers that gave a robot back unfinished, by the policy's word
    finished_h: Floats  # per server


def simulate(world: World, policy: Policy, loads: Floats | None = None, rates: Floats | None = None) -> Simulated:
    """Run until all is complete. `loads` and `rates` are what the policy believes; by default the truth."""
    loads = world.loads if loads is None else loads
    rates = world.rates if rates is None else rates
    left = world.volumes.astype(np.float64).copy()
    finished = np.full(len(left), np.nan)
    under_way: list[int] = []
    collected: list[Floats] = []
    busy, suspensions, hour = 0.0, 0, 0
    while (left > _NOTHING).any():
        if hour == MOST_HOURS:
            finished[left > _NOTHING] = np.inf
            break
        of_day = (world.start_hour + hour) % HOURS
        begun = left < world.volumes
        chosen = policy(Situation(of_day, loads, rates, left, world.places, begun=begun))
        staying = [server for server in under_way if chosen.stays is None or chosen.stays[server]]
        suspensions += len(under_way) - len(staying)
        one = _one_hour(world, of_day, chosen, staying, left)
        collected.append(one.volume)
        busy += one.busy_h
        for server, at in one.finished:
            finished[server] = hour + at
        under_way, suspensions = one.under_way, suspensions + one.used_up
        hour += 1
    by_hour = np.stack(collected, axis=1) if collected else np.zeros((len(left), 0))
    hours = float(np.max(finished, initial=0.0))
    return Simulated(hours, by_hour.sum(axis=0), by_hour, float(busy), suspensions, finished)


@dataclass(frozen=True, slots=True)
class _Hour:
    volume: Floats
    busy_h: float
    finished: list[tuple[int, float]]
    under_way: list[int]
    used_up: int


def _one_hour(world: World, of_day: int, chosen: HourOrder, staying: list[int], left: Floats) -> _Hour:
    """One hour; `left` becomes less."""
    rates = world.rates[:, of_day]
    volume = np.zeros(len(left))
    finished: list[tuple[int, float]] = []
    under_way: list[int] = []
    busy, used_up = 0.0, 0
    robots = [(0.0, number) for number in range(world.places)]
    waiting = _in_turn(chosen, staying, left)
    again: list[int] = []  # whose quota is used up
    quota_counts = True
    while robots:
        at, robot = heapq.heappop(robots)
        server = next(waiting, None)
        while server is not None and rates[server] <= 0:  # down: the robot goes on at once
            server = next(waiting, None)
        if server is None and again:
            waiting, again, quota_counts = iter(again), [], False
            heapq.heappush(robots, (at, robot))
            continue
        if server is None:
            continue  # nothing left for this robot in this hour
        quota = 1.0 if chosen.quota_h is None or not quota_counts else max(float(chosen.quota_h[server]), 0.0)
        quota = quota if quota > _NOTHING else 1.0  # served because nobody with a quota waits
        needed = left[server] / rates[server]
        used = min(needed, 1.0 - at, quota)
        busy += used
        volume[server] += used * rates[server]
        if needed <= used + _NOTHING:
            left[server] = 0.0
            finished.append((server, at + used))
        else:
            left[server] -= used * rates[server]
            if at + used >= 1.0 - _NOTHING:
                under_way.append(server)
            else:
                again.append(server)
                used_up += 1
        if at + used < 1.0 - _NOTHING:
            heapq.heappush(robots, (at + used, robot))
    return _Hour(volume, busy, finished, under_way, used_up)


def _in_turn(chosen: HourOrder, staying: list[int], left: Floats) -> Iterator[int]:
    """Servers under way first, for they have their robots; then the order."""
    yield from staying
    kept = set(staying)
    for server in chosen.order.tolist():
        if server not in kept and left[server] > _NOTHING:
            yield server
