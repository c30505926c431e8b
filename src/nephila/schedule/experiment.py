"""S2's experiment, many times over: every policy on the same instances (CHECKLIST 3).

One instance is one partition of the engine's map: drawn from its own seed, so that it is the same whoever computes it.
Each policy runs twice, with what the planner knows after three days and, as in the paper, with the day itself.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from nephila.schedule.instances import Instance, Setting, draw_instance
from nephila.schedule.measuring import Figures, figures, laid_out
from nephila.schedule.optimum import quick_bound, quickest
from nephila.schedule.policies import OPTIMUM, POLICIES
from nephila.schedule.policy import Situation
from nephila.schedule.simulating import simulate


@dataclass(frozen=True, slots=True)
class Draw:
    """Which instance."""

    setting: Setting
    seed: int


@dataclass(frozen=True, slots=True)
class InstanceFigures:
    """One instance under every policy: with what three days taught (`honest`), and with the day known (`known`)."""

    seed: int
    honest: dict[str, Figures]
    known: dict[str, Figures]
    bound_h: float
    cpu_s: float


def run_instance(draw: Draw) -> InstanceFigures:
    """One instance under all policies, and its optimum."""
    cpu = time.process_time()
    instance = draw_instance(draw.setting, draw.seed)
    world = instance.world
    situation = Situation(world.start_hour, world.loads, world.rates, world.volumes, world.places)
    bound = quick_bound(situation)
    optimum = figures(world, laid_out(world, quickest(situation)), bound)
    honest = _policies(instance, bound, known=False)
    known = _policies(instance, bound, known=True)
    return InstanceFigures(
        draw.seed, honest | {OPTIMUM: optimum}, known | {OPTIMUM: optimum}, bound, time.process_time() - cpu
    )


def _policies(instance: Instance, bound: float, *, known: bool) -> dict[str, Figures]:
    believed = () if known else (instance.believed_loads, instance.believed_rates)
    return {
        name: figures(instance.world, simulate(instance.world, policy, *believed), bound)
        for name, policy in POLICIES.items()
    }
