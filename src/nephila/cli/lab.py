"""`nephila lab`: the web in a box."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import click

from nephila.cli.options import Common, common_options
from nephila.cli.output import emit, emit_json

CHECKED_SITES = 2_569
"""Two hundredths of the paper's survey (CHECKLIST 4: q = 0.02): small errors in under a minute."""


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

    Every site has its own address in 127.0.0.0/8, pages are computed when asked for, and a log of the server's own
    tells what a crawl really asked. The settings are those of the section `lab` (`nephila config`).
    """


@command.command("serve")
@click.argument("folder", type=click.Path(path_type=Path), default=Path("lab"))
@click.option(
    "--dns-port", type=click.IntRange(0, 65535), default=0, help="The name server's port; 0 takes a free one."
)
@click.option("--processes", type=click.IntRange(0, 64), default=0, help="Server processes; 0 means one per core.")
@click.option("--rate", type=click.FloatRange(min=0.001), default=None, help="Simulated seconds per real second.")
@common_options
def serve(common: Common, folder: Path, dns_port: int, processes: int, rate: float | None) -> None:
    """Serve the web until Ctrl-C; FOLDER gets the seed list, the hosts file and the server's own log.

    The clock runs at --rate from now on and can be set while the lab runs, at the address that is printed.
    """
    import time

    from nephila.clock import Clock
    from nephila.lab.run import run_lab

    config = common.configuration().config
    now = time.time()
    clock = Clock(rate, now, now) if rate is not None else None
    run_lab(config.lab, folder, emit, clock=clock, dns_port=dns_port, processes=processes)


@command.command("truth")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--now", type=float, default=None, help="The simulated UTC second at which it is to hold.")
@common_options
def truth(common: Common, file: Path, now: float | None) -> None:
    """Write what a crawl must find, one row per URL, as Parquet (up to a million pages)."""
    from nephila.lab.truth_file import write_truth
    from nephila.lab.web import Web

    rows = write_truth(Web(common.configuration().config.lab), file, now)
    if common.as_json:
        emit_json(TruthReport(str(file), rows))
    else:
        emit(f"{rows:,} URLs in {file}")


@command.command("check")
@click.option("--sites", type=click.IntRange(min=100), default=CHECKED_SITES, show_default=True,
              help="How many sites are counted; more take longer and allow less.")  # fmt: skip
@common_options
def check(common: Common, sites: int) -> int:
    """Print S1's Tables 1-6 beside those of the generated web; exit code 1 when a line is outside its tolerance."""
    from nephila.lab.check import check as check_web
    from nephila.lab.check import render
    from nephila.lab.web import Web

    lab = replace(common.configuration().config.lab, sites=sites, profile="survey", faults=True, max_depth=None)
    report = check_web(Web(lab))
    if common.as_json:
        emit_json(report)
    else:
        emit(render(report))
    return 0 if report.ok else 1
