"""Which pages will change, from what is known at the first visit alone: S1's future work (S1-22, 2.1).

The chance that a page has changed after a gap of g days is 1 - exp(-g exp(w·x)), with features x: a regression of the
change rate on suffix, depth, link kinds, number of links, size, query, age of Last-Modified and share of visible text.
It is fitted to the first gap of every document of some sites and judged on the other sites, beside simpler models: one
rate for all, the rate of the link kinds, and the groups of the change model, which is what refresh uses: a Gamma
distribution per group says 1 - (b / (b + g))^a.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from nephila.stats.change.estimators import Floats, Visits, fit_gamma, likelihoods
from nephila.stats.change.visits import Measure, changed_column
from nephila.stats.section import Cell, Column, Plot, Section
from nephila.store.change_model import (
    DEPTHS_TOLD_APART,
    LEAST_PAGES,
    LEVELS,
    ChangeModel,
    PageFeatures,
    RateGroup,
)

GROUP = "Which pages will change"
_HELD_OUT: Final = 0.3
_RIDGE: Final = 1.0
_MOST_ROWS: Final = 300_000
_COMMON: Final = 12  # suffixes told apart by the regression

Held = tuple[str | None, int | None, str | None]


def first_gaps_sql(measure: Measure) -> str:
    """Every document's first gap, with its features and whether its site is held out."""
    return f"""SELECT suffix, depth, coalesce(link_kinds, '000') AS kinds, coalesce(links, 0) AS links, size, has_query,
       coalesce(modified_ago_s, -1) AS modified_ago_s, coalesce(visible_bytes / nullif(size, 0), 0) AS visible,
       gap_days, changed, hash(site) % 1000 < {int(_HELD_OUT * 1000)} AS held_out
FROM documents JOIN (
    SELECT url, arg_min(gap_days, batch) AS gap_days, arg_min({changed_column(measure)}, batch) AS changed
    FROM downloads WHERE gap_days IS NOT NULL GROUP BY url
) USING (url)
ORDER BY hash(url) LIMIT {_MOST_ROWS}"""  # noqa: S608


def model_groups(duck: Any, measure: Measure, *, training_only: bool = False) -> tuple[RateGroup, ...]:
    """The Gamma distribution of every group with pages enough, from fine to coarse."""
    where = f"WHERE hash(site) % 1000 >= {int(_HELD_OUT * 1000)}" if training_only else ""
    sql = f"""SELECT suffix, least(depth, {DEPTHS_TOLD_APART}), coalesce(link_kinds, '000'), pattern, count(*)
FROM (
    SELECT url, list_sort(list(round(gap_days, 1) * CASE WHEN {changed_column(measure)} THEN -1 ELSE 1 END)) AS pattern
    FROM downloads WHERE gap_days IS NOT NULL GROUP BY url
) JOIN documents USING (url) {where}
GROUP BY ALL ORDER BY ALL"""  # noqa: S608
    rows = duck.execute(sql).fetchall()
    distinct = sorted({tuple(row[3]) for row in rows})
    places = {pattern: place for place, pattern in enumerate(distinct)}
    visits = [
        Visits(tuple(-gap for gap in pattern if gap < 0), tuple(gap for gap in pattern if gap > 0))
        for pattern in distinct
    ]
    table = likelihoods(visits)
    counts: dict[Held, Floats] = {}
    for suffix, depth, kinds, pattern, documents in rows:
        for level in LEVELS:
            names = (suffix if level[0] else None, int(depth) if level[1] else None, kinds if level[2] else None)
            counts.setdefault(names, np.zeros(len(distinct)))[places[tuple(pattern)]] += documents
    groups = []
    for names, found in counts.items():
        pages = int(found.sum())
        if pages >= LEAST_PAGES or names == (None, None, None):
            fit = fit_gamma(table, found)
            groups.append(RateGroup(*names, fit.shape, fit.rate_days, pages))
    return tuple(sorted(groups, key=lambda group: (group.pages, str(group)), reverse=True))


@dataclass(frozen=True, slots=True)
class FirstGaps:
    """The rows that models learn from or are judged by."""

    features: tuple[PageFeatures, ...]
    columns: Floats
    gap_days: Floats
    changed: Floats


def prediction_sections(duck: Any, measure: Measure) -> tuple[Section, ...]:
    """How well each model tells the pages of sites it has never seen, and how honest its chances are."""
    rows = duck.execute(first_gaps_sql(measure)).fetchall()
    learn, judge = (_gathered([row for row in rows if bool(row[-1]) is held], rows) for held in (False, True))
    if len(learn.changed) < 100 or len(judge.changed) < 50 or len(set(judge.changed.tolist())) < 2:
        return ()
    groups = model_groups(duck, measure, training_only=True)
    model = ChangeModel(groups, measure)
    kinds_only = ChangeModel(tuple(g for g in groups if g.suffix is None and g.depth is None), measure)
    weights = fit_rates(learn)
    models: tuple[tuple[str, Floats], ...] = (
        ("one rate for all", _constant(learn, judge)),
        ("link kinds", _by_groups(kinds_only, judge)),
        ("change model: suffix, depth, link kinds", _by_groups(model, judge)),
        ("all features", predict(weights, judge)),
    )
    table: list[tuple[Cell, ...]] = []
    for name, chance in models:
        table.append((name, len(judge.changed), auc(chance, judge.changed), log_loss(chance, judge.changed),
                      float(chance.mean()), float(judge.changed.mean())))  # fmt: skip
    sql = first_gaps_sql(measure)
    return (
        Section(
            "prediction", "Which pages will have changed at the second visit?",
            "Models from what is known at the first visit alone, fitted to seven tenths of the sites and judged on the "
            "others. AUC: the chance that a page that changed was given a higher chance than one that did not; "
            "log-loss: the mean surprise, in nats; then the mean chance given and the share that changed.",
            sql,
            (Column("model"), Column("pages", "count"), Column("auc", "number"), Column("log_loss", "number"),
             Column("mean_chance", "share"), Column("changed", "share")),
            tuple(table), Plot("bars", "model", ("auc",), "", "AUC on held-out sites"), GROUP, "S1-22, 2.1",
        ),
        _calibration("calibration", "The change model's chances and what happened", models[2][1], judge, sql),
        _calibration("calibration-all-features", "All features' chances and what happened", models[3][1], judge, sql),
    )  # fmt: skip


