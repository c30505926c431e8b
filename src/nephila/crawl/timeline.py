"""How many requests ended how, over time: the last run's visits counted in spans that widen as the run grows.

Every look reads only the visits since the look before. Widths are 1, 2, 4 … seconds, so that two spans become one
without being counted again.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from nephila.shown import Span, Timeline
from nephila.store.database import database_errors, open_reader
from nephila.store.folder import CrawlFolder

MOST_SPANS: Final = 120
MOST_VISITS: Final = 2_000_000
"""Visits of a slot that the first look goes back; a longer run shows its latest part."""


@dataclass(slots=True)
class Spans:
    """Counts by (span, outcome); `width_s` doubles whenever there would be more than `MOST_SPANS`."""

    width_s: int = 1
    counts: dict[int, Counter[str]] = field(default_factory=dict)

    def add(self, at: float, outcome: str, count: int) -> None:
        self.counts.setdefault(math.floor(at / self.width_s), Counter())[outcome] += count
        while max(self.counts) - min(self.counts) >= MOST_SPANS:
            self._widen()

    def _widen(self) -> None:
        merged: dict[int, Counter[str]] = {}
        for place, counts in self.counts.items():
            merged.setdefault(place // 2, Counter()).update(counts)
        self.width_s, self.counts = 2 * self.width_s, merged

    def timeline(self) -> Timeline:
        if not self.counts:
            return Timeline(float(self.width_s), ())
        places = range(min(self.counts), max(self.counts) + 1)
        spans = (Span(float(place * self.width_s), dict(self.counts.get(place, {}))) for place in places)
        return Timeline(float(self.width_s), tuple(spans))


class TimelineReader:
    """Follows the visits of one crawl folder."""

    def __init__(self, folder: CrawlFolder) -> None:
        self._folder = folder
        self._run = -1
        self._spans = Spans()
        self._read: dict[int, int] = {}  # slot -> the last visit counted

    def read(self) -> Timeline:
        """The last run, until now."""
        number, started_at = self._last_run()
        if number != self._run:
            self._run, self._spans, self._read = number, Spans(), {}
        if number >= 0:
            for slot in self._folder.slots():
                self._follow(slot, started_at)
        return self._spans.timeline()

    def _last_run(self) -> tuple[int, float]:
        path = self._folder.coordinator_database
        if not path.exists():
            return -1, 0.0
        with database_errors(path):
            reader = open_reader(path)
            try:
                row = reader.execute("SELECT run, started_at FROM runs ORDER BY run DESC LIMIT 1").fetchone()
            finally:
                reader.close()
        return (-1, 0.0) if row is None else (row[0], row[1])

    def _follow(self, slot: int, started_at: float) -> None:
        path = self._folder.agent_database(slot)
        if not path.exists():
            return
        with database_errors(path):
            reader = open_reader(path)
            try:
                last = next(reader.execute("SELECT max(visit) FROM visits"))[0] or 0
                after = self._read.get(slot, last - MOST_VISITS)
                sql = """SELECT CAST(at / ? AS INTEGER) * ?, outcome, count(*) FROM visits
                         WHERE visit > ? AND visit <= ? AND at >= ? AND role = 'page' AND outcome <> 'forgotten'
                         GROUP BY 1, 2"""
                width_s = self._spans.width_s
                for at, outcome, count in reader.execute(sql, (width_s, width_s, after, last, started_at)):
                    self._spans.add(at, outcome, count)
            finally:
                reader.close()
        self._read[slot] = last
