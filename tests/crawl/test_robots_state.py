"""What is in force after robots.txt was asked for (N11, E3..E11): unreachable means no, and never for ever."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nephila.config.sections import Crawl
from nephila.crawl.robots import parse, rules_for
from nephila.crawl.robots_state import (
    Permission,
    RobotsAnswer,
    RobotsState,
    Standing,
    after_robots_fetch,
    from_row,
    may_follow_robots_redirect,
    permission,
    to_row,
)
from nephila.records import Outcome

NOW = 1_800_000_000.0
DAY = 86_400.0
CRAWL = Crawl(retries=2, failures_before_sleep=5, sleep_min=60.0, sleep_max=86_400.0, give_up=3)
FORBIDS_X = RobotsAnswer(Outcome.OK, 200, b"User-agent: *\nDisallow: /x")


def after(answer: RobotsAnswer, cached: RobotsState | None = None, now: float = NOW) -> RobotsState:
    return after_robots_fetch(answer, cached, "nephila", CRAWL, now)


def http_error(status: int, retry_after_s: float | None = None) -> RobotsAnswer:
    return RobotsAnswer(Outcome.HTTP_ERROR, status, retry_after_s=retry_after_s)


def test_a_site_never_asked_is_asked_first() -> None:
    assert permission(None, "/", NOW) is Permission.ASK_FIRST
    assert permission(None, "/robots.txt", NOW) is Permission.ALLOWED


def test_rules_hold_for_a_day_and_are_then_asked_for_again() -> None:
    state = after(FORBIDS_X)
    assert permission(state, "/y", NOW + DAY - 1) is Permission.ALLOWED
    assert permission(state, "/x", NOW + DAY - 1) is Permission.FORBIDDEN
    assert permission(state, "/x", NOW + DAY) is Permission.ASK_FIRST


def test_e11_changed_rules_take_the_place_of_old_ones() -> None:
    state = after(RobotsAnswer(Outcome.OK, 200, b"User-agent: *\nDisallow: /y"), after(FORBIDS_X), NOW + 25 * 3600)
    assert permission(state, "/x", NOW + 25 * 3600) is Permission.ALLOWED
    assert permission(state, "/y", NOW + 25 * 3600) is Permission.FORBIDDEN


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 451, 499])
def test_e6_a_4xx_allows_everything(status: int) -> None:
    state = after(http_error(status))
    assert state.standing is Standing.ALL_ALLOWED
    assert permission(state, "/x", NOW) is Permission.ALLOWED
    assert str(status) in state.reason


UNREACHABLE = [
    *(http_error(status) for status in (429, 500, 502, 503, 504, 599, 999)),
    *(
        RobotsAnswer(outcome)
        for outcome in Outcome
        if outcome.value.startswith(
            ("timeout", "dns", "tls", "refused", "reset", "bad_http", "headers", "decode", "blocked")
        )
        or outcome in (Outcome.TRUNCATED_TIME, Outcome.TRUNCATED_DISCONNECT, Outcome.TOO_SLOW)
    ),
]


@pytest.mark.parametrize("answer", UNREACHABLE, ids=lambda answer: f"{answer.outcome}-{answer.status}")
def test_e3_to_e5_unreachable_means_no_until_the_next_try(answer: RobotsAnswer) -> None:
    state = after(answer)
    assert state.standing is Standing.UNREACHABLE
    assert permission(state, "/", NOW + 59) is Permission.DEFERRED
    assert permission(state, "/", NOW + 60) is Permission.ASK_FIRST


def test_each_failure_doubles_the_wait_up_to_a_day() -> None:
    state, waits = after(http_error(500)), []
    for _ in range(14):
        waits.append(state.next_ask_at - NOW)
        state = after(http_error(500), state)
    assert waits[:4] == [60, 120, 240, 480]
    assert waits[-1] == DAY


def test_e7_a_429_is_asked_again_when_it_said_and_a_stubborn_one_later() -> None:
    first = after(http_error(429, retry_after_s=1))
    assert first.next_ask_at == NOW + 1
    second = after(http_error(429, retry_after_s=1), first)
    assert second.next_ask_at == NOW + 120
    assert after(http_error(429, retry_after_s=1e12)).next_ask_at == NOW + DAY


def test_healing_ends_the_deferral() -> None:
    state = after(FORBIDS_X, after(http_error(500)), NOW + 60)
    assert state.failures == 0
    assert permission(state, "/y", NOW + 61) is Permission.ALLOWED


def test_e10_rules_stay_in_force_while_the_file_cannot_be_reached() -> None:
    # given rules read a day ago, and a server that now answers 503
    state = after(http_error(503), after(FORBIDS_X), NOW + DAY)
    # then they hold, and the file is asked for with growing waits
    assert permission(state, "/x", NOW + DAY + 1) is Permission.FORBIDDEN
    assert permission(state, "/y", NOW + DAY + 1) is Permission.ALLOWED
    assert permission(state, "/y", NOW + DAY + 60) is Permission.ASK_FIRST


def test_rules_older_than_thirty_days_hold_no_longer() -> None:
    rules = after(FORBIDS_X)
    assert after(http_error(503), rules, NOW + 30 * DAY - 1).standing is Standing.RULES
    assert after(http_error(503), rules, NOW + 30 * DAY).standing is Standing.UNREACHABLE
    almost = after(http_error(503), rules, NOW + 30 * DAY - 1)
    assert permission(almost, "/y", NOW + 30 * DAY + 1) is Permission.DEFERRED


def test_that_everything_was_allowed_yesterday_is_no_copy_to_go_on_with() -> None:
    assert after(http_error(503), after(http_error(404)), NOW + DAY).standing is Standing.UNREACHABLE


def test_an_unchanged_file_renews_its_rules() -> None:
    state = after(RobotsAnswer(Outcome.NOT_MODIFIED, 304), after(FORBIDS_X), NOW + DAY)
    assert permission(state, "/x", NOW + 2 * DAY - 1) is Permission.FORBIDDEN


def test_e8_and_e9_five_redirects_are_followed_and_a_sixth_allows_everything() -> None:
    assert [may_follow_robots_redirect(hops) for hops in range(7)] == [True] * 5 + [False] * 2
    assert after(RobotsAnswer(Outcome.REDIRECT, 302, hops=5)).standing is Standing.ALL_ALLOWED
    assert after(RobotsAnswer(Outcome.REDIRECT_LOOP, 302, hops=3)).standing is Standing.ALL_ALLOWED
    five_hops = RobotsAnswer(Outcome.OK, 200, b"User-agent: *\nDisallow: /", hops=5)
    assert permission(after(five_hops), "/", NOW) is Permission.FORBIDDEN


def test_e2_an_endless_file_is_obeyed_to_its_cap() -> None:
    state = after(RobotsAnswer(Outcome.TRUNCATED_LENGTH, 200, b"User-agent: *\nDisallow: /x\nDisallow: /"))
    assert permission(state, "/x", NOW) is Permission.FORBIDDEN
    assert permission(state, "/y", NOW) is Permission.ALLOWED


@given(st.sampled_from(Outcome), st.integers(0, 999), st.booleans())
def test_every_answer_gives_a_state_that_ends(outcome: Outcome, status: int, had_rules: bool) -> None:
    state = after(RobotsAnswer(outcome, status), after(FORBIDS_X) if had_rules else None)
    assert NOW < state.next_ask_at <= NOW + DAY


robots_lines = st.lists(
    st.one_of(
        st.sampled_from(["User-agent: *", "User-agent: nephila", "Crawl-delay: 0.1", "Sitemap: http://x/a#b:c"]),
        st.binary(max_size=12).map(lambda octets: "Disallow: /" + octets.decode("latin-1")),
        st.text(max_size=12).map(lambda text: "Allow: " + text),
        st.text(max_size=12).map(lambda text: "Sitemap: " + text),
    ),
    max_size=10,
)


@given(robots_lines, st.sampled_from(["nephila", "Other/2", "??"]))
def test_a_state_comes_back_from_disk_as_it_went(lines: list[str], name: str) -> None:
    body = "\n".join(lines).encode("utf-8", "surrogatepass")
    state = after_robots_fetch(RobotsAnswer(Outcome.OK, 200, body), None, name, CRAWL, NOW)
    assert from_row(to_row(state, name), name, NOW + 5) == state
    assert state.rules == rules_for(parse(body), name)


def test_a_state_read_for_another_name_is_unknown() -> None:
    assert from_row(to_row(after(FORBIDS_X), "nephila"), "spider", NOW) is None


def test_times_from_a_clock_that_was_wrong_are_bounded() -> None:
    row = to_row(after(http_error(500), now=NOW + 3650 * DAY), "nephila")
    state = from_row(row, "nephila", NOW)
    assert state is not None
    assert state.next_ask_at == NOW + 60  # what was waited for then, and no longer
