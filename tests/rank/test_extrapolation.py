"""The mixture of sweeps: exact where theory says so, and never in the way."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))

from graphs import dense_pagerank, links_of, random_edges

from nephila.rank import gauss_seidel
from nephila.rank.extrapolation import EVERY, Extrapolating, mixture
from nephila.rank.pagerank import Problem
from nephila.rank.stopping import L1, Rounds


def test_two_slow_parts_are_gone_at_once() -> None:
    # given an affine map whose error has two parts, and six steps of it
    chance = np.random.default_rng(1)
    rest, one, other = chance.random((3, 1000))
    z = np.zeros(1000)
    extrapolating = Extrapolating(np.ones(1000, np.uint32), None)
    for step in range(1, EVERY + 1):
        z[:] = rest + 0.9**step * one + (-0.8) ** step * other
        extrapolating.swept(z)
    # then the mixture is the point of rest, far nearer than 0.9^6
    assert z == pytest.approx(rest, abs=1e-4)


@given(st.integers(0, 10**6))
def test_the_mixture_is_never_worse_than_the_last_change(seed: int) -> None:
    changes = np.random.default_rng(seed).normal(size=(3, 8)) * np.array([[1], [0.5], [0.25]])
    weights = mixture(changes @ changes.T)
    assert weights is not None
    assert sum(weights) == pytest.approx(1)
    assert np.linalg.norm(np.array(weights) @ changes) <= np.linalg.norm(changes[2]) * (1 + 1e-6)


@pytest.mark.parametrize("products", [np.zeros((3, 3)), np.full((3, 3), np.nan), np.full((3, 3), np.inf)])
def test_changes_that_say_nothing_are_left_alone(products: np.ndarray) -> None:
    assert mixture(products) is None


def test_parallel_changes_have_a_mixture_too() -> None:
    change = np.arange(5.0)
    weights = mixture(np.outer([1, 0.5, 0.25], [1, 0.5, 0.25]) * (change @ change))
    assert weights is not None
    assert np.isfinite(weights).all()


def test_it_saves_sweeps_and_changes_no_rank(loops: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # given a slow problem
    edges = random_edges(3, 500, 1500)
    links, problem = links_of(edges, 500, tmp_path), Problem(0.99, L1(1e-12) | Rounds(5000))
    quick = gauss_seidel.gauss_seidel(links, problem)
    # when nothing is mixed
    monkeypatch.setattr(gauss_seidel.Extrapolating, "swept", lambda self, z: None)
    slow = gauss_seidel.gauss_seidel(links, problem)
    # then it takes longer and ends at the same ranks
    assert quick.rounds < slow.rounds
    true = dense_pagerank(edges, 500, 0.99)
    assert quick.ranks == pytest.approx(true, abs=1e-11)
    assert slow.ranks == pytest.approx(true, abs=1e-11)
