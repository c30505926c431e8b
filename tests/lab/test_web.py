"""What the lab says to a request: the same for ever, and as planned."""

from __future__ import annotations

import hashlib
from collections import Counter
from urllib.parse import urlsplit

import numpy as np
import pytest

from nephila.config.sections import Lab
from nephila.lab.addresses import sites_at
from nephila.lab.answer import Answer, Manner
from nephila.lab.fates import Fate
from nephila.lab.pages import original
from nephila.lab.paths import in_other_case, path_of
from nephila.lab.web import Web

PINNED = {
    "survey": "4a33c14b376812be143812c8b497c2f4afea78eee70a102545806f6d55d633b8",
    "study": "8a5cb5cf88c0593b8985b9a17aa6d9b7263bd062e5b38554249bea6d435179d9",
}


@pytest.fixture(scope="module")
def web() -> Web:
    return Web(Lab(sites=300))


def _ask(web: Web, site: int, target: str) -> Answer:
    card = web.card(site)
    return web.answer(card.host, web.lab.port, target, card.address, 0.0)


def _first(web: Web, fate: Fate) -> tuple[int, int]:
    for site in range(web.number_of_sites):
        if web.card(site).fate is Fate.OK or fate is not Fate.OK:
            found = np.flatnonzero(web.skeleton(site).fate[: web.skeleton(site).tree_pages] == fate)
            if len(found) and (found[-1] or web.card(site).fate is fate):
                return site, int(found[-1])
    raise AssertionError(fate)


