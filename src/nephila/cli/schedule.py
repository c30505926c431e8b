"""`nephila schedule`: when a server is quiet, and in which order sites are collected."""

from __future__ import annotations

from pathlib import Path

import click

from nephila.cli.options import Common, common_options
from nephila.cli.output import emit, emit_json


@click.group()
def command() -> None:
    """Visit each server in its quiet hours: S2's policies, the optimum, and what the crawl has learnt.

    \b
        nephila schedule simulate                      S2's experiment: random, sorting, hybrid, and the best possible

    A crawl follows a policy with `nephila crawl --policy hybrid` (or lp, index, sorting, random).
    """


@command.command("simulate")
@click.option("--instances", type=click.IntRange(1, 10_000), default=30, show_default=True, help="How many draws.")
@click.option("--seed", type=click.IntRange(0, 2**40), default=1, show_default=True,
              help="The first draw; the others follow it. The same seed gives the same figures.")  # fmt: skip
@click.option("--servers", type=click.IntRange(1, 5_000), default=100, show_default=True)
@click.option("--robots", type=click.IntRange(1, 1_000), default=4, show_default=True)
@click.option("--start-hour", type=click.IntRange(0, 23), default=0, show_default=True,
              help="The hour of the day at which the robots begin.")  # fmt: skip
@click.option("--gamma", type=click.FloatRange(0.1, 8), default=1.0, show_default=True,
              help="A robot collects (1 - load) to this power; 2 falls steeply.")  # fmt: skip
@click.option("--volumes", type=click.Choice(["uniform", "pareto"]), default="uniform", show_default=True,
              help="How much there is on a server; pareto has a heavy tail.")  # fmt: skip
@click.option("--own-load", type=click.FloatRange(0, 0.5), default=0.0, show_default=True,
              help="What a robot adds to its server's load.")  # fmt: skip
@click.option("--failing", type=click.FloatRange(0, 0.5), default=0.0, show_default=True,
              help="The chance that a server is down for an hour.")  # fmt: skip
@click.option("--picture", type=click.Path(path_type=Path), default=Path("schedule.svg"), show_default=True,
              metavar="FILE", help="Where the picture goes.")  # fmt: skip
@common_options
def simulate(
    common: Common, instances: int, seed: int, servers: int, robots: int, start_hour: int, gamma: float,
    volumes: str, own_load: float, failing: float, picture: Path,
) -> int:  # fmt: skip
    """Run the experiment of S2 many times and compare its policies with the optimum.

    \b
        nephila schedule simulate
        nephila schedule simulate --instances 100 --servers 400 --robots 16
        nephila schedule simulate --own-load 0.05 --failing 0.036      the paper's future work

    Every policy collects the same servers on the same day. The optimum is exact: a linear program over the hours to
    come, laid out by McNaughton's rule. The first table is the paper's own way, in which the policies know the loads of
    the day; in the second they know three other days, which is all that a crawl can know.
    """
    import os
    from typing import cast

    from nephila.cli import schedule_view
    from nephila.engine import open_engine
    from nephila.schedule.instances import Setting, Volumes
    from nephila.schedule.run import simulate as run

    setting = Setting(servers, robots, start_hour, gamma, cast(Volumes, volumes), own_load, failing)
    workers = min(common.agents or os.cpu_count() or 1, instances)
    with (
        open_engine(common.engine, workers) as engine,
        schedule_view.counting(instances, quiet=common.quiet or common.as_json) as show,
    ):
        report = run(setting, instances, seed, engine, picture, show)
    emit_json(report) if common.as_json else emit(schedule_view.as_text(report))
    return 0
