"""The log of one page."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nephila.refresh.forgetting import with_visit
from nephila.store.change_log import (
    DAY_S,
    HALF_LIFE_DAYS,
    LEAST_KEPT,
    MEMORY_VISITS,
    MOST_RECENT,
    begin,
    missed,
    pack_recent,
    saw,
    unpack_recent,
)


def test_every_visit_but_the_first_closes_an_interval() -> None:
    # given a page seen first on day 0, unchanged on day 2, changed on day 3
    log = begin(0.0)
    log = saw(log, 2 * DAY_S, 100, 0, changed=False)
    log = saw(log, 3 * DAY_S, 130, 30, changed=True)
    # then
    assert (log.visits, log.changed_visits, log.changed_at) == (2, 1, 3 * DAY_S)
    assert log.changes == 1.0
    assert log.changed_days == 1.0
    assert 0.9 < log.unchanged_days < 1.0  # they have faded a little, and are doubted
    assert [entry.compare_bytes for entry in log.recent] == [0, 30]


def test_what_was_seen_a_half_life_ago_weighs_half_where_visits_are_many() -> None:
    # given a page that changed on every day of a month, and then a month of visits in which it did so again
    log = begin(0.0)
    for day in range(1, 31):
        log = saw(log, day * DAY_S, 1, 0, changed=True)
    before = log.changes
    for day in range(31, 61):
        log = saw(log, day * DAY_S, 1, 0, changed=True)
    # then the sum has grown by half: the first month weighs half, the second as much as the first did
    assert log.changes == pytest.approx(1.5 * before, rel=0.01)
    assert HALF_LIFE_DAYS == 30


def test_a_page_that_is_seldom_visited_is_not_forgotten_before_it_is_known() -> None:
    # given one that is visited every sixty days and changes each time
    log = begin(0.0)
    for visit in range(1, 20):
        log = saw(log, visit * 60 * DAY_S, 1, 0, changed=True)
    # then eight visits ago weighs half, and not one three hundredth of it
    assert log.changes == pytest.approx(sum(0.5 ** (visit / MEMORY_VISITS) for visit in range(19)), rel=1e-6)


def test_a_visit_that_finds_the_unlikely_makes_the_sums_doubtful() -> None:
    # given a page that never changed within ten visits
    log = begin(0.0)
    for day in range(1, 11):
        log = saw(log, day * DAY_S, 1, 0, changed=False)
    # when it stays so, its days go on adding up; when it changes, half of them are given up at once
    assert saw(log, 11 * DAY_S, 1, 0, changed=False).unchanged_days > log.unchanged_days
    assert saw(log, 11 * DAY_S, 1, 0, changed=True).unchanged_days == pytest.approx(
        log.unchanged_days * LEAST_KEPT * 0.5 ** (1 / 30)
    )


@given(st.lists(st.tuples(st.floats(0.01, 200), st.booleans()), min_size=1, max_size=20))
def test_many_pages_are_folded_as_one_is(intervals: list[tuple[float, bool]]) -> None:
    log, day = begin(0.0), 0.0
    sums = (np.zeros(1), np.zeros(1), np.zeros(1))
    for gap_days, changed in intervals:
        day += gap_days
        log = saw(log, day * DAY_S, 1, 0, changed=changed)
        sums = with_visit(sums, np.array([gap_days]), np.array([changed]))
    assert [float(each[0]) for each in sums] == pytest.approx(
        [log.changes, log.changed_days, log.unchanged_days], rel=1e-5, abs=1e-9
    )


def test_a_missing_page_counts_until_it_is_seen_again_and_says_nothing_of_change() -> None:
    log = missed(missed(begin(0.0), 5.0), DAY_S)
    assert (log.missing, log.visits, log.last_at, log.asked_at) == (2, 0, 0.0, DAY_S)
    assert saw(log, DAY_S, 1, 0, changed=False).missing == 0


def test_the_log_is_bounded_however_long_a_page_is_watched() -> None:
    log = begin(0.0)
    for visit in range(1, 1000):
        log = saw(log, visit * DAY_S, visit, 1, changed=visit % 2 == 0)
    assert len(log.recent) == MOST_RECENT
    packed = pack_recent(log.recent)
    assert len(packed) < 300
    assert unpack_recent(packed) == log.recent


def test_a_clock_that_went_back_makes_no_interval_of_negative_length() -> None:
    log = saw(begin(10 * DAY_S), 4 * DAY_S, 1, 0, changed=False)
    assert log.unchanged_days == 0.0
    assert log.last_at == 10 * DAY_S
