"""`nephila merge`: crawl folders become one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nephila.cli.options import Common, common_options
from nephila.cli.output import emit, emit_json

if TYPE_CHECKING:
    from nephila.crawl.merge_run import MergeReport


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FOLDER...")
@common_options
def command(common: Common, folders: tuple[Path, ...]) -> int:
    """Make one crawl folder of several: every page once, its newest visit on top, all visits of all of them kept.

    \b
        nephila merge monday tuesday -C both
        nephila convert -C both

    The folders are only read; nobody may crawl in them meanwhile. The one named with -C is made, with the settings of
    the first, or added to, with its own. Page ids are given by its own next conversion: those that it had stay. What
    any of the folders has forgotten stays forgotten. Killed, the same command goes on; twice is as once.
    """
    from nephila.crawl.merge_run import check_sources, open_for_merge, run

    sources = check_sources(folders, common.directory)
    opened = open_for_merge(common.directory, common.layers(), sources)
    shows = sys.stderr.isatty() and not (common.quiet or common.as_json)
    try:
        report = run(opened, sources, _show if shows else None)
    finally:
        opened.lock.release()
    if shows:
        click.echo("\r\x1b[K", nl=False, err=True)
    if common.as_json:
        emit_json(report)
    else:
        emit(as_text(report, str(common.directory)))
    return 0


def _show(answers: int) -> None:
    click.echo(f"\r\x1b[K{answers:,} answers", nl=False, err=True)


def as_text(report: MergeReport, directory: str) -> str:
    """The report for a person."""
    lines = [
        f"{len(report.folders)} folders with {report.answers:,} answers: {report.visits:,} visits taken, "
        f"{report.pages:,} pages that are new in {directory}, {report.older:,} visits older than what is kept, "
        f"{report.failures:,} without an answer; {report.sites:,} sites ({report.seconds:.1f} s)."
    ]
    if report.here_already:
        lines.append(f"  {report.here_already:,} visits were here already")
    lines += [f"  left out: {count:,} × {why}" for why, count in report.left_out.items()]
    lines.append(f"`nephila convert -C {directory}` makes tables of it.")
    return "\n".join(lines)
