"""S1's Tables 7-13 as lines that a study must show, whoever made it: the generator's own counts, or a crawl of the lab.

Each line has the paper's value; a study brings its own, with a standard error that counts sites and not pages. Two
samples of sites are compared, the paper's and this one, so the error of their difference counts, which is that of one
times the root of two. As in `check`, all lines together are held to the chance of three errors (4.12).

Some of the printed figures contradict each other, and no web can show both (I1-5): Table 11 says that 50.4 % of
documents were downloaded twice, Table 12 44.5 %. So Table 11 is compared as it stands, and Table 12 by what each depth
has relative to all; its intervals likewise, since their mean is 5.47 days where Table 13's is 6.03. Depths are compared
below the home pages, of which a web whose sites are smaller than the paper's has more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final, Literal

import numpy as np

from nephila.lab import figures
from nephila.lab.check import CheckReport, CheckRow
from nephila.lab.skeleton import KINDS
from nephila.lab.study_tables import DOMAINS, Counts, StudyTally, study_tally
from nephila.lab.tables import ratio
from nephila.lab.web import Web

Key = tuple[str, str]
"""(table, row)"""

_SEEDS: Final = "Table 7: requests and downloads"
_TIMES: Final = "Table 8: seeds by downloads"
_DOMAIN: Final = "Table 9: seeds by domain"
_SECOND: Final = "Table 10: seeds by second-level domain"
_DOWNLOADS: Final = "Table 11: documents by downloads"
_DEPTH: Final = "Table 12: documents by depth"
_KIND: Final = "Table 13: documents by link kinds"
_INTERVAL_SPREAD_DAYS: Final = 6.0
_SMALL_SHARE: Final = 0.1
_PROBABILITY_TOLERANCE: Final = 0.01  # of SS and FF (4.12)


@dataclass(frozen=True, slots=True)
class Seen:
    """What a study found for one line: its value, its standard error over sites, and how many stand behind it."""

    value: float
    error: float
    trials: float


@dataclass(frozen=True, slots=True)
class Line:
    """What the paper printed."""

    key: Key
    paper: float
    kind: Literal["share", "days", "ratio", "probability"]


def paper_lines() -> tuple[Line, ...]:
    """Every line of Tables 7-13 that a study can show."""
    seeds = figures.STUDY_SEEDS
    lines = [
        Line((_SEEDS, "seeds downloaded"), sum(figures.SEEDS_DOWNLOADED) / (seeds * figures.BATCHES), "share"),
        Line((_SEEDS, "documents downloaded"), figures.DOCUMENTS_DOWNLOADED / figures.DOCUMENTS_REQUESTED, "share"),
    ]
    lines += [Line((_TIMES, f"{i} times"), n / seeds, "share") for i, n in enumerate(figures.BATCHES_ALIVE)]
    for name, value in probabilities(np.array(figures.BATCHES_ALIVE, dtype=float)).items():
        lines.append(Line((_TIMES, name), value, "probability"))
    for table, printed, whole in ((_DOMAIN, figures.BY_DOMAIN, seeds), (_SECOND, figures.BY_SECOND_LEVEL, 761)):
        for name, (count, always, changed, days) in printed.items():
            lines += [
                Line((table, f"{name}, of all"), count / whole, "share"),
                Line((table, f"{name}, in all batches"), always / count, "share"),
                Line((table, f"{name}, changed"), changed / always, "share"),
                Line((table, f"{name}, days"), days, "days"),
            ]
    every = sum(figures.DOWNLOADS)
    lines += [Line((_DOWNLOADS, f"{k} times"), n / every, "share") for k, n in enumerate(figures.DOWNLOADS, 1)]
    documents, twice, days_at = (np.array(column, dtype=float) for column in zip(*figures.BY_DEPTH, strict=True))
    below = documents[1:].sum()
    mean_days = float((twice * days_at).sum() / twice.sum())
    for depth in range(len(documents)):
        if depth:
            lines.append(Line((_DEPTH, f"depth {depth}, of all"), documents[depth] / below, "share"))
        relative = float(twice[depth] / documents[depth] / (twice.sum() / documents.sum()))
        lines.append(Line((_DEPTH, f"depth {depth}, twice, relative"), relative, "ratio"))
        lines.append(Line((_DEPTH, f"depth {depth}, days, relative"), float(days_at[depth]) / mean_days, "ratio"))
    for kind in KINDS:
        count, (changed, days) = figures.LINK_KINDS[kind], figures.BY_LINK_KINDS[kind]
        lines += [
            Line((_KIND, f"{kind}, of all"), count / sum(figures.LINK_KINDS.values()), "share"),
            Line((_KIND, f"{kind}, changed"), changed / count, "share"),
            Line((_KIND, f"{kind}, days"), days, "days"),
        ]
    return tuple(lines)


def compare(seen: Mapping[Key, Seen]) -> tuple[CheckRow, ...]:
    """Each line that the study shows, beside the paper's."""
    lines = [line for line in paper_lines() if line.key in seen]
    errors_allowed = math.sqrt(2) * NormalDist().inv_cdf(1 - (1 - NormalDist().cdf(3.0)) / max(len(lines), 1))
    rows = []
    for line in lines:
        found = seen[line.key]
        tolerance = max(errors_allowed * _error(line, found), _few(line, found, errors_allowed))
        if line.kind == "probability":
            tolerance = _PROBABILITY_TOLERANCE
        ok = abs(found.value - line.paper) <= tolerance
        rows.append(CheckRow(*line.key, line.paper, found.value, tolerance, ok))
    return tuple(rows)


