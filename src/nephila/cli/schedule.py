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
        nephila schedule probe -i seeds.txt            ask home pages politely, hour by hour, and learn
        nephila schedule show -C crawl                 tonight's plan: sites by the hours to come

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


@command.command("probe")
@click.argument("seeds", nargs=-1, metavar="[SEED]...")
@click.option("-i", "--input", "files", multiple=True, type=click.Path(path_type=Path), metavar="FILE",
              help="A text file with one URL per line; may be repeated.")  # fmt: skip
@click.option("--rounds", type=click.IntRange(1, 100_000), default=24, show_default=True,
              help="How often each site is asked for its home page.")  # fmt: skip
@click.option("--every", default="1h", show_default=True, metavar="TIME",
              help="From one round to the next, such as 30m or 1h.")  # fmt: skip
@common_options
def probe(common: Common, seeds: tuple[str, ...], files: tuple[Path, ...], rounds: int, every: str) -> int:
    """Learn when sites are quiet without collecting them: their home pages, politely, round after round.

    \b
        nephila schedule probe -i seeds.txt --set net.contact=you@example.org     a day, once an hour
        nephila schedule probe -C crawl --rounds 1                                the crawl's own sites, now

    Robots rules hold, one request at a time per address, delays as in a crawl. Only times are kept, in
    DIR/state/hours-probe.db; a crawl in DIR with a policy plans by them and by what it measures itself. It asks for the
    folder like a crawl does, so that no site is asked by both at once. Ctrl-C ends it; what was learnt stays.
    """
    from nephila.cli import schedule_view
    from nephila.config.units import parse_duration
    from nephila.crawl.seeds import read_seed_file
    from nephila.errors import UsageError
    from nephila.jobs.probed import probe_sites

    try:
        every_s = float(every) if every.isdecimal() else parse_duration(every)
    except ValueError:
        raise UsageError(f"--every {every}: write a time such as 30m, 1h or 90 for seconds.") from None
    lines = [(seed, "the command line") for seed in seeds]
    for file in files:
        lines += read_seed_file(file)
    config = common.configuration().config
    with schedule_view.counting(rounds, quiet=common.quiet or common.as_json, what="rounds") as show:
        report = probe_sites(config, common.directory, lines, rounds, every_s, show)
    emit_json(report) if common.as_json else emit(schedule_view.probe_as_text(report))
    return 0


@command.command("show")
@click.option("--policy", type=click.Choice(["random", "sorting", "hybrid", "index", "lp"]),
              help="Another policy than the crawl's own, to see what it would do.")  # fmt: skip
@click.option("--sites", type=click.IntRange(1, 10_000), default=40, show_default=True, help="Rows at most.")
@common_options
def show(common: Common, policy: str | None, sites: int) -> int:
    """Show tonight's plan: sites by the 24 hours to come, how busy each is believed to be, and when it is collected.

    \b
        nephila schedule show -C crawl
        nephila schedule show -C crawl --policy lp --json

    What is believed comes from what crawls and probes measured, hour by hour, faded with time (schedule.half_life); an
    hour that nobody watched follows the day of all sites in the site's own time zone. The same picture is in `nephila
    serve`, and the plan in force in DIR/plan/schedule.json. Nothing is written.
    """
    from dataclasses import replace
    from typing import Any, cast

    from nephila.cli import schedule_view
    from nephila.clock import Clock
    from nephila.schedule.showing import tonight
    from nephila.store.folder import CrawlFolder

    folder = CrawlFolder.open(common.directory)
    config = common.configuration().config
    schedule = replace(config.schedule, policy=cast(Any, policy or config.schedule.policy))
    clock = Clock(config.clock.rate, config.clock.origin, config.clock.real_origin)
    places = config.crawl.active_sites * (config.crawl.slots or 1)
    shown = tonight(folder, schedule, config.politeness, clock.now(), places, sites)
    emit_json(shown) if common.as_json else emit(schedule_view.plan_as_text(shown))
    return 0
