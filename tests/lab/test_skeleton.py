"""The tree of a site: breadth-first numbers, planned sizes, bounded memory."""

from __future__ import annotations

import numpy as np
import pytest

from nephila.lab import figures
from nephila.lab.fates import Fate, Law, seed_fate
from nephila.lab.sizes import page_size, page_sizes
from nephila.lab.skeleton import Skeleton, Skeletons, grow, home_children, home_crown, host_factor

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


def _told(skeleton: Skeleton, pages: int) -> list[object]:
    """All that a skeleton says of its first pages, as far as a crown must know it."""
    depths = [_depth(skeleton, page) for page in range(pages)]
    return [
        depths,
        [skeleton.level_starts[min(depth + 2, len(skeleton.level_starts) - 1)] for depth in depths],
        skeleton.first_child[: pages + 1].tolist(),
        skeleton.fate[:pages].tolist(),
        skeleton.size_bytes[:pages].tolist(),
        skeleton.kind[:pages].tolist(),
        skeleton.copy[:pages].tolist(),
    ]


@pytest.mark.parametrize("law", [LAW, Law(3, 400, "survey", 2, False), Law(4, 400, "study", 9, True)])
def test_a_crown_tells_of_its_pages_what_the_whole_skeleton_tells(law: Law) -> None:
    crowns = 0
    for site in range(0, 400, 3):
        whole = grow(law, site)
        assert whole.whole and whole.shown == whole.pages
        for crown in (home_crown(law, site), *(grow(law, site, enough) for enough in (1, 2, 7, 32, 500))):
            shown = crown.shown
            assert 0 < shown <= whole.pages and crown.whole == (shown == whole.pages)
            assert _told(crown, shown) == _told(whole, shown)
            # to write its last page it must not miss that the next is a copy
            assert crown.whole or shown < crown.pages or not whole.copy[shown]
            crowns += not crown.whole
        assert _told(home_crown(law, site), 1) == _told(grow(law, site, enough=1), 1)
    assert crowns > 200


def test_a_page_is_shown_from_a_skeleton_that_tells_of_it_and_no_page_beyond_the_last() -> None:
    for site in range(0, 400, 7):
        pages = grow(LAW, site).pages
        for page in {0, 1, 2, 31, 32, 33, pages - 1, pages, pages + 1}:
            shown = Skeletons(LAW).showing(site, page)
            assert (shown is None) == (page >= pages)
            assert shown is None or page < shown.shown


def test_a_crown_gives_way_to_the_whole_skeleton_and_what_is_held_is_counted() -> None:
    skeletons = Skeletons(LAW)
    site = next(site for site in range(400) if grow(LAW, site).pages > 1000)
    crown = skeletons.showing(site, 0)
    assert crown is not None and not crown.whole and skeletons.showing(site, 0) is crown
    wider = skeletons.showing(site, 5)
    assert wider is not None and not wider.whole and skeletons.held_bytes == wider.nbytes
    whole = skeletons.of(site)
    assert whole.whole and skeletons.showing(site, 0) is whole and skeletons.held_bytes == whole.nbytes


def test_the_size_of_one_page_is_that_among_all() -> None:
    for site in range(60):
        assert page_sizes(1, site, 300).tolist() == [page_size(1, site, page) for page in range(300)]


def test_twelve_percent_of_pages_are_dangling() -> None:
    kinds = np.concatenate([s.kind[s.fate == Fate.OK] for s in (grow(LAW, site) for site in range(200))])
    assert abs(np.mean(kinds == 0) - 0.12) < 0.01
