"""Delays between requests (S1-18, N18, B9, E14): never below the least, never two at once, never lost by a restart."""

from __future__ import annotations

from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nephila.config.sections import Politeness
from nephila.crawl.politeness import (
    MAX_RETRY_AFTER_S,
    Answered,
    Delay,
    DelayRule,
    Pace,
    address_delay_after,
    after_answer,
    after_asking,
    after_restart,
    delay_after,
    may_ask_at,
    retry_after_s,
)

POLITE = Politeness(min_delay=1.0, delay_factor=10.0, max_delay=300.0)
NOW = 1_800_000_000.0


def busy(in_a_row: int, retry_after: float | None = None) -> Answered:
    return Answered(0.01, 503, retry_after, busy_in_a_row=in_a_row)


@pytest.mark.parametrize(
    ("l_time_s", "crawl_delay_s", "expected"),
    [
        (0.01, None, Delay(1.0, DelayRule.MIN_DELAY)),
        (0.5, None, Delay(5.0, DelayRule.L_TIME)),
        (100.0, None, Delay(300.0, DelayRule.L_TIME)),
        (0.5, 20.0, Delay(20.0, DelayRule.CRAWL_DELAY)),
        (0.5, 0.0001, Delay(5.0, DelayRule.L_TIME)),
        (0.5, 300.0, Delay(300.0, DelayRule.CRAWL_DELAY)),
        (0.5, 1e9, Delay(300.0, DelayRule.CRAWL_DELAY, clamped=True)),
        (-3.0, None, Delay(1.0, DelayRule.MIN_DELAY)),
    ],
)
def test_the_longest_rule_holds(l_time_s: float, crawl_delay_s: float | None, expected: Delay) -> None:
    assert delay_after(Answered(l_time_s, 200), crawl_delay_s, POLITE) == expected


def test_a_clamped_crawl_delay_is_flagged_even_if_another_rule_is_longer() -> None:
    delay = delay_after(Answered(0.1, 503, retry_after_s=900.0, busy_in_a_row=1), 1e9, POLITE)
    assert delay == Delay(900.0, DelayRule.RETRY_AFTER, clamped=True)


def test_a_least_delay_beyond_the_longest_one_is_the_longest() -> None:
    patient = Politeness(min_delay=600.0, max_delay=300.0)
    assert delay_after(Answered(0.1, 200), 500.0, patient) == Delay(600.0, DelayRule.MIN_DELAY)


def test_busy_answers_double_the_wait_up_to_the_longest_delay() -> None:
    waits = [delay_after(busy(count), None, POLITE).seconds for count in range(1, 12)]
    assert waits[:4] == [2, 4, 8, 16]
    assert waits[-1] == 300


def test_a_busy_server_is_left_alone_even_without_a_least_delay() -> None:
    assert delay_after(busy(1), None, Politeness(min_delay=0.0, delay_factor=0.0)).seconds == 1.0


def test_retry_after_is_obeyed_beyond_our_own_longest_delay_but_not_beyond_a_day() -> None:
    assert delay_after(busy(1, 3600.0), None, POLITE) == Delay(3600.0, DelayRule.RETRY_AFTER)
    assert delay_after(busy(1, 1e12), None, POLITE).seconds == MAX_RETRY_AFTER_S


def test_a_short_retry_after_is_believed_once() -> None:
    assert delay_after(busy(1, 1.5), None, POLITE).seconds == 1.5
    assert delay_after(busy(3, 1.5), None, POLITE).seconds == 8.0


def test_one_sites_word_about_itself_does_not_silence_the_others_on_its_address() -> None:
    assert address_delay_after(busy(1, 3600.0), POLITE) == Delay(2.0, DelayRule.BACK_OFF)
    assert address_delay_after(Answered(0.5, 200), POLITE) == Delay(5.0, DelayRule.L_TIME)


def test_retry_after_on_a_good_answer_means_nothing() -> None:
    assert delay_after(Answered(0.01, 200, retry_after_s=500.0), None, POLITE).seconds == 1.0


