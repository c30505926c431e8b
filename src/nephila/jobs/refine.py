"""From what was collected to what can be searched and read: tables, ranks, index and report, one room after the other.

Files lie between the rooms, so that a run that is killed here goes on with the same command: each room completes what
it had begun and takes what is new.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from nephila.config.sections import Config
from nephila.convert.report import ConvertReport
from nephila.convert.run import run as convert
from nephila.engine import Engine
from nephila.rank.report import RankReport
from nephila.rank.run import run as rank
from nephila.search.index import IndexReport
from nephila.search.index import run as index
from nephila.stats.report.make import ReportReport, make_report
from nephila.store.folder import CrawlFolder


@dataclass(frozen=True, slots=True)
class Refined:
    """What each room brought."""

    convert: ConvertReport
    rank: RankReport
    index: IndexReport
    report: ReportReport


def refine(
    config: Config, folder: CrawlFolder, engine: Engine, begins: Callable[[str], None] = lambda room: None
) -> Refined:
    """Convert, rank, index and describe a crawl; `begins` is told which room is next."""
    begins("convert")
    converted = convert(config.convert, config.links, folder, engine)
    begins("rank")
    ranked = rank(config.rank, folder, engine)
    begins("index")
    indexed = index(config.search, folder, engine)
    begins("report")
    return Refined(converted, ranked, indexed, make_report(config.stats, folder, engine, time.time()))
