"""`nephila report`: the statistics as one HTML file."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

import click

from nephila.cli.options import Common, common_options
from nephila.cli.output import emit, emit_json

if TYPE_CHECKING:
    from nephila.stats.report.make import ReportReport


@click.command()
@common_options
def command(common: Common) -> int:
    """Write DIR/report/index.html: every table of `nephila stats` with its plot, its definition and its SQL.

    \b
        nephila report -C crawl
        nephila serve -C crawl          shows it, too

    One file that asks the network for nothing: it can be kept, sent and printed (to PDF with its colours, its SQL
    unfolded). The picture of the ranks and the change study's tables are in it, where there are some.
    """
    from nephila.engine import open_engine
    from nephila.stats.report.make import make_report
    from nephila.store.folder import CrawlFolder

    folder = CrawlFolder.open(common.directory)
    shows = not common.quiet and not common.as_json and sys.stderr.isatty()

    def tell(what: str, done: int, of: int) -> None:
        click.echo(f"\r  {done + 1:>2} of {of}  {what:<60}", nl=False, err=True)

    with open_engine("inline", common.agents or os.cpu_count() or 1) as engine:
        config = common.configuration().config.stats
        report = make_report(config, folder, engine, time.time(), tell if shows else None)
    if shows:
        click.echo("\r" + " " * 76 + "\r", nl=False, err=True)
    if common.as_json:
        emit_json(report)
    else:
        emit(as_text(report))
    return 0


def as_text(report: ReportReport) -> str:
    """A report about the report, for a person."""
    return (
        f"{report.file}: {report.tables} tables, {report.plots} plots, {report.size_bytes / 1000:,.0f} KB, "
        f"{report.seconds:.1f} s"
    )
