"""`lab check` holds for the lab's web, and notices a web that is not the paper's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from nephila.config.sections import Lab
from nephila.errors import UsageError
from nephila.lab import check as checking
from nephila.lab.check import CheckReport, check, render
from nephila.lab.tables import ratio, tally
from nephila.lab.web import Web


@pytest.fixture(scope="module")
def report() -> CheckReport:
    return check(Web(Lab(sites=642)))


def test_tables_1_to_6_are_within_tolerance(report: CheckReport) -> None:
    assert report.ok, render(report)
    assert {row.table[:7] for row in report.rows} >= {f"Table {number}" for number in range(1, 7)}
    assert report.pages > 200_000


def test_the_report_reads_as_text(report: CheckReport) -> None:
    text = render(report)
    assert "Table 6: documents by depth" in text and "all within tolerance" in text


def test_a_line_outside_fails_the_check_and_says_so(report: CheckReport) -> None:
    wrong = replace(report, rows=(replace(report.rows[0], ours=0.5, ok=False), *report.rows[1:]))
    assert not wrong.ok
    assert "outside" in render(wrong)


@pytest.mark.parametrize(
    ("column", "factor", "table"),
    [
        ("size_bytes", (1.02, 1.0), "_table5"),
        ("downloaded", (0.97,) * 6, "_table6"),
        ("labels", (1, 0.6, 1, 1, 1), "_table4"),
    ],
)
def test_a_web_of_other_shape_is_noticed(column: str, factor: tuple[float, ...], table: str) -> None:
    # given counts that are off by a few percent
    counts = tally(Web(Lab(sites=642)))
    bent = replace(counts, **{column: getattr(counts, column) * np.array(factor)})
    # then the table that shows them has a line outside
    compare = getattr(checking, table)
    assert all(row.ok for row in compare(counts))
    assert not all(row.ok for row in compare(bent))


def test_seeds_do_not_fail_by_chance_more_often_than_one_line_of_three_errors() -> None:
    # given the bound of all lines together: 0.27 % for the whole check, one of 37 lines at a time
    assert checking._LINES == 37
    assert abs(checking.ERRORS_ALLOWED - 3.97) < 0.005
    # then the web of a seed with a line beyond three errors (Table 4: 3 labels, 3.07) is still right
    report = check(Web(Lab(sites=2_569, seed=6)), sample=50)
    assert report.ok, render(report)


def test_a_row_seen_a_few_times_at_most_is_bounded_by_poissons_law() -> None:
    # given 0.24 hosts of six labels expected: 3 come by chance once in 500 webs, 5 once in 180,000
    assert checking._most_by_chance(0.24) == 4
    assert checking._most_by_chance(13.0) == 30
    # and far up the bound is the normal one
    assert checking._most_by_chance(100.0) == pytest.approx(100 + checking.ERRORS_ALLOWED * 10, abs=4)


def test_only_the_survey_can_be_checked_against_tables_1_to_6() -> None:
    with pytest.raises(UsageError, match="survey"):
        check(Web(Lab(sites=10, profile="study")))


def test_a_ratios_error_counts_sites_and_not_pages() -> None:
    # given sites whose pages all share one fate
    pages = np.full(100, 50.0)
    fine = np.where(np.arange(100) % 2, 50.0, 0.0)
    # then the error is that of 100 coin tosses, however many pages there are
    assert ratio(fine, pages).value == 0.5
    assert abs(ratio(fine, pages).error - 0.05) < 0.001
