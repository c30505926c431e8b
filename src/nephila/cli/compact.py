"""`nephila compact`: the archive of a long-running folder, made smaller."""

from __future__ import annotations

import os

import click

from nephila.cli.options import Common, common_options
from nephila.cli.output import emit, emit_json


@click.command()
@common_options
def command(common: Common) -> int:
    """Drop old versions of pages, close the holes that `forget` has left, and put small archive files together.

    \b
        nephila compact -C crawl --set keep.versions=3
        nephila compact -C crawl --set keep.days=365

    The newest version of a page always stays, and so does whatever a kept one refers to; without keep.versions and
    keep.days no version leaves. That a page was visited stays known; only the old answers go. It needs room for a
    second copy of the largest slot's archive while it works. Killed at any point, the same command goes on.
    """
    from nephila.engine import open_engine
    from nephila.jobs.compact import compact

    config = common.configuration().config
    with open_engine(common.engine, common.agents or os.cpu_count() or 1) as engine:
        report = compact(common.directory, config, engine)
    if common.as_json:
        emit_json(report)
    elif not report.slots:
        emit(f"{common.directory} is compact: no version to drop, no hole, no small file ({report.seconds:.1f} s).")
    else:
        emit(
            f"{report.versions:,} old versions left; {report.files_before:,} archive files with "
            f"{report.bytes_before:,} bytes became {report.files_after:,} with {report.bytes_after:,} "
            f"({report.seconds:.1f} s)" + ("; the tables lead to them" if report.tables else "")
        )
    return 0