@given(
    st.builds(
        Answered,
        st.floats(-10, 1e6),
        st.sampled_from([0, 200, 404, 429, 503]),
        st.none() | st.floats(0, 1e13),
        st.integers(0, 10_000),
    ),
    st.none() | st.floats(0, 1e13),
    st.builds(Politeness, min_delay=st.floats(0, 1000), delay_factor=st.floats(0, 1000), max_delay=st.floats(0, 1000)),
)
def test_no_delay_is_below_the_least_or_beyond_a_day(
    answer: Answered, crawl_delay_s: float | None, politeness: Politeness
) -> None:
    delay_s = delay_after(answer, crawl_delay_s, politeness).seconds
    assert politeness.min_delay <= delay_s <= MAX_RETRY_AFTER_S


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("120", 120.0),
        (" 0 ", 0.0),
        ("1000000000000", MAX_RETRY_AFTER_S),
        (formatdate(NOW + 90, usegmt=True), 90.0),
        (formatdate(NOW + 10 * 86_400, usegmt=True), MAX_RETRY_AFTER_S),
        (formatdate(NOW - 90, usegmt=True), None),
        ("-1", None),
        ("1.5", None),
        ("abc", None),
        ("٣", None),
        ("", None),
        ("9" * 5000, None),
        ("Fri, 99 Foo 0000 99:99:99 GMT", None),
        ("Mon, 01 Jan 99999 00:00:00 GMT", None),
    ],
)
def test_b9_retry_after_in_seconds_and_dates_and_rubbish(value: str, expected: float | None) -> None:
    assert retry_after_s(value, NOW) == expected


@given(st.text(max_size=40) | st.from_regex(r"[A-Z][a-z]{2}, \d+ [A-Z][a-z]{2} \d+ \d+:\d+:\d+ [-+A-Z0-9]*"))
def test_no_retry_after_makes_it_raise(value: str) -> None:
    wait_s = retry_after_s(value, NOW)
    assert wait_s is None or 0 <= wait_s <= MAX_RETRY_AFTER_S


def test_s1_18_the_paper_waits_for_the_longer_of_30_s_and_ten_downloads() -> None:
    paper = Politeness(min_delay=30.0, delay_factor=10.0)
    assert [delay_after(Answered(l_time_s, 200), None, paper).seconds for l_time_s in (0.3, 3.0, 4.0)] == [30, 30, 40]


def test_the_later_of_site_and_address_decides() -> None:
    assert may_ask_at(Pace(10.0), Pace(12.0), POLITE) == 12.0
    assert may_ask_at(Pace(15.0), Pace(12.0), POLITE) == 15.0


def test_a_busy_site_or_address_may_not_be_asked() -> None:
    assert may_ask_at(after_asking(Pace()), Pace(), POLITE) is None
    assert may_ask_at(Pace(), after_asking(Pace()), POLITE) is None
    assert may_ask_at(after_asking(Pace()), Pace(), Politeness(connections_per_site=2)) == 0.0


def test_a_time_once_promised_is_not_taken_back_by_a_quicker_answer() -> None:
    resting = after_answer(after_asking(Pace()), Delay(3600.0, DelayRule.RETRY_AFTER), answered_at=100.0)
    assert after_answer(resting, Delay(1.0, DelayRule.MIN_DELAY), answered_at=101.0).ready_at == 3700.0


@given(
    st.lists(st.tuples(st.floats(0, 50), st.floats(0, 5), st.sampled_from([200, 429, 503])), min_size=1, max_size=30)
)
def test_two_sites_on_one_address_never_break_the_delay(steps: list[tuple[float, float, int]]) -> None:
    # given two sites on one address, asked in turn as early as is allowed, or later
    address, sites = Pace(), [Pace(), Pace()]
    now, last_answer_at = 0.0, -1e9
    for number, (idle_s, l_time_s, status) in enumerate(steps):
        # when the next one is asked
        ready_at = may_ask_at(sites[number % 2], address, POLITE)
        assert ready_at is not None
        now = max(now + idle_s, ready_at)
        # then the address was left alone for long enough
        assert now - last_answer_at >= POLITE.min_delay
        sites[number % 2], address = after_asking(sites[number % 2]), after_asking(address)
        assert may_ask_at(sites[(number + 1) % 2], address, POLITE) is None
        now = last_answer_at = now + l_time_s
        delay = delay_after(Answered(l_time_s, status, busy_in_a_row=1), None, POLITE)
        sites[number % 2] = after_answer(sites[number % 2], delay, now)
        address = after_answer(address, address_delay_after(Answered(l_time_s, status), POLITE), now)


@pytest.mark.parametrize(("on_disk_s", "waited_s"), [(0.0, 1.0), (45.0, 45.0), (1e9, MAX_RETRY_AFTER_S), (-5.0, 1.0)])
def test_after_a_restart_everything_active_counts_as_answered_now(on_disk_s: float, waited_s: float) -> None:
    assert after_restart(on_disk_s, POLITE, now=7.0) == Pace(7.0 + waited_s, 0, waited_s)
