"""`nephila index`: from tables to a search index."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from nephila.cli.options import Common, common_options
from nephila.cli.output import emit, emit_json

if TYPE_CHECKING:
    from nephila.search.index import IndexReport


@click.command()
@common_options
def command(common: Common) -> int:
    """Make what was collected searchable: words of titles, texts, descriptions, URLs and of the links to each page.

    \b
        nephila convert && nephila rank && nephila index
        nephila search 검색 엔진

    The index lies in DIR/index and needs no server. Korean, Japanese and Chinese words are found inside of longer
    ones, others with and without their accents. Run it again after more crawling or ranking: it reads what is new or
    changed. It may be killed at any time; the same command then goes on, and the old index serves until it is done.
    """
    from nephila.engine import open_engine
    from nephila.search.index import run
    from nephila.store.folder import CrawlFolder

    folder = CrawlFolder.open(common.directory)
    config = common.configuration().config

    def tell(step: str, done: int, of: int) -> None:
        click.echo(f"\r  {step:<8} {done:>6} of {of:<6}", nl=False, err=True)

    shows = not common.quiet and not common.as_json and sys.stderr.isatty()
    with open_engine(common.engine, common.agents or os.cpu_count() or 1) as engine:
        report = run(config.search, folder, engine, tell if shows else None)
    if shows:
        click.echo("\r" + " " * 40 + "\r", nl=False, err=True)
    emit_json(report) if common.as_json else emit(as_text(report))
    return 0


def as_text(report: IndexReport) -> str:
    """A report for a person."""
    found = (
        f", {report.portions_found} of {report.portions} portions were there already" if report.portions_found else ""
    )
    lines = [
        f"{report.pages:,} pages of {report.sites:,} sites can be searched, {report.index_bytes / 1e6:,.1f} MB",
        f"  done now    {report.written:,} pages indexed, {report.removed:,} struck out{found}",
    ]
    if not report.ranked:
        lines.append("  ranks       none yet: relevance alone counts; `nephila rank`, then `nephila index` again")
    spent = ", ".join(f"{step} {seconds:.1f}" for step, seconds in report.steps.items()) or "nothing was new"
    cpu = "" if report.cpu_ms_per_page is None else f"; {report.cpu_ms_per_page} ms CPU per page indexed"
    lines.append(f"  seconds     {report.seconds:.1f}: {spent}{cpu}")
    return "\n".join(lines)
