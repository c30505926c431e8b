"""The policies on tables small enough to be read (S2-4..14)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nephila.schedule.hybrid import StepFive, by_table, stops
from nephila.schedule.policies import POLICIES
from nephila.schedule.policy import HOURS, Floats, Situation
from nephila.schedule.priority_table import best_hours, priority_table


def day(base: float, **at: float) -> list[float]:
    """A flat day with other loads at some hours: day(0.5, h3=0.1)."""
    loads = [base] * HOURS
    for name, load in at.items():
        loads[int(name[1:])] = load
    return loads


def situation(loads: list[list[float]], hour: int = 0, places: int = 1, left: list[float] | None = None) -> Situation:
    table = np.array(loads)
    return Situation(hour, table, 1 - table, np.array(left or [1.0] * len(loads)), places)


LOADS = [day(0.5, h3=0.1), day(0.2), day(0.6, h0=0.4), day(0.3, h0=0.35, h3=0.05)]


def test_random_keeps_the_order_of_the_list_and_skips_what_is_complete() -> None:
    # S2-4
    order = POLICIES["random"](situation(LOADS, left=[1, 0, 2, 3])).order
    assert order.tolist() == [0, 2, 3]


def test_sorting_takes_the_lowest_load_of_the_hour_first() -> None:
    # S2-5
    assert POLICIES["sorting"](situation(LOADS, hour=0)).order.tolist() == [1, 3, 2, 0]
    assert POLICIES["sorting"](situation(LOADS, hour=3)).order.tolist() == [3, 0, 1, 2]


def test_the_best_hour_is_the_earliest_of_the_quietest() -> None:
    # S2-9
    assert best_hours(np.array(LOADS)).tolist() == [3, 0, 0, 3]


def test_a_column_holds_first_the_sites_whose_best_hour_it_is_then_all_others_each_by_load() -> None:
    # S2-10, S2-11: in hour 0 sites 1 and 2 are at their best, though site 3 has a lower load than site 2
    table = priority_table(np.array(LOADS))
    assert table[:, 0].tolist() == [1, 2, 3, 0]
    assert table[:, 3].tolist() == [3, 0, 1, 2]
    assert table[:, 7].tolist() == [1, 3, 0, 2]


@given(st.integers(1, 12), st.integers(0, 2**32))
def test_every_column_of_the_table_holds_every_site_once(sites: int, seed: int) -> None:
    # S2-11
    table = priority_table(np.random.default_rng(seed).random((sites, HOURS)))
    assert table.shape == (sites, HOURS)
    assert (np.sort(table, axis=0) == np.arange(sites)[:, None]).all()


@pytest.mark.parametrize(
    ("reading", "hour", "expected"),
    [
        (StepFive.NEXT, 2, [True, False, False, True]),  # S2-13: hour 3 is quieter for sites 0 and 3
        (StepFive.LATER, 1, [True, False, False, True]),
        (StepFive.NEXT, 1, [False, False, False, False]),
        (StepFive.LATER, 23, [False] * 4),  # nothing is later in the day
        (StepFive.NEXT, 23, [False, False, True, False]),  # the day begins again
    ],
)
def test_step_five_stops_a_site_before_a_worse_hour(reading: StepFive, hour: int, expected: list[bool]) -> None:
    assert stops(np.array(LOADS), hour, reading).tolist() == expected


def test_what_stops_stands_behind_all_others_and_what_was_never_begun_does_not_stop() -> None:
    # given hour 2, in which sites 0 and 3 would stop, and only site 3 was begun
    begun = np.array([False, True, False, True])
    now = Situation(2, np.array(LOADS), 1 - np.array(LOADS), np.ones(4), 1, begun=begun)
    # when
    chosen = by_table(now)
    # then
    assert chosen.order.tolist() == [1, 0, 2, 3]
    assert chosen.stays is not None
    assert chosen.stays.tolist() == [True, True, True, False]


def test_the_index_prefers_a_busy_site_in_its_best_hour_to_a_quiet_one_without_one() -> None:
    loads = [day(0.2), day(0.9, h5=0.5)]
    assert POLICIES["index"](situation(loads, hour=5)).order.tolist() == [1, 0]
    assert POLICIES["index"](situation(loads, hour=6)).order.tolist() == [0, 1]


def test_quotas_wait_for_the_hour_in_which_a_site_is_quick() -> None:
    # given two sites of an hour's work and one place; site 1 is ten times as quick in the next hour
    loads = [day(0.5), day(0.9, h1=0.0)]
    chosen = POLICIES["lp-quota"](situation(loads, hour=0, left=[0.5, 1.0]))
    # then this hour is all site 0's
    assert chosen.quota_h is not None
    assert chosen.quota_h == pytest.approx([1.0, 0.0], abs=1e-6)
    assert chosen.order.tolist() == [0, 1]


@pytest.mark.parametrize("name", POLICIES)
@given(st.integers(1, 30), st.integers(1, 6), st.integers(0, 23), st.integers(0, 2**32))
def test_every_policy_orders_every_incomplete_site_once(
    name: str, sites: int, places: int, hour: int, seed: int
) -> None:
    # given any table, some of the sites complete, some never reachable
    chance = np.random.default_rng(seed)
    loads: Floats = chance.random((sites, HOURS)) * 0.9
    rates = np.where(chance.random((sites, 1)) < 0.1, 0.0, 1 - loads)
    left = np.where(chance.random(sites) < 0.3, 0.0, chance.random(sites) * 3)
    # when
    chosen = POLICIES[name](Situation(hour, loads, rates, left, places, begun=chance.random(sites) < 0.5))
    # then nobody is lost and nobody comes twice
    assert sorted(chosen.order.tolist()) == np.flatnonzero(left > 0).tolist()
    assert chosen.stays is None or len(chosen.stays) == sites
    assert chosen.quota_h is None or (chosen.quota_h >= -1e-9).all()
