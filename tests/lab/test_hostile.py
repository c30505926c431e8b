"""The table of hostile sites is sound, and its page of documentation is the table."""

from __future__ import annotations

from ipaddress import ip_address, ip_network
from pathlib import Path

from nephila.lab.hostile.listing import listing
from nephila.lab.hostile.places import CANARY_ADDRESS, RANGE, spellings_of
from nephila.lab.hostile.sites import HostileSites, listeners
from nephila.lab.hostile.table import TABLE
from nephila.records import Outcome
from nephila.urls import NO_RULES, normalise

ROOT = Path(__file__).parents[2]


def test_every_row_has_a_name_an_address_and_outcomes_that_exist() -> None:
    names = [row.site_name for row in TABLE]
    assert len(set(names)) == len(names) == len({row.row for row in TABLE})
    outcomes = {outcome.value for outcome in Outcome}
    for row in TABLE:
        assert {word for said in (row.expected, *row.paths.values()) for word in said.split()} <= outcomes, row.row


def test_every_listener_has_its_own_address_in_the_range_but_the_canary() -> None:
    addresses = [address for address, _ in listeners()]
    assert len(set(addresses)) == len(addresses)
    outside = [address for address in addresses if ip_address(address) not in ip_network(RANGE)]
    assert outside == [CANARY_ADDRESS]


def test_seeds_are_urls_in_normal_form() -> None:
    seeds = list(HostileSites().seeds(8480))
    assert [normalise(seed, NO_RULES) for seed in seeds] == seeds
    assert len(seeds) > len(TABLE)


def test_there_are_thirty_ways_to_write_an_address() -> None:
    assert len(set(spellings_of(CANARY_ADDRESS, 80))) >= 30


def test_the_page_of_documentation_is_the_table() -> None:
    written = (ROOT / "docs" / "hostile-sites.md").read_text(encoding="utf-8")
    assert written == listing(), "run: python -m nephila.lab.hostile.listing > docs/hostile-sites.md"
