"""What counting costs: all tables of `nephila stats` on a crawl of many pages, made up but with a web's shapes.

    python bench/stats.py build DIR 10000000
    python bench/stats.py measure DIR

`build` writes the Parquet tables with DuckDB (sites of Pareto sizes, five links a page, one visit a page), `measure`
counts in a process of its own and prints seconds, CPU seconds, the largest memory, and the slowest tables.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import time
from pathlib import Path
from typing import Any

import msgspec

from nephila.config.sections import Stats
from nephila.engine import open_engine
from nephila.stats.report.make import make_report
from nephila.stats.run import run
from nephila.store.folder import CrawlFolder
from nephila.store.tables.duck import open_duck
from nephila.store.tables.manifest import NAME, Manifest, Part
from nephila.store.tables.schemas import PART_IDS, TABLES, Table

LINKS_PER_PAGE = 5
PAGES_PER_SITE = 100

# A hash of a number as a share of one, so that every column has its own chance.
CHANCE = "(hash({0} * 1000 + {1}) % 1000003 / 1000003.0)"
HOST = "CASE WHEN s % 2 = 0 THEN 'www.site' || s || '.co.kr' ELSE 'site' || s || '.com' END"

COLUMNS: dict[str, dict[str, str]] = {
    "pages": {
        "page_id": "p",
        "site_id": "s",
        "domain_id": "s",
        "url": f"'http://' || {HOST} || '/path/of/some/length/page-' || p || '.html'",
        "depth": "CAST(floor(6 * sqrt({c3})) AS INTEGER)",
        "outcome": "CASE WHEN {c1} < 0.91 THEN 'ok' WHEN {c1} < 0.99 THEN 'http_error' ELSE 'reset' END",
        "reason": "''",
        "state": "CASE WHEN {c1} < 0.91 THEN 'OK' WHEN {c1} < 0.99 THEN 'code' ELSE 'cErr' END",
        "parse": "'ok'",
        "code": "CASE WHEN {c1} < 0.91 THEN 200 WHEN {c1} < 0.99 THEN 404 END",
        "mime": "'text/html'",
        "charset": "CASE WHEN {c2} < 0.8 THEN 'cp949' ELSE 'utf-8' END",
        "charset_declared": "'euc-kr'",
        "language": "CASE WHEN {c2} < 0.8 THEN 'ko' WHEN {c2} < 0.9 THEN 'en' ELSE 'ja' END",
        "size": "CAST(exp(9.3 + 1.5 * ({c4} + {c5} + {c6} - 1.5)) AS BIGINT)",
        "wire_bytes": "9000",
        "visible_bytes": "CAST(exp(8.0 + {c4}) AS BIGINT)",
        "checksum": "unhex(md5((CASE WHEN {c7} < 0.05 THEN p // 7 ELSE p END)::TEXT))",
        "duplicate_of": "CASE WHEN {c7} < 0.02 AND p > 10 THEN p - 3 END",
        "fetched_at": "TIMESTAMPTZ '2026-01-01' + to_seconds(p / 50.0)",
        "elapsed_ms": "CAST(exp(5 + 3 * {c8}) AS BIGINT)",
        "link_kinds": "CASE WHEN {c2} < 0.6 THEN 'ha0' ELSE '0a0' END",
        "simhash": "CAST(hash(p) >> 1 AS BIGINT)",
        "flags": "''",
        "archive_file": "'f'",
        "archive_offset": "p",
    },
    "links": {
        "source": "p",
        "target": "t",
        "resolved": "t",
        "kind": "'a'",
        "anchor": "''",
    },
    "page_counts": {
        "page_id": "p",
        "in_links": "CAST(least(1e6, {c1} ** -0.8) AS BIGINT)",
        "out_links": "CAST(least(5000, 4 * {c2} ** -0.5) AS BIGINT)",
        "links_inside": "CAST(6 * {c3} AS BIGINT)",
        "links_outside": "CAST(2 * {c4} AS BIGINT)",
        "cluster": "CASE WHEN {c5} < 0.05 THEN p // 20 END",
    },
    "visits": {
        "slot": "0",
        "visit": "p + 1",
        "page_id": "p",
        "site_id": "s",
        "url": "'http://' || s",
        "role": "'page'",
        "at": "TIMESTAMPTZ '2026-01-01' + to_seconds(p / 50.0)",
        "outcome": "'ok'",
        "reason": "''",
        "code": "200",
        "wire_bytes": "9000",
        "body_bytes": "18000",
        "connect_ms": "3",
        "header_ms": "CAST(exp(4 + 3 * {c8}) AS BIGINT)",
        "elapsed_ms": "CAST(exp(5 + 3 * {c8}) AS BIGINT)",
        "address": "'10.0.0.1'",
        "http": "'1.1'",
        "server": "'Apache/2.4.' || (s % 60)",
        "archive_file": "'f'",
        "archive_offset": "p",
    },
    "sites": {
        "site_id": "s",
        "domain_id": "s",
        "community_id": "0",
        "url": f"'http://' || {HOST}",
        "state": "'done'",
        "outcome": "''",
        "address": "'10.0.0.1'",
        "robots": "CASE WHEN {c1} < 0.2 THEN 'rules' ELSE 'all_allowed' END",
        "robots_disallows": "1",
        "given": "true",
        "found_at": "TIMESTAMPTZ '2026-01-01'",
        "pages": f"{PAGES_PER_SITE}",
    },
    "domains": {"domain_id": "s", "domain": "'site' || s || '.co.kr'", "sites": "1", "pages": f"{PAGES_PER_SITE}"},
    "communities": {"community_id": "s", "name": "'all'", "sites": "1", "pages": "1"},
    "seeds": {
        "url": f"'http://' || {HOST} || '/'",
        "site_id": "s",
        "given": "true",
        "outcome": "'ok'",
        "reason": "''",
        "state": "CASE WHEN {c1} < 0.87 THEN 'OK' ELSE 'noIP' END",
        "referrer": "''",
        "found_at": "TIMESTAMPTZ '2026-01-01'",
        "party_s": "100 * {c2}",
    },
    "unfetched": {
        "url": "'http://unfetched/' || p",
        "depth": "3",
        "outcome": "'limit'",
        "reason": "''",
        "state": "'NULL'",
        "referrer": "''",
        "found_at": "TIMESTAMPTZ '2026-01-01'",
    },
    "archive_files": {"file": "'f'", "slot": "0", "size_bytes": "1000000000"},
}


def build(path: Path, pages: int) -> None:
    """Write the tables, part by part."""
    shutil.rmtree(path, ignore_errors=True)
    folder = CrawlFolder.create(path)
    sites = max(1, pages // PAGES_PER_SITE)
    started = time.monotonic()
    manifest: dict[str, tuple[Part, ...]] = {}
    with open_duck(2**31, 2, path / "scratch") as duck:
        for name, table in TABLES.items():
            rows = {"pages": pages, "links": pages, "page_counts": pages, "visits": pages, "unfetched": pages // 5,
                    "communities": 1, "archive_files": 1}.get(name, sites)  # fmt: skip
            step = PART_IDS if table.parts else rows
            parts = []
            for number, first in enumerate(range(0, rows, step)):
                part = f"{name}/part-{number:05}.parquet" if table.parts else f"{name}.parquet"
                (folder.tables / part).parent.mkdir(parents=True, exist_ok=True)
                duck.execute(_copy(table, first, min(rows, first + step), sites, pages, folder.tables / part))
                count = min(rows, first + step) - first
                parts.append(
                    Part(
                        part, count * (LINKS_PER_PAGE if name == "links" else 1), (folder.tables / part).stat().st_size
                    )
                )
            manifest[name] = tuple(parts)
            print(
                f"  {name:<14} {sum(part.rows for part in parts):>12,} rows  {time.monotonic() - started:6.1f} s",
                flush=True,
            )
    (folder.tables / NAME).write_bytes(msgspec.json.encode(Manifest(manifest, 1)))


def _copy(table: Table, first: int, last: int, sites: int, pages: int, path: Path) -> str:
    made = COLUMNS[table.name]
    chances = {f"c{n}": CHANCE.format("p", n) for n in range(10)}
    columns = ", ".join(
        f'{made[column.name].format(**chances) if column.name in made else "NULL"} AS "{column.name}"'
        for column in table.columns
    )
    # Sites of Pareto sizes: the share of a page's number to a power.
    site = f"CAST(floor({sites} * ({CHANCE.format('p', 77)} ** 2)) AS BIGINT)"
    by_site = table.name in ("sites", "domains", "communities", "seeds", "archive_files")
    numbers = f"SELECT range AS i, range AS p FROM range({first}, {last})"
    source = f"SELECT i AS p, {'i' if by_site else site} AS s FROM ({numbers})"
    if table.name == "links":
        chance = CHANCE.format(f"(p * {LINKS_PER_PAGE} + k)", 5)
        source = f"""SELECT p, s, CAST(floor({pages} * {chance} ** 3) AS BIGINT) AS t
                     FROM ({source}), range({LINKS_PER_PAGE}) r (k)"""
    return f"COPY (SELECT {columns} FROM ({source}) ORDER BY p) TO '{path}' (FORMAT parquet, COMPRESSION zstd)"


def measure(path: Path, *, report: bool) -> None:
    """Count, and say what it cost."""
    times: list[tuple[float, str]] = []
    folder = CrawlFolder.open(path)

    def tell(what: str, done: int, of: int) -> None:
        times.append((time.monotonic(), what))
        print(f"  {times[-1][0] - times[0][0]:6.1f} s  {what}", flush=True)

    started, cpu = time.monotonic(), time.process_time()
    with open_engine("inline", os.cpu_count() or 1) as engine:
        made: Any = (
            make_report(Stats(), folder, engine, time.time(), tell) if report else run(Stats(), folder, engine, tell)
        )
    ended = time.monotonic()
    tables = made.tables if report else len(made.tables)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    print(
        f"{tables} tables: {ended - started:.1f} s, {time.process_time() - cpu:.1f} s of CPU, "
        f"{peak:.2f} GiB at most, load {load}"
    )
    ends = [at for at, _ in times[1:]] + [ended]
    slowest = sorted(((end - at, what) for (at, what), end in zip(times, ends, strict=True)), reverse=True)
    for seconds, what in slowest[:8]:
        print(f"  {seconds:6.1f} s  {what}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    builder = commands.add_parser("build")
    builder.add_argument("directory", type=Path)
    builder.add_argument("pages", type=int)
    measurer = commands.add_parser("measure")
    measurer.add_argument("directory", type=Path)
    measurer.add_argument("--report", action="store_true", help="write the HTML report, too")
    given = parser.parse_args()
    if given.command == "build":
        build(given.directory, given.pages)
    else:
        measure(given.directory, report=given.report)


if __name__ == "__main__":
    main()
