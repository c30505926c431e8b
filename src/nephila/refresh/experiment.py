"""`nephila refresh simulate`: every policy on the same webs at equal budgets, or on real histories replayed (2.1).

One partition is one web: a seed and a scenario. All policies, budgets and weighings are tried on it, so that policies
are compared on the same changes, and the standard errors of differences are those of pairs.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from nephila.engine import Engine
from nephila.refresh.simulation import BY_KIND, ORACLE, Measured, Weighing, simulate
from nephila.refresh.webs import Scenario, draw_web, read_histories

BUDGETS: Final = (0.05, 0.1, 0.25, 0.5, 1.0)
WEIGHINGS: Final[tuple[Weighing, ...]] = ("equal", "popularity")
COMPARED: Final = (
    "proportional", "groups", "groups-counts", "uniform", "nutch", "azar", "lambdacrawl", "index", BY_KIND, ORACLE,
)  # fmt: skip
"""Without `fixed`, which at a budget that is all used is `uniform`."""

_BLIND_TO_WEIGHT: Final = frozenset({"proportional", "groups", "groups-counts", "fixed", "uniform", "nutch"})
_WARM_UP_SHARE: Final = 1 / 3


@dataclass(frozen=True, slots=True)
class Trial:
    """One web on which everything is tried; drawn, or a file of histories."""

    scenario: Scenario
    seed: int
    pages: int
    days: float
    budgets: tuple[float, ...]
    policies: tuple[str, ...]
    steps_per_day: int
    histories: str = ""
    history_days: float | None = None  # learnt from before anything is measured; None: the first third


@dataclass(frozen=True, slots=True)
class Tried:
    """One policy on one web."""

    scenario: str
    weighing: str
    budget: float
    policy: str
    measured: Measured
    pages: int
    days: float
    history_days: float


@dataclass(frozen=True, slots=True)
class Line:
    """One policy at one budget: means over the webs. `objective` is what the weighing asks for."""

    scenario: str
    weighing: str
    budget: float
    policy: str
    freshness: float
    embarrassment: float
    age_days: float
    useful: float
    objective: float
    standard_error: float
    of_oracle: float
    history_days: float


@dataclass(frozen=True, slots=True)
class Saving:
    """Visits that the index policy needs for the freshness of a uniform recrawl of every page once a day."""

    scenario: str
    weighing: str
    daily_freshness: float
    budget_needed: float
    saved_share: float


@dataclass(frozen=True, slots=True)
class SimulationReport:
    pages: int
    days: float
    warm_up_days: float  # of the first web; every line has its own
    webs: int
    source: str
    lines: tuple[Line, ...]
    savings: tuple[Saving, ...]
    seconds: float
    cpu_seconds: float
    picture: str = ""


def try_all(trial: Trial) -> tuple[list[Tried], float]:
    """The map's task: every policy, budget and weighing on one web; and the CPU seconds it took."""
    started = time.process_time()
    web = (
        read_histories(Path(trial.histories))
        if trial.histories
        else draw_web(trial.pages, trial.days, trial.scenario, trial.seed)
    )
    weighings = WEIGHINGS[:1] if trial.histories else WEIGHINGS
    warm_up = web.days * _WARM_UP_SHARE if trial.history_days is None else trial.history_days
    found = []
    for budget in trial.budgets:
        for policy in trial.policies:
            before: Measured | None = None
            for weighing in weighings:
                if before is None or policy not in _BLIND_TO_WEIGHT:
                    before = simulate(web, policy, budget, weighing, warm_up, trial.steps_per_day)
                found.append(
                    Tried(trial.scenario, weighing, budget, policy, before, len(web), web.days, round(warm_up, 1))
                )
    return found, time.process_time() - started


def run(
    trials: Sequence[Trial], engine: Engine, done: Callable[[int, int], None] = lambda done, of: None
) -> SimulationReport:
    """All webs, side by side where there are cores; `done` is told how far it is."""
    started, cpu_s = time.monotonic(), 0.0
    tried: list[Tried] = []
    for number, (found, took_s) in enumerate(engine.map(try_all, trials), start=1):
        tried += found
        cpu_s += took_s
        done(number, len(trials))
    lines = tuple(_lines(tried))
    first = tried[0]
    source = trials[0].histories or "drawn by S1's figures (CHECKLIST 4.6)"
    return SimulationReport(
        first.pages, round(first.days, 1), first.history_days, len(trials), source, lines,
        tuple(_savings(lines)), round(time.monotonic() - started, 1), round(cpu_s, 1),
    )  # fmt: skip


def _lines(tried: Iterable[Tried]) -> Iterable[Line]:
    cells: dict[tuple[str, str, float, str, float], list[Measured]] = defaultdict(list)
    for each in tried:
        cells[each.scenario, each.weighing, each.budget, each.policy, each.history_days].append(each.measured)
    for (scenario, weighing, budget, policy, history), found in cells.items():
        objective = _objective(weighing, found)
        oracle = _objective(weighing, cells.get((scenario, weighing, budget, ORACLE, history), []))
        spread = float(np.std(objective, ddof=1)) if len(objective) > 1 else 0.0
        means = {
            name: round(float(np.mean([getattr(each, name) for each in found])), 5)
            for name in ("freshness", "embarrassment", "age_days", "useful")
        }
        yield Line(
            scenario, weighing, budget, policy, **means, objective=round(float(np.mean(objective)), 5),
            standard_error=round(spread / len(found) ** 0.5, 5),
            of_oracle=round(float(np.mean(objective) / np.mean(oracle)), 4) if oracle else 0.0, history_days=history,
        )  # fmt: skip


def _objective(weighing: str, found: Iterable[Measured]) -> list[float]:
    return [each.freshness if weighing == "equal" else each.embarrassment for each in found]


def _savings(lines: Sequence[Line]) -> Iterable[Saving]:
    """By interpolation between the budgets that were tried; of one length of history alone."""
    if len({line.history_days for line in lines}) > 1:
        return
    for scenario, weighing in dict.fromkeys((line.scenario, line.weighing) for line in lines):
        some = [line for line in lines if (line.scenario, line.weighing) == (scenario, weighing)]
        daily = next((line.objective for line in some if line.policy == "uniform" and line.budget == 1.0), None)
        ours = sorted((line.budget, line.objective) for line in some if line.policy == "index")
        if daily is None or len(ours) < 2 or ours[-1][1] < daily or ours[0][1] > daily:
            continue
        needed = float(np.interp(daily, [value for _, value in ours], [budget for budget, _ in ours]))
        yield Saving(scenario, weighing, daily, round(needed, 3), round(1 - needed, 3))
