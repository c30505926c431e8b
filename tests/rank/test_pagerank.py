"""The formula: S3's example, closed forms, an independent implementation, and every rule for dangling pages."""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))

from graphs import S3_EXAMPLE, dense_pagerank, links_of, random_edges

from nephila.rank.gauss_seidel import gauss_seidel, solve
from nephila.rank.pagerank import Dangling, Problem, power
from nephila.rank.stopping import L1, Rounds, is_met

EXACT = L1(1e-14) | Rounds(2000)
THRESHOLDS = (1e-2, 1e-3, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12)

pytestmark = pytest.mark.usefixtures("loops")


def test_the_papers_example_has_the_exact_answer(tmp_path: Path) -> None:  # S3-3
    ranks = power(links_of(S3_EXAMPLE, 5, tmp_path), Problem(1.0, EXACT)).ranks
    expected = [Fraction(1, 40), Fraction(1, 10), Fraction(13, 40), Fraction(1, 5), Fraction(7, 20)]
    assert ranks == pytest.approx([float(rank) for rank in expected], abs=1e-13)


def test_the_papers_loop_needs_the_papers_rounds(tmp_path: Path) -> None:  # S3-4, S3-5
    links = links_of(S3_EXAMPLE, 5, tmp_path)
    undamped = [power(links, Problem(1.0, L1(threshold))).rounds for threshold in THRESHOLDS]
    damped = [power(links, Problem(0.85, L1(threshold))).rounds for threshold in THRESHOLDS]
    assert undamped == [12, 19, 25, 38, 51, 63, 76]
    assert damped == [9, 13, 18, 27, 35, 44, 53]


def test_the_papers_loop_has_the_papers_residuals(tmp_path: Path) -> None:  # S3-4
    residuals = power(links_of(S3_EXAMPLE, 5, tmp_path), Problem(1.0, Rounds(6))).residuals
    assert residuals == pytest.approx([0.6, 0.45, 0.375, 0.26875, 0.1515625, 0.08125], abs=1e-15)


@pytest.mark.parametrize("way", [power, gauss_seidel])
def test_the_papers_example_with_damping(way: object, tmp_path: Path) -> None:  # S3-5
    assert callable(way)
    links = links_of(S3_EXAMPLE, 5, tmp_path)
    expected = np.array([1506119, 3126644, 8941460, 5376322, 9106360]) / 28056905
    assert way(links, Problem(0.85, EXACT)).ranks == pytest.approx(expected, abs=1e-13)
    unnormalised = way(links, Problem(0.85, EXACT)).ranks * 5  # S0-23
    assert unnormalised == pytest.approx([0.268404, 0.557197, 1.593451, 0.958110, 1.622838], abs=1e-6)
    more = way(links, Problem(0.9, EXACT)).ranks
    assert more == pytest.approx([0.0441526971, 0.1073453204, 0.3211834597, 0.1941007120, 0.3332178108], abs=1e-9)


def test_a_clique_joined_to_a_cycle_has_the_ranks_that_one_derives_by_hand(tmp_path: Path) -> None:
    # given k pages that all link to each other and c pages in a circle; one page of the clique links to the circle too
    k, c, d = 6, 5, 0.85
    clique = [(i, j) for i in range(k) for j in range(k) if i != j]
    circle = [(k + i, k + (i + 1) % c) for i in range(c)]
    n = k + c
    ranks = solve(links_of([*clique, *circle, (0, k)], n, tmp_path), Problem(d, EXACT)).ranks
    # then, with b = (1-d)/n, the other pages of the clique have x and the page with the link has y:
    # y = b + d x,  x = b + d ((k-2) x / (k-1) + y / k)
    b = (1 - d) / n
    x = (b + d * b / k) / (1 - d * (k - 2) / (k - 1) - d * d / k)
    y = b + d * x
    assert ranks[:k] == pytest.approx([y, *[x] * (k - 1)], abs=1e-13)
    # and the circle carries what enters it round: c_0 = b + d y/k + d c_(c-1), c_i = b + d c_(i-1)
    first = (b * sum(d**i for i in range(c)) + d * y / k) / (1 - d**c)
    cycle = [first]
    for _ in range(c - 1):
        cycle.append(b + d * cycle[-1])
    assert ranks[k:] == pytest.approx(cycle, abs=1e-13)


