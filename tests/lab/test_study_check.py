"""The generator shows S1's Tables 7-13, and a study that does not is noticed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from nephila.config.sections import Lab
from nephila.lab import figures
from nephila.lab.check import render
from nephila.lab.study_check import Seen, check_study, compare, home_lines, paper_lines, probabilities, site_lines
from nephila.lab.study_tables import StudyTally, study_tally
from nephila.lab.web import Web

ORIGIN = 1_000_000_000.0
HOMES = Lab(profile="study", sites=1_424)
SITES = Lab(profile="study", sites=142, growth=0.06)


@pytest.fixture(scope="module")
def homes() -> StudyTally:
    return study_tally(Web(HOMES, ORIGIN), whole_sites=False)


@pytest.fixture(scope="module")
def sites() -> StudyTally:
    return study_tally(Web(SITES, ORIGIN))


def test_the_counts_of_table_8_give_ss_and_ff_exactly() -> None:
    """Findings 1 and 2, S1-38 .. S1-40."""
    found = probabilities(np.array(figures.BATCHES_ALIVE, dtype=float))
    assert found["SS"] == 8451 / 8768
    assert found["FF"] == 2798 / 3768
    assert found["SS by events"] == 74842 / 76376
    assert found["FF by events"] == 24618 / 26152


def test_tables_7_to_13_are_within_tolerance(homes: StudyTally, sites: StudyTally) -> None:
    rows = compare({**home_lines(homes), **site_lines(sites)})
    assert len(rows) == len(paper_lines())
    assert [row for row in rows if not row.ok] == []


def test_a_web_of_other_shape_is_noticed(homes: StudyTally, sites: StudyTally) -> None:
    # given half of the URLs that are seen once, a third of the changes unseen, or seeds that are always up
    fewer = replace(sites, downloads=sites.downloads * np.array([0.5] + [1.0] * 8))
    unseen = replace(sites, kind_changed=sites.kind_changed * 0.67)
    up = replace(homes, seeds_up=np.ones_like(homes.seeds_up))
    for lines in (site_lines(fewer), site_lines(unseen), home_lines(up)):
        assert any(not row.ok for row in compare(lines))


def test_a_line_that_nobody_stands_behind_is_not_judged() -> None:
    key = paper_lines()[0].key
    assert compare({key: Seen(0.0, 0.0, 0.0)})[0].ok


def test_the_check_reads_as_text() -> None:
    report = check_study(Web(replace(HOMES, sites=150), ORIGIN), Web(replace(SITES, sites=20), ORIGIN))
    assert "Table 13: documents by link kinds" in render(report)
