"""The log of one page."""

from __future__ import annotations

from nephila.store.change_log import DAY_S, HALF_LIFE_DAYS, MOST_RECENT, begin, missed, pack_recent, saw, unpack_recent


def test_every_visit_but_the_first_closes_an_interval() -> None:
    # given a page seen first on day 0, unchanged on day 2, changed on day 3
    log = begin(0.0)
    log = saw(log, 2 * DAY_S, 100, 0, changed=False)
    log = saw(log, 3 * DAY_S, 130, 30, changed=True)
    # then
    assert (log.visits, log.changed_visits, log.changed_at) == (2, 1, 3 * DAY_S)
    assert log.changes == 1.0
    assert log.changed_days == 1.0
    assert 1.9 < log.unchanged_days < 2.0  # a day has faded a little
    assert [entry.compare_bytes for entry in log.recent] == [0, 30]


def test_what_was_seen_long_ago_weighs_half_after_the_half_life() -> None:
    log = saw(begin(0.0), DAY_S, 1, 0, changed=True)
    log = saw(log, (1 + HALF_LIFE_DAYS) * DAY_S, 1, 0, changed=False)
    assert log.changes == 0.5
    assert log.changed_days == 0.5


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
