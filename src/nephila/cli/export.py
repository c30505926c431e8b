"""`nephila export`: tables as text, or as S3's own files."""

from __future__ import annotations

from pathlib import Path

import click

from nephila.cli.options import Common, common_options
from nephila.cli.output import emit, emit_json


@click.command()
@click.argument("table")
@click.argument("file", required=False, type=click.Path(path_type=Path), metavar="[FILE]")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE",
              help="Where to write; the ending .csv or .jsonl says how.")  # fmt: skip
@click.option("--text", is_flag=True, help="With wacz: the text of each page, so that replay tools can search it.")
@click.option("--raw", is_flag=True, help="CSV cells exactly as they are, also those a spreadsheet takes for formulas.")
@common_options
def command(common: Common, table: str, file: Path | None, output: Path | None, text: bool, raw: bool) -> int:
    """Write a table as CSV or JSON Lines, all of a crawl as S3's files, or its archive for replay.

    \b
        nephila export pages -o pages.csv -C crawl
        nephila export links -o links.jsonl -C crawl
        nephila export las -o las-files -C crawl
        nephila export cdxj -C crawl
        nephila export wacz crawl.wacz -C crawl

    The tables are those of docs/tables.md. `las` writes the Brief, Brief Ext, Link and PageRank files of the paper's
    link analysis system into a folder, byte by byte as the paper has them. `cdxj` needs no tables: it writes
    archive/index.cdxj, by which pywb and others replay the archive. `wacz` writes archive, index and list of pages into
    one file, which replay tools such as ReplayWeb.page open as it is.
    """
    from nephila.errors import UsageError
    from nephila.store.folder import CrawlFolder

    folder = CrawlFolder.open(common.directory)
    if table == "cdxj":
        from nephila.crawl.replay import write_cdxj

        lines = write_cdxj(folder)
        if common.as_json:
            emit_json({"table": table, "rows": lines, "output": str(folder.cdxj)})
        else:
            emit(f"{lines:,} lines written to {folder.cdxj}")
        return 0
    output = output or file
    if table == "wacz":
        from nephila.jobs.wacz import export_wacz

        wacz = export_wacz(folder, output or Path(f"{folder.path.resolve().name}.wacz"), text=text)
        if common.as_json:
            emit_json(wacz)
        else:
            emit(
                f"{wacz.archives:,} archive files with {wacz.index_lines:,} records and {wacz.pages:,} pages written "
                f"to {wacz.output} ({wacz.size_bytes:,} bytes, {wacz.seconds:.1f} s)"
            )
        return 0
    if output is None:
        raise UsageError(f"say where to write {table} to, such as -o {table}.csv.")
    if table == "las":
        from nephila.convert.las_files import export_las

        report = export_las(folder, output)
        if common.as_json:
            emit_json(report)
        else:
            emit(f"{report.documents:,} documents and {report.links:,} links written to {output}"
                 + ("" if report.ranked else "; no PageRank file, because nothing is ranked yet"))  # fmt: skip
        return 0
    from nephila.convert.exporting import export

    if output.suffix not in (".csv", ".jsonl"):
        raise UsageError(f"{output} ends in neither .csv nor .jsonl; the ending says how to write it.")
    rows = export(folder, table, output, "csv" if output.suffix == ".csv" else "jsonl", raw=raw)
    if common.as_json:
        emit_json({"table": table, "rows": rows, "output": str(output)})
    else:
        emit(f"{rows:,} rows of {table} written to {output}")
    return 0
