"""Pages that change, for experiments: drawn as CHECKLIST 4.6 fits them to S1, or read from real histories.

A web here is nothing but the moments at which each page changes, all pages in one array, and how much each page weighs.
Three scenarios: `steady`; `drift`, where on day 42 every page takes over another page's rate; `daily`, where 70 % of
the changes fall between 5 and 17 h and weekends are quiet, as S4's one hour for all assumes.
"""

from __future__ import annotations

import csv
import gzip
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import numpy as np

from nephila.errors import UsageError
from nephila.refresh.columns import Floats, Whole

Scenario = Literal["steady", "drift", "daily"]
SCENARIOS: Final[tuple[Scenario, ...]] = ("steady", "drift", "daily")
DRIFT_DAY: Final = 42.0
_MOST_PER_DAY: Final = 24.0
_WORKING_SHARE: Final = 0.7
_WEEKEND: Final = 0.3
_MONDAY: Final = 4  # the days of a web begin on 1970-01-05, a Monday
_DAY_S: Final = 86_400.0

# Link kind: share of pages (4.7), shape and scale per day of its Gamma distribution (4.6).
KINDS: Final = {
    "000": (8.37, 0.0179, 0.0835),
    "00f": (1.47, 0.0742, 0.0192),
    "0a0": (24.71, 0.0825, 418.8),
    "h00": (3.46, 0.3192, 0.3656),
    "h0f": (0.09, 0.7774, 0.0194),
    "ha0": (61.90, 0.3603, 1.861),
}


@dataclass(frozen=True, slots=True)
class ChangingWeb:
    """`moments` holds all changes, page after page, each page's in order; page i has those from begins[i] on."""

    days: float
    begins: Whole
    moments: Floats
    true_rate: Floats  # mean changes per day until the drift
    later_rate: Floats  # and after it
    drift_day: float
    kind: Whole  # number of the link kind; 0 where there is none
    popularity: Floats  # what users look at; sums to the number of pages
    keys: Floats  # the moments made comparable across pages
    first_day: float = float(_MONDAY)

    def __len__(self) -> int:
        return len(self.begins) - 1

    def rate_at(self, day: float) -> Floats:
        return self.true_rate if day < self.drift_day else self.later_rate

    def next_change(self, pages: Whole, after: Floats) -> Floats:
        """The first change of each page after a moment; infinite where there is none."""
        place = np.searchsorted(self.keys, pages * (self.days + 1.0) + after, side="right")
        return np.where(place < self.begins[pages + 1], self.moments[place], np.inf)


def changing_web(
    days: float, owner: Whole, moment: Floats, rates: tuple[Floats, Floats], drift_day: float, kind: Whole,
    popularity: Floats, first_day: float = float(_MONDAY),
) -> ChangingWeb:  # fmt: skip
    """A web from changes in any order, each with the page it belongs to."""
    order = np.lexsort((moment, owner))
    begins = np.concatenate(([0], np.cumsum(np.bincount(owner, minlength=len(kind)))))
    keys = owner[order] * (days + 1.0) + moment[order]
    moments = np.append(moment[order], np.inf)  # so that there is one behind the last
    return ChangingWeb(days, begins, moments, *rates, drift_day, kind, popularity, keys, first_day)


def draw_web(pages: int, days: float, scenario: Scenario, seed: int) -> ChangingWeb:
    """A web by S1's figures; the same for the same seed, whatever policy is tried on it."""
    chance = np.random.default_rng([seed, SCENARIOS.index(scenario)])
    shares = np.array([share for share, _, _ in KINDS.values()])
    kind = chance.choice(len(KINDS), pages, p=shares / shares.sum())
    shape = np.array([shape for _, shape, _ in KINDS.values()])[kind]
    scale = np.array([scale for _, _, scale in KINDS.values()])[kind]
    rate = np.minimum(chance.gamma(shape) * scale, _MOST_PER_DAY)
    later = rate[chance.permutation(pages)] if scenario == "drift" else rate
    drift_day = DRIFT_DAY if scenario == "drift" else np.inf
    spans = ((0.0, min(drift_day, days), rate), (min(drift_day, days), days, later))
    owners, moments = [], []
    for begin, end, per_day in spans:
        count = chance.poisson(per_day * (end - begin))
        owner = np.repeat(np.arange(pages), count)
        moment = begin + chance.random(len(owner)) * (end - begin)
        owners.append(owner)
        moments.append(_by_the_clock(moment, chance) if scenario == "daily" else moment)
    popularity = 1.0 / np.arange(1, pages + 1)
    popularity *= pages / popularity.sum()
    owner, moment = np.concatenate(owners), np.concatenate(moments)
    return changing_web(days, owner, moment, (rate, later), drift_day, kind, chance.permutation(popularity))


def _by_the_clock(moment: Floats, chance: np.random.Generator) -> Floats:
    """The same changes at the hours at which people work; of those on a weekend most come on a weekday."""
    day = np.floor(moment)
    weekday = np.mod(day, 7)
    moved = (weekday >= 5) & (chance.random(len(day)) > _WEEKEND)
    day = np.where(moved, day - np.mod(day, 7) + chance.integers(0, 5, len(day)), day)
    working = chance.random(len(day)) < _WORKING_SHARE
    hour = np.where(working, 5, 17) + chance.random(len(day)) * 12
    result: Floats = day + np.mod(hour, 24) / 24
    return result


def read_histories(path: Path) -> ChangingWeb:
    """Real change histories: CSV lines unix_time, kind (first, change, technical, other), page …, perhaps gzipped.

    The web begins when four of five pages were being watched; pages that came later are left out.
    """
    try:
        raw = path.read_bytes()
        text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8")
    except (OSError, UnicodeDecodeError, EOFError) as problem:
        raise UsageError(f"{path} cannot be read ({problem}); give a CSV file of change histories.") from None
    rows = csv.DictReader(io.StringIO(text))
    if not rows.fieldnames or not {"unix_time", "kind", "page"} <= set(rows.fieldnames):
        raise UsageError(f"{path} has no columns unix_time, kind and page; give a CSV file of change histories.")
    first: dict[str, float] = {}
    changes: dict[str, list[float]] = {}
    for number, row in enumerate(rows, start=2):
        try:
            at = float(row["unix_time"]) / _DAY_S
        except (TypeError, ValueError):
            raise UsageError(f"{path}, line {number}: {row['unix_time']!r} is no time in seconds.") from None
        page = row["page"]
        if page not in first:
            first[page] = at
        elif row["kind"] == "change":
            changes.setdefault(page, []).append(at)
    if len(first) < 2:
        raise UsageError(f"{path} tells of fewer than two pages; there is nothing to weigh against each other.")
    begin = float(np.ceil(np.quantile(list(first.values()), 0.8)))
    end = max(max(times) for times in changes.values()) if changes else begin
    watched = [page for page, at in first.items() if at <= begin]
    if end - begin < 7:
        raise UsageError(f"{path} covers less than a week once most of its pages are watched; give longer histories.")
    kept = [sorted(at - begin for at in changes.get(page, []) if at > begin) for page in watched]
    owner = np.repeat(np.arange(len(watched)), [len(times) for times in kept])
    moment = np.array([at for times in kept for at in times], float)
    rate = np.array([len(times) for times in kept], float) / (end - begin)
    nowhere = np.zeros(len(watched), int)
    return changing_web(end - begin, owner, moment, (rate, rate), np.inf, nowhere, np.ones(len(watched)), begin)
