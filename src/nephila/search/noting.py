"""The search log: what is shown for which words, kept where `search.log` says so (`store/search_log.py`)."""

from __future__ import annotations

from dataclasses import replace

from nephila.config.sections import Search
from nephila.errors import NephilaError
from nephila.search.results import Results
from nephila.store.folder import CrawlFolder
from nephila.store.search_log import note_opened, note_search


def noted(config: Search, folder: CrawlFolder, results: Results, now: float) -> Results:
    """Note what a search showed. A log that cannot be written is told in a remark: the hits are there all the same."""
    if not config.log:
        return results
    try:
        note_search(folder, results.text, ((hit.page_id, hit.url) for hit in results.hits), now, config.log_queries)
    except NephilaError as problem:
        return replace(results, remarks=(*results.remarks, f"This search was not noted in the log: {problem}"))
    return results


def opened(config: Search, folder: CrawlFolder, query: str, url: str, now: float) -> bool:
    """Note that a hit was opened; whether it is in the log now."""
    if not config.log or not query:
        return False
    try:
        return note_opened(folder, query, url, now)
    except NephilaError:
        return False
