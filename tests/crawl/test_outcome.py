"""What follows from each outcome (S1-10, S1-11, N17, N18, H11..H13)."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nephila.config.sections import Crawl
from nephila.crawl.outcome import (
    TABLE,
    Asleep,
    GivenUp,
    Health,
    Hop,
    OnSite,
    Start,
    Then,
    after_redirect,
    after_visit,
    consequence,
    failed_runs_after,
    is_requested,
    refresh_is_redirect,
    site_after,
    start_next_time,
)
from nephila.records import Outcome

CRAWL = Crawl(retries=2, failures_before_sleep=5, sleep_min=60.0, sleep_max=86_400.0, give_up=3)
DAY = 86_400.0


def test_every_outcome_has_its_line() -> None:
    assert set(TABLE) == set(Outcome)


@pytest.mark.parametrize("outcome", Outcome)
def test_only_what_was_requested_is_archived_retried_or_tells_of_the_site(outcome: Outcome) -> None:
    line = TABLE[outcome]
    if not is_requested(outcome):
        assert not line.archived
        assert line.then is not Then.RETRY
        assert line.on_site is OnSite.NOTHING
    else:
        assert line.then is not Then.LATER
        assert line.on_site is not OnSite.NOTHING
    assert (line.most_retries > 0) == (line.then is Then.RETRY)


def test_outcomes_that_wait_are_those_and_no_others() -> None:
    assert {outcome for outcome, line in TABLE.items() if line.then is Then.LATER} == {
        Outcome.WAITING,
        Outcome.DEFERRED_ROBOTS,
        Outcome.DEFERRED_HOST,
    }


@given(st.sampled_from(Outcome), st.integers(0, 999), st.integers(0, 5))
def test_every_url_comes_to_an_end(outcome: Outcome, status: int, retries: int) -> None:
    if consequence(outcome, status).then is Then.LATER:
        return
    waits = [after_visit(outcome, status, tries, retries, DAY).wait_s for tries in range(1, 13)]
    ended = waits.index(None)
    assert all(wait is not None and 0 <= wait <= DAY for wait in waits[:ended])
    assert set(waits[ended:]) == {None}
    assert ended <= max(retries, 10)
    if retries == 0:
        assert ended == 0


def test_waits_double() -> None:
    waits = [after_visit(Outcome.REFUSED, 0, tries, 3, DAY).wait_s for tries in (1, 2, 3, 4)]
    assert waits == [60, 120, 240, None]


def test_only_the_last_answer_of_a_run_is_archived() -> None:
    first = after_visit(Outcome.TRUNCATED_DISCONNECT, 200, 1, 2, DAY)
    second = after_visit(Outcome.TRUNCATED_DISCONNECT, 200, 2, 2, DAY)
    assert (first.wait_s, first.archived) == (10.0, False)
    assert (second.wait_s, second.archived) == (None, True)


@pytest.mark.parametrize(
    ("status", "tries"), [(404, 1), (403, 1), (410, 1), (501, 1), (500, 3), (502, 3), (429, 11), (503, 11)]
)
def test_codes_that_pass_are_tried_again_and_others_are_not(status: int, tries: int) -> None:
    waits = [after_visit(Outcome.HTTP_ERROR, status, number, 2, DAY).wait_s for number in range(1, 20)]
    assert waits.index(None) + 1 == tries


def test_h11_a_server_that_is_half_busy_loses_nearly_nothing_for_two_requests_a_page() -> None:
    chance = random.Random(11)
    requests = lost = 0
    for _ in range(2000):
        tries = 0
        while True:
            tries += 1
            busy = chance.random() < 0.5
            if not busy or after_visit(Outcome.HTTP_ERROR, 503, tries, CRAWL.retries, DAY).wait_s is None:
                lost += busy
                break
        requests += tries
    assert lost <= 4
    assert requests < 4 * 2000


def test_h12_five_failures_in_a_row_put_a_site_to_sleep_longer_each_time() -> None:
    health, steps = Health(), []
    for _ in range(8):
        health, step = site_after(health, Outcome.RESET, 0, CRAWL)
        steps.append(step)
    assert steps == [None, None, None, None, Asleep(60), Asleep(120), Asleep(240), GivenUp()]


def test_h13_an_answer_after_darkness_forgets_all_failures() -> None:
    health = Health(failures=4, sleeps=2)
    assert site_after(health, Outcome.OK, 200, CRAWL) == (Health(), None)
    assert site_after(health, Outcome.HTTP_ERROR, 404, CRAWL) == (Health(), None)


def test_a_name_without_an_address_puts_its_site_to_sleep_at_once() -> None:
    _, step = site_after(Health(), Outcome.DNS_TIMEOUT, 0, CRAWL)
    assert step == Asleep(60)


def test_what_was_not_requested_says_nothing_of_the_site() -> None:
    assert site_after(Health(3, 1), Outcome.BLOCKED_ROBOTS, 0, CRAWL) == (Health(3, 1), None)


@given(st.lists(st.sampled_from([outcome for outcome in Outcome if is_requested(outcome)]), max_size=60))
def test_a_site_sleeps_a_day_at_most_and_only_so_often(outcomes: list[Outcome]) -> None:
    health = Health()
    for outcome in outcomes:
        health, step = site_after(health, outcome, 0, CRAWL)
        assert health.sleeps <= CRAWL.give_up
        assert not isinstance(step, Asleep) or CRAWL.sleep_min <= step.seconds <= CRAWL.sleep_max


def test_s1_11_a_site_that_failed_is_tried_later_and_less() -> None:
    assert start_next_time(0, CRAWL) == Start(0.0, 2)
    assert start_next_time(1, CRAWL) == Start(60.0, 1)
    assert start_next_time(3, CRAWL) == Start(240.0, 0)
    assert start_next_time(10**6, CRAWL) == Start(480.0, 0)  # but no run waits longer than it would for a new site


def test_s1_11_the_count_of_failed_runs_grows_and_is_forgotten_at_an_answer() -> None:
    assert failed_runs_after(2, Outcome.DNS_NXDOMAIN) == 3
    assert failed_runs_after(2, Outcome.HTTP_ERROR, 503) == 3
    assert failed_runs_after(2, Outcome.HTTP_ERROR, 404) == 0
    assert failed_runs_after(2, Outcome.OK, 200) == 0
    assert failed_runs_after(2, Outcome.BLOCKED_ROBOTS) == 2


def test_redirects_are_followed_up_to_their_limit_and_never_in_a_circle() -> None:
    chain = ["http://a/1", "http://a/2"]
    assert after_redirect(1, "http://a/3", chain, 10) is Hop.FOLLOW
    assert after_redirect(1, "http://a/1", chain, 10) is Hop.REDIRECT_LOOP
    assert after_redirect(0, "http://a/1", ["http://a/1"], 10) is Hop.REDIRECT_LOOP
    assert after_redirect(10, "http://a/3", chain, 10) is Hop.REDIRECT_LIMIT
    assert after_redirect(0, "http://a/3", chain, 0) is Hop.REDIRECT_LIMIT
    assert {Outcome(hop.value) for hop in Hop if hop is not Hop.FOLLOW} == {
        Outcome.REDIRECT_LOOP,
        Outcome.REDIRECT_LIMIT,
    }


def test_n17_a_slow_refresh_is_a_link() -> None:
    assert refresh_is_redirect(0)
    assert refresh_is_redirect(60)
    assert not refresh_is_redirect(1e9)
