"""Instances of S2's experiment (CHECKLIST 3): servers with their loads over the day, and how much there is to collect.

Four shapes of a day (S2-6), in equal shares: low and flat, high and flat, high with a valley, wide swing with a deep
valley. The trough is at night, N(4, 1.5), for seven of ten; else at any hour. Volumes are uniform or heavy-tailed, and
scaled so that the random policy finishes in 25.4 hours: the time that finding 6 reads out of the paper's percentages.
The planner knows three days (`steady_day`), the experiment happens on a fourth.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np

from nephila.schedule.listed_order import as_listed
from nephila.schedule.policy import HOURS, Flags, Floats
from nephila.schedule.simulating import World, simulate
from nephila.schedule.steady_day import steady_day

RANDOM_H: Final = 25.4
DAYS_KNOWN: Final = 3
_NOISE: Final = 0.02
_LEAST, _MOST = 0.02, 0.95
_NIGHT_SHARE: Final = 0.7
FAILING: Final = 1 - 8451 / 8768  # 1 - SS (finding 1)

Volumes = Literal["uniform", "pareto"]


@dataclass(frozen=True, slots=True)
class Setting:
    """How instances are drawn; the defaults are the paper's ~100 servers and 4 robots (S2-3, S2-15)."""

    servers: int = 100
    places: int = 4
    start_hour: int = 0
    gamma: float = 1.0  # a server's rate is (1 - load) to this power; 2 for S2-6's "steeply"
    volumes: Volumes = "uniform"
    own_load: float = 0.0  # what one robot adds to the load (S2-17)
    failing: float = 0.0  # chance that a server is down for an hour (S2-17)


@dataclass(frozen=True, slots=True)
class Instance:
    """One draw: the world as it is, and the loads that the planner believes."""

    world: World
    believed_loads: Floats
    believed_rates: Floats


def draw_instance(setting: Setting, seed: int) -> Instance:
    chance = np.random.default_rng(seed)
    mean = _daily_loads(setting.servers, chance)
    days = [_one_day(mean, chance) for _ in range(DAYS_KNOWN + 1)]
    believed = np.clip(steady_day(np.stack(days[:DAYS_KNOWN])), _LEAST, _MOST)
    loads = days[DAYS_KNOWN]
    volumes = chance.uniform(0.1, 1.9, setting.servers)
    if setting.volumes == "pareto":
        volumes = 1.0 + chance.pareto(1.5, setting.servers)
    down = chance.random((setting.servers, HOURS)) < setting.failing
    world = World(loads, _rates(loads, setting, down), volumes, setting.places, setting.start_hour)
    return Instance(_scaled(world), believed, _rates(believed, setting))


def _daily_loads(servers: int, chance: np.random.Generator) -> Floats:
    shape = chance.integers(0, 4, servers)
    trough = np.where(
        chance.random(servers) < _NIGHT_SHARE, chance.normal(4, 1.5, servers), chance.uniform(0, 24, servers)
    )
    swing = (1 - np.cos(2 * np.pi * (np.arange(HOURS) - trough[:, None]) / HOURS)) / 2
    floor = np.choose(shape, [chance.uniform(low, high, servers) for low, high in
                              ((0.10, 0.20), (0.75, 0.85), (0.42, 0.52), (0.08, 0.15))])  # fmt: skip
    height = np.choose(shape, [np.full(servers, 0.03), np.full(servers, 0.03), chance.uniform(0.35, 0.43, servers),
                               chance.uniform(0.50, 0.65, servers)])  # fmt: skip
    return floor[:, None] + height[:, None] * swing


def _one_day(mean: Floats, chance: np.random.Generator) -> Floats:
    return np.clip(mean + chance.normal(0, _NOISE, mean.shape), _LEAST, _MOST)


def _rates(loads: Floats, setting: Setting, down: Flags | None = None) -> Floats:
    """What one robot collects in an hour; nothing from a server that is down."""
    rates = np.clip(1.0 - loads - setting.own_load, 0.01, 1.0) ** setting.gamma
    return rates if down is None else np.where(down, 0.0, rates)


def _scaled(world: World) -> World:
    """Volumes such that random takes RANDOM_H; the time grows with the volume, so halving the interval finds it."""
    low, high = 0.0, 1.0
    while simulate(replace(world, volumes=world.volumes * high), as_listed).hours < RANDOM_H:
        low, high = high, 2 * high
    for _ in range(40):
        middle = (low + high) / 2
        if simulate(replace(world, volumes=world.volumes * middle), as_listed).hours < RANDOM_H:
            low = middle
        else:
            high = middle
    return replace(world, volumes=world.volumes * high)
