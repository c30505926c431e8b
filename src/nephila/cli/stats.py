"""`nephila stats`: the web as found, table by table."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import click

from nephila.cli.options import Common, common_options
from nephila.cli.output import emit, emit_json


@click.command()
@click.argument("names", nargs=-1, metavar="[TABLE]…")
@click.option("--csv", "csv_directory", type=click.Path(path_type=Path, file_okay=False), metavar="FOLDER",
              help="Also write each table as FOLDER/TABLE.csv, and its question as TABLE.sql.")  # fmt: skip
@click.option("--sql/--no-sql", default=True, show_default=True, help="Show each table's SQL under it.")
@common_options
def command(common: Common, names: tuple[str, ...], csv_directory: Path | None, sql: bool) -> int:
    """Describe a converted crawl: the survey's tables (S1's Tables 1-6, Figure 4) and what else a web is made of.

    \b
        nephila stats -C crawl
        nephila stats depths in_degrees --no-sql
        nephila stats --csv tables/
        nephila stats --json | jq '.tables[] | select(.name == "languages").rows'

    Each table is one SQL over the tables of docs/tables.md and is shown with it, so that it can be asked again and
    changed: nephila.open("crawl").sql("…"). `nephila report` makes a page of all of them, with plots.
    """
    from nephila.engine import open_engine
    from nephila.errors import UsageError
    from nephila.stats.run import run
    from nephila.stats.writing import as_text, write_csv
    from nephila.store.folder import CrawlFolder

    folder = CrawlFolder.open(common.directory)
    shows = not common.quiet and not common.as_json and sys.stderr.isatty()

    def tell(what: str, done: int, of: int) -> None:
        click.echo(f"\r  {done + 1:>2} of {of}  {what:<60}", nl=False, err=True)

    with open_engine("inline", common.agents or os.cpu_count() or 1) as engine:
        report = run(common.configuration().config.stats, folder, engine, tell if shows else None)
    if shows:
        click.echo("\r" + " " * 76 + "\r", nl=False, err=True)
    known = {section.name for section in report.tables}
    for name in names:
        if name not in known:
            raise UsageError(f"there is no table {name!r}; the tables are: {', '.join(sorted(known))}.")
    if names:
        report = replace(report, tables=tuple(section for section in report.tables if section.name in names))
    files = write_csv(csv_directory, report.tables) if csv_directory else []
    if common.as_json:
        emit_json(report)
        return 0
    group = ""
    for section in report.tables:
        if section.group != group:
            group = section.group
            emit(f"\n{group}\n{'=' * len(group)}")
        emit("\n" + as_text(section, sql=sql))
    emit(f"\n{len(report.tables)} tables, {report.seconds:.1f} s" + (f"; CSV in {csv_directory}" if files else ""))
    return 0
