"""The crawler's own scanner and URL rules find the links that the lab planted."""

from __future__ import annotations

import pytest

from nephila.config.sections import Lab, Links
from nephila.lab.answer import Manner
from nephila.lab.fates import Fate
from nephila.lab.pages import original
from nephila.lab.paths import path_of
from nephila.lab.skeleton import KINDS
from nephila.lab.web import Web
from nephila.markup import scan
from nephila.markup.charset import choose
from nephila.markup.scan import document_base
from nephila.urls import StripRules, join

_RULES = StripRules.of(Links().strip_parameters)


@pytest.mark.parametrize(("seed", "profile"), [(5, "survey"), (6, "study")])
def test_the_scanner_and_the_url_rules_find_what_was_planted(seed: int, profile: str) -> None:
    # given pages of many sites as the lab serves them
    web = Web(Lab(seed=seed, sites=200, profile=profile))  # type: ignore[arg-type]
    compared = 0
    for site in range(200):
        card, skeleton = web.card(site), web.skeleton(site)
        for page in [*range(min(8, skeleton.pages)), *range(8, skeleton.pages, 499)]:
            if skeleton.fate[page] != Fate.OK:
                continue
            path = path_of(card.paths, page, web.generation(card, skeleton, page, 0.0))
            answer = web.answer(card.host, 8480, path, card.address, 0.0)
            if (answer.status, answer.manner) != (200, Manner.WHOLE):
                continue  # the study's home pages are down at times
            # when the crawler reads one
            charset = choose(answer.body, dict(answer.headers)["Content-Type"]).encoding
            found = scan(answer.body, charset)
            base = document_base(card.origin + path, found, _RULES)
            links = {(link.kind.value, join(base, link.href, _RULES, charset)) for link in found.links}
            # then it finds the planted links, each in its kind, and nothing else that is http
            told = {(link.letter, link.origin + link.path) for link in web.linker.links(card, skeleton, page)}
            assert {(kind, url) for kind, url in links if isinstance(url, str)} == told, (site, page)
            assert found.link_kinds == KINDS[skeleton.kind[original(skeleton, page)]]
            compared += 1
    assert compared > 800
