"""Real pages' histories (Open Terms Archive) as regular visits would have seen them."""

from __future__ import annotations

import csv
import gzip
from collections import defaultdict
from pathlib import Path

from nephila.stats.change.estimators import Visits

DAY_S = 86_400.0
LEAST_DAYS = 120.0


def read_changes(file: Path) -> dict[str, tuple[float, float, list[float]]]:
    """page → (first seen, end of the record, moments of changes); technical versions are no changes of the page."""
    first: dict[str, float] = {}
    changes: defaultdict[str, list[float]] = defaultdict(list)
    end = 0.0
    with gzip.open(file, "rt", encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            at = float(row["unix_time"])
            end = max(end, at)
            if row["kind"] == "first":
                first[row["page"]] = min(at, first.get(row["page"], at))
            elif row["kind"] == "change":
                changes[row["page"]].append(at)
    return {
        page: (begun, end, sorted(changes[page])) for page, begun in first.items() if end - begun > LEAST_DAYS * DAY_S
    }


def visits_between(changes: list[float], since: float, until: float, gap_days: float) -> Visits:
    """What visits every `gap_days` would have seen."""
    changed: list[float] = []
    unchanged: list[float] = []
    start = since
    while start + gap_days * DAY_S <= until:
        stop = start + gap_days * DAY_S
        seen = any(start < moment <= stop for moment in changes)
        (changed if seen else unchanged).append(gap_days)
        start = stop
    return Visits(tuple(changed), tuple(unchanged))
