"""The simulator on cases that can be computed by hand, and the experiment as a whole (CHECKLIST 3)."""

from __future__ import annotations

import numpy as np
import pytest

from nephila.engine import open_engine
from nephila.schedule.instances import RANDOM_H, Setting, draw_instance
from nephila.schedule.measuring import figures, laid_out, longest_lead, overtakes
from nephila.schedule.optimum import quickest
from nephila.schedule.picture import draw
from nephila.schedule.policies import POLICIES
from nephila.schedule.policy import HOURS, HourOrder, Situation
from nephila.schedule.run import simulate as run_experiment
from nephila.schedule.simulating import World, simulate


def world(rates: list[list[float]], volumes: list[float], places: int = 1) -> World:
    table = np.array([row * HOURS if len(row) == 1 else row for row in rates])
    return World(1 - table, table, np.array(volumes), places)


def test_robots_take_servers_in_order_and_continue_over_the_hour() -> None:
    # given two servers of 1.5 and 1 hours and one robot
    done = simulate(world([[1.0], [1.0]], [1.5, 1.0]), POLICIES["random"])
    # then
    assert done.hours == pytest.approx(2.5)
    assert done.volume == pytest.approx([1.0, 1.0, 0.5])
    assert done.finished_h == pytest.approx([1.5, 2.5])
    assert done.suspensions == 0


def test_a_server_has_one_robot_at_most() -> None:
    done = simulate(world([[0.5]], [1.0], places=4), POLICIES["sorting"])
    assert done.hours == pytest.approx(2.0)
    assert done.busy_h == pytest.approx(2.0)


def test_a_suspended_server_goes_on_from_where_it_stopped() -> None:
    # given hybrid: server 0 is quick in hour 0 and 2 and slow in 1; server 1 is always the same
    first = [1.0, 0.1] + [1.0] * 22
    done = simulate(world([first, [0.5]], [1.5, 0.5]), POLICIES["hybrid"])
    # then it stops at hour 1, server 1 is collected, and server 0 ends in the middle of hour 2
    assert done.suspensions == 1
    assert done.by_hour[0] == pytest.approx([1.0, 0.0, 0.5])
    assert done.hours == pytest.approx(2.5)


def test_a_used_up_quota_moves_a_server_behind_the_others_and_leaves_no_robot_idle() -> None:
    def policy(situation: Situation) -> HourOrder:
        return HourOrder(np.flatnonzero(situation.left > 0), np.array([0.25, 0.25]))

    done = simulate(world([[1.0], [1.0]], [1.0, 0.25]), policy)
    assert done.finished_h == pytest.approx([1.25, 0.5])
    assert done.busy_h == pytest.approx(1.25)


def test_what_is_down_is_passed_by_and_collected_later() -> None:
    down_first = [0.0] + [1.0] * 23
    done = simulate(world([down_first, [1.0]], [0.5, 0.5]), POLICIES["random"])
    assert done.finished_h == pytest.approx([1.5, 0.5])


def test_random_takes_as_long_as_the_paper_says() -> None:
    # finding 6: 26 hours rounded up, 25.4 not rounded
    instance = draw_instance(Setting(), 5)
    assert simulate(instance.world, POLICIES["random"]).hours == pytest.approx(RANDOM_H, abs=1e-6)


def test_the_optimum_as_a_run_brings_everything_in_the_solvers_time() -> None:
    # given an instance with a server's worth of splits
    there = draw_instance(Setting(servers=20, places=3), 2).world
    solved = quickest(Situation(0, there.loads, there.rates, there.volumes, there.places))
    # when its hours are laid out by the wrap-around rule
    done = laid_out(there, solved)
    # then
    assert done.by_hour.sum(axis=1) == pytest.approx(there.volumes, abs=1e-6)
    assert done.finished_h.max() == pytest.approx(done.hours, abs=1e-5)
    assert figures(there, done, solved.hours).ratio_to_bound == pytest.approx(1.0)


def test_hours_at_which_one_curve_passes_another() -> None:
    one, other = np.array([1.0, 3, 4, 1, 5]), np.array([2.0, 2, 2, 2, 2])
    assert overtakes(one, other) == 1
    assert overtakes(other, one + 9) is None
    assert longest_lead(one, other) == (1, 2)


@pytest.mark.slow
def test_the_policies_come_in_the_order_of_the_paper() -> None:
    # CHECKLIST 3, acceptance; S2-16: sorting first in hour 0, hybrid ahead in a block of hours afterwards
    with open_engine("inline", 1) as engine:
        report = run_experiment(Setting(), 10, 1, engine)
    # then
    assert report.in_order >= 0.9
    assert report.in_order_honest >= 0.7
    mean = {row.policy: row.hours.mean for row in report.policies}
    assert 25 < mean["random"] < 26
    assert 20 < mean["hybrid"] < mean["sorting"] < 24
    first = {row.policy: row.volume[0] for row in report.policies}
    assert first["sorting"] > first["hybrid"] > first["random"]
    assert (report.hour_by_hour.hybrid_leads_hours or 0) >= 4
    assert report.hour_by_hour.sorting_below_random is not None
    assert [row.seed for row in report.instances] == list(range(1, 11))
    assert all(row.bound <= row.hours["lp"] + 1e-6 for row in report.instances)
    picture = draw(report)
    assert picture.count("<polyline") == 14
    assert "nan" not in picture
