"""`nephila refresh`: visit again what is due; `nephila refresh simulate`: which policy is worth its visits."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nephila.cli.options import Common, common_options
from nephila.cli.output import emit, emit_json

if TYPE_CHECKING:
    from nephila.jobs.refresh import RefreshReport

_SCENARIOS = ("steady", "drift", "daily", "all")


@click.group(invoke_without_command=True)
@click.option("--budget", type=click.IntRange(min=1), metavar="N", help="Requests of this round; robots.txt files and "
              "further tries come on top. By default refresh.per_day times the pages, a day's worth.")  # fmt: skip
@click.option("--max-bytes", metavar="SIZE", help="Bytes received in this round, such as 500MiB.")
@click.option("--max-seconds", metavar="TIME", help="How long this round may take, such as 2h.")
@click.option("--per-site", type=click.IntRange(min=1), metavar="N", help="Pages of one site visited again.")
@click.option("--policy", metavar="NAME", help="index, groups, nutch, azar, lambdacrawl, uniform, proportional, fixed.")
@click.option("--only-collect", is_flag=True, help="Leave tables, ranks and index as they are.")
@common_options
@click.pass_context
def command(
    context: click.Context, common: Common, budget: int | None, max_bytes: str | None, max_seconds: str | None,
    per_site: int | None, policy: str | None, only_collect: bool,
) -> int:  # fmt: skip
    """Visit again what is due, within a budget: the fewest requests for the freshest crawl.

    \b
        nephila refresh -C crawl --budget 1000        one round: a thousand requests, well spent
        nephila refresh -C crawl --policy groups      as S4 would do it
        nephila refresh simulate                      which policy is worth its visits
        nephila why URL -C crawl                      when a page is due, and why

    Pages are asked whether they have changed (If-None-Match, If-Modified-Since); those that have not cost no body, and
    their visit is a revisit record in the archive. New pages that turn up are collected, up to refresh.new_share of the
    budget. A page that is missing is kept, and marked as gone after refresh.gone_after times; a site that is down
    loses nothing. Politeness is that of `nephila crawl`. Then tables, ranks and index follow, for what is new.
    A round that was interrupted or killed goes on with the same command.
    """
    if context.invoked_subcommand is not None:
        return 0
    from nephila.cli import INTERRUPTED
    from nephila.cli.refresh_view import round_as_text

    settings = [*common.settings]
    settings += [f"refresh.per_site={per_site}"] if per_site is not None else []
    settings += [f"refresh.policy={policy}"] if policy is not None else []
    report = _round(replace(common, settings=tuple(settings)), budget, max_bytes, max_seconds, refines=not only_collect)
    emit_json(report) if common.as_json else emit(round_as_text(report, common.directory))
    return INTERRUPTED if report.round.how == "interrupted" else 0


def _round(
    common: Common, budget: int | None, max_bytes: str | None, max_seconds: str | None, *, refines: bool
) -> RefreshReport:
    from nephila.cli.crawl_view import LiveView
    from nephila.config.units import parse_duration, parse_size
    from nephila.crawl.run import open_crawl
    from nephila.engine import open_engine
    from nephila.errors import UsageError
    from nephila.jobs.refine import refine
    from nephila.jobs.refresh import Budget, RefreshReport, refresh
    from nephila.store.folder import CrawlFolder

    try:
        size = parse_size(max_bytes) if max_bytes is not None else None
        seconds = parse_duration(max_seconds) if max_seconds is not None else None
    except ValueError as problem:
        raise UsageError(f"{problem}; give --max-bytes such as 500MiB, --max-seconds such as 2h.") from None
    CrawlFolder.open(common.directory)
    agents = common.agents or os.cpu_count() or 1
    opened, _ = open_crawl(common.directory, common.layers(), [], agents)
    try:
        with open_engine(common.engine, agents) as engine:
            with LiveView(quiet=common.quiet or common.as_json, to=sys.stderr) as view:
                done = refresh(opened, engine, agents, Budget(budget, size, seconds), view.show)
            if not refines or done.how == "interrupted":
                return RefreshReport(done)
            refined = refine(opened.effective.config, opened.folder, engine)
            return RefreshReport(done, refined)
    finally:
        opened.lock.release()


@command.command("simulate")
@click.option("--pages", type=click.IntRange(10, 1_000_000), default=1000, show_default=True, help="Pages of a web.")
@click.option("--days", type=click.FloatRange(7, 3650), default=84.0, show_default=True,
              help="How long a web is watched; the first third is learnt from, and not measured.")  # fmt: skip
@click.option(
    "--history",
    default="",
    metavar="DAYS",
    help="Learn from so many days before anything is measured, such as 30,90,365: how the policies grow.",
)
@click.option("--seeds", type=click.IntRange(1, 1000), default=10, show_default=True, help="Webs per scenario.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="The first of them.")
@click.option("--scenario", type=click.Choice(_SCENARIOS), default="steady", show_default=True,
              help="drift: rates change hands on day 42; daily: people work 5-17 h, Monday to Friday.")  # fmt: skip
@click.option("--budgets", default="0.05,0.1,0.25,0.5,1", show_default=True, help="Visits per page and day.")
@click.option("--policies", default="", metavar="NAMES", help="Which policies, by commas; all by default.")
@click.option("--histories", type=click.Path(path_type=Path), metavar="FILE",
              help="Replay real change histories: CSV with unix_time, kind and page, perhaps gzipped.")  # fmt: skip
@click.option("--steps", "steps_per_day", type=click.IntRange(1, 96), default=4, show_default=True,
              help="Moments of a day at which pages are chosen.")  # fmt: skip
@click.option("--plot", type=click.Path(path_type=Path), metavar="FILE", help="Draw it: a .svg or a .html file.")
@common_options
def simulate(
    common: Common, pages: int, days: float, history: str, seeds: int, seed: int, scenario: str, budgets: str,
    policies: str, histories: Path | None, steps_per_day: int, plot: Path | None,
) -> int:  # fmt: skip
    """Every policy on the same webs at equal budgets: freshness, what users see, age, useful visits.

    \b
        nephila refresh simulate                                 ten webs as S1 found them to change
        nephila refresh simulate --scenario all --plot fresh.html
        nephila refresh simulate --policies index,oracle --history 30,90,365 --days 28
        nephila refresh simulate --histories changes.csv.gz      pages that really were

    `freshness` counts all pages alike, `embarrassment` weighs them by what users look at. Read `useful` last: the
    worst policies have the most useful visits, because they visit what has always changed again.
    """
    from nephila.cli.refresh_view import simulation_as_text
    from nephila.engine import open_engine
    from nephila.errors import UsageError
    from nephila.refresh.experiment import COMPARED, Trial, run
    from nephila.refresh.picture import as_page, draw
    from nephila.refresh.policies import POLICIES
    from nephila.refresh.webs import SCENARIOS

    if plot is not None and plot.suffix not in (".svg", ".html"):
        raise UsageError(f"{plot}: pictures are drawn as .svg or .html; name such a file with --plot.")
    names = tuple(name.strip() for name in policies.split(",") if name.strip()) or COMPARED
    known = {*COMPARED, *POLICIES}
    if unknown := [name for name in names if name not in known]:
        raise UsageError(f"there is no policy {unknown[0]!r}; choose from {', '.join(sorted(known))}.")
    chosen = _numbers(budgets)
    if histories is not None:
        trials = [Trial("steady", 0, 0, 0.0, chosen, _without_kinds(names), steps_per_day, str(histories))]
    else:
        scenarios = SCENARIOS if scenario == "all" else tuple(name for name in SCENARIOS if name == scenario)
        lengths = _days(history)
        trials = [
            Trial(each, number, pages, (length or 0.0) + days, chosen, names, steps_per_day, history_days=length)
            for each in scenarios
            for length in lengths
            for number in range(seed, seed + seeds)
        ]
    shows = not common.quiet and not common.as_json and sys.stderr.isatty()

    def done(number: int, of: int) -> None:
        if shows:
            click.echo(f"\r  {number} of {of} webs" + ("\n" if number == of else ""), nl=False, err=True)

    with open_engine(common.engine, min(len(trials), common.agents or os.cpu_count() or 1)) as engine:
        report = run(trials, engine, done)
    if plot is not None:
        plot.write_text(draw(report) if plot.suffix == ".svg" else as_page(report), encoding="utf-8")
        report = replace(report, picture=str(plot))
    emit_json(report) if common.as_json else emit(simulation_as_text(report))
    return 0


def _days(text: str) -> tuple[float | None, ...]:
    """Lengths of history; none given is one that the length of the web decides."""
    from nephila.errors import UsageError

    try:
        days = tuple(sorted({float(part) for part in text.split(",") if part.strip()}))
    except ValueError:
        days = (0.0,)
    if not all(1 <= each <= 3650 for each in days):
        raise UsageError(f"{text!r} are no lengths of history; give days such as 30,90,365.")
    return days or (None,)


def _without_kinds(names: tuple[str, ...]) -> tuple[str, ...]:
    """Histories do not tell the pages' link kinds."""
    return tuple(name for name in names if name != "index-kinds")


def _numbers(text: str) -> tuple[float, ...]:
    from nephila.errors import UsageError

    try:
        numbers = tuple(sorted(float(part) for part in text.split(",") if part.strip()))
    except ValueError:
        numbers = ()
    if not numbers or not all(0 < number <= 24 for number in numbers):
        raise UsageError(f"{text!r} are no budgets; give visits per page and day such as 0.1,0.25,1.")
    return numbers
