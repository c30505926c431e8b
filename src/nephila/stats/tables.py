"""The questions put to a crawl's tables: in go questions, out come sections.

One DuckDB over the Parquet files answers them one after the other under one memory limit; nothing is kept between two
of them, so that the size of the web is bounded by the disk alone.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from nephila.config.sections import Stats
from nephila.stats.address_ranges import create_countries
from nephila.stats.power_law import PowerLaw, fit
from nephila.stats.question import Question, question
from nephila.stats.section import Cell, Mark, Section
from nephila.stats.web import LINKS, chapters, linking
from nephila.store.folder import CrawlFolder
from nephila.store.tables.duck import open_duck
from nephila.store.tables.views import create_views

Tell = Callable[[str, int, int], None]
"""what is counted, done, of how many"""

_SCRATCH: Final = ".counting-"
_LAWS: Final = (
    ("in_degrees", "links to a page"),
    ("out_degrees", "links of a page"),
    ("site_sizes", "pages of a site"),
)
_HISTOGRAMS: Final = question(
    "power_laws", "Power laws",
    """P(x) ~ x^-exponent for x >= from, fitted to each distribution by maximum likelihood for whole numbers; `from`
    is where the law is nearest to the values by the Kolmogorov-Smirnov distance, which is given (Clauset,
    Shalizi, Newman 2009). The SQL gives the distributions; the fit is stats/power_law.py. A
    short distance is no proof of a power law.""",
    f"""
SELECT 'in_degrees' AS of, in_links AS value, count(*) AS number FROM ({linking.IN_LINKS}) GROUP BY value
UNION ALL
SELECT 'out_degrees', out_links, count(*) FROM ({linking.OUT_LINKS}) GROUP BY out_links
UNION ALL
SELECT 'site_sizes', pages, count(*) FROM ({linking.SITE_PAGES}) GROUP BY pages
""",  # noqa: S608
    "distribution from:count values:count exponent:number error:number distance:number",
)  # fmt: skip


@contextmanager
def open_tables(config: Stats, folder: CrawlFolder, threads: int) -> Iterator[Any]:
    """DuckDB with the crawl's tables, and the configured ranges of addresses as `address_ranges`."""
    # On the crawl's own disk where that may be written: what does not fit into memory may not fit into /tmp either.
    place = folder.path if os.access(folder.path, os.W_OK) else None
    remove_leftovers(folder.path)
    with (
        TemporaryDirectory(prefix=f"{_SCRATCH}{os.getpid()}-", dir=place) as scratch,
        open_duck(config.memory_limit, threads, Path(scratch) / "spilled", setting="stats.memory_limit") as duck,
    ):
        create_views(duck, folder)
        if config.country_ranges:
            create_countries(duck, config.country_ranges)
        yield duck


def remove_leftovers(path: Path) -> None:
    """What a killed counting had spilled there; that of a process which still lives is left alone."""
    for leftover in path.glob(f"{_SCRATCH}*-*"):
        owner = leftover.name.removeprefix(_SCRATCH).partition("-")[0]
        if owner.isdecimal() and not _lives(int(owner)):
            shutil.rmtree(leftover, ignore_errors=True)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def ask(duck: Any, config: Stats, tell: Tell) -> tuple[Section, ...]:
    """All sections of the web as found."""
    ranked = "ranks" in {row[0] for row in duck.execute("SELECT view_name FROM duckdb_views()").fetchall()}
    asked = chapters(config.top, by_address=bool(config.country_ranges), ranked=ranked)
    of = sum(len(questions) for _, questions in asked) + 1
    tell(_HISTOGRAMS.title, 0, of)
    laws = _laws(duck)
    sections: list[Section] = []
    for group, questions in asked:
        for each in questions:
            tell(each.title, len(sections) + 1, of)
            sections.append(_with_law(each.answered(group, rows_of(duck, each)), laws))
        if group == LINKS:
            sections.append(_law_section(group, laws))
    return tuple(sections)


def rows_of(duck: Any, each: Question) -> list[tuple[Cell, ...]]:
    """The answer; its columns must be those that the question names."""
    cursor = duck.execute(each.sql)
    names = tuple(column[0] for column in cursor.description)
    assert names == tuple(column.name for column in each.columns), (each.name, names)
    return [tuple(_cell(value) for value in row) for row in cursor.fetchall()]


def _cell(value: Any) -> Cell:
    match value:
        case Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case datetime() | date():
            return value.isoformat()
        case bool():
            return "yes" if value else "no"
        case _:
            return value  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class _Law:
    name: str
    title: str
    law: PowerLaw | None


def _laws(duck: Any) -> list[_Law]:
    found: dict[str, list[tuple[int, int]]] = {}
    for name, value, number in duck.execute(_HISTOGRAMS.sql).fetchall():
        found.setdefault(name, []).append((int(value), int(number)))
    return [_Law(name, title, fit(found.get(name, []))) for name, title in _LAWS]


def _law_section(group: str, laws: Sequence[_Law]) -> Section:
    rows = [
        (each.title, each.law.least, each.law.values, each.law.exponent, each.law.error, each.law.distance)
        for each in laws
        if each.law is not None
    ]
    few = [each.title for each in laws if each.law is None]
    remarks = (f"Too few values for a law of: {', '.join(few)}.",) if few else ()
    return _HISTOGRAMS.answered(group, rows, remarks)


def _with_law(section: Section, laws: Sequence[_Law]) -> Section:
    """The plot of a distribution with its fitted law drawn over it, step by step as the table has them."""
    law = next((each.law for each in laws if each.name == section.name), None)
    if law is None or section.plot is None:
        return section
    steps = [
        (int(first), int(last))
        for first, last, *_ in section.rows
        if isinstance(first, int | float) and isinstance(last, int | float)
    ]
    points = tuple((float(first), law.mean_count(first, last)) for first, last in steps if first >= law.least)
    name = f"power law, exponent {law.exponent:.2f} ± {law.error:.2f} from {law.least:,} on"
    return replace(section, plot=replace(section.plot, marks=(Mark(name, points),))) if points else section
