"""`nephila convert`: from archive and state to tables."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from nephila.cli.options import Common, common_options
from nephila.cli.output import emit, emit_json

if TYPE_CHECKING:
    from nephila.convert.report import ConvertReport


@click.command()
@common_options
def command(common: Common) -> int:
    """Turn what was collected into tables with ids: pages, links, sites, domains, communities, visits.

    \b
        nephila convert -C crawl
        nephila convert -C crawl --set convert.communities=sites.csv

    The tables are Parquet files in DIR/tables, ready for DuckDB, pandas, polars or Spark; docs/tables.md tells what
    each column means, `nephila load` puts them into a database. Run it again after more crawling, or during a crawl:
    it reads what is new, and ids never change. It may be killed at any time; the same command then completes it.
    """
    from nephila.convert.run import run
    from nephila.engine import open_engine
    from nephila.store.folder import CrawlFolder

    folder = CrawlFolder.open(common.directory)
    config = common.configuration().config

    def tell(step: str, done: int, of: int) -> None:
        click.echo(f"\r  {step:<8} {done:>6} of {of:<6}", nl=False, err=True)

    shows = not common.quiet and not common.as_json and sys.stderr.isatty()
    with open_engine(common.engine, common.agents or os.cpu_count() or 1) as engine:
        report = run(config.convert, config.links, folder, engine, tell if shows else None)
    if shows:
        click.echo("\r" + " " * 40 + "\r", nl=False, err=True)
    if common.as_json:
        emit_json(report)
    else:
        emit(as_text(report))
    return 0


def as_text(report: ConvertReport) -> str:
    """A report for a person."""
    links = report.found_links
    lines = [
        f"{report.pages:,} pages, {report.links:,} links between them, {report.sites:,} sites, "
        f"{report.domains:,} domains, {report.communities:,} communities",
        f"  read now    {report.extracted_pages:,} pages ({report.new_pages:,} of them new): "
        + (", ".join(f"{count:,} {parse}" for parse, count in report.parses.items()) or "nothing"),
    ]
    if links.written:
        lines.append(
            f"  links       {links.written:,} looked up: {links.exact:,} exact, {links.meaning:,} by meaning, "
            f"{links.alias:,} through an alias, {links.elsewhere:,} to URLs never fetched; {links.moved:,} lead on"
        )
    if report.link_ratio is not None:
        lines.append(f"  as ids      targets take 1/{report.link_ratio} of their bytes as URLs (S0-22)")
    lines.append(
        f"  besides     {report.unfetched:,} URLs never requested, {report.visits:,} visits, "
        f"{report.clusters:,} clusters of near-duplicates"
    )
    if report.fields:
        lines.append(f"  wrappers    {report.fields:,} values in the table `fields`")
    spent = ", ".join(f"{step} {seconds:.1f}" for step, seconds in report.steps.items())
    cpu = "" if report.extract_ms_per_page is None else f"; {report.extract_ms_per_page} ms CPU per page read"
    lines.append(f"  seconds     {report.seconds:.1f}: {spent}{cpu}")
    return "\n".join(lines)
