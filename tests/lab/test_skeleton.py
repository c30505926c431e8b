"""The tree of a site: breadth-first numbers, planned sizes, bounded memory."""

from __future__ import annotations

import numpy as np
import pytest

from nephila.lab import figures
from nephila.lab.fates import Fate, Law, seed_fate
from nephila.lab.skeleton import Skeleton, Skeletons, grow, home_children, host_factor

LAW = Law(seed=1, sites=400, profile="survey", max_depth=5, faults=True)


def _depth(skeleton: Skeleton, page: int) -> int:
    return int(np.searchsorted(skeleton.level_starts, page, side="right")) - 1


@pytest.mark.parametrize("site", range(0, 400, 13))
def test_every_page_is_the_child_of_one_page_of_the_depth_above(site: int) -> None:
    skeleton = grow(LAW, site)
    # given all ranges of children in the tree
    first = skeleton.first_child
    assert first[0] == 1 and first[-1] == skeleton.pages
    # then they cover every tree page but the home page once, in order, and no page of an island
    assert np.all(np.diff(first) >= 0)
    assert first[skeleton.tree_pages] == skeleton.tree_pages
    for page in range(0, skeleton.tree_pages, 17):
        for child in range(first[page], first[page + 1]):
            assert _depth(skeleton, child) == _depth(skeleton, page) + 1
        if skeleton.fate[page] != Fate.OK:
            assert first[page] == first[page + 1]


def test_a_skeleton_depends_on_its_number_alone() -> None:
    again, other = grow(LAW, 5), grow(LAW, 6)
    assert np.array_equal(grow(LAW, 5).size_bytes, again.size_bytes)
    assert not np.array_equal(again.size_bytes, other.size_bytes)


def test_home_children_are_known_without_the_skeleton() -> None:
    for site in range(60):
        skeleton = grow(LAW, site)
        assert home_children(LAW, site) == skeleton.first_child[1] - skeleton.first_child[0]


def test_host_factors_average_to_one_at_any_scale() -> None:
    for sites in (10, 77, 1000):
        law = Law(1, sites, "survey", 5, True)
        assert abs(sum(host_factor(law, site) for site in range(sites)) / sites - 1) < 1e-9


def test_seed_responses_have_the_papers_shares_at_any_scale() -> None:
    for sites in (100, 1284):
        law = Law(1, sites, "survey", 5, True)
        fine = sum(seed_fate(law, site) is Fate.OK for site in range(sites)) / sites
        assert abs(fine - figures.success(0)) <= 1.5 / sites


def test_without_faults_every_page_answers_and_sites_keep_their_size() -> None:
    calm = Law(1, 300, "survey", 5, False)
    pages = [grow(calm, site) for site in range(300)]
    assert all(np.all(skeleton.fate == Fate.OK) for skeleton in pages)
    mean = sum(skeleton.tree_pages for skeleton in pages) / 300
    assert 350 < mean < 800  # S1-32: 576 requested per seed


def test_copies_have_the_size_and_kind_of_the_page_before_them() -> None:
    found = 0
    for site in range(100):
        skeleton = grow(LAW, site)
        for page in np.flatnonzero(skeleton.copy):
            assert skeleton.size_bytes[page] == skeleton.size_bytes[page - 1]
            assert skeleton.kind[page] == skeleton.kind[page - 1]
            assert not skeleton.copy[page - 1]
            assert skeleton.fate[page] == skeleton.fate[page - 1] == Fate.OK
            found += 1
    assert found > 100


def test_skeletons_are_kept_only_up_to_their_budget() -> None:
    # given a small budget and more sites than it holds
    skeletons = Skeletons(LAW, budget_bytes=200_000)
    for site in range(200):
        skeletons.of(site)
        # then what is held stays below it, or is one large site alone
        assert skeletons.held_bytes <= 200_000 or skeletons.held_bytes == skeletons.of(site).nbytes
    assert skeletons.of(199) is skeletons.of(199)


def test_twelve_percent_of_pages_are_dangling() -> None:
    kinds = np.concatenate([s.kind[s.fate == Fate.OK] for s in (grow(LAW, site) for site in range(200))])
    assert abs(np.mean(kinds == 0) - 0.12) < 0.01