def _error(line: Line, found: Seen) -> float:
    """At least that of so many independent ones: a handful of sites tells little about its own spread."""
    if found.trials <= 0:
        return math.inf
    if line.kind == "share":
        return max(found.error, math.sqrt(line.paper * (1 - line.paper) / found.trials))
    if line.kind == "days":
        return max(found.error, _INTERVAL_SPREAD_DAYS / math.sqrt(found.trials))
    return max(found.error, line.paper / math.sqrt(found.trials))


def _few(line: Line, found: Seen, errors_allowed: float) -> float:
    """A small share of which a few are expected has no normal error: Poisson's tail, by its square-root law."""
    expected = line.paper * found.trials
    if line.kind != "share" or not 0 < expected < 100 or line.paper > _SMALL_SHARE:
        return 0.0
    return ((math.sqrt(expected) + errors_allowed / 2) ** 2 - expected) / found.trials


def probabilities(alive: Counts) -> dict[str, float]:
    """SS and FF as S1 prints them and by events (S1-38 .. S1-40), of seeds by the number of batches they were up in."""
    batches = len(alive) - 1
    i = np.arange(batches + 1)
    down = batches - i

    def share(over: Counts, under: Counts) -> float:
        events = float(under.sum()) * (batches - 1)
        return float(over.sum()) / events if events else math.nan

    return {
        "SS": share(alive[1:] * (i[1:] - 1), alive[1:]),
        "FF": share(alive[:-1] * (down[:-1] - 1), alive[:-1]),
        "SS by events": share(alive * i * (i - 1), alive * i),
        "FF by events": share(alive * down * (down - 1), alive * down),
    }


def check_study(homes: Web, sites: Web) -> CheckReport:
    """The generator against Tables 7-13: home pages of one web for Tables 7-10, whole sites of another for 11-13."""
    first, second = study_tally(homes, whole_sites=False), study_tally(sites)
    seen = {**home_lines(first), **site_lines(second)}
    pages = int(second.requested.sum() / figures.BATCHES)
    return CheckReport(homes.number_of_sites, pages, compare(seen))


def home_lines(tally: StudyTally) -> dict[Key, Seen]:
    """Tables 7-10 of a tally of home pages."""
    count = len(tally.seeds_up)
    up = tally.seeds_up.sum(axis=1)
    ones = np.ones(count)
    seen = {(_SEEDS, "seeds downloaded"): _ratio(up, ones * figures.BATCHES)}
    alive = np.array([(up == i).sum() for i in range(figures.BATCHES + 1)], dtype=float)
    for i in range(figures.BATCHES + 1):
        seen[_TIMES, f"{i} times"] = _ratio((up == i).astype(float), ones)
    for name, value in probabilities(alive).items():
        seen[_TIMES, name] = Seen(value, 0.0, count)
    korean = tally.domain[:, DOMAINS.index("kr")]
    always, changed, days = tally.seeds.T
    for column, name in enumerate(DOMAINS):
        own = tally.domain[:, column]
        table, whole = (_DOMAIN, ones) if name in figures.BY_DOMAIN else (_SECOND, korean)
        seen[table, f"{name}, of all"] = _ratio(own, whole)
        seen[table, f"{name}, in all batches"] = _ratio(own * always, own)
        seen[table, f"{name}, changed"] = _ratio(own * changed, own * always)
        seen[table, f"{name}, days"] = _ratio(own * days, own * changed)
    return seen


def site_lines(tally: StudyTally) -> dict[Key, Seen]:
    """Tables 7 and 11-13 of a tally of whole sites."""
    seen = {(_SEEDS, "documents downloaded"): _ratio(tally.downloaded.sum(axis=1), tally.requested.sum(axis=1))}
    every = tally.downloads.sum(axis=1)
    for k in range(1, figures.BATCHES + 1):
        seen[_DOWNLOADS, f"{k} times"] = _ratio(tally.downloads[:, k - 1], every)
    below = tally.documents[:, 1:].sum(axis=1)
    twice_of_all = _ratio(tally.seen_twice.sum(axis=1), tally.documents.sum(axis=1)).value
    by_depth = [_ratio(tally.days[:, depth], tally.changed[:, depth]) for depth in range(len(figures.BY_DEPTH))]
    weights = tally.seen_twice.sum(axis=0)
    mean_days = sum(w * found.value for w, found in zip(weights, by_depth, strict=True)) / max(weights.sum(), 1.0)
    for depth, days in enumerate(by_depth):
        if depth:
            seen[_DEPTH, f"depth {depth}, of all"] = _ratio(tally.documents[:, depth], below)
        twice = _ratio(tally.seen_twice[:, depth], tally.documents[:, depth])
        seen[_DEPTH, f"depth {depth}, twice, relative"] = _relative(twice, twice_of_all)
        seen[_DEPTH, f"depth {depth}, days, relative"] = _relative(days, mean_days)
    twice_by_kind = tally.kind_twice.sum(axis=1)
    for column, kind in enumerate(KINDS):
        seen[_KIND, f"{kind}, of all"] = _ratio(tally.kind_twice[:, column], twice_by_kind)
        seen[_KIND, f"{kind}, changed"] = _ratio(tally.kind_changed[:, column], tally.kind_twice[:, column])
        seen[_KIND, f"{kind}, days"] = _ratio(tally.kind_days[:, column], tally.kind_changed[:, column])
    return seen


def _ratio(over: Counts, under: Counts) -> Seen:
    estimate = ratio(over, under)
    return Seen(estimate.value, estimate.error, float(under.sum()))


def _relative(found: Seen, to: float) -> Seen:
    return Seen(found.value / to, found.error / to, found.trials) if to else Seen(0.0, 0.0, 0.0)
