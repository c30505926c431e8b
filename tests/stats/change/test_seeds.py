"""The chances of Table 8, as printed and as asked (findings 1 and 2)."""

from __future__ import annotations

from nephila.stats.change.seeds import ff, ff_by_events, ss, ss_by_events

TABLE_8 = [328, 6, 7, 3, 6, 7, 9, 12, 93, 953]


def test_the_papers_counts_give_the_papers_chances_exactly() -> None:
    """S1-38: 0.963846, S1-39: 0.742569."""
    assert ss(TABLE_8) == 8451 / 8768 and f"{ss(TABLE_8):.6f}" == "0.963846"
    assert ff(TABLE_8) == 2798 / 3768 and f"{ff(TABLE_8):.6f}" == "0.742569"


def test_averaged_over_events_they_are_others() -> None:
    """S1-40, finding 2: a failed seed recovers with a chance of 0.0587, not of 0.2574."""
    assert ss_by_events(TABLE_8) == 74842 / 76376
    assert ff_by_events(TABLE_8) == 24618 / 26152


def test_where_nothing_ever_failed_there_is_no_chance_to_fail_again() -> None:
    assert ff([0, 0, 0, 5]) is None and ff_by_events([0, 0, 0, 5]) is None
    assert ss([5, 0, 0, 0]) is None and ss_by_events([5, 0, 0, 0]) is None
