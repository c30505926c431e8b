"""`nephila run`: the main job, from seeds to a searchable crawl and its report."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nephila.cli import INTERRUPTED
from nephila.cli.crawl import collect, seed_options
from nephila.cli.options import Common, common_options
from nephila.cli.output import emit, emit_json

if TYPE_CHECKING:
    from nephila.convert.report import ConvertReport
    from nephila.crawl.report import CrawlReport
    from nephila.rank.report import RankReport
    from nephila.search.index import IndexReport
    from nephila.stats.report.make import ReportReport


@dataclass(frozen=True, slots=True)
class RunReport:
    """What each room brought; only the crawl's where that was interrupted."""

    seconds: float
    crawl: CrawlReport
    convert: ConvertReport | None = None
    rank: RankReport | None = None
    index: IndexReport | None = None
    report: ReportReport | None = None


@click.command()
@seed_options
@common_options
def command(
    common: Common, seeds: tuple[str, ...], files: tuple[Path, ...], policy: str | None, profile: str | None
) -> int:
    """Crawl, convert, rank, index and report: from seeds to pages that can be searched, and a page about them.

    \b
        nephila run https://www.example.org/ --set crawl.mode=sites --set net.contact=you@example.org
        nephila search WORDS
        nephila serve

    It is `nephila crawl`, `nephila convert`, `nephila rank`, `nephila index` and `nephila report` in a row, with the
    same settings. Run it again and each room goes on where it was: what was collected is not asked for again, what is
    new is taken in. Ctrl-C during the crawl ends it there; the same command goes on.
    """
    from nephila.cli import convert, crawl_view, index, rank_view
    from nephila.cli import report as report_view
    from nephila.engine import open_engine
    from nephila.jobs.refine import refine
    from nephila.store.folder import CrawlFolder

    started = time.monotonic()
    crawled = collect(common, seeds, files, policy, profile)
    if crawled.how == "interrupted":
        report = RunReport(round(time.monotonic() - started, 3), crawled)
        emit_json(report) if common.as_json else emit(crawl_view.as_text(crawled, common.directory))
        return INTERRUPTED
    shows = not common.quiet and not common.as_json and sys.stderr.isatty()

    def begins(room: str) -> None:
        if shows:
            click.echo(f"\r  {room:<8}", nl=False, err=True)

    folder = CrawlFolder.open(common.directory)
    with open_engine(common.engine, common.agents or os.cpu_count() or 1) as engine:
        refined = refine(common.configuration().config, folder, engine, begins)
    if shows:
        click.echo("\r" + " " * 12 + "\r", nl=False, err=True)
    seconds = round(time.monotonic() - started, 3)
    report = RunReport(seconds, crawled, refined.convert, refined.rank, refined.index, refined.report)
    if common.as_json:
        emit_json(report)
        return 0
    emit(crawl_view.as_text(crawled, common.directory))
    emit(convert.as_text(refined.convert))
    emit(rank_view.as_text(refined.rank))
    emit(index.as_text(refined.index))
    emit(report_view.as_text(refined.report))
    emit(f"Next: `nephila search WORDS -C {common.directory}`, `nephila serve -C {common.directory}`.")
    return 0
