"""S4's example, exactly (S4-4..11)."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from nephila.refresh.columns import Columns
from nephila.refresh.policies.groups import Groups, Reading, Update, week_plan

TABLE_2 = [
    ("U1", 3, 31, 13, 41), ("U3", 3, 31, 15, 2), ("U2", 4, 1, 15, 28), ("U1", 4, 2, 13, 50), ("U4", 4, 3, 14, 12),
    ("U2", 4, 3, 15, 36), ("U1", 4, 4, 13, 48),
]  # fmt: skip


def _log() -> list[Update]:
    return [
        Update(url, datetime(2014, month, day, hour, minute, tzinfo=UTC).timestamp())
        for url, month, day, hour, minute in TABLE_2
    ]


@pytest.mark.parametrize("reading", ["weekdays", "counts"])
def test_the_papers_example_comes_out_exactly(reading: Reading) -> None:
    # when (S4-4)
    plan = week_plan(["U1", "U2", "U3", "U4"], _log(), reading)
    # then (S4-5..8, S4-10)
    assert plan.mean == 1.75
    assert plan.x == 0.75
    assert plan.hour == 16
    by_url = {page.url: page for page in plan.pages}
    assert [by_url[url].group for url in ("U1", "U2", "U3", "U4")] == [1, 1, 2, 2]
    assert by_url["U1"].weekdays == ("Mon", "Wed", "Fri")
    assert by_url["U2"].weekdays == ("Tue", "Thu")
    assert by_url["U3"].visits_per_week == by_url["U4"].visits_per_week == 0.5


def test_the_examples_load_is_six_requests_a_week_instead_of_28() -> None:
    # S4-11
    plan = week_plan(["U1", "U2", "U3", "U4"], _log())
    load = sum(page.visits_per_week for page in plan.pages)
    assert load == 6.0
    assert round(1 - load / 28, 3) == 0.786


def test_the_two_readings_part_where_a_page_lies_between_mean_and_mean_plus_x() -> None:
    # given counts 4, 2 and five times 0: mean 0.857, X 2.143, so the page with 2 lies between
    log = [Update("A", 86_400.0 * day) for day in range(4)] + [Update("B", 86_400.0 * day) for day in (4, 6)]
    urls = ["A", "B", "C", "D", "E", "F", "G"]
    # then
    assert week_plan(urls, log, "weekdays").pages[1].visits_per_week == 1
    assert week_plan(urls, log, "counts").pages[1].visits_per_week == 2


def test_as_a_policy_a_page_is_due_on_its_weekday_at_the_hour_and_group_2_after_two_weeks() -> None:
    # given a page seen to change on the last Monday and Wednesday, and three that did not; today is a Friday
    friday = 16_164  # 2014-04-04
    columns = Columns.new(np.ones(4), np.full(4, friday + 0.7), np.full(4, 0.2), np.ones(4))
    columns.today = friday
    columns.changed_on[0] = 1 << 4 | 1 << 2
    policy = Groups()
    # when
    waits = policy.settle(columns, policy.terms(columns, 1.0))
    # then the first is due on Monday at 16:00, the others after 14 days
    assert float(columns.last_day[0] + waits[0]) == pytest.approx(friday + 3 + 16 / 24)
    assert list(waits[1:]) == [14.0, 14.0, 14.0]
    assert policy.explain(columns.some(np.array([0])), waits[:1]) == "group 1: Mon, Wed at 16:00"
    assert "group 2" in policy.explain(columns.some(np.array([1])), waits[1:2])
