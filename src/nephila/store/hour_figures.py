"""How quickly each site answered at each hour of the day: `state/hours-NN.db`, one small row per site.

Written by agents, and by a probe, from what they measure anyway; read by whoever plans. Several files may know the
same site; `read_hours` puts them together. All figures are sums that fade with time: what was added a half-life ago
counts half, so that a site that has changed its ways is believed anew within days.

Latencies are kept as logarithms, because they are spread by factors. Losing the last seconds of them matters to nobody,
so no commit waits for the disk.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from nephila.errors import DamagedError
from nephila.store.database import Schema, close, open_reader, open_writer, transaction
from nephila.store.folder import CrawlFolder

HOURS: Final = 24
DAY_S: Final = 86_400.0
HOUR_S: Final = 3_600.0

_SUMS: Final = ("answers", "log_sum", "square_sum", "failures", "asked_s", "watched")
_BLOB: Final = struct.Struct(f"<5d{len(_SUMS) * HOURS}f")
_SCHEMA: Final = Schema(
    "hours", ("CREATE TABLE hours (site TEXT PRIMARY KEY, figures BLOB NOT NULL) STRICT, WITHOUT ROWID;",)
)


@dataclass(slots=True)
class HourNote:
    """What was measured of one site within one hour; an attempt that got no answer counts as a failure."""

    answers: int = 0
    log_sum: float = 0.0  # of seconds to the first byte, natural logarithm
    square_sum: float = 0.0
    failures: int = 0  # no answer, 429, 5xx
    asked_s: float = 0.0  # how long requests of ours were under way


def _zeros() -> list[float]:
    return [0.0] * HOURS


@dataclass(slots=True)
class HourFigures:
    """The faded sums of a site, per hour of the day (0-23 UTC), and its latest hour alone."""

    at: float = 0.0  # up to when they are faded
    answers: list[float] = field(default_factory=_zeros)
    log_sum: list[float] = field(default_factory=_zeros)
    square_sum: list[float] = field(default_factory=_zeros)
    failures: list[float] = field(default_factory=_zeros)
    asked_s: list[float] = field(default_factory=_zeros)
    watched: list[float] = field(default_factory=_zeros)  # hours in which anything was asked
    latest_hour: int = 0  # hours since 1970
    latest: HourNote = field(default_factory=HourNote)

    def fade(self, now: float, half_life_s: float) -> None:
        """Make everything as old as it is; a clock that was set back fades nothing."""
        age_s = now - self.at
        if age_s > 0 and self.at > 0:
            factor = 0.5 ** (age_s / half_life_s)
            for name in _SUMS:
                setattr(self, name, [value * factor for value in getattr(self, name)])
        self.at = max(self.at, now)

    def add(self, hour: int, note: HourNote) -> None:
        """One hour's notes (`hour` since 1970) on top."""
        of_day = hour % HOURS
        self.answers[of_day] += note.answers
        self.log_sum[of_day] += note.log_sum
        self.square_sum[of_day] += note.square_sum
        self.failures[of_day] += note.failures
        self.asked_s[of_day] += note.asked_s
        if hour != self.latest_hour:
            if hour < self.latest_hour:
                return
            self.watched[of_day] += 1
            self.latest_hour, self.latest = hour, HourNote()
        self.latest.answers += note.answers
        self.latest.log_sum += note.log_sum
        self.latest.failures += note.failures

    def join(self, other: HourFigures, now: float, half_life_s: float) -> None:
        """What another file knows of the same site."""
        self.fade(now, half_life_s)
        other.fade(now, half_life_s)
        for name in _SUMS:
            setattr(
                self,
                name,
                [mine + theirs for mine, theirs in zip(getattr(self, name), getattr(other, name), strict=True)],
            )
        if other.latest_hour > self.latest_hour:
            self.latest_hour, self.latest = other.latest_hour, other.latest


Notes = dict[tuple[str, int], HourNote]
"""By site and hour since 1970."""


class HoursFile:
    """One file, written by one process."""

    def __init__(self, path: Path, half_life_s: float) -> None:
        self._db = open_writer(path, _SCHEMA, sync=False)
        self._half_life_s = half_life_s

    def add(self, notes: Notes, now: float) -> None:
        """Notes of many sites, in one transaction."""
        by_site: dict[str, list[tuple[int, HourNote]]] = defaultdict(list)
        for (site, hour), note in sorted(notes.items(), key=lambda entry: entry[0]):
            by_site[site].append((hour, note))
        with transaction(self._db):
            for site, hours in by_site.items():
                row = self._db.execute("SELECT figures FROM hours WHERE site = ?", (site,)).fetchone()
                figures = HourFigures() if row is None else unpack(row[0])
                figures.fade(now, self._half_life_s)
                for hour, note in hours:
                    figures.add(hour, note)
                self._db.execute("INSERT OR REPLACE INTO hours VALUES (?, ?)", (site, pack(figures)))

    def close(self) -> None:
        close(self._db)


def read_hours(
    folder: CrawlFolder, now: float, half_life_s: float, sites: Sequence[str] | None = None
) -> dict[str, HourFigures]:
    """What is known of these sites, or of all, from every file; faded up to `now`."""
    known: dict[str, HourFigures] = {}
    for path in sorted(folder.state.glob("hours-*.db")):
        for site, figures in _scan(path, sites):
            figures.fade(now, half_life_s)
            if site in known:
                known[site].join(figures, now, half_life_s)
            else:
                known[site] = figures
    return known


def has_hours(folder: CrawlFolder) -> bool:
    """Whether anything was ever learnt here."""
    return any(folder.state.glob("hours-*.db"))


def hours_path(folder: CrawlFolder, name: str) -> Path:
    """The file of an agent, by its first slot, or of a probe."""
    return folder.state / f"hours-{name}.db"


def pack(figures: HourFigures) -> bytes:
    latest = figures.latest
    sums = [value for name in _SUMS for value in getattr(figures, name)]
    head = (figures.at, figures.latest_hour, latest.answers, latest.log_sum, latest.failures)
    return _BLOB.pack(*head, *sums)


def unpack(kept: bytes) -> HourFigures:
    at, hour, answers, log_sum, failures, *sums = _BLOB.unpack(kept)
    lists = {name: list(sums[place * HOURS : (place + 1) * HOURS]) for place, name in enumerate(_SUMS)}
    latest = HourNote(int(answers), log_sum, 0.0, int(failures))
    return HourFigures(at, **lists, latest_hour=int(hour), latest=latest)


def _scan(path: Path, sites: Sequence[str] | None) -> Iterator[tuple[str, HourFigures]]:
    try:
        reader = open_reader(path)
    except DamagedError as problem:
        raise DamagedError(f"{path} cannot be read; delete it, hours are learnt anew ({problem})") from None
    try:
        if sites is None or len(sites) > 1_000:
            rows: Iterable[tuple[str, bytes]] = reader.execute("SELECT site, figures FROM hours")
            wanted = None if sites is None else set(sites)
            yield from ((site, unpack(kept)) for site, kept in rows if wanted is None or site in wanted)
            return
        for site in sites:
            row = reader.execute("SELECT figures FROM hours WHERE site = ?", (site,)).fetchone()
            if row is not None:
                yield site, unpack(row[0])
    finally:
        reader.close()