def _calibration(name: str, title: str, chance: Floats, judge: FirstGaps, sql: str) -> Section:
    order = np.argsort(chance, kind="stable")
    rows: list[tuple[Cell, ...]] = []
    for part in np.array_split(order, 10):
        if len(part):
            rows.append((len(rows) + 1, len(part), float(chance[part].mean()), float(judge.changed[part].mean())))
    return Section(
        name, title,
        "Pages of held-out sites in ten equal parts by their chance of change: the mean chance given, and the share "
        "that had changed at the second visit.",
        sql,
        (Column("tenth", "number"), Column("pages", "count"), Column("chance", "share"), Column("changed", "share")),
        tuple(rows), Plot("pairs", "tenth", ("chance", "changed"), "tenth of pages", "changed"), GROUP, "2.1",
    )  # fmt: skip


def _gathered(rows: Sequence[tuple[Any, ...]], every: Sequence[tuple[Any, ...]]) -> FirstGaps:
    common = _common_suffixes(every)
    kinds = sorted({row[2] for row in every})
    columns = np.array([_columns(row, common, kinds) for row in rows]).reshape(len(rows), -1)
    features = tuple(PageFeatures(str(row[0]), int(row[1]), str(row[2])) for row in rows)
    return FirstGaps(
        features, columns, np.array([float(row[8]) for row in rows]), np.array([float(row[9]) for row in rows])
    )


def _common_suffixes(rows: Sequence[tuple[Any, ...]]) -> list[str]:
    names, counts = np.unique([str(row[0]) for row in rows] or [""], return_counts=True)
    return [str(names[place]) for place in np.argsort(-counts, kind="stable")[:_COMMON]]


def _columns(row: tuple[Any, ...], suffixes: list[str], kinds: list[str]) -> list[float]:
    suffix, depth, kind, links, size, has_query, modified_ago_s, visible, *_ = row
    known_age = modified_ago_s >= 0
    return [
        1.0,
        *(float(suffix == name) for name in suffixes),
        *(float(min(depth, DEPTHS_TOLD_APART) == at) for at in range(DEPTHS_TOLD_APART + 1)),
        *(float(kind == name) for name in kinds),
        float(np.log1p(links)), float(np.log1p(size or 0)), float(bool(has_query)),
        float(known_age), float(np.log1p(modified_ago_s / 86400)) if known_age else 0.0, float(visible),
    ]  # fmt: skip


def fit_rates(rows: FirstGaps) -> Floats:
    """The weights under which the gaps seen are most likely, drawn a little towards nothing."""
    from scipy.optimize import minimize

    x, gap, changed = rows.columns, rows.gap_days, rows.changed > 0

    def loss(weights: Floats) -> tuple[float, Floats]:
        exposure = gap * np.exp(np.clip(x @ weights, -20, 6))
        missed = np.exp(-exposure)
        value = -np.log(np.maximum(1 - missed[changed], 1e-12)).sum() + exposure[~changed].sum()
        pull = np.where(changed, -exposure * missed / np.maximum(1 - missed, 1e-12), exposure)
        penalty = _RIDGE * weights
        penalty[0] = 0.0
        return float(value + 0.5 * weights @ penalty), x.T @ pull + penalty

    start = np.zeros(x.shape[1])
    start[0] = np.log(max(float(changed.mean()), 1e-3) / float(gap.mean()))
    found: Floats = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 200}).x
    return found


def predict(weights: Floats, rows: FirstGaps) -> Floats:
    """The chance of each page to have changed after its gap."""
    chance: Floats = -np.expm1(-rows.gap_days * np.exp(np.clip(rows.columns @ weights, -20, 6)))
    return chance


def _constant(learn: FirstGaps, judge: FirstGaps) -> Floats:
    chance: Floats = np.full(len(judge.changed), float(learn.changed.mean()))
    return chance


def _by_groups(model: ChangeModel, rows: FirstGaps) -> Floats:
    known: dict[PageFeatures, tuple[float, float]] = {}
    prior_for: Callable[[PageFeatures], tuple[float, float]] = model.prior_for
    for features in set(rows.features):
        known[features] = prior_for(features)
    shape = np.array([known[features][0] for features in rows.features])
    rate_days = np.array([known[features][1] for features in rows.features])
    chance: Floats = 1 - (rate_days / (rate_days + rows.gap_days)) ** shape
    return chance


def auc(chance: Floats, changed: Floats) -> float:
    """By ranks, ties shared."""
    from scipy.stats import rankdata

    positive = float(changed.sum())
    negative = len(changed) - positive
    if not positive or not negative:
        return 0.5
    ranks = rankdata(chance)
    return float((ranks[changed > 0].sum() - positive * (positive + 1) / 2) / (positive * negative))


def log_loss(chance: Floats, changed: Floats) -> float:
    safe = np.clip(chance, 1e-9, 1 - 1e-9)
    return float(-(changed * np.log(safe) + (1 - changed) * np.log1p(-safe)).mean())
