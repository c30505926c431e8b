"""What `nephila status` shows of a folder that came out of archives or of other folders."""

from __future__ import annotations

from nephila.crawl.importing import Taken
from nephila.crawl.report import CrawlReport
from nephila.crawl.site_list import SiteList
from nephila.crawl.totals import read_totals
from nephila.store.folder import CrawlFolder


def shown_report(folder: CrawlFolder, sites: SiteList, how: str, seconds: float, taken: Taken) -> CrawlReport:
    """The report of a run that asked nobody for anything."""
    totals = read_totals(folder)
    return CrawlReport(
        how=how, seconds=seconds, run_pages=taken.pages, run_requests=taken.visits, run_bytes=0,
        pages_per_s=round(taken.pages / max(seconds, 1e-9), 1), pages=totals.pages, known=totals.known,
        outcomes=dict(sorted(totals.outcomes.items())), received_bytes=totals.received_bytes,
        archive_bytes=totals.archive_bytes, sites=sites.counts(), agents=0,
    )  # fmt: skip
