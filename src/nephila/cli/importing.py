"""`nephila import`: anyone's archive as a crawl folder."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nephila.cli.options import Common, common_options
from nephila.cli.output import emit, emit_json

if TYPE_CHECKING:
    from nephila.crawl.import_run import ImportReport

DAMAGED = 5
_SHOWN = 20


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
@common_options
def command(common: Common, files: tuple[Path, ...]) -> int:
    """Bring archives into a crawl folder: WARC 1.0 and 1.1, ARC and WACZ, of Common Crawl, Heritrix, wget or pywb.

    \b
        nephila import CC-MAIN-*.warc.gz -C crawl
        nephila convert -C crawl && nephila rank -C crawl && nephila index -C crawl
        nephila search WORDS -C crawl

    The folder is then as after a crawl: two captures of one URL are two visits, and the newest is the page. Scope
    decides what is let in (--set "scope.include_hosts=*.kr"). Killed, the same command goes on; the same files once
    more bring nothing twice; further files add to the folder. What cannot be read is told with its file and byte and
    left out, and the exit code is then 5. `nephila crawl -C crawl` goes on where the archive ends.
    """
    from nephila.crawl.import_run import check_files, open_for_import, run

    check_files(files)
    opened = open_for_import(common.directory, common.layers())
    try:
        report = run(opened, files, None if common.quiet or common.as_json else _show)
    finally:
        opened.lock.release()
    if not (common.quiet or common.as_json) and sys.stderr.isatty():
        click.echo("\r\x1b[K", nl=False, err=True)
    if common.as_json:
        emit_json(report)
    else:
        emit(as_text(report, str(common.directory)))
    return DAMAGED if report.lost_count else 0


def _show(name: str, read_bytes: int, of_bytes: int, captures: int) -> None:
    if sys.stderr.isatty():
        share = 100 * read_bytes / max(1, of_bytes)
        click.echo(f"\r\x1b[K{name[:60]} {share:3.0f} %, {captures:,} captures", nl=False, err=True)


def as_text(report: ImportReport, directory: str) -> str:
    """The report for a person."""
    lines = []
    done = sum(file.was_done for file in report.files)
    if done:
        lines.append(f"{done} of {len(report.files)} files had been imported before; they were not read again.")
    files = len(report.files) - done
    lines.append(
        f"{report.captures:,} captures in {files:,} {'file' if files == 1 else 'files'}: {report.visits:,} visits, "
        f"{report.pages:,} pages that are new here"
        + (f", {report.older:,} visits older than what is kept" if report.older else "")
        + f", {report.robots:,} robots.txt; {report.sites:,} sites known ({report.seconds:.1f} s)."
    )
    lines += [f"  left out: {count:,} × {why}" for why, count in report.left_out.items()]
    if report.differing_digests:
        lines.append(
            f"  taken all the same: {report.differing_digests:,} with one wrong digest (block or payload) and one right"
        )
    for lost in report.lost[:_SHOWN]:
        lines.append(f"  could not be read: {lost.file}, bytes {lost.start} to {lost.end}: {lost.reason}")
    if report.lost_count > _SHOWN:
        lines.append(f"  … and {report.lost_count - _SHOWN:,} stretches more (--json lists a thousand)")
    lines.append(f"`nephila convert -C {directory}` makes tables of it.")
    return "\n".join(lines)
