"""Estimates of change rates: right where the answer is known, and their intervals cover what really happened."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from nephila.stats.change.estimators import (
    Visits,
    cho_garcia_molina,
    fit_gamma,
    fit_never,
    irregular,
    likelihoods,
    naive,
)
from nephila.stats.change.foretelling import choose_trust, foretell, group_prior

from .histories import read_changes, visits_between

RANDOM = np.random.default_rng(7)


def _seen(rate: float, gaps: list[float]) -> Visits:
    changed = RANDOM.random(len(gaps)) < -np.expm1(-rate * np.array(gaps))
    return Visits(
        tuple(g for g, c in zip(gaps, changed, strict=True) if c),
        tuple(g for g, c in zip(gaps, changed, strict=True) if not c),
    )


def test_the_estimator_of_cho_and_garcia_molina_has_its_closed_form() -> None:
    found = cho_garcia_molina(10, 4, 2.0)
    assert found.per_day == pytest.approx(-math.log(6.5 / 10.5) / 2)
    assert found.low < found.per_day < found.high
    assert cho_garcia_molina(10, 0, 2.0).low == 0 and cho_garcia_molina(10, 10, 2.0).high == math.inf


def test_at_equal_gaps_the_most_likely_rate_is_the_closed_form_with_half_a_gap_more() -> None:
    visits = Visits((2.0,) * 4, (2.0,) * 6)
    assert irregular(visits).per_day == pytest.approx(-math.log(6.5 / 11) / 2, rel=1e-6)


def test_visits_that_are_too_seldom_hide_changes_from_the_naive_rate_but_not_from_the_others() -> None:
    visits = _seen(1.0, [1.5] * 4000)
    assert naive(visits) < 0.6
    assert irregular(visits).per_day == pytest.approx(1.0, rel=0.1)
    assert cho_garcia_molina(4000, len(visits.changed), 1.5).per_day == pytest.approx(1.0, rel=0.1)


def test_the_intervals_hold_the_true_rate_as_often_as_they_say() -> None:
    gaps = [0.5, 2.0, 2.0, 1.0, 4.0, 3.0, 2.0, 2.0, 1.0, 5.0, 0.3, 2.5]
    held = sum((found := irregular(_seen(0.3, gaps), confidence=0.9)).low <= 0.3 <= found.high for _ in range(400))
    assert 0.84 < held / 400 < 0.96
    held = 0
    for _ in range(400):
        visits = _seen(0.3, [2.0] * 12)
        found = cho_garcia_molina(12, len(visits.changed), 2.0, confidence=0.9)
        held += found.low <= 0.3 <= found.high
    assert held / 400 > 0.88  # Clopper and Pearson never promise too much


def test_a_group_tells_how_its_rates_are_spread() -> None:
    rates = RANDOM.gamma(0.5, 0.6, size=3000)
    found = fit_gamma(likelihoods([_seen(rate, [2.375] * 8) for rate in rates]), np.ones(3000))
    assert found.shape == pytest.approx(0.5, rel=0.15)
    assert found.mean_per_day == pytest.approx(0.3, rel=0.15)


def test_a_share_that_never_changes_is_told_from_the_rest() -> None:
    """I1-9: S1's 6.86 days of kr are 4.32 days of the seeds that change."""
    pages = [_seen(0.0 if place % 100 < 65 else 0.232, [2.375] * 8) for place in range(3000)]
    unchanged = np.array([float(not one.changed) for one in pages])
    found = fit_never(likelihoods(pages), np.ones(3000), unchanged)
    assert found.never == pytest.approx(0.653, abs=0.04)
    assert 1 / found.per_day == pytest.approx(4.32, rel=0.15)
    changed = [one for one in pages if one.changed]
    assert np.mean([one.days / len(one.changed) for one in changed]) == pytest.approx(6.86, rel=0.1)


@pytest.mark.parametrize(
    ("file", "gap_days"),
    [("ota_pga_changes.csv.gz", 7.0), ("ota_pga_changes.csv.gz", 14.0), ("ota_vlopses_us_changes.csv.gz", 7.0)],
)
def test_on_real_histories_what_happened_later_lies_within_nine_of_ten_intervals(
    data: Path, file: str, gap_days: float
) -> None:
    # given the first six tenths of each page's history, as regular visits would have seen it
    pasts, laters, halves = [], [], []
    for begun, end, changes in read_changes(data / "change" / file).values():
        middle, third = begun + 0.6 * (end - begun), begun + 0.36 * (end - begun)
        pasts.append(visits_between(changes, begun, middle, gap_days))
        laters.append(visits_between(changes, middle, end, gap_days))
        halves.append(
            (visits_between(changes, begun, third, gap_days), visits_between(changes, third, middle, gap_days))
        )
    # when the number of changes in the rest is foretold, with an interval of 90 %
    prior, trust = group_prior(pasts), choose_trust(halves)
    told = [
        foretell(prior, past, later.changed + later.unchanged, 0.9, trust)
        for past, later in zip(pasts, laters, strict=True)
    ]
    # then it holds what really happened about as often as it says
    held = np.mean([one.low <= len(later.changed) <= one.high for one, later in zip(told, laters, strict=True)])
    assert len(pasts) >= 100
    assert 0.86 <= held <= 0.97
