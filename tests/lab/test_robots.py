"""The lab's own verdict on its robots.txt against a robots.txt library."""

from __future__ import annotations

from protego import Protego

from nephila.config.sections import Lab
from nephila.lab.paths import in_other_case, path_of
from nephila.lab.web import Web


def test_what_the_rules_close_is_what_a_robots_parser_closes() -> None:
    web = Web(Lab(sites=400))
    closed = compared = delays = 0
    for site in range(400):
        card = web.card(site)
        if card.robots is None:
            continue
        rules = Protego.parse(card.robots.text())
        delays += rules.crawl_delay("nephila") is not None
        for page in range(min(web.skeleton(site).pages, 60)):
            path = path_of(card.paths, page)
            for form in (path, in_other_case(path, 1)):
                assert rules.can_fetch(card.origin + form, "nephila") is not card.robots.closes(form)
                closed += card.robots.closes(form)
                compared += 1
    assert closed > 50 and compared > 2_000 and delays > 0
