"""Power laws, against values drawn from one."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nephila.stats.power_law import fit


@pytest.mark.parametrize("exponent", [2.1, 2.5, 3.2])
def test_the_exponent_of_values_drawn_from_a_power_law_is_found(exponent: float) -> None:
    # given 20,000 values of a zeta distribution
    values = np.random.default_rng(7).zipf(exponent, 20_000)
    # when a law is fitted
    law = fit(sorted(Counter(values.tolist()).items()))
    # then it is that one, within four errors, from nearly the beginning on
    assert law is not None and abs(law.exponent - exponent) < 4 * law.error < 0.5
    assert law.least <= 10 and law.distance < 0.02


def test_a_law_that_begins_late_is_found_where_it_begins() -> None:
    # given values that are uniform below 20 and fall with the exponent 2.5 from there on
    rng = np.random.default_rng(3)
    tail = np.floor(19.5 * (1 - rng.random(5_000)) ** (-1 / 1.5) + 0.5).astype(int)
    values = np.concatenate([tail, rng.integers(1, 20, 5_000)])
    law = fit(sorted(Counter(values.tolist()).items()))
    assert law is not None and 15 <= law.least <= 40
    assert abs(law.exponent - 2.5) < 4 * law.error


def test_the_counts_that_a_law_expects_sum_to_its_values() -> None:
    law = fit([(n, max(1, round(1e5 * n**-2.2))) for n in range(1, 2000)])
    assert law is not None
    steps = [(2**k, 2 ** (k + 1) - 1) for k in range(60) if 2**k >= law.least]
    expected = sum(law.mean_count(first, last) * (last - first + 1) for first, last in steps)
    missing = law.mean_count(law.least, steps[0][0]) * (steps[0][0] - law.least) if steps[0][0] > law.least else 0
    assert expected + missing == pytest.approx(law.values, rel=0.05)


@given(st.dictionaries(st.integers(1, 10**12), st.integers(1, 10**9), max_size=30))
@settings(max_examples=30, deadline=None)
def test_whatever_the_values_there_is_a_law_or_none(histogram: dict[int, int]) -> None:
    law = fit(sorted(histogram.items()))
    assert law is None or (law.least in histogram and 0 <= law.distance <= 1 and law.error > 0)


def test_few_values_make_no_law() -> None:
    assert fit([]) is None
    assert fit([(1, 10), (2, 5), (3, 1), (4, 1), (5, 1)]) is None
