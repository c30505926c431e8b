"""From figures of single instances to the report: means, deviations, shares and medians."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from nephila.schedule.experiment import InstanceFigures
from nephila.schedule.measuring import Figures, longest_lead, overtakes
from nephila.schedule.policies import OPTIMUM
from nephila.schedule.report import HourByHour, InstanceRow, PolicyRow, Spread

SAME_H: Final = 1e-6
"""Times that differ by less are equal; the solver's own precision."""

_STRICTLY: Final = ("random", "sorting", "hybrid", "lp-quota")


def in_order(hours: dict[str, float], bound: float) -> bool:
    """The acceptance of CHECKLIST 3: random > sorting > hybrid > LP-quota ≥ LP ≥ bound."""
    ranked = [hours[name] for name in _STRICTLY]
    falls = all(first > second for first, second in pairwise(ranked))
    return falls and hours["lp-quota"] >= hours[OPTIMUM] - SAME_H and hours[OPTIMUM] >= bound - SAME_H


def instance_row(one: InstanceFigures) -> InstanceRow:
    hours = {name: each.hours for name, each in one.known.items()}
    honest = {name: each.hours for name, each in one.honest.items()}
    return InstanceRow(one.seed, hours, honest, one.bound_h, in_order(hours, one.bound_h),
                       in_order(honest, one.bound_h))  # fmt: skip


def policy_rows(runs: Sequence[dict[str, Figures]]) -> tuple[PolicyRow, ...]:
    random_h = float(np.mean([run["random"].hours for run in runs]))
    rows = []
    for name in runs[0]:
        of_policy = [run[name] for run in runs]

        def over(ask: Callable[[Figures], float], runs: Sequence[Figures] = of_policy) -> Spread:
            return spread(ask(run) for run in runs)

        hours = over(lambda run: run.hours)
        rows.append(
            PolicyRow(
                policy=name,
                hours=hours,
                hours_rounded_up=over(lambda run: run.hours_rounded_up),
                faster_than_random=random_h / hours.mean - 1 if hours.mean else 0.0,
                utilisation=over(lambda run: run.utilisation),
                load_at_fetch=over(lambda run: run.load_at_fetch),
                best_hours_share=over(lambda run: run.best_hours_share),
                suspensions=over(lambda run: run.suspensions),
                worst_delay_h=over(lambda run: run.worst_delay_h),
                ratio_to_bound=over(lambda run: run.ratio_to_bound),
                volume=_mean_volume([run.volume for run in of_policy]),
            )
        )
    return tuple(rows)


def hour_by_hour(runs: Sequence[dict[str, Figures]]) -> HourByHour:
    firsts, cumulative, below, leads = [], [], [], []
    sorting_first = 0
    for run in runs:
        random, sorting, hybrid = (np.array(run[name].volume) for name in ("random", "sorting", "hybrid"))
        sorting_first += bool(sorting[0] > hybrid[0] > random[0])
        firsts.append(overtakes(hybrid, sorting))
        cumulative.append(overtakes(np.cumsum(hybrid), np.cumsum(sorting)))
        below.append(overtakes(random, sorting))
        leads.append(longest_lead(hybrid, sorting))
    return HourByHour(
        sorting_first / len(runs),
        _median(firsts),
        _median(cumulative),
        _median([begin for begin, length in leads if length]),
        _median([length for _, length in leads]),
        _median(below),
    )


def spread(values: Iterable[float]) -> Spread:
    every = np.array(list(values), dtype=np.float64)
    return Spread(float(every.mean()), float(every.std(ddof=1)) if len(every) > 1 else 0.0)


def _median(hours: Sequence[int | None]) -> int | None:
    found = [hour for hour in hours if hour is not None]
    return int(np.median(found)) if len(found) * 2 > len(hours) else None


def _mean_volume(volumes: Sequence[tuple[float, ...]]) -> tuple[float, ...]:
    table = np.zeros((len(volumes), max(map(len, volumes))))
    for row, volume in zip(table, volumes, strict=True):
        row[: len(volume)] = volume
    return tuple(table.mean(axis=0).tolist())
