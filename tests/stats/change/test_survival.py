"""Kaplan and Meier's estimate against a case that can be counted by hand."""

from __future__ import annotations

import pytest

from nephila.stats.change.survival import kaplan_meier


def test_who_may_live_on_leaves_the_count_without_dying() -> None:
    # given ten URLs: two end after the first batch, three are last seen with the second of which one may live on
    rows = [(0, True, 2.0), (1, True, 2.0), (1, False, 1.0), (2, False, 5.0)]
    # then 8 of 10 live beyond the first, 6 of 8 of those beyond the second
    steps = kaplan_meier(rows)
    assert [(lived, at_risk) for lived, at_risk, *_ in steps] == [(1, 10), (2, 8), (3, 5)]
    assert [share for _, _, share, _, _ in steps] == pytest.approx([0.8, 0.6, 0.6])
    assert all(low <= share <= high for _, _, share, low, high in steps)


def test_without_anybody_there_is_no_curve() -> None:
    assert kaplan_meier([]) == []
