"""`nephila crawl`: collect a web."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import click

from nephila.cli import INTERRUPTED
from nephila.cli.options import Common, common_options
from nephila.cli.output import complain, emit, emit_json

if TYPE_CHECKING:
    from nephila.config.layers import Layer
    from nephila.crawl.report import CrawlReport

PROFILES = ("general", "focusing", "topical", "wrapper")
POLICIES = ("off", "random", "sorting", "hybrid", "index", "lp")

P = ParamSpec("P")
R = TypeVar("R")


def seed_options(function: Callable[P, R]) -> Callable[P, R]:
    """What a crawl begins with."""
    file = click.option(
        "-i",
        "--input",
        "files",
        multiple=True,
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="A text file with one seed per line; may be repeated. A crawl's seeds.out is one.",
    )
    policy = click.option(
        "--policy",
        type=click.Choice(POLICIES),
        help="Order sites by the hour of the day (`nephila schedule`); off by default.",
    )
    profile = click.option(
        "--profile",
        type=click.Choice(PROFILES),
        help="The kind of crawler (docs/scopes.md): general; focusing, the seeds' sites whole; topical; wrapper.",
    )
    return click.argument("seeds", nargs=-1, metavar="[SEED]...")(file(policy(profile(function))))


@click.command()
@seed_options
@click.option("--estimate", is_flag=True, help="Only say how many pages, how long and how much disk; ask nobody.")
@common_options
def command(
    common: Common, seeds: tuple[str, ...], files: tuple[Path, ...], policy: str | None, profile: str | None,
    estimate: bool,
) -> int:  # fmt: skip
    """Collect the web that the seeds lead to, politely and exactly once.

    A seed is a URL or a host name. Links to other sites are followed too, unless you say otherwise:

    \b
        nephila crawl https://www.example.org/ --set crawl.mode=sites --set net.contact=you@example.org
        nephila crawl -i seeds.txt --set crawl.max_pages=10000 --set "scope.include_hosts=*.ac.kr"
        nephila crawl -i seeds.txt --set crawl.max_pages=10000 --estimate

    Run it again with the same folder and it goes on where it stopped, also after kill -9; further seeds may be
    added then. Ctrl-C stops cleanly (exit code 130). The folder keeps the settings, so that resuming needs only -C.

    By default a site is asked one thing at a time, at the earliest one second, or ten times the last download, after
    its last answer, and only what its robots.txt allows. Addresses of private networks are refused unless
    net.allow_private names them: --set net.allow_private=127.0.0.0/8 for sites on this machine.
    """
    from nephila.cli.crawl_view import as_text

    if estimate:
        return _estimate(common, seeds, files, profile)
    report = collect(common, seeds, files, policy, profile)
    if common.as_json:
        emit_json(report)
    else:
        emit(as_text(report, common.directory))
    return INTERRUPTED if report.how == "interrupted" else 0


def _estimate(common: Common, seeds: tuple[str, ...], files: tuple[Path, ...], profile: str | None) -> int:
    """What the crawl would come to, by its limits and what the folder has seen; nothing is touched."""
    from nephila.cli.estimate_view import as_text
    from nephila.crawl.estimated import estimate_crawl
    from nephila.crawl.run import read_input

    agents = common.agents or os.cpu_count() or 1
    settings, seed_list = read_input(
        common.directory, [*common.layers(), *chosen(None, profile)], _lines(seeds, files), agents
    )
    found = estimate_crawl(common.directory, settings.effective.config, seed_list, agents)
    if common.as_json:
        emit_json(found)
    else:
        emit(as_text(found))
    return 0


def _lines(seeds: tuple[str, ...], files: tuple[Path, ...]) -> list[tuple[str, str]]:
    from nephila.crawl.seeds import read_seed_file

    lines = [(seed, "the command line") for seed in seeds]
    for file in files:
        lines += read_seed_file(file)
    return lines


def chosen(policy: str | None, profile: str | None) -> list[Layer]:
    """What options set, as layers of the configuration."""
    from nephila.config.layers import Layer

    options = {"schedule.policy": policy, "crawl.profile": profile}
    return [Layer(f"--{key.partition('.')[2]}", {key: value}) for key, value in options.items() if value is not None]


def collect(
    common: Common, seeds: tuple[str, ...], files: tuple[Path, ...], policy: str | None = None,
    profile: str | None = None,
) -> CrawlReport:  # fmt: skip
    """Begin or resume the crawl, with a view of it where somebody looks."""
    from nephila.cli.crawl_view import LiveView, refused_sentence
    from nephila.cli.estimate_view import one_line
    from nephila.crawl.estimated import estimate_crawl
    from nephila.crawl.run import open_crawl, run
    from nephila.engine import open_engine
    from nephila.jobs.planned import make_planner

    agents = common.agents or os.cpu_count() or 1
    layers = [*common.layers(), *chosen(policy, profile)]
    opened, seed_list = open_crawl(common.directory, layers, _lines(seeds, files), agents)
    try:
        if seed_list.refused:
            complain(refused_sentence(seed_list))
        if opened.effective.config.politeness.connections_per_site > 1:
            complain("politeness.connections_per_site is above 1: only for sites that are yours.")
        if not common.quiet:
            estimated = estimate_crawl(common.directory, opened.effective.config, seed_list, agents)
            complain(one_line(estimated))
        with open_engine(common.engine, agents) as engine, LiveView(quiet=common.quiet, to=sys.stderr) as view:
            return run(opened, seed_list, engine, agents, view.show, make_planner(opened))
    finally:
        opened.lock.release()
