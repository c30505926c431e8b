"""Estimators against closed forms, against each other and against pages whose rate is known."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as some

from nephila.refresh.rates import cho_garcia_molina, fit_prior, likeliest, naive, posterior

_DAYS = some.floats(0.01, 100.0)


def test_half_of_the_daily_visits_with_a_change_mean_ln_2_changes_a_day() -> None:
    # given four changed and four unchanged days; then 1 - e^-rate = 1/2
    assert abs(likeliest([1.0] * 4, [1.0] * 4) - np.log(2)) < 1e-9


def test_the_posterior_with_next_to_no_prior_is_as_likely_as_it_can_be() -> None:
    # given the same history as sums, and a prior of nothing
    nothing = np.array([1e-9])
    shape, rate = posterior(nothing, nothing, np.array([4.0]), np.array([4.0]), np.array([4.0]))
    assert abs(float(shape[0] / rate[0]) - np.log(2)) < 1e-6


def test_a_page_that_never_changed_has_the_prior_with_its_days_added() -> None:
    shape, rate = posterior(np.array([0.3]), np.array([2.0]), np.zeros(1), np.zeros(1), np.array([40.0]))
    assert np.allclose([shape[0], rate[0]], [0.3, 42.0])


@settings(deadline=None)
@given(some.floats(0.02, 5.0), some.floats(0.01, 50.0), some.integers(0, 20), _DAYS, some.floats(0.0, 1000.0))
def test_the_posterior_lies_where_its_slope_is_nothing(
    shape: float, rate: float, changes: int, length: float, still: float
) -> None:
    # when
    new_shape, new_rate = posterior(*(np.array([value]) for value in (shape, rate, changes, changes * length, still)))
    # then shape + X·y/(e^y − 1) = mode·(rate + still)
    mode = float(new_shape[0] / new_rate[0])
    y = min(mode * length, 700.0)
    left = shape + changes * (y / np.expm1(y) if y > 1e-9 else 1.0)
    assert abs(left - mode * (rate + still)) < 1e-4 * left
    assert new_shape[0] > 0


def test_the_naive_rate_misses_what_happened_between_visits_and_the_others_do_not() -> None:
    # given a page that changes 2 times a day and is visited every day for 400 days
    chance = np.random.default_rng(7)
    changed = chance.poisson(2.0, 400) > 0
    seen = float(changed.sum())
    # then
    assert naive(np.array([seen]), np.array([400.0]))[0] < 0.95
    assert abs(float(cho_garcia_molina(np.array([400.0]), np.array([seen]), np.array([1.0]))[0]) - 2.0) < 0.35
    assert abs(likeliest([1.0] * int(seen), [1.0] * int(400 - seen)) - 2.0) < 0.35


def test_irregular_visits_are_no_excuse() -> None:
    # given a page that changes every two days, visited at random times
    chance = np.random.default_rng(3)
    gaps = chance.exponential(3.0, 2000)
    changed = chance.random(2000) < -np.expm1(-0.5 * gaps)
    # then the exact estimate and the one from three sums are near the truth
    assert abs(likeliest(gaps[changed], gaps[~changed]) - 0.5) < 0.04
    sums = (np.array([float(changed.sum())]), np.array([gaps[changed].sum()]), np.array([gaps[~changed].sum()]))
    shape, rate = posterior(np.array([0.2]), np.array([1.0]), *sums)
    assert abs(float(shape[0] / rate[0]) - 0.5) < 0.1


def test_the_prior_is_found_again_from_histories() -> None:
    # given 4,000 pages whose rates come from Gamma(0.5, 2 days), each visited 20 times every two days
    chance = np.random.default_rng(1)
    rates = chance.gamma(0.5, 1 / 2.0, 4000)
    changed = chance.binomial(20, -np.expm1(-2 * rates)).astype(float)
    # when
    shape, rate = fit_prior(changed, 2 * changed, 2 * (20 - changed), (0.2, 1.0), rounds=200)
    # then
    assert 0.4 < shape < 0.65
    assert abs(shape / rate - 0.25) < 0.05


def test_ten_pages_are_too_few_to_learn_a_prior_from() -> None:
    few = np.ones(9)
    assert fit_prior(few, few, few, (0.2, 1.0)) == (0.2, 1.0)
