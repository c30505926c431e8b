"""`nephila repair`: a damaged crawl folder, mended."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from nephila.cli.options import Common, common_options
from nephila.cli.output import emit, emit_json

if TYPE_CHECKING:
    from nephila.jobs.repair import RepairReport


@click.command()
@common_options
def command(common: Common) -> int:
    """Check a crawl folder from end to end and mend what is damaged.

    \b
        nephila repair -C crawl
        nephila crawl -C crawl

    Every database is checked page by page, every archive file record by record. A database that is damaged is made
    anew from what the archive proves; a page whose answer is lost is asked for again by the next `nephila crawl`.
    Nothing is deleted: what was damaged stays beside its successor, with `.damaged` in its name. A folder that is
    whole is left as it is.
    """
    from nephila.jobs.repair import repair

    report = repair(common.directory)
    if common.as_json:
        emit_json(report)
    else:
        emit(as_text(report, str(common.directory)))
    return 0


def as_text(report: RepairReport, directory: str) -> str:
    """The report for a person."""
    if report.whole:
        return f"{directory} is whole; nothing was changed ({report.seconds:.1f} s)."
    lines = [f"{directory} was damaged:", *(f"  {found}" for found in report.found)]
    lines += [f"  made anew   {name}" for name in report.rebuilt]
    lines += [f"  mended      {name}" for name in report.healed]
    lines += [f"  kept        {name}" for name in report.kept]
    lines.append(
        f"{report.answers:,} answers of the archive are in the state again, {report.asked_again:,} pages wait to be "
        f"asked again: `nephila crawl -C {directory}` does so."
    )
    return "\n".join(lines)
