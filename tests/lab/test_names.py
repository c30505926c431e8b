"""Names and addresses are computed from numbers and lead back to them."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from nephila.lab import figures
from nephila.lab.addresses import address_of, shares_address, sites_at
from nephila.lab.names import Names, decode_number, encode_number

_MILLION = 1_000_000


@given(st.integers(0, 10**9))
def test_a_code_leads_back_to_its_number(number: int) -> None:
    assert decode_number(encode_number(number)) == number


@given(st.integers(0, 2**32), st.integers(0, _MILLION - 1))
def test_a_name_and_a_nickname_tell_their_site(seed: int, site: int) -> None:
    names = Names(seed, _MILLION)
    assert names.number(names.name(site)) == site
    assert names.number(names.nickname(site)) == site
    assert names.name(site) != names.nickname(site)


@given(st.text(alphabet="abc019.-", max_size=30))
def test_a_strangers_name_is_no_site(name: str) -> None:
    names = Names(1, 1000)
    number = names.number(name)
    assert number is None or name in (names.name(number), names.nickname(number))


def test_a_name_beyond_the_last_site_is_no_site() -> None:
    assert Names(1, 10).number(Names(1, 100).name(50)) is None


def test_names_are_distinct_and_have_the_papers_shape() -> None:
    # given as many names as a small survey has (S1-28, S1-29)
    names = Names(3, 20_000)
    made = [names.name(site) for site in range(20_000)]
    # then no two are equal, lengths and labels are the paper's, and every label is a legal one
    assert len(set(made)) == len(made)
    lengths = [len(name) for name in made]
    assert min(lengths) >= 5 and max(lengths) <= 49
    assert abs(sum(lengths) / len(lengths) - figures.SEED_LENGTH[2]) < 0.12
    labels = Counter(name.count(".") + 1 for name in made)
    whole = sum(figures.LABELS.values())
    assert all(abs(labels[count] / 20_000 - printed / whole) < 0.012 for count, printed in figures.LABELS.items())
    assert all(label and len(label) < 64 and label.isalnum() for name in made[:500] for label in name.split("."))


def test_domains_are_mixed_as_in_the_study() -> None:
    names = Names(4, 20_000)
    last = Counter(names.name(site).rpartition(".")[2] for site in range(20_000))
    for domain, part in (("kr", 0.534), ("com", 0.341), ("net", 0.081), ("org", 0.015)):
        assert abs(last[domain] / 20_000 - part) < 0.015


@given(st.integers(0, 10_000_000))
def test_an_address_tells_its_sites(site: int) -> None:
    address = address_of(site)
    parts = [int(part) for part in address.split(".")]
    assert parts[0] == 127 and 1 <= parts[1] <= 200 and 1 <= parts[3] <= 254
    assert site in sites_at(address, 20_000_000)
    assert shares_address(site) == (len(sites_at(address, 20_000_000)) > 1)


def test_three_of_ten_sites_share_an_address_and_no_others() -> None:
    addresses = Counter(address_of(site) for site in range(10_000))
    assert Counter(addresses.values()) == {1: 7_000, 3: 1_000}


def test_the_labs_own_addresses_and_nonsense_hold_no_site() -> None:
    for address in ("127.0.0.1", "127.0.0.53", "10.1.2.3", "127.1.0.0", "127.1.0.255", "127.1.0", "127.1.0.x", ""):
        assert sites_at(address, _MILLION) == ()
