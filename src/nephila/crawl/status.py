"""What a crawl has done and is doing, read from its folder while it runs or after."""

from __future__ import annotations

from dataclasses import dataclass, replace

from nephila.crawl.report import RUNNING, CrawlReport, told_of, unpack
from nephila.crawl.site_list import SiteCounts
from nephila.crawl.totals import read_totals
from nephila.records import Outcome
from nephila.store.database import database_errors, open_reader
from nephila.store.folder import CrawlFolder

STALE_S = 10.0
"""A report that nobody has renewed for so long is not one of a running crawl."""


@dataclass(frozen=True, slots=True)
class Status:
    running: bool
    shown_at: float  # when the report was made (UTC)
    report: CrawlReport


def read_status(folder: CrawlFolder, now: float) -> Status | None:
    """The latest report; the counts of a crawl that is not running are read anew. None: nothing was begun yet."""
    path = folder.coordinator_database
    if not path.exists():
        return None
    with database_errors(path):
        reader = open_reader(path)
        try:
            row = reader.execute("SELECT at, report FROM progress").fetchone()
            counts = SiteCounts(**dict(reader.execute("SELECT state, count(*) FROM sites GROUP BY state")))
        finally:
            reader.close()
    if row is None:
        return None
    report = unpack(row[1])
    running = report.how == RUNNING and now - row[0] < STALE_S
    if running:
        return Status(True, row[0], report)
    totals = read_totals(folder)
    how = "killed; the same command goes on" if report.how == RUNNING else report.how
    report = replace(
        report, how=how, pages=totals.pages, known=totals.known, outcomes=totals.outcomes, sites=counts,
        received_bytes=totals.received_bytes, archive_bytes=totals.archive_bytes, active_sites=0, sleeping_sites=0,
        waiting_urls=totals.outcomes.get(Outcome.WAITING.value, 0), slowest=(), **told_of(totals),
    )  # fmt: skip
    return Status(False, row[0], report)
