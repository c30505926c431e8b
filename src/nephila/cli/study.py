"""`nephila study`: how a web changes, by looking at the same sites again and again."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nephila.cli import INTERRUPTED
from nephila.cli.crawl import chosen, seed_options
from nephila.cli.options import Common, common_options
from nephila.cli.output import emit, emit_json, inert

if TYPE_CHECKING:
    from nephila.jobs.study import StudyReport, Watching


@click.command()
@seed_options
@click.option("--batches", type=click.IntRange(min=1, max=9999), default=None, show_default="9",
              help="How many times the sites are looked at.")  # fmt: skip
@click.option("--every", default=None, metavar="TIME", show_default="2d",
              help="From the beginning of a batch to the next one's, such as 12h or 2d.")  # fmt: skip
@click.option("--measure", type=click.Choice(["bytes", "text", "simhash"]), default="bytes", show_default=True,
              help="What counts as a change: any byte (S1's), the main text, or 4 bits of its simhash.")  # fmt: skip
@click.option("--clock", "clock_url", default=None, metavar="URL",
              help="A lab's clock: instead of waiting, the lab is moved to the next batch.")  # fmt: skip
@common_options
def command(
    common: Common,
    seeds: tuple[str, ...],
    files: tuple[Path, ...],
    policy: str | None,
    profile: str | None,
    batches: int | None,
    every: str | None,
    measure: str,
    clock_url: str | None,
) -> int:
    """Look at the same sites again and again, and tell how they change.

    \b
        nephila study -i seeds.txt --batches 9 --every 2d --set net.contact=you@example.org

    Each batch is a crawl of its own in DIR/batches/NNNN, of the seeds' sites only, at most 3,000 pages of each and 9
    links deep unless --set says otherwise; its date is kept. Between batches the study waits and says until when.
    Ctrl-C or kill -9 at any moment lose nothing: `nephila study -C DIR` goes on, also with the batch that was cut off.

    Then come the tables: S1's Tables 7-13 with the chances that a seed stays up or down, how often pages really
    change, by domain, depth, link kinds, size and language, how long they live, and which are likely to change. Run it
    again to count by another --measure; all three are kept. The tables join `nephila report`, and
    DIR/study/change_model.json is what `nephila refresh` assumes of pages that it has never seen.

    The lab's web of the profile `study` changes as S1's did, and its clock makes weeks pass in minutes:

    \b
        nephila lab serve --set lab.profile=study --set lab.sites=50
        nephila study -i lab/seeds.txt --every 57h --clock http://127.0.0.1:8480/__lab/clock …
    """
    from nephila.config.units import parse_duration
    from nephila.crawl.seeds import read_seed_file
    from nephila.errors import UsageError
    from nephila.jobs.lab_clock import LabClock
    from nephila.jobs.study import StudyOrder, study

    every_s = None
    if every is not None:
        try:
            every_s = parse_duration(every)
        except ValueError as problem:
            raise UsageError(f"--every {every}: expected {problem}.") from None
        if every_s <= 0:
            raise UsageError("--every must be longer than nothing, such as 2d.")
    lines = [(seed, "the command line") for seed in seeds]
    for file in files:
        lines += read_seed_file(file)
    order = StudyOrder(
        directory=common.directory,
        lines=tuple(lines),
        layers=(*common.layers(), *chosen(policy, profile)),
        batches=batches,
        every_s=every_s,
        measure=measure,  # type: ignore[arg-type]  # click lets only these through
        clock=LabClock(clock_url) if clock_url else None,
        engine=common.engine,
        agents=common.agents or os.cpu_count() or 1,
    )
    report = study(order, _watching(common))
    if common.as_json:
        emit_json(report)
    else:
        emit(_as_text(report))
    return INTERRUPTED if report.how == "interrupted" else 0


def _watching(common: Common) -> Watching:
    from nephila.crawl.report import CrawlReport
    from nephila.jobs.study import Watching

    quiet = common.quiet or common.as_json
    shows = not quiet and sys.stderr.isatty()
    told: set[int] = set()

    def say(text: str) -> None:
        text = inert(text)
        click.echo(f"\r{text:<100}" if shows else text, nl=not shows, err=True)

    def waits(batch: int, of: int, due_at: float, wait_s: float) -> None:
        if quiet or (not shows and batch in told):
            return
        told.add(batch)
        when = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(due_at))
        say(f"batch {batch} of {of} starts at {when}, in {_span(wait_s)}; Ctrl-C ends, the same command goes on")

    def begins(batch: int, of: int, step: str) -> None:
        if not quiet:
            say(f"batch {batch} of {of}: {step}")

    def crawls(report: CrawlReport) -> None:
        if shows:
            say(f"crawl: {report.pages:,} pages, {report.waiting_urls:,} waiting, {report.pages_per_s:,.0f}/s")

    return Watching(waits, begins, crawls)


def _span(seconds: float) -> str:
    days, rest = divmod(int(seconds), 86_400)
    hours, rest = divmod(rest, 3_600)
    return (
        f"{days} d {hours} h" if days else f"{hours} h {rest // 60} min" if hours else f"{rest // 60} min {rest % 60} s"
    )


def _as_text(report: StudyReport) -> str:
    from nephila.stats.writing import as_text

    lines = [f"{'batch':>7}  {'began':<23}{'requested':>11}{'downloaded':>12}"]
    for batch in report.batches:
        began = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(batch.began_at))
        unfinished = "" if batch.ended_at is not None else "   unfinished"
        lines.append(f"{batch.number:>7}  {began:<23}{batch.requests:>11,}{batch.downloaded:>12,}{unfinished}")
    if report.how == "interrupted":
        lines.append(f"Interrupted; `nephila study -C {report.folder}` goes on.")
        return "\n".join(lines)
    lines += ["", *(as_text(table, sql=False) + "\n" for table in report.tables)]
    lines.append(f"Next: `nephila report -C {report.folder}` draws these tables.")
    return "\n".join(lines)
