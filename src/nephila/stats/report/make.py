"""The front door of `nephila report`: count, gather what other rooms left, write DIR/report/index.html by rename."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Final

import nephila
from nephila.config.sections import Stats
from nephila.engine import Engine
from nephila.stats.report.page import render
from nephila.stats.run import newest, run
from nephila.stats.section import change_sections_file, read_sections
from nephila.stats.tables import Tell
from nephila.store.durable import make_directory, replace_file
from nephila.store.folder import CrawlFolder
from nephila.store.tables.manifest import read_manifest

FILE: Final = "index.html"
_PICTURE: Final = "rank.svg"
"""As rank.run names it."""
_MOST_PICTURE_BYTES: Final = 2**20


@dataclass(frozen=True, slots=True)
class ReportReport:
    """Where the page is, and what is on it."""

    file: str
    size_bytes: int
    tables: int
    plots: int
    seconds: float


def make_report(
    config: Stats, folder: CrawlFolder, engine: Engine, now: float, tell: Tell | None = None
) -> ReportReport:
    """Write the report of a converted crawl, with the study's tables and the picture of the ranks, where there are.

    A folder that holds a study alone, whose crawls are its batches, has a report of the study and of its last batch,
    if that was converted.
    """
    started = time.monotonic()
    changes = read_sections(change_sections_file(folder))
    described = newest(folder)
    studied_alone = bool(changes) and read_manifest(described) is None
    sections = changes if studied_alone else (*run(config, folder, engine, tell).tables, *changes)
    picture = described.rank / _PICTURE
    ranks = picture.read_bytes() if picture.is_file() and picture.stat().st_size <= _MOST_PICTURE_BYTES else None
    name = folder.path.resolve().name + ("" if described == folder else f", batch {described.path.name}")
    page = render(name, sections, now, nephila.VERSION, ranks).encode("utf-8", "replace")
    make_directory(folder.report)
    replace_file(folder.report / FILE, page)
    plots = sum(section.plot is not None and bool(section.rows) for section in sections) + (ranks is not None)
    return ReportReport(
        str(folder.report / FILE), len(page), len(sections), plots, round(time.monotonic() - started, 3)
    )
