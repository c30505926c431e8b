"""Only global unicast is asked, however an address is spelled (N4, D8-D10)."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nephila.crawl.addresses import Allowed, embedded, is_loopback, refusal
from nephila.errors import ConfigError

NOTHING = Allowed()


@pytest.mark.parametrize(
    "address",
    [
        "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1", "127.6.6.6", "10.1.2.3", "172.16.0.1",
        "172.31.255.255", "192.168.1.1", "192.0.0.8", "192.0.2.1", "192.88.99.1", "198.18.0.1", "198.19.255.255",
        "198.51.100.7",
        "203.0.113.9", "240.0.0.1", "255.255.255.255", "::", "::1", "fe80::1", "febf::1", "fd00::1", "fc00::1",
        "fec0::1", "ff02::1", "100::1", "100:0:0:1::1", "2001:2::1", "2001:10::1", "2001:20::1", "2001:db8::1",
        "3fff::1",
        "5f00::1", "4000::1", "64:ff9b:1::808:808", "::ffff:127.6.6.6", "::ffff:10.0.0.1", "::127.6.6.6",
        "::ffff:0:127.6.6.6", "2002:7f06:606::1", "2002:a00:1::", "64:ff9b::7f06:606", "64:ff9b::169.254.169.254",
        "2001:0:4136:e378:8000:63bf:80f9:f9f9",  # Teredo of 127.6.6.6
    ],
)  # fmt: skip
def test_an_address_that_is_not_global_is_refused(address: str) -> None:
    assert refusal(address, NOTHING) is not None


@pytest.mark.parametrize(
    "address",
    ["8.8.8.8", "1.1.1.1", "172.32.0.1", "100.128.0.1", "223.255.255.255", "192.31.196.1", "2606:4700::1111",
     "2001:4860:4860::8888", "2a00::1", "64:ff9b::808:808", "::ffff:8.8.8.8", "2002:808:808::1"],
)  # fmt: skip
def test_a_global_address_passes_and_so_does_one_that_carries_a_global_one(address: str) -> None:
    assert refusal(address, NOTHING) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "localhost",
        "2131101190",
        "0x7f.6.6.6",
        "0177.6.6.6",
        "127.6.1542",
        "127.1",
        "fe80::1%eth0",
        "1.2.3.4 ",
        "[::1]",
    ],
)
def test_what_is_no_address_in_its_strict_form_is_refused(text: str) -> None:
    assert refusal(text, Allowed.parse(["0.0.0.0/0", "::/0"])) is not None


def test_the_reason_names_the_address_inside() -> None:
    assert refusal("::ffff:127.6.6.6", NOTHING) == "::ffff:127.6.6.6 carries 127.6.6.6, which is loopback"


def test_an_allowed_range_lets_in_what_lies_in_it_and_nothing_else() -> None:
    allowed = Allowed.parse(["127.1.0.0/16", "fd00::/8"])
    assert refusal("127.1.2.3", allowed) is None
    assert refusal("::ffff:127.1.2.3", allowed) is None
    assert refusal("fd12::1", allowed) is None
    assert refusal("127.6.6.6", allowed) is not None
    assert refusal("::ffff:127.6.6.6", allowed) is not None
    assert refusal("64:ff9b::7f06:606", allowed) is not None


def test_allowing_the_outer_form_does_not_allow_the_address_inside() -> None:
    assert refusal("64:ff9b:1::7f06:606", Allowed.parse(["64:ff9b:1::/48"])) is not None
    assert refusal("64:ff9b:1::808:808", Allowed.parse(["64:ff9b:1::/48"])) is None
    assert refusal("2002:7f06:606::1", Allowed.parse(["2002::/16"])) is not None


@pytest.mark.parametrize("written", ["rubbish", "127.0.0.1/8", "127.0.0.0/33", "", "10.0.0.0-10.0.0.9"])
def test_a_range_that_is_none_is_refused_with_a_sentence(written: str) -> None:
    with pytest.raises(ConfigError, match=r"net\.allow_private: .* write it like"):
        Allowed.parse([written])


@given(st.ip_addresses(v=4))
def test_every_form_that_carries_an_ipv4_address_is_judged_like_it(inner: IPv4Address) -> None:
    number = int(inner)
    forms = [
        IPv6Address(0xFFFF << 32 | number),
        IPv6Address(0x64FF9B << 96 | number),
        IPv6Address(0x2002 << 112 | number << 80 | 1),
        IPv6Address(0x20010000 << 96 | (number ^ 0xFFFFFFFF)),
    ]
    for form in forms:
        assert embedded(form) == inner
        assert (refusal(str(form), NOTHING) is None) == (refusal(str(inner), NOTHING) is None)


@given(st.ip_addresses())
def test_what_passes_is_never_private_to_the_standard_library(address: IPv4Address | IPv6Address) -> None:
    if refusal(str(address), NOTHING) is None:
        inner = embedded(address) or address
        assert not (inner.is_loopback or inner.is_link_local or inner.is_multicast or inner.is_unspecified)
        assert not inner.is_private


def test_loopback_is_known_in_all_its_forms() -> None:
    assert all(is_loopback(address) for address in ("127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"))
    assert not any(is_loopback(address) for address in ("8.8.8.8", "10.0.0.1", "::", "rubbish"))
