"""How often documents really change, by group: S1's interval beside estimates without its three biases (I1-9).

For each group two pictures of its documents' rates are fitted to all visits (`estimators`): a share that never changes
with one rate for the rest, and a Gamma distribution. Sites drawn again give their intervals. In a study with equal gaps
a document is one of a few patterns, so that ten million of them cost no more than a thousand; where gaps are never the
same twice, they are rounded to tenths of a day and, beyond 20,000 patterns, a sample of documents stands for all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from nephila.stats.change.bootstrap import drawn
from nephila.stats.change.estimators import Floats, GammaFit, NeverFit, Visits, fit_gamma, fit_never, likelihoods
from nephila.stats.change.visits import Measure, changed_column
from nephila.stats.section import Cell, Column, Plot, Section

GROUP = "How often pages really change"
LEAST_DOCUMENTS: Final = 20
LEAST_SITES: Final = 5
"""Drawn again, fewer tell nothing about others."""

_DRAWS: Final = 60
_GAMMA_DRAWS: Final = 12  # each is a search of its own
_MOST_PATTERNS: Final = 20_000
_GROUPS: Final = (
    ("all", "'all'", "all documents"),
    ("domain", "tld", "top-level domain"),
    ("second-level", "CASE WHEN contains(suffix, '.') THEN suffix END", "second-level domain"),
    ("depth", "'depth ' || depth", "depth"),
    ("link-kinds", "link_kinds", "link kinds"),
    ("language", "language", "language"),
    ("size", "CASE WHEN size < 4096 THEN 'below 4 KB' WHEN size < 16384 THEN '4 to 16 KB' ELSE '16 KB and more' END",
     "size"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Patterns:
    """Documents counted by site and pattern of visits."""

    visits: tuple[Visits, ...]
    by_site: Floats  # sites × patterns
    table: Floats  # patterns × rates
    unchanged: Floats  # 1 where a pattern shows no change

    @property
    def counts(self) -> Floats:
        totals: Floats = self.by_site.sum(axis=0)
        return totals


def patterns_sql(measure: Measure, group: str, where: str) -> str:
    """Documents seen at least twice, by group, site and what each visit found; a change is a gap below zero."""
    return f"""SELECT name, site, pattern, count(*) AS documents
