"""The shares of 4.4 and 4.9: aliases, virtual hosts, mirrors, islands, session ids, case variants, further links."""

from __future__ import annotations

import math
from collections import Counter

import pytest

from nephila.config.sections import Lab
from nephila.lab.addresses import address_of
from nephila.lab.fates import Fate
from nephila.lab.skeleton import island_pages
from nephila.lab.web import Web

SITES = 20_000


@pytest.fixture(scope="module")
def web() -> Web:
    return Web(Lab(sites=SITES, seed=11))


def _near(seen: int, of: int, share: float) -> bool:
    """Within four standard errors of a share."""
    return abs(seen / of - share) <= 4 * math.sqrt(share * (1 - share) / of)


def test_a_tenth_of_hosts_have_one_or_two_aliases_of_both_kinds(web: Web) -> None:
    aliases = [web.cards.aliases(site) for site in range(SITES)]
    numbers = Counter(len(names) for names in aliases)
    assert set(numbers) == {0, 1, 2}
    assert _near(SITES - numbers[0], SITES, 0.10)
    literal = sum(name.startswith("127.") for names in aliases for name in names)
    assert 0.2 < literal / sum(len(names) for names in aliases) < 0.6


def test_three_of_ten_hosts_share_an_address_and_show_other_content(web: Web) -> None:
    tenants: dict[str, list[int]] = {}
    for site in range(SITES):
        tenants.setdefault(address_of(site), []).append(site)
    shared = [sites for sites in tenants.values() if len(sites) > 1]
    assert sum(len(sites) for sites in shared) == 0.3 * SITES
    compared = 0
    for sites in shared[:60]:
        fine = [web.card(site) for site in sites if web.card(site).fate is Fate.OK]
        bodies = {web.answer(card.host, 8480, "/", card.address, 0.0).body for card in fine}
        assert len(bodies) == len(fine)
        compared += len(fine) > 1
    assert compared > 40


def test_one_site_of_fifty_mirrors_another(web: Web) -> None:
    # a mirror's model is never a mirror itself, which costs the share its square
    assert _near(sum(web.cards.model(site) != site for site in range(SITES)), SITES, 0.02 * 0.98)


def test_three_of_a_hundred_sites_that_answer_have_an_island(web: Web) -> None:
    answering = [site for site in range(SITES) if web.card(site).fate is Fate.OK]
    islands = [site for site in answering if island_pages(web.law, web.card(site).model)]
    assert _near(len(islands), len(answering), 0.03)
    # and most are linked to by the home page next door: those of a neighbour that answers without frames
    linked = 0
    for site in islands[:100]:
        neighbour = (site + 1) % SITES
        links = web.linker.links(web.card(neighbour), web.skeleton(neighbour), 0)
        tree_pages = web.skeleton(site).tree_pages
        linked += any(
            link.origin == web.card(site).origin and f"{tree_pages}" in link.path and not link.inside for link in links
        )
    assert linked > 60


def test_links_have_the_shares_of_the_generators_plan() -> None:
    # given the links of some ten thousand pages, children left out
    web = Web(Lab(sites=300, seed=5))
    seen: Counter[str] = Counter()
    for site in range(300):
        card, skeleton = web.card(site), web.skeleton(site)
        if card.fate is not Fate.OK:
            continue
        for page in range(1, skeleton.tree_pages, 9):
            if skeleton.fate[page] != Fate.OK or skeleton.copy[page]:
                continue
            links = web.linker.links(card, skeleton, page)
            children = int(skeleton.first_child[page + 1] - skeleton.first_child[page])
            seen["pages"] += 1
            seen["dangling"] += not links
            for number, link in enumerate(links):
                if link.canonical:
                    continue
                if link.inside and card.paths.folds_case and link.path != "/" and "%" not in link.path:
                    front = link.path.partition("?")[0]
                    seen["in a folding site"] += 1
                    seen["in another case"] += front != front.lower()
                if number < children:
                    continue
                seen["further"] += 1
                seen["inside"] += link.inside
                seen["by path"] += link.session.startswith("sessionid=")
                seen["by query"] += link.session.startswith("sid=")
                if not link.inside:
                    target = web.cards.site_of(link.origin[len("http://") :].partition(":")[0])
                    assert target is not None
                    seen["outside"] += 1
                    seen["home"] += link.path == "/"
                    seen["community"] += target // 25 == card.model // 25
    assert seen["pages"] > 10_000
    # then 12 % of pages dangle, and the others have 8 further links but for those that had no room
    assert seen["dangling"] / seen["pages"] == pytest.approx(0.12, abs=0.015)
    assert 6.5 < seen["further"] / (seen["pages"] - seen["dangling"]) < 8.2
    # a fifth leave the site, 70 % of these to home pages (and all to a site that has no more), half to the community
    assert seen["outside"] / seen["further"] == pytest.approx(0.20, abs=0.015)
    assert 0.69 < seen["home"] / seen["outside"] < 0.85
    assert 0.49 < seen["community"] / seen["outside"] < 0.58
    # a quarter of the links in a site that folds case are in another case (Hollins: 25.4 % of URLs)
    assert seen["in another case"] / seen["in a folding site"] == pytest.approx(0.25, abs=0.03)
    # session ids in both forms, on one of 26 further links inside
    sessions = seen["by path"] + seen["by query"]
    assert sessions / seen["inside"] == pytest.approx(10 / 256, abs=0.006)
    assert 0.45 < seen["by path"] / sessions < 0.55
