"""The truth's links against the pages as written, read by an HTML5 parser that is not ours."""

from __future__ import annotations

import pytest

from nephila.config.sections import Lab
from nephila.lab.fates import Fate
from nephila.lab.pages import original
from nephila.lab.paths import path_of
from nephila.lab.skeleton import KINDS
from nephila.lab.web import Web

from .page_reader import links_in


@pytest.mark.parametrize(("seed", "profile"), [(1, "survey"), (2, "study")])
def test_the_links_of_the_truth_are_the_links_that_an_html5_parser_finds(seed: int, profile: str) -> None:
    # given a web with all its spellings
    web = Web(Lab(seed=seed, sites=150, profile=profile))  # type: ignore[arg-type]
    compared = 0
    for site in range(150):
        card, skeleton = web.card(site), web.skeleton(site)
        for page in [*range(min(6, skeleton.pages)), *range(6, skeleton.pages, 997)]:
            if skeleton.fate[page] != Fate.OK:
                continue
            path = path_of(card.paths, page, web.generation(card, skeleton, page, 0.0))
            # when a page is written and read again
            found = links_in(card, web.body(card, skeleton, page, 0.0), path)
            # then it holds exactly the links that the model says, each in its kind
            told = {(link.letter, link.origin + link.path) for link in web.linker.links(card, skeleton, page)}
            assert found == told, (site, page)
            kinds = "".join(kind if any(kind == letter for letter, _ in told) else "0" for kind in "haf")
            assert kinds == KINDS[skeleton.kind[original(skeleton, page)]]
            compared += 1
    assert compared > 500
