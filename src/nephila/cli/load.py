"""`nephila load`: the tables into a database."""

from __future__ import annotations

import os
from pathlib import Path

import click

from nephila.cli.options import Common, common_options
from nephila.cli.output import emit, emit_json


@click.command()
@click.argument("target", metavar="FILE|URL")
@common_options
def command(common: Common, target: str) -> int:
    """Put the tables into a DuckDB file or a PostgreSQL database.

    \b
        nephila load web.duckdb -C crawl
        nephila load postgresql://user@host/database -C crawl

    PostgreSQL gets a schema `nephila` with keys, indexes and a full-text column (`search`, over the words of title and
    text; Korean, Japanese and Chinese as pairs of characters). Everything is prepared aside and put in place at once;
    loading twice gives the same, and a load that was cut off goes on where it was. Rows that the database refuses are
    kept in `nephila.quarantine` with the reason; the exit code is 1 then.
    """
    from nephila.errors import NephilaError
    from nephila.store.folder import CrawlFolder

    folder = CrawlFolder.open(common.directory)
    if target.startswith(("postgresql://", "postgres://")):
        try:
            from nephila.convert.loading_postgres import load as load_postgres
        except ImportError as problem:
            raise NephilaError(
                "PostgreSQL needs psycopg, which is not installed; `pip install 'nephila[postgres]'`."
            ) from problem
        report = load_postgres(folder, target)
    else:
        from nephila.convert.loading_duckdb import load as load_duckdb

        memory_bytes = common.configuration().config.convert.memory_limit
        path = Path(target.removeprefix("duckdb://"))
        report = load_duckdb(folder, path, memory_bytes, common.agents or os.cpu_count() or 1)
    if common.as_json:
        emit_json(report)
    else:
        rows = ", ".join(f"{count:,} {table}" for table, count in report.rows.items())
        emit(f"Loaded into {report.target} in {report.seconds:.1f} s: {rows}")
        if report.quarantined:
            emit(f"{report.quarantined:,} rows were refused; nephila.quarantine has them with the reasons.")
    return 1 if report.quarantined else 0