def test_a_star_has_the_ranks_of_a_star(tmp_path: Path) -> None:
    # given 9 leaves that link to a centre without links; y is linear, x = y / |y|
    leaves, d = 9, 0.85
    ranks = solve(links_of([(i, leaves) for i in range(leaves)], leaves + 1, tmp_path), Problem(d, EXACT)).ranks
    y = np.array([1.0] * leaves + [1 + d * leaves])
    assert ranks == pytest.approx(y / y.sum(), abs=1e-14)


def test_a_chain_has_geometric_ranks(tmp_path: Path) -> None:
    pages, d = 12, 0.7
    ranks = solve(links_of([(i, i + 1) for i in range(pages - 1)], pages, tmp_path), Problem(d, EXACT)).ranks
    y = np.array([(1 - d ** (i + 1)) / (1 - d) for i in range(pages)])
    assert ranks == pytest.approx(y / y.sum(), abs=1e-14)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 10**6), pages=st.integers(1, 60), density=st.floats(0, 8), damping=st.floats(0, 0.99),
    dangling=st.sampled_from([0.0, 0.1, 0.3, 0.53, 1.0]),
)  # fmt: skip
def test_any_graph_has_the_ranks_of_the_dense_solution(
    seed: int, pages: int, density: float, damping: float, dangling: float, tmp_path: Path
) -> None:
    edges = random_edges(seed, pages, int(pages * density), dangling)
    links = links_of(edges, pages, tmp_path)
    expected = dense_pagerank(edges, pages, damping)
    for way in (power, gauss_seidel):
        ranks = way(links, Problem(damping, L1(1e-14) | Rounds(4000))).ranks
        assert ranks == pytest.approx(expected, abs=1e-11)
        assert abs(ranks.sum() - 1) <= 1e-12  # S3-8


@pytest.mark.parametrize("share", [0.0, 0.05, 0.12, 0.3, 0.53, 1.0])
@pytest.mark.parametrize("damping", [0.0, 0.5, 0.85, 1.0])
def test_ranks_sum_to_1_whatever_the_share_of_dangling_pages(share: float, damping: float, tmp_path: Path) -> None:
    links = links_of(random_edges(3, 400, 2000, share), 400, tmp_path)
    assert abs(solve(links, Problem(damping, L1(1e-12) | Rounds(300))).ranks.sum() - 1) <= 1e-12


def test_a_teleport_of_ones_own_is_followed_by_both_rules_for_dangling_pages(tmp_path: Path) -> None:
    edges, pages = random_edges(5, 50, 150, 0.3), 50
    links = links_of(edges, pages, tmp_path)
    teleport = np.zeros(pages)
    teleport[[3, 17]] = 0.25, 0.75
    for dangling, to in ((Dangling.UNIFORM, None), (Dangling.TELEPORT, teleport)):
        ranks = solve(links, Problem(0.85, EXACT, dangling, teleport)).ranks
        assert ranks == pytest.approx(dense_pagerank(edges, pages, 0.85, teleport, to), abs=1e-12)
        assert power(links, Problem(0.85, EXACT, dangling, teleport)).ranks == pytest.approx(ranks, abs=1e-12)


def test_without_a_rule_the_mass_of_dangling_pages_leaks(tmp_path: Path) -> None:  # CHECKLIST 2.5
    links = links_of(random_edges(5, 200, 800, 0.53), 200, tmp_path)
    leaking = solve(links, Problem(0.85, EXACT, Dangling.NONE)).ranks
    assert leaking.sum() < 0.8
    assert power(links, Problem(0.85, EXACT, Dangling.NONE)).ranks == pytest.approx(leaking, abs=1e-12)
    sums = [power(links, Problem(1.0, Rounds(rounds), Dangling.NONE)).ranks.sum() for rounds in (1, 2, 10, 30)]
    assert sums == sorted(sums, reverse=True)
    assert sums[-1] < 0.2


def test_dividing_once_at_the_end_gives_kim_and_lees_ranks(tmp_path: Path) -> None:  # CHECKLIST 2.5
    links = links_of(random_edges(5, 200, 800, 0.53), 200, tmp_path)
    once = power(links, Problem(0.85, EXACT, Dangling.RENORMALISE)).ranks
    assert once == pytest.approx(power(links, Problem(0.85, EXACT)).ranks, abs=1e-12)


