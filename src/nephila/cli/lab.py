"""`nephila lab`: the web in a box."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import click

from nephila.cli.options import Common, common_options
from nephila.cli.output import emit, emit_json

CHECKED_SITES = 2_569
"""Two hundredths of the paper's survey (CHECKLIST 4: q = 0.02): small errors in under a minute."""

CHECKED_GROWTH = 0.25
CHECKED_ORIGIN = 1_000_000_000.0


SURVEYED_SITES = 128
"""A thousandth of the paper's survey (CHECKLIST 4: q = 0.001)."""


@dataclass(frozen=True, slots=True)
class TruthReport:
    file: str
    rows: int


@click.group()
def command() -> None:
    """A seeded web on this machine: serve it and rehearse a crawl, tell its truth, check it against the papers.

    \b
        nephila lab serve --set lab.sites=100          then, in another terminal, the command that it prints
        nephila lab truth truth.parquet --set lab.sites=100
        nephila lab check
        nephila lab survey -C survey

    Every site has its own address in 127.0.0.0/8, pages are computed when asked for, and a log of the server's own
    tells what a crawl really asked. The settings are those of the section `lab` (`nephila config`).
    """


@command.command("serve")
@click.argument("folder", type=click.Path(path_type=Path), default=Path("lab"))
@click.option(
    "--dns-port", type=click.IntRange(0, 65535), default=0, help="The name server's port; 0 takes a free one."
)
@click.option("--processes", type=click.IntRange(0, 64), default=0, help="Server processes; 0 means one per core.")
@click.option("--rate", type=click.FloatRange(min=0.001), default=1.0, show_default=True,
              help="Simulated seconds per real second.")  # fmt: skip
@click.option("--origin", type=float, default=None,
              help="The simulated UTC second at which pages are at their first version; by default, now.")  # fmt: skip
@click.option("--hostile", is_flag=True, help="Serve the hostile sites of docs/lab.md too.")
@common_options
def serve(
    common: Common, folder: Path, dns_port: int, processes: int, rate: float, origin: float | None, hostile: bool
) -> None:
    """Serve the web until Ctrl-C; FOLDER gets the seed list, the hosts file and the server's own log.

    What is printed says how to crawl it. The clock runs at --rate from now on and can be set while the lab runs:

    \b
        curl http://127.0.0.1:8480/__lab/clock
        curl -d '{"rate": 3600}' -H 'Content-Type: application/json' http://127.0.0.1:8480/__lab/clock

    To serve the same web with the same versions again, give the --origin that the first start printed.
    """
    import time

    from nephila.clock import Clock
    from nephila.lab.run import run_lab

    config = common.configuration().config
    now = time.time()
    run_lab(
        config.lab,
        folder,
        emit,
        hostile=hostile,
        clock=Clock(rate, now, now),
        origin=float(int(now)) if origin is None else origin,
        dns_port=dns_port,
        processes=processes,
    )


@command.command("truth")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--origin", type=float, default=0.0, help="The simulated UTC second that `lab serve` says it began at.")
@click.option("--now", type=float, default=None,
              help="The simulated UTC second at which it is to hold; the origin by default.")  # fmt: skip
@common_options
def truth(common: Common, file: Path, origin: float, now: float | None) -> None:
    """Write what a crawl must find, one row per URL, as Parquet (up to a million pages).

    Settings and seed decide everything: give those that the lab is served with. Pages change in the profile `study`
    alone, and only there --origin and --now matter.
    """
    from nephila.lab.truth_file import write_truth
    from nephila.lab.web import Web

    rows = write_truth(Web(common.configuration().config.lab, origin), file, now)
    if common.as_json:
        emit_json(TruthReport(str(file), rows))
    else:
        emit(f"{rows:,} URLs in {file}")


@command.command("check")
@click.option("--sites", type=click.IntRange(min=100), default=CHECKED_SITES, show_default=True,
              help="How many sites are counted; more take longer and allow less.")  # fmt: skip
@click.option("--tables", type=click.Choice(["1-6", "7-13", "all"]), default="all", show_default=True,
              help="The survey's tables, the change study's, or both.")  # fmt: skip
@common_options
def check(common: Common, sites: int, tables: str) -> int:
    """Print S1's Tables 1-13 beside those of the generated web; exit code 1 when a line is outside its tolerance.

    Tables 1-6 are counted on the profile `survey`; Tables 7-10 on the 1,424 home pages and 11-13 on 142 whole sites (of
    a quarter of the paper's pages) of the profile `study`, looked at nine times in 19 days.
    """
    from nephila.lab import figures
    from nephila.lab.check import CheckReport, render
    from nephila.lab.check import check as check_web
    from nephila.lab.study_check import check_study
    from nephila.lab.web import Web

    configured = common.configuration().config.lab
    reports: list[CheckReport] = []
    if tables != "7-13":
        survey = replace(configured, sites=sites, profile="survey", faults=True, max_depth=None, growth=1.0)
        reports.append(check_web(Web(survey)))
    if tables != "1-6":
        homes = replace(configured, sites=figures.STUDY_SEEDS, profile="study", faults=True, max_depth=None)
        whole = replace(homes, sites=figures.SAMPLED_SEEDS, growth=CHECKED_GROWTH)
        reports.append(check_study(Web(homes, CHECKED_ORIGIN), Web(whole, CHECKED_ORIGIN)))
    if common.as_json:
        emit_json(reports)
    else:
        emit("\n\n".join(render(report) for report in reports))
    return 0 if all(report.ok for report in reports) else 1


@command.command("survey")
@click.option("--sites", type=click.IntRange(min=10), default=SURVEYED_SITES, show_default=True,
              help="How many sites are served and collected; 128 are about 67,000 pages.")  # fmt: skip
@click.option("--max-depth", type=click.IntRange(min=1, max=5), default=None,
              help="Collect only so deep; Tables 2 and 6 are then compared as far as they go.")  # fmt: skip
@click.option("--again", is_flag=True, help="Only count and compare the crawl that DIR holds.")
@common_options
def survey_(common: Common, sites: int, max_depth: int | None, again: bool) -> int:
    """S1's survey through the real crawler: serve the web, collect it over HTTP into DIR, print Tables 1-6 beside S1's.

    \b
        nephila lab survey -C survey
        nephila lab survey -C survey --again

    Nothing is taken from the generator but the seed list. Exit code 1 when a line is outside its tolerance. The
    settings make our robot like S1's where it is not; the differences are printed. DIR must be new.
    """
    import os

    from nephila.jobs.survey import DIFFERENCES, check_crawl
    from nephila.jobs.survey import survey as run_survey
    from nephila.lab.check import render
    from nephila.store.folder import CrawlFolder

    if again:
        report = check_crawl(CrawlFolder.open(common.directory), max_depth)
    else:
        lab = replace(common.configuration().config.lab, sites=sites)
        agents = common.agents or os.cpu_count() or 1

        def tell(line: str) -> None:
            if not common.quiet and not common.as_json:
                click.echo(line, err=True)

        report = run_survey(common.directory, lab, common.engine, agents, tell, max_depth=max_depth).check
    if common.as_json:
        emit_json(report)
    else:
        emit(render(report, "crawl"))
        emit("\nWhere this crawl is not our usual one, or is not S1's:")
        emit("\n".join(f"  {line}" for line in DIFFERENCES))
    return 0 if report.ok else 1
