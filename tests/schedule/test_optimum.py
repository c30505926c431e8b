"""The optimum against closed forms and against its own layout (CHECKLIST 3)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nephila.schedule.hour_prices import priced
from nephila.schedule.optimum import alone_h, coming_rates, quick_bound, quickest
from nephila.schedule.policy import HOURS, Situation
from nephila.schedule.wrap_around import wrap_around

volumes = st.lists(st.floats(0.05, 5), min_size=1, max_size=12)


@settings(max_examples=25, deadline=None)
@given(volumes, st.integers(1, 5), st.integers(0, 23))
def test_with_constant_rates_it_is_mcnaughtons_closed_form(left: list[float], places: int, hour: int) -> None:
    # given P|pmtn|Cmax: rates of 1 all day
    now = Situation(hour, np.zeros((len(left), HOURS)), np.ones((len(left), HOURS)), np.array(left), places)
    # then the optimum is max(sum / places, longest)
    assert quickest(now).hours == pytest.approx(max(sum(left) / places, max(left)), abs=1e-6)
    assert quick_bound(now) == pytest.approx(quickest(now).hours, abs=1e-6)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 10), st.integers(1, 4), st.integers(0, 2**32), st.floats(0.1, 1.0))
def test_the_optimum_can_be_laid_out_and_nothing_is_shorter(sites: int, places: int, seed: int, first_h: float) -> None:
    # given random rates and volumes, some way into an hour
    chance = np.random.default_rng(seed)
    rates = chance.uniform(0.05, 1.0, (sites, HOURS))
    now = Situation(int(chance.integers(24)), 1 - rates, rates, chance.uniform(0.1, 2, sites), places, first_h)
    # when
    solved = quickest(now)
    # then each hour's times fit on the places, and everything is collected
    assert solved.hours >= quick_bound(now) - 1e-6
    assert (solved.times_h <= solved.lengths_h + 1e-6).all()
    assert (solved.times_h.sum(axis=0) <= places * solved.lengths_h + 1e-6).all()
    brought = (coming_rates(rates, now.hour, solved.times_h.shape[1]) * solved.times_h).sum(axis=1)
    assert (brought >= now.left - 1e-6).all()
    for k, length in enumerate(solved.lengths_h):
        laid = wrap_around(solved.times_h[:, k], places, float(length))
        assert len(laid) <= sites + places - 1  # at most places - 1 splits
        assert sum(one.end_h - one.begin_h for one in laid) == pytest.approx(solved.times_h[:, k].sum(), abs=1e-5)
        for one in laid:
            others = (other for other in laid if other is not one)
            assert not any(
                (other.place == one.place or other.site == one.site)
                and other.begin_h < one.end_h - 1e-7
                and one.begin_h < other.end_h - 1e-7
                for other in others
            )


def test_sites_that_fit_into_one_hour_are_assigned_to_their_cheapest_hours() -> None:
    # given two sites and one place; each is quick in another hour
    rates = np.full((2, HOURS), 0.1)
    rates[0, 1], rates[1, 0] = 1.0, 1.0
    solved = quickest(Situation(0, 1 - rates, rates, np.array([1.0, 1.0]), 1))
    assert solved.hours == pytest.approx(2.0)
    assert solved.times_h == pytest.approx(np.array([[0.0, 1.0], [1.0, 0.0]]), abs=1e-6)


def test_a_site_that_can_never_be_collected_does_not_stop_the_others() -> None:
    rates = np.ones((2, HOURS))
    rates[0] = 0.0
    now = Situation(0, 1 - rates, rates, np.array([1.0, 1.5]), 1)
    assert quickest(now).hours == pytest.approx(1.5)
    assert np.isinf(alone_h(rates, now.left, 0)[0])


def test_prices_come_near_the_optimum_where_there_are_many_sites() -> None:
    # given 2,000 sites on 80 places
    chance = np.random.default_rng(3)
    trough = chance.uniform(0, 24, (2000, 1))
    rates = 0.1 + 0.8 * (1 + np.cos(2 * np.pi * (np.arange(HOURS) - trough) / 24)) / 2
    now = Situation(0, 1 - rates, rates, chance.uniform(0.1, 0.6, 2000), 80)
    # when
    found = priced(now, np.arange(2000), chance)
    # then everything is collected in hours that hold it, in little more time on places than the least there is
    count = found.times_h.shape[1]
    assert (coming_rates(rates, 0, count) * found.times_h).sum(axis=1) == pytest.approx(now.left)
    assert found.overfull < 1.1
    least = (now.left / rates[:, :count].max(axis=1)).sum()
    assert found.times_h.sum() < 1.15 * least
