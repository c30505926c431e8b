"""Every page has one path, and a path leads to its page."""

from __future__ import annotations

import ada_url
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from nephila.config.sections import Lab
from nephila.lab.paths import PathBook, in_other_case, page_of, path_key, path_lengths, path_of, without_session
from nephila.lab.spelling import with_session
from nephila.lab.web import Web

WEB = Web(Lab(sites=300))


@settings(max_examples=100)
@given(st.integers(0, 299), st.integers(1, 900_000))
def test_a_path_leads_to_its_page(site: int, page: int) -> None:
    style = WEB.card(site).paths
    path = path_of(style, page)
    assert page_of(style, path, 1_000_000) == page
    assert page_of(style, path, page) is None  # a smaller site has no such page
    assert len(path) <= 256


@settings(max_examples=100)
@given(st.integers(0, 299), st.integers(1, 900_000), st.sampled_from(["sid=0a1b2c3d", "sessionid=99999999"]))
def test_a_session_id_changes_nothing(site: int, page: int, session: str) -> None:
    style = WEB.card(site).paths
    path = path_of(style, page)
    written = with_session(path, session)
    assert written != path and session in written
    assert without_session(written) == path
    assert page_of(style, written, 1_000_000) == page


def test_paths_are_in_normal_form_as_made() -> None:
    for site in range(100):
        card = WEB.card(site)
        for page in range(60):
            url = card.origin + path_of(card.paths, page)
            assert ada_url.URL(url).href == url


def test_lengths_are_known_without_making_the_paths() -> None:
    style = WEB.card(7).paths
    lengths = path_lengths(1, WEB.card(7).model, 3000)
    assert style.key == path_key(1, WEB.card(7).model)
    assert lengths.tolist() == [len(path_of(style, page)) - 1 for page in range(3000)]
    assert abs(np.mean(lengths) - 71.78) < 3 * np.std(lengths) / 3000**0.5


def test_a_site_that_folds_case_answers_to_every_case_and_others_do_not() -> None:
    folding = next(site for site in range(300) if WEB.card(site).paths.folds_case)
    exact = next(site for site in range(300) if not WEB.card(site).paths.folds_case)
    for variant in (1, 2):
        for page in range(1, 50):
            for site in (folding, exact):
                style = WEB.card(site).paths
                path = path_of(style, page)
                other = in_other_case(path, variant)
                if other != path and "%" not in path:
                    assert page_of(style, other, 100) == (page if site == folding else None)


@given(st.text(max_size=60))
def test_nonsense_is_no_page(target: str) -> None:
    style = WEB.card(3).paths
    page = page_of(style, "/" + target, 500)
    assert page is None or without_session("/" + target).lower() == path_of(style, page).lower()


def test_a_book_of_paths_tells_the_same_paths_and_does_not_grow_for_ever() -> None:
    # given a book that is asked for more paths than it holds, some of them again
    style, book = Web(Lab(sites=3)).card(1).paths, PathBook()
    for page in range(40_000):
        assert book.path(style, page) == path_of(style, page)
        assert book.path(style, page // 2) == path_of(style, page // 2)
    # then it has forgotten most of them
    assert 0 < len(book.held) <= 1 << 14
    assert len(book._before) <= 1 << 14
