"""Each policy against what is known of it in closed form."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from nephila.errors import UsageError
from nephila.refresh.columns import Columns
from nephila.refresh.policies import POLICIES, policy_named
from nephila.refresh.policies.azar import azar_rates
from nephila.refresh.policies.index import expected_value, index_value
from nephila.refresh.policies.lambdacrawl import lambda_rates
from nephila.refresh.policies.multiplier import price_within
from nephila.refresh.policies.nutch import MOST_DAYS, after_visit
from nephila.refresh.policies.policy import about, due_days


def _columns(rates: list[float], last: float = 0.0) -> Columns:
    """Pages whose rates are known for certain: a Gamma distribution of a large shape."""
    count = len(rates)
    return Columns.new(np.ones(count), np.full(count, last), np.full(count, 1e6), 1e6 / np.array(rates))


@settings(deadline=None)
@given(some.floats(0.001, 30.0), some.floats(0.01, 200.0))
def test_the_expected_index_of_a_rate_that_is_certain_is_the_index_of_that_rate(rate: float, waited: float) -> None:
    expected = expected_value(np.array([1e7]), np.array([1e7 / rate]), np.array([waited]))[0]
    exact = index_value(np.array([rate]), np.array([waited]))[0]
    assert abs(expected - exact) < 1e-3 * max(exact, 1e-6) + 1e-5 / rate


def test_the_expected_index_is_the_mean_over_the_distribution() -> None:
    # given many rates drawn from Gamma(0.3, 1.5 days)
    drawn = np.random.default_rng(5).gamma(0.3, 1 / 1.5, 400_000)
    # then
    for waited in (0.5, 3.0, 40.0):
        mean = index_value(drawn, np.full(len(drawn), waited)).mean()
        assert abs(expected_value(np.array([0.3]), np.array([1.5]), np.array([waited]))[0] / mean - 1) < 0.02


def test_the_index_leaves_out_what_changes_too_often_to_be_kept_fresh() -> None:
    # given a page that changes every five minutes, and one that changes every five days, seen a week ago
    scores = POLICIES["index"].scores(_columns([288.0, 0.2]), 7.0, None)
    assert scores[0] < scores[1]


def test_azars_rates_spend_the_budget_and_meet_their_condition() -> None:
    # given
    change = np.array([0.01, 0.1, 1.0, 10.0])
    # when
    rates = azar_rates(np.ones(4), change, price_within(azar_rates, np.ones(4), change, 2.0))
    # then the slope of freshness, change/(r + change)^2, is the same for all that are visited, and less for the rest
    assert rates.sum() == pytest.approx(2.0)
    slopes = change / (rates + change) ** 2
    visited = rates > 0
    assert np.allclose(slopes[visited], slopes[visited][0])
    assert np.all(slopes[~visited] <= slopes[visited][0] + 1e-12)
    assert rates[3] == 0


def test_lambdacrawl_starves_nobody() -> None:
    change = np.array([0.01, 0.1, 1.0, 10.0])
    rates = lambda_rates(np.ones(4), change, price_within(lambda_rates, np.ones(4), change, 2.0))
    assert rates.sum() == pytest.approx(2.0)
    assert np.all(rates > 0)
    assert np.allclose(change / (rates * (rates + change)), change[0] / (rates[0] * (rates[0] + change[0])))


def test_nutch_shortens_by_a_fifth_and_lengthens_by_a_fifth_within_bounds() -> None:
    after = after_visit(np.array([10.0, 10.0, 364.0]), np.array([True, False, False]))
    assert np.allclose(after, [8.0, 12.0, MOST_DAYS])


@pytest.mark.parametrize("name", sorted(POLICIES))
def test_every_score_grows_while_a_page_waits_and_its_due_day_is_where_it_meets_the_price(name: str) -> None:
    # given
    policy, columns = POLICIES[name], _columns([0.05, 0.5, 2.0], last=100.0)
    columns.today = 100
    settled = policy.settle(columns, policy.terms(columns, 1.0))
    # then
    earlier, later = (policy.scores(columns, day, settled) for day in (103.0, 110.0))
    assert np.all(later >= earlier)
    # and when the price is what the pages score after eight days, that is when they are due
    for page, price in enumerate(policy.scores(columns, 108.0, settled)):
        due = due_days(policy, columns, settled, float(price), 101.0)[page]
        assert due <= 108.0 + 1e-6
        one = policy.scores(columns, float(due), settled)[page]
        assert one == pytest.approx(float(price), rel=1e-3, abs=1e-9)


@pytest.mark.parametrize("name", sorted(POLICIES))
def test_every_policy_says_in_a_few_words_why(name: str) -> None:
    columns = _columns([0.2])
    policy = POLICIES[name]
    said = policy.explain(columns, policy.settle(columns, policy.terms(columns, 1.0)))
    assert 10 < len(said) < 120


def test_an_unknown_policy_is_refused_with_the_names_of_those_there_are() -> None:
    with pytest.raises(UsageError, match="index, uniform"):
        policy_named("psychic")


@pytest.mark.parametrize(
    ("days", "said"),
    [(6.2, "6 days"), (1.0, "1 day"), (0.25, "6 hours"), (21.0, "3 weeks"), (800.0, "2 years"), (0.001, "1 minute")],
)
def test_lengths_of_time_are_said_as_people_say_them(days: float, said: str) -> None:
    assert about(days) == said