FROM (
    SELECT url, list_sort(list(round(gap_days, 1) * CASE WHEN {changed_column(measure)} THEN -1 ELSE 1 END)) AS pattern
    FROM downloads WHERE gap_days IS NOT NULL GROUP BY url
) JOIN (SELECT url, site, {group} AS name FROM documents WHERE {where}) USING (url)
WHERE name IS NOT NULL
GROUP BY name, site, pattern ORDER BY name, site, pattern"""  # noqa: S608


def read_patterns(duck: Any, measure: Measure, group: str = "'all'", where: str = "true") -> dict[str, Patterns]:
    """The documents of each group."""
    found: dict[str, list[tuple[str, tuple[float, ...], int]]] = {}
    for name, site, pattern, documents in duck.execute(patterns_sql(measure, group, where)).fetchall():
        found.setdefault(str(name), []).append((site, tuple(pattern), int(documents)))
    return {name: _gathered(rows) for name, rows in found.items()}


def _gathered(rows: list[tuple[str, tuple[float, ...], int]]) -> Patterns:
    distinct = sorted({pattern for _, pattern, _ in rows})
    if len(distinct) > _MOST_PATTERNS:
        chosen = np.random.default_rng(1).choice(len(distinct), _MOST_PATTERNS, replace=False)
        distinct = [distinct[place] for place in sorted(chosen.tolist())]
    places = {pattern: place for place, pattern in enumerate(distinct)}
    sites = {site: place for place, site in enumerate(sorted({site for site, _, _ in rows}))}
    by_site = np.zeros((len(sites), len(distinct)))
    for site, pattern, documents in rows:
        if pattern in places:
            by_site[sites[site], places[pattern]] += documents
    visits = tuple(
        Visits(tuple(-gap for gap in pattern if gap < 0), tuple(gap for gap in pattern if gap > 0))
        for pattern in distinct
    )
    unchanged = np.array([float(not one.changed) for one in visits])
    return Patterns(visits, by_site, likelihoods(visits), unchanged)


def s1_interval(patterns: Patterns) -> float | None:
    """Period / changes, averaged over changed documents (S1-41)."""
    days = changed = 0.0
    for one, count in zip(patterns.visits, patterns.counts, strict=True):
        if one.changed:
            days += count * one.days / len(one.changed)
            changed += count
    return float(days / changed) if changed else None


def rate_sections(duck: Any, measure: Measure) -> tuple[Section, ...]:
    """One table of rates, by every grouping."""
    rows: list[tuple[Cell, ...]] = []
    for _, expression, what in _GROUPS:
        for name, patterns in read_patterns(duck, measure, expression).items():
            if patterns.counts.sum() >= LEAST_DOCUMENTS:
                rows.append((what, name, *_row(patterns)))
    return (
        Section(
            "change-rates", "How often pages really change",
            "Documents downloaded at least twice. S1's interval is the days between first and last download divided by "
            "the changes seen, averaged over changed documents alone: it forgets those that did not change, counts one "
            "change per visit at most, and averages a quotient. Beside it, what all visits together say under Poisson "
            "changes: the share that never changes, and the days between changes of the others; and the Gamma "
            "distribution of changes per day. Intervals of 95 %: sites drawn again, where there are five or more.",
            patterns_sql(measure, "'all'", "true"),
            (Column("by"), Column("group"), Column("documents", "count"), Column("s1_interval_days", "days"),
             Column("never", "share"), Column("never_low", "share"), Column("never_high", "share"),
             Column("interval_days", "days"), Column("interval_low", "days"), Column("interval_high", "days"),
             Column("gamma_shape", "number"), Column("per_day", "number"), Column("per_day_low", "number"),
             Column("per_day_high", "number")),
            tuple(rows),
            Plot("bars", "group", ("interval_days",), "", "days between changes of pages that change",
                 "interval_low", "interval_high"),
            GROUP, "I1-9, 2.1",
        ),
    )  # fmt: skip


def _row(patterns: Patterns) -> tuple[Cell, ...]:
    counts = patterns.counts
    never = fit_never(patterns.table, counts, patterns.unchanged)
    gamma = fit_gamma(patterns.table, counts)
    nevers: list[NeverFit] = []
    gammas: list[GammaFit] = []
    if len(patterns.by_site) >= LEAST_SITES:
        again = drawn(patterns.by_site, _DRAWS)
        nevers = [fit_never(patterns.table, one, patterns.unchanged, rounds=25) for one in again]
        gammas = [fit_gamma(patterns.table, one, (gamma.shape, gamma.rate_days)) for one in again[:_GAMMA_DRAWS]]
    return (
        int(counts.sum()), s1_interval(patterns),
        never.never, *_between([one.never for one in nevers]),
        _days(never.per_day), *_between([_days(one.per_day) for one in nevers]),
        gamma.shape, gamma.mean_per_day, *_around(gamma.mean_per_day, [one.mean_per_day for one in gammas]),
    )  # fmt: skip


def _days(per_day: float) -> float:
    return 1 / per_day if per_day else 0.0


def _around(value: float, drawn_again: list[float]) -> tuple[float | None, float | None]:
    """1.96 standard errors on the scale of logarithms: few draws tell their spread sooner than their ends."""
    if not drawn_again:
        return None, None
    spread = float(np.std(np.log(np.maximum(drawn_again, 1e-12))))
    return value * float(np.exp(-1.96 * spread)), value * float(np.exp(1.96 * spread))


def _between(values: list[float]) -> tuple[float | None, float | None]:
    if not values:
        return None, None
    low, high = np.quantile(np.array(values), [0.025, 0.975])
    return float(low), float(high)
