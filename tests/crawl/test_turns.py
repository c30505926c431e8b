"""The line of sites that wait for a place (S2-12, S2-13)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from nephila.crawl.hourly import parts
from nephila.crawl.messages import Serve
from nephila.crawl.turns import Turns, is_slow
from nephila.records import HourPlan, SiteTurn

INF = float("inf")


def plan(*sites: int, slot: int = 0, quota_s: float = INF) -> Serve:
    count = len(sites)
    return Serve(slot, 0, tuple(range(count)), sites, (quota_s,) * count, (True,) * count, (0.0,) * count)


def drained(line: Turns) -> list[int]:
    return [line.popleft()[1] for _ in range(len(line))]


def test_without_a_plan_it_is_first_come_first_served() -> None:
    line = Turns()
    for site in (5, 3, 9):
        line.append((0, site))
    line.appendleft((0, 7))
    assert drained(line) == [7, 5, 3, 9]


def test_a_plan_orders_those_who_wait_already_and_those_who_come() -> None:
    # given
    line = Turns()
    for site in (1, 2, 3):
        line.append((0, site))
    # when a plan comes, and with it two sites of which it knows one
    line.serve(plan(3, 4, 1))
    line.append((0, 8))
    line.append((0, 4))
    # then those it knows come in its order, the others behind them as they came
    assert drained(line) == [3, 4, 1, 2, 8]


def test_who_has_had_its_share_stands_behind_all_until_the_next_plan() -> None:
    line = Turns()
    line.serve(plan(1, 2))
    line.used_up(1)
    for site in (1, 9, 2):
        line.append((0, site))
    assert line.somebody_before(1)
    assert not line.somebody_before(2)
    line.serve(plan(1, 2))
    assert drained(line) == [1, 2, 9]


def test_the_plan_of_one_slot_leaves_that_of_another() -> None:
    line = Turns()
    line.serve(plan(1, 2))
    line.serve(plan(7, slot=1))
    assert (line.turn(2).rank, line.turn(7).rank) == (1, 0)
    line.serve(plan(3))
    assert line.turn(2).stays
    assert line.rank(2) > line.rank(3)


@given(
    st.lists(st.integers(0, 30), unique=True), st.lists(st.integers(0, 30), unique=True), st.sets(st.integers(0, 30))
)
def test_nobody_is_lost_and_nobody_comes_twice(waiting: list[int], planned: list[int], had: set[int]) -> None:
    line = Turns()
    for site in waiting[::2]:
        line.append((0, site))
    line.serve(plan(*planned))
    for site in had:
        line.used_up(site)
    for site in waiting[1::2]:
        line.append((0, site))
    line.serve(plan(*reversed(planned)))
    assert sorted(drained(line)) == sorted(waiting)


def test_each_slot_gets_its_part_of_a_plan_with_ranks_among_all() -> None:
    # given a plan over the sites of two slots, and a third slot without any
    turns = tuple(SiteTurn(site, slot, INF, site != 12, 0.5) for site, slot in ((10, 1), (11, 0), (12, 1)))
    found = parts(HourPlan(7, turns), [0, 1, 2])
    # then
    assert found[1] == Serve(1, 7, (0, 2), (10, 12), (INF, INF), (True, False), (0.5, 0.5))
    assert found[0].ranks == (1,)
    assert found[2].sites == ()


def test_an_answer_is_slow_only_against_what_is_expected() -> None:
    assert is_slow(2.1, 0.5, 4.0)
    assert not is_slow(1.9, 0.5, 4.0)
    assert not is_slow(60.0, 0.0, 4.0)
