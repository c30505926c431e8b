"""The coordinator's list: each site once, parcels applied once, limits that are never exceeded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from nephila.crawl.messages import Credit, Findings, Orders, OutLink, SiteEnded
from nephila.crawl.site_list import Admission, Located, SiteList
from nephila.records import Outcome

WEB = Admission(follow_links=True, max_sites=None)
NOW = 1000.0


@pytest.fixture
def sites(tmp_path: Path) -> Iterator[SiteList]:
    opened = SiteList(tmp_path / "coordinator.db", 2, sync=False)
    yield opened
    opened.close()


def lease(sites: SiteList, *hosts: str) -> dict[str, int]:
    """Sites with an address each, handed out; gives their slots."""
    numbers = {site.url: site.number for site in sites.new_sites(100, set())}
    located = [Located(numbers[f"http://{host}"], f"127.0.0.{place + 1}") for place, host in enumerate(hosts)]
    return {site.url.removeprefix("http://"): orders.slot for orders in sites.lease(located) for site in orders.sites}


def link(url: str) -> OutLink:
    return OutLink(url, "http://a.test/", "a")


def test_a_site_is_there_once_however_many_seeds_it_has(sites: SiteList) -> None:
    assert sites.add_given(["http://a.test/", "http://a.test/b", "http://c.test/", "http://a.test/"], WEB, NOW) == 3
    assert [site.url for site in sites.new_sites(10, set())] == ["http://a.test", "http://c.test"]
    assert list(sites.seeds()) == ["http://a.test/", "http://a.test/b", "http://c.test/"]


def test_addresses_belong_to_slots_and_are_spread_evenly(sites: SiteList) -> None:
    sites.add_given([f"http://{name}.test/" for name in "abcd"], WEB, NOW)
    slots = lease(sites, "a.test", "b.test", "c.test", "d.test")
    assert sorted(slots.values()) == [0, 0, 1, 1]
    # a later site on an address that is known goes where the address is
    sites.add_given(["http://e.test/"], WEB, NOW)
    assert lease(sites, "e.test") == {"e.test": slots["a.test"]}


def test_findings_that_come_twice_are_applied_once(sites: SiteList) -> None:
    sites.add_given(["http://a.test/"], WEB, NOW)
    slot = lease(sites, "a.test")["a.test"]
    sites.grant(slot, "pages", 100, 10)
    findings = Findings(slot, 1, (link("http://b.test/x"),), (SiteEnded(1, "done", 2),), (Credit("pages", 4),))
    sites.apply(findings, WEB, NOW)
    before = (sites.counts(), list(sites.seeds()), sites.granted("pages"))
    assert before[2] == 6
    assert sites.apply(findings, WEB, NOW + 1) == []
    assert (sites.counts(), list(sites.seeds()), sites.granted("pages")) == before


def test_a_further_seed_of_a_known_site_is_sent_to_its_slot_once(sites: SiteList) -> None:
    sites.add_given(["http://a.test/"], WEB, NOW)
    slot = lease(sites, "a.test")["a.test"]
    [orders] = sites.apply(Findings(slot, 1, (link("http://a.test/deep"),)), WEB, NOW)
    assert [seed.seed.path for seed in orders.seeds] == ["/deep"]
    assert sites.apply(Findings(slot, 2, (link("http://a.test/deep"), link("http://a.test/"))), WEB, NOW) == []


def test_an_end_that_was_true_before_the_last_parcel_does_not_count(sites: SiteList) -> None:
    sites.add_given(["http://a.test/"], WEB, NOW)
    slot = lease(sites, "a.test")["a.test"]
    [orders] = sites.apply(Findings(slot, 1, (link("http://a.test/late"),)), WEB, NOW)
    # the slot ended the site before it had the late seed
    sites.apply(Findings(slot, 2, ended=(SiteEnded(1, "done", orders.sequence - 1),)), WEB, NOW)
    assert sites.counts().leased == 1
    sites.apply(Findings(slot, 3, ended=(SiteEnded(1, "done", orders.sequence),)), WEB, NOW)
    assert sites.counts().done == 1


def test_parcels_wait_in_their_order_until_they_are_delivered(sites: SiteList) -> None:
    sites.add_given(["http://a.test/"], WEB, NOW)
    slot = lease(sites, "a.test")["a.test"]
    for number in range(1, 4):
        sites.apply(Findings(slot, number, (link(f"http://a.test/{number}"),)), WEB, NOW)
    assert [orders.sequence for orders in sites.undelivered(slot, 1)] == [2, 3, 4]
    assert [orders.sequence for orders in sites.outbox(slot, 3)] == [3, 4]
    assert sites.has_open()
    sites.delivered(slot, 4)
    assert sites.undelivered(slot, 4) == []


def test_a_purse_is_never_given_out_beyond_its_limit(sites: SiteList) -> None:
    assert [orders.credits for orders in sites.grant(0, "pages", 10, 7)] == [(Credit("pages", 7),)]
    assert [orders.credits for orders in sites.grant(1, "pages", 10, 7)] == [(Credit("pages", 3),)]
    assert sites.grant(0, "pages", 10, 7) == []
    sites.apply(Findings(1, 1, returned=(Credit("pages", 2),)), WEB, NOW)
    assert [orders.credits for orders in sites.grant(0, "pages", 10, 7)] == [(Credit("pages", 2),)]


def test_the_mode_and_max_sites_leave_sites_out_and_name_the_reason(sites: SiteList) -> None:
    sites.add_given(["http://a.test/"], WEB, NOW)
    slot = lease(sites, "a.test")["a.test"]
    only = Admission(follow_links=False, max_sites=None)
    sites.apply(Findings(slot, 1, (link("http://b.test/"),)), only, NOW)
    two = Admission(follow_links=True, max_sites=2)
    sites.apply(Findings(slot, 2, (link("http://c.test/"), link("http://d.test/"))), two, NOW)
    assert [site.url for site in sites.new_sites(10, set())] == ["http://c.test"]


def test_a_changed_limit_lets_in_what_it_had_left_out_and_tells_the_slots(sites: SiteList) -> None:
    one = Admission(follow_links=True, max_sites=1)
    sites.add_given(["http://a.test/", "http://z.test/"], one, NOW)
    sites.reopen("limits 1", one, NOW)
    slot = lease(sites, "a.test")["a.test"]
    sites.apply(Findings(slot, 1, (link("http://b.test/"),), (SiteEnded(1, "done", 1),)), one, NOW)
    assert sites.counts().new == 0
    # the same limits: nothing is let in
    sites.reopen("limits 1", one, NOW)
    assert sites.counts().new == 0
    assert sites.counts().done == 1
    # other limits: the user's own seed and the one that was found, and ended sites are looked at again
    sites.reopen("limits 2", WEB, NOW)
    assert {site.url for site in sites.new_sites(10, set())} == {"http://b.test", "http://z.test"}
    assert sites.counts().leased == 1
    sent: list[Orders] = [orders for each in (0, 1) for orders in sites.outbox(each, 1)]
    assert {orders.slot for orders in sent if orders.let_in} == {0, 1}


def test_seeds_that_were_left_out_stay_in_the_output_list(sites: SiteList) -> None:
    """S1-5: the output list contains the input list."""
    sites.add_given(["http://a.test/"], WEB, NOW)
    sites.add_outside(
        [("http://b.test/", Outcome.SCOPE_REJECTED, "scope"), ("rubbish", Outcome.URL_INVALID, "no")], NOW
    )
    assert list(sites.seeds()) == ["http://a.test/", "http://b.test/"]


def test_everything_is_there_again_when_the_list_is_opened_again(tmp_path: Path) -> None:
    first = SiteList(tmp_path / "coordinator.db", 2, sync=False)
    first.add_given(["http://a.test/", "http://b.test/"], WEB, NOW)
    lease(first, "a.test")
    first.close()
    again = SiteList(tmp_path / "coordinator.db", 2, sync=False)
    assert (again.counts().leased, again.counts().new) == (1, 1)
    assert sum(len(again.undelivered(slot, 0)) for slot in again.slots) == 1
    again.close()


def test_an_imported_site_keeps_its_slot_and_is_asked_for_nothing_before_its_address_is_known(sites: SiteList) -> None:
    # given a site out of an archive, with the address it had then
    [(number, slot)] = sites.enter([("http://a.test", "192.0.2.7")], NOW).values()
    sites.add_seeds([(number, "/x")], NOW)
    assert sites.enter([("http://a.test", "")], NOW) == {"http://a.test": (number, slot)}
    # when links and a plan of refresh name it, no order makes its slot ask it
    sites.apply(Findings(1 - slot, 1, (link("http://a.test/y"),)), WEB, NOW)
    sites.post_plan(1, [(number, 4711)], NOW)
    assert [site.number for site in sites.new_sites(10, set())] == [number]
    # then its address of today is leased to the slot that it has, with all its seeds
    [orders] = sites.lease([Located(number, "127.0.0.9")])
    assert orders.slot == slot and [seed.path for seed in orders.sites[0].seeds] == ["/x", "/y"]


def test_an_imported_site_on_an_address_of_another_slot_is_left_alone(sites: SiteList) -> None:
    # given that one address is asked by one slot alone, whatever an archive says
    sites.add_given(["http://a.test/", "http://b.test/"], WEB, NOW)
    owner = lease(sites, "a.test")["a.test"]
    entered = sites.enter([(f"http://{name}.test", "") for name in "cd"], NOW)
    [elsewhere] = [number for number, slot in entered.values() if slot != owner]
    assert sites.lease([Located(elsewhere, "127.0.0.1")]) == []
    assert elsewhere not in [site.number for site in sites.new_sites(10, set())]