def test_removed_dangling_pages_come_back_and_the_ranks_differ(tmp_path: Path) -> None:
    # given two pages that link to each other, one of them also to a dangling third
    links = links_of([(0, 1), (1, 0), (0, 2)], 3, tmp_path)
    ranks = power(links, Problem(0.85, EXACT, Dangling.REMOVE)).ranks
    # then the two have equal ranks among themselves, and the third gets its half link and its teleport
    third = 0.15 / 3 + 0.85 * 0.5 / 2
    assert ranks == pytest.approx(np.array([0.5, 0.5, third]) / (1 + third), abs=1e-13)
    assert abs(ranks - solve(links, Problem(0.85, EXACT)).ranks).sum() > 0.05


def test_a_two_cycle_without_damping_ends(tmp_path: Path) -> None:  # I3-7
    start = np.array([0.9, 0.1])
    solution = power(links_of([(0, 1), (1, 0)], 2, tmp_path), Problem(1.0, L1(1e-6) | Rounds(50), start=start))
    assert solution.rounds == 50
    assert solution.residuals[-1] == pytest.approx(1.6)


def test_a_graph_without_pages_has_no_ranks(tmp_path: Path) -> None:
    assert len(solve(links_of([], 0, tmp_path), Problem(0.85, EXACT)).ranks) == 0


def test_one_page_has_all_the_rank(tmp_path: Path) -> None:
    assert solve(links_of([], 1, tmp_path), Problem(0.85, EXACT)).ranks == pytest.approx([1.0])


def test_self_links_and_repeated_links_do_not_count(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    plain = solve(links_of(S3_EXAMPLE, 5, tmp_path), Problem(0.85, EXACT)).ranks
    noisy = [*S3_EXAMPLE, *S3_EXAMPLE, (0, 0), (4, 4), (0, 2)]
    assert solve(links_of(noisy, 5, tmp_path / "more"), Problem(0.85, EXACT)).ranks == pytest.approx(plain, abs=1e-15)


@pytest.mark.parametrize("way", [power, gauss_seidel])
def test_single_precision_is_near(way: object, tmp_path: Path) -> None:
    assert callable(way)
    edges = random_edges(9, 500, 4000, 0.1)
    links = links_of(edges, 500, tmp_path)
    ranks = way(links, Problem(0.85, L1(1e-6) | Rounds(200), single_precision=True)).ranks
    assert abs(ranks - dense_pagerank(edges, 500, 0.85)).sum() < 1e-5


def test_a_start_near_the_end_needs_few_rounds(tmp_path: Path) -> None:
    links = links_of(random_edges(9, 500, 4000, 0.1), 500, tmp_path)
    for way in (power, gauss_seidel):
        first = way(links, Problem(0.85, L1(1e-10) | Rounds(500)))
        again = way(links, Problem(0.85, L1(1e-10) | Rounds(500), start=first.ranks))
        assert again.rounds <= 2 < first.rounds
        assert again.ranks == pytest.approx(first.ranks, abs=1e-10)


def test_stop_rules_combine() -> None:
    either, both = L1(1e-3) | Rounds(5), L1(1e-3) & Rounds(5)
    assert [is_met(either, rounds, residual) for rounds, residual in ((1, 1e-4), (5, 1.0), (4, 1.0))] == [
        True, True, False,
    ]  # fmt: skip
    assert [is_met(both, rounds, residual) for rounds, residual in ((1, 1e-4), (5, 1.0), (5, 1e-3))] == [
        False, False, True,
    ]  # fmt: skip


def test_the_residual_bounds_the_error(tmp_path: Path) -> None:
    edges = random_edges(11, 300, 1500, 0.2)
    links, true = links_of(edges, 300, tmp_path), dense_pagerank(edges, 300, 0.85)
    for threshold in (1e-2, 1e-4, 1e-7):
        for way, factor in ((power, 1), (gauss_seidel, 2)):
            solution = way(links, Problem(0.85, L1(threshold)))
            assert abs(solution.ranks - true).sum() <= factor * solution.residuals[-1] * 0.85 / 0.15 + 1e-15
