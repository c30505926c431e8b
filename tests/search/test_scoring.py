"""The formula, and who gives way."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nephila.search.scoring import keep, level_factor, level_of, rank_factor, tantivy_weight


@given(st.integers(0, 60), st.floats(0, 2))
def test_tantivys_own_factor_is_ours(level: int, rank_weight: float) -> None:
    # tantivy multiplies a score by log2(2 + value of the field)
    assert math.log2(2 + tantivy_weight(level, rank_weight)) == pytest.approx(float(level_factor(level, rank_weight)))


def test_each_doubling_of_a_rank_brings_the_same() -> None:
    factors = rank_factor(np.array([0, 1, 3, 7, 15]), 0.1)
    assert factors == pytest.approx([1.0, 1.1, 1.2, 1.3, 1.4])
    assert level_factor(level_of(7.0), 0.1) == pytest.approx(1.3)


def kept(scores: list[float], groups: list[int], sites: list[int], **limits: int | None) -> tuple[list[int], int]:
    defaults: dict[str, int | None] = {"per_group": None, "per_site": None, "most": 100}
    chosen = keep(
        np.array(scores),
        np.arange(len(scores)),
        np.array(groups),
        np.array(sites),
        **(defaults | limits),  # type: ignore[arg-type]
    )
    return list(chosen.places), chosen.given_way


def test_the_best_of_a_cluster_stays() -> None:
    assert kept([1, 3, 2, 4], [7, 7, 8, 9], [0, 1, 2, 3], per_group=1) == ([3, 1, 2], 1)


def test_two_of_a_site_stay() -> None:
    assert kept([4, 3, 2, 1], [0, 1, 2, 3], [5, 5, 5, 6], per_site=2) == ([0, 1, 3], 1)


def test_a_page_that_gives_way_to_its_twin_takes_no_place_of_its_site() -> None:
    assert kept([4, 3, 2], [0, 0, 1], [5, 5, 5], per_group=1, per_site=2) == ([0, 2], 1)


def test_equal_scores_stand_in_the_order_of_their_ids() -> None:
    assert kept([1, 1, 1], [0, 1, 2], [0, 1, 2])[0] == [0, 1, 2]