@pytest.mark.parametrize("profile", ["survey", "study"])
def test_the_same_seed_gives_the_same_web_for_ever(profile: str) -> None:
    # given answers of every kind of page over several sites and seeds
    told = hashlib.sha256()
    for seed in (1, 2):
        web = Web(Lab(seed=seed, sites=40, profile=profile, delay=0.3), 1_000_000_000.0)  # type: ignore[arg-type]
        for site in range(40):
            card, skeleton = web.card(site), web.skeleton(site)
            for page in range(0, skeleton.pages, 1 + skeleton.pages // 6):
                generation = web.generation(card, skeleton, page, 1_000_500_000.0)
                path = path_of(card.paths, page, generation)
                answer = web.answer(card.host, 8480, path, card.address, 1_000_500_000.0)
                told.update(repr((card.host, answer.manner, answer.status, answer.headers)).encode())
                told.update(answer.body)
            told.update(_ask(web, site, "/robots.txt").body)
    # then they are the ones they were when this line was written
    assert told.hexdigest() == PINNED[profile]


def test_every_body_is_as_long_as_planned(web: Web) -> None:
    checked = 0
    for site in range(300):
        card, skeleton = web.card(site), web.skeleton(site)
        # the pages with the most links for their size are the tightest
        tight = np.argsort(skeleton.size_bytes / (1 + np.diff(skeleton.first_child)))[:8]
        for page in (0, *tight.tolist()):
            if skeleton.fate[page] == Fate.OK:
                body = web.body(card, skeleton, page, 0.0)
                assert len(body) == skeleton.size_bytes[original(skeleton, page)]
                checked += 1
    assert checked > 1_500


@pytest.mark.parametrize(
    ("fate", "manner", "status"),
    [
        (Fate.OK, Manner.WHOLE, 200),
        (Fate.NOT_FOUND, Manner.WHOLE, 404),
        (Fate.FORBIDDEN, Manner.WHOLE, 403),
        (Fate.SERVER_ERROR, Manner.WHOLE, 500),
        (Fate.MOVED, Manner.WHOLE, 301),
        (Fate.FOUND, Manner.WHOLE, 302),
        (Fate.RESET, Manner.RESET, 200),
        (Fate.CUT_BODY, Manner.CUT_BODY, 200),
        (Fate.STALL_BODY, Manner.STALL_BODY, 200),
        (Fate.SHORT_HEADER, Manner.SHORT_HEADER, 200),
        (Fate.NOT_HTTP, Manner.NOT_HTTP, 200),
        (Fate.HANG, Manner.HANG, 200),
    ],
)
def test_each_fate_has_its_manner_and_status(web: Web, fate: Fate, manner: Manner, status: int) -> None:
    site, page = _first(web, fate)
    answer = _ask(web, site, path_of(web.card(site).paths, page))
    assert (answer.manner, answer.status) == (manner, status)
    if status in (301, 302):
        assert dict(answer.headers)["Location"].startswith("http://")
    if manner in (Manner.CUT_BODY, Manner.STALL_BODY):
        assert len(answer.body) == web.skeleton(site).size_bytes[page]


def test_strangers_are_told_404(web: Web) -> None:
    card = web.card(0)
    assert web.answer("www.example.org", 8480, "/", "127.1.0.1", 0.0).status == 404
    assert web.answer(card.host, 8480, "/no/such/page1.html", card.address, 0.0).status == 404
    assert web.answer(card.host, 8480, "", card.address, 0.0).status == 404
    assert web.answer(card.host, 8481, "/", card.address, 0.0).status == 404
    assert web.answer(card.host, 8480, "/", web.card(1).address, 0.0).status == 404


def test_robots_txt_answers_even_where_pages_do_not(web: Web) -> None:
    statuses = Counter(_ask(web, site, "/robots.txt").status for site in range(300))
    assert set(statuses) == {200, 404}
    assert 0.12 < statuses[200] / 300 < 0.28  # 20 % (4.11)
    site, _ = _first(web, Fate.HANG)
    assert _ask(web, site, "/robots.txt").manner is Manner.WHOLE


def test_names_resolve_to_the_sites_own_address_or_fail_as_planted(web: Web) -> None:
    kinds = Counter()
    for site in range(300):
        card = web.card(site)
        told = web.resolve(card.host.upper() + ".")
        kinds[told.kind] += 1
        if told.kind in ("address", "slow"):
            assert told.addresses == (card.address,)
            assert site in sites_at(card.address, 300)
        else:
            assert told.addresses == ()
    # 3.68 % have no address (S1-26); a mirror has one exactly if its model has
    assert abs(kinds["nxdomain"] + kinds["servfail"] - 300 * 4726 / 128446) < 5
    assert web.resolve("no.such.host").kind == "nxdomain"


def test_the_hosts_file_holds_every_name_that_resolves(web: Web) -> None:
    listed = list(web.hosts())
    assert all(web.resolve(name).addresses == (address,) for address, name in listed)
    assert {name for _, name in listed} >= {
        web.card(site).host for site in range(300) if web.resolve(web.card(site).host).addresses
    }


def test_seeds_are_one_home_page_per_site_and_a_share_is_a_part_of_them(web: Web) -> None:
    every, some = list(web.seeds()), list(web.seeds(0.1))
    assert len(set(every)) == 300 and set(some) < set(every)
    assert 10 < len(some) < 60
    assert some == list(web.seeds(0.1))
    ports = Counter(urlsplit(url).port for url in every)
    assert ports[8481] == sum(web.card(site).fate is Fate.REFUSED for site in range(300)) > 0


def test_an_alias_shows_the_same_pages_and_a_virtual_host_does_not(web: Web) -> None:
    aliases = 0
    for site in range(300):
        card = web.card(site)
        for alias in web.cards.aliases(site):
            assert web.answer(alias, 8480, "/", card.address, 0.0) == _ask(web, site, "/")
            aliases += 1
    assert 20 <= aliases <= 60  # 10 % of 300 hosts have one or two
    fine = [site for site in (3, 4, 7, 13, 14, 17, 23, 24, 27) if web.card(site).fate is Fate.OK]
    bodies = {_ask(web, site, "/").body for site in fine}
    assert len(bodies) == len(fine)


def test_a_mirror_shows_its_models_pages_with_other_boilerplate(web: Web) -> None:
    mirrors = [site for site in range(300) if web.card(site).model != site]
    assert mirrors
    for site in mirrors:
        card, model = web.card(site), web.card(web.card(site).model)
        assert card.address != model.address and card.host != model.host
        for page in range(min(3, web.skeleton(site).pages)):
            one, two = (_ask(web, number, path_of(card.paths, page)) for number in (site, model.site))
            assert (one.manner, one.status, len(one.body)) == (two.manner, two.status, len(two.body))
            if one.status == 200 and one.manner is Manner.WHOLE:
                assert one.body != two.body


def test_a_copy_has_the_body_of_the_page_before_it(web: Web) -> None:
    compared = 0
    for site in range(60):
        card, skeleton = web.card(site), web.skeleton(site)
        for page in np.flatnonzero(skeleton.copy)[:3].tolist():
            one, two = (_ask(web, site, path_of(card.paths, number)) for number in (page - 1, page))
            assert one.body == two.body
            compared += 1
    assert compared > 30


def test_a_case_variant_has_the_body_of_its_true_form(web: Web) -> None:
    site = next(s for s in range(300) if web.card(s).paths.folds_case and web.skeleton(s).pages > 20)
    card = web.card(site)
    for page in range(1, 20):
        path = path_of(card.paths, page)
        if "%" not in path:
            assert _ask(web, site, in_other_case(path, 1)) == _ask(web, site, path)


def test_pages_decode_in_the_charset_they_declare_and_hold_korean_words(web: Web) -> None:
    korean = 0
    for site in range(100):
        card, skeleton = web.card(site), web.skeleton(site)
        answer = _ask(web, site, "/")
        if card.fate is not Fate.OK or skeleton.kind[0] == 1:
            continue
        said = dict(answer.headers)["Content-Type"] + answer.body[:1024].decode("latin-1")
        assert f"charset={card.tongue.label}" in said.replace('"', "")
        text = answer.body.decode(card.tongue.codec)
        korean += any("가" <= sign <= "힣" for sign in text)
    assert korean > 60


def test_answers_are_slower_when_a_delay_is_asked_for() -> None:
    slow = Web(Lab(sites=20, delay=0.3, faults=False))
    waits = [_ask(slow, site, "/").delay_s for site in range(20)]
    assert min(waits) > 0 and len(set(waits)) == 20
    assert 0.2 < sorted(waits)[10] < 2.0
    assert all(_ask(Web(Lab(sites=20, faults=False)), site, "/").delay_s == 0 for site in range(3))


def test_a_web_of_a_million_sites_costs_no_more_to_make_than_a_small_one() -> None:
    large = Web(Lab(sites=1_000_000))
    for site in (0, 123_456, 999_999):
        card = large.card(site)
        assert large.site_of(card.host, 8480, card.address) == site
        assert len(large.skeleton(site).fate) > 0
    assert large.skeletons.held_bytes < 64 << 20
