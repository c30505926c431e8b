"""S4-5's hour: the full hour after the latest time of day at which any page was updated within the last week.

When a page was updated its Last-Modified header says; where it has none, the visit that found the change does, which is
later by up to the interval between two visits. S4 asks every hour and has no header, so it has the second case alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from email.utils import parsedate_to_datetime
from typing import Final

from nephila.store.database import read_rows
from nephila.store.folder import CrawlFolder

WEEK_S: Final = 7 * 86_400.0
_DAY_S: Final = 86_400.0
_SQL: Final = """
SELECT c.changed_at, p.modified FROM changes c JOIN pages p ON p.site = c.site AND p.hash = c.hash
WHERE c.changed_at > ?
"""


def hour_after(updates: Iterable[float]) -> int | None:
    """The hour by S4-5, of UTC; None where nothing was updated."""
    latest = max((at % _DAY_S for at in updates), default=None)
    return None if latest is None else math.ceil(latest / 3600) % 24


def learned_hour(folder: CrawlFolder, now: float) -> int | None:
    """What the crawl's own visits of the last week say; None where they found no change."""
    return hour_after(_updates(folder, now - WEEK_S))


def _updates(folder: CrawlFolder, since: float) -> Iterable[float]:
    for _, path in folder.agent_databases():
        for changed_at, modified in read_rows(path, _SQL, since):
            said = _time(modified)
            yield said if said is not None and since < said <= changed_at else changed_at


def _time(header: str | None) -> float | None:
    try:
        return parsedate_to_datetime(header).timestamp() if header else None
    except (ValueError, OverflowError):
        return None
