"""The front door of the simulation: instances drawn, policies run on them, one report and one picture."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from nephila.engine import Engine
from nephila.errors import UsageError
from nephila.schedule.experiment import Draw, run_instance
from nephila.schedule.instances import Setting
from nephila.schedule.picture import draw
from nephila.schedule.report import SimulateReport
from nephila.schedule.summing import hour_by_hour, instance_row, policy_rows, spread
from nephila.store.durable import replace_file


def simulate(
    setting: Setting, instances: int, seed: int, engine: Engine, picture: Path | None = None,
    show: Callable[[int], None] = lambda done: None,
) -> SimulateReport:  # fmt: skip
    """S2's experiment on `instances` draws; `show` is told how many are done."""
    if picture is not None and not picture.parent.is_dir():
        raise UsageError(f"{picture.parent} is no folder; make it, or name another file with --picture.")
    started = time.monotonic()
    found = []
    for one in engine.map(run_instance, [Draw(setting, seed + number) for number in range(instances)]):
        found.append(one)
        show(len(found))
    rows = tuple(instance_row(one) for one in found)
    known = [one.known for one in found]
    report = SimulateReport(
        servers=setting.servers,
        robots=setting.places,
        seed=seed,
        in_order=sum(row.in_order for row in rows) / len(rows),
        in_order_honest=sum(row.in_order_honest for row in rows) / len(rows),
        policies=policy_rows(known),
        honest=policy_rows([one.honest for one in found]),
        bound=spread(row.bound for row in rows),
        hour_by_hour=hour_by_hour(known),
        instances=rows,
        seconds=time.monotonic() - started,
        cpu_seconds=sum(one.cpu_s for one in found),
        picture=str(picture or ""),
    )
    if picture is not None:
        replace_file(picture, draw(report).encode())
    return report
