"""Which addresses may be asked: in goes an address as text, out comes a reason to refuse it, or None.

Only global unicast passes. The table is our own copy of the IANA registries of special-purpose addresses (IPv4 and
IPv6, as of November 2026) because `ipaddress.is_global` was wrong in interpreters that are still in use
(CVE-2024-4032). An address that carries another one inside (IPv4-mapped, 6to4, Teredo, NAT64 …) is judged by what it
carries: nobody gets in by writing 127.0.0.1 in another way (N4, D8-D10).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

from nephila.errors import ConfigError

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# Blocks that hold a few globally reachable anycast services (192.0.0.0/24, 2001::/23) are refused whole: no web
# server lives there. AS112 and AMT blocks (192.31.196.0/24, 192.52.193.0/24, 192.175.48.0/24) are global and pass.
_SPECIAL_IPV4: Final = (
    ("0.0.0.0/8", "this network"),
    ("10.0.0.0/8", "private"),
    ("100.64.0.0/10", "shared by carriers"),
    ("127.0.0.0/8", "loopback"),
    ("169.254.0.0/16", "link-local"),
    ("172.16.0.0/12", "private"),
    ("192.0.0.0/24", "protocol assignments"),
    ("192.0.2.0/24", "documentation"),
    ("192.88.99.0/24", "6to4 relays"),
    ("192.168.0.0/16", "private"),
    ("198.18.0.0/15", "benchmarking"),
    ("198.51.100.0/24", "documentation"),
    ("203.0.113.0/24", "documentation"),
    ("224.0.0.0/4", "multicast"),
    ("240.0.0.0/4", "reserved"),
)
_SPECIAL_IPV6: Final = (
    ("::/128", "unspecified"),
    ("::1/128", "loopback"),
    ("64:ff9b:1::/48", "local translation"),
    ("100::/64", "discard"),
    ("100:0:0:1::/64", "dummy prefix"),
    ("2001::/23", "protocol assignments"),
    ("2001:db8::/32", "documentation"),
    ("3fff::/20", "documentation"),
    ("5f00::/16", "segment routing"),
    ("fc00::/7", "private"),
    ("fe80::/10", "link-local"),
    ("fec0::/10", "site-local"),
    ("ff00::/8", "multicast"),
)
_GLOBAL_UNICAST_IPV6: Final = IPv6Network("2000::/3")

_IPV4_TABLE: Final = tuple((IPv4Network(block), reason) for block, reason in _SPECIAL_IPV4)
_IPV6_TABLE: Final = tuple((IPv6Network(block), reason) for block, reason in _SPECIAL_IPV6)

_LOCAL_TRANSLATION: Final = IPv6Network("64:ff9b:1::/48")
_LAST_32_BITS: Final = tuple(
    IPv6Network(block)
    for block in (
        "::ffff:0:0/96",  # IPv4-mapped
        "::ffff:0:0:0/96",  # IPv4-translated (SIIT)
        "::/96",  # IPv4-compatible
        "64:ff9b::/96",  # NAT64
        "64:ff9b:1::/48",  # NAT64, local use; read in its usual /96 layout
    )
)
_6TO4: Final = IPv6Network("2002::/16")
_TEREDO: Final = IPv6Network("2001::/32")
_MASK_32: Final = 0xFFFF_FFFF


@dataclass(frozen=True, slots=True)
class Allowed:
    """The ranges of `net.allow_private`: what lies in them may be asked although it is not global."""

    networks: tuple[Network, ...] = ()

    @staticmethod
    def parse(ranges: Iterable[str]) -> Allowed:
        networks: list[Network] = []
        for written in ranges:
            try:
                networks.append(ip_network(written.strip()))
            except ValueError as error:
                raise ConfigError(
                    f"net.allow_private: {written!r} is no range of addresses ({error}); "
                    'write it like "127.0.0.0/8" or "fd00::/8".'
                ) from None
        return Allowed(tuple(networks))

    def holds(self, address: Address) -> bool:
        return any(address.version == network.version and address in network for network in self.networks)


def embedded(address: Address) -> IPv4Address | None:
    """The IPv4 address that an IPv6 address carries inside, if it is of a form that does."""
    if isinstance(address, IPv4Address):
        return None
    number = int(address)
    if address in _6TO4:
        return IPv4Address((number >> 80) & _MASK_32)
    if address in _TEREDO:
        return IPv4Address(~number & _MASK_32)
    if number > 1 and any(address in network for network in _LAST_32_BITS):  # :: and ::1 are no IPv4 addresses
        return IPv4Address(number & _MASK_32)
    return None


def _special(address: Address) -> str | None:
    if isinstance(address, IPv4Address):
        return next((reason for network, reason in _IPV4_TABLE if address in network), None)
    special = next((reason for network, reason in _IPV6_TABLE if address in network), None)
    if special is None and address not in _GLOBAL_UNICAST_IPV6:
        return "not global unicast"
    return special


def parse_address(text: str) -> Address | None:
    """An address in its one strict form; a zone (`fe80::1%eth0`) or any other spelling is none."""
    try:
        return None if "%" in text else ip_address(text)
    except ValueError:
        return None


def refusal(address: str, allowed: Allowed) -> str | None:
    """Why this address must not be asked, or None if it may be."""
    parsed = parse_address(address)
    if parsed is None:
        return f"{address!r} is no address"
    inner = embedded(parsed)
    if inner is None:
        reason = _special(parsed)
        return None if reason is None or allowed.holds(parsed) else f"{address} is {reason}"
    if parsed in _LOCAL_TRANSLATION and not allowed.holds(parsed):
        return f"{address} is local translation"
    reason = _special(inner)
    return None if reason is None or allowed.holds(inner) else f"{address} carries {inner}, which is {reason}"


def is_loopback(address: str) -> bool:
    """Whether this address, or the one it carries inside, never leaves this machine."""
    parsed = parse_address(address)
    if parsed is None:
        return False
    return (embedded(parsed) or parsed).is_loopback
