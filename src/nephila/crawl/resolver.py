"""From a host to addresses that may be asked: a hosts file, IP literals, then name servers.

Each name is looked up once however many ask at the same time, and what was found, or not found, is kept for its TTL
within 60 s to 24 h (S1-19: the queries are counted). A name with even one address that must not be asked is refused
whole, so that no answer can smuggle a private address in beside a public one (N13, N14, D11).
"""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from nephila.clock import Clock
from nephila.config.sections import Net
from nephila.crawl.addresses import Allowed, parse_address, refusal
from nephila.crawl.name_servers import NEGATIVE_TTL_S, Found, NameServers
from nephila.errors import ConfigError
from nephila.records import Outcome

MAX_ADDRESSES: Final = 8
MIN_TTL_S: Final = 60.0
MAX_TTL_S: Final = 86_400.0
MAX_NAMES: Final = 100_000

_NAME: Final = re.compile(
    r"(?=.{1,253}$)[0-9a-z_]([0-9a-z_-]{0,61}[0-9a-z_])?(\.[0-9a-z_]([0-9a-z_-]{0,61}[0-9a-z_])?)*"
)
# WHATWG: a host whose last label is a number is an IPv4 address or nothing; some libraries would read 0x7f.1 as one.
_ENDS_IN_NUMBER: Final = re.compile(r"(^|\.)([0-9]+|0x[0-9a-f]*)$")


@dataclass(frozen=True, slots=True)
class Resolved:
    """Addresses that may be asked, of one family, in order; `expires_at` is in the crawl's own UTC seconds."""

    addresses: tuple[str, ...]
    expires_at: float


@dataclass(frozen=True, slots=True)
class Unresolved:
    """Why there is no address: dns_nxdomain, dns_fail, dns_timeout or blocked_address."""

    outcome: Outcome
    reason: str
    expires_at: float


def parse_hosts(text: str, source: str) -> dict[str, tuple[str, ...]]:
    """Lines like those of /etc/hosts: an address, then its names; `#` begins a comment."""
    found: dict[str, list[str]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        address, names = words[0], words[1:]
        if parse_address(address) is None:
            raise ConfigError(
                f"{source}, line {number}: {address[:80]!r} is no IP address; write ADDRESS NAME [NAME …]."
            )
        if not names:
            raise ConfigError(f"{source}, line {number}: no name follows {address}; write ADDRESS NAME [NAME …].")
        for name in names:
            known = found.setdefault(_plain(name), [])
            if address not in known:
                known.append(address)
    return {name: tuple(addresses) for name, addresses in found.items()}


def read_hosts(path: str) -> dict[str, tuple[str, ...]]:
    """The hosts file of `net.hosts`; none if the key is empty."""
    if not path:
        return {}
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"net.hosts: {path} cannot be read ({error}); give a file like /etc/hosts.") from None
    return parse_hosts(text, path)


def judge(found: Found, allowed: Allowed, now: float) -> Resolved | Unresolved:
    """What becomes of an answer: all of its addresses must be allowed, then the first few are used."""
    expires_at = now + min(MAX_TTL_S, max(MIN_TTL_S, found.ttl_s))
    if found.outcome is not None:
        return Unresolved(found.outcome, found.reason, now + NEGATIVE_TTL_S)
    if not found.addresses:
        return Unresolved(Outcome.DNS_FAIL, "the name has no address", now + NEGATIVE_TTL_S)
    for address in found.addresses:
        refused = refusal(address, allowed)
        if refused is not None:
            return Unresolved(Outcome.BLOCKED_ADDRESS, refused, expires_at)
    # Servers rotate their answers; sorted, a site stays at one address, and so with one slot (DESIGN: Slots).
    in_order = sorted(found.addresses, key=lambda address: int(ip_address(address)))
    return Resolved(tuple(in_order[:MAX_ADDRESSES]), expires_at)


def known_without_query(host: str, hosts: Mapping[str, tuple[str, ...]], use_ipv6: bool) -> Found | None:
    """What needs no name server: the hosts file, literals, and names that cannot be."""
    name = _plain(host)
    if name in hosts:
        listed = hosts[name]
        ipv4 = tuple(address for address in listed if ":" not in address)
        return Found(ipv4 or (listed if use_ipv6 else ()), MAX_TTL_S)
    literal = parse_address(name)
    if literal is not None:
        if literal.version == 6 and not use_ipv6:
            return Found(ttl_s=MAX_TTL_S, outcome=Outcome.DNS_FAIL, reason="net.ipv6 is off")
        return Found((str(literal),), MAX_TTL_S)
    if _ENDS_IN_NUMBER.search(name):
        return Found(ttl_s=MAX_TTL_S, outcome=Outcome.BLOCKED_ADDRESS, reason=f"{name[:80]!r} is no address")
    if not _NAME.fullmatch(name):
        return Found(outcome=Outcome.DNS_NXDOMAIN, reason=f"{name[:80]!r} is no host name")
    return None


class Resolver:
    """Looks names up, each once (S1-19)."""

    def __init__(self, net: Net, allowed: Allowed, clock: Clock) -> None:
        self._allowed = allowed
        self._clock = clock
        self._timeout_s = net.dns_timeout
        self._use_ipv6 = net.ipv6
        self._name_servers = NameServers(net.nameservers, net.dns_timeout)
        self._hosts = read_hosts(net.hosts)
        self._known: OrderedDict[str, tuple[float, Resolved | Unresolved]] = OrderedDict()
        self._under_way: dict[str, asyncio.Task[Resolved | Unresolved]] = {}

    @property
    def queries(self) -> int:
        """How many questions were put to name servers."""
        return self._name_servers.queries

    async def resolve(self, host: str) -> Resolved | Unresolved:
        """The addresses of a host (a name, an IPv4 literal, an IPv6 literal with or without brackets)."""
        found = known_without_query(host, self._hosts, self._use_ipv6)
        if found is not None:
            return judge(found, self._allowed, self._clock.now())
        name = _plain(host)
        kept = self._known.get(name)
        # Kept by the monotonic clock: a jump of the wall clock neither empties the cache nor freezes it.
        if kept is not None and kept[0] > self._clock.monotonic():
            self._known.move_to_end(name)
            return kept[1]
        task = self._under_way.get(name)
        if task is None:
            task = asyncio.create_task(self._look_up(name))
            self._under_way[name] = task
            task.add_done_callback(lambda _: self._under_way.pop(name, None))
        return await asyncio.shield(task)

    def forget(self, host: str) -> None:
        """What was found is not to be believed: the next look-up asks again."""
        self._known.pop(_plain(host), None)

    async def aclose(self) -> None:
        """Give up what is under way and close the sockets."""
        tasks = list(self._under_way.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._name_servers.aclose()

    async def _look_up(self, name: str) -> Resolved | Unresolved:
        try:
            async with asyncio.timeout(self._timeout_s):
                found = await self._name_servers.ask(name, "A")
                if not found.addresses and found.outcome is None and self._use_ipv6:
                    found = await self._name_servers.ask(name, "AAAA")
        except TimeoutError:
            found = Found(outcome=Outcome.DNS_TIMEOUT, reason="the name server did not answer in time")
        now = self._clock.now()
        verdict = judge(found, self._allowed, now)
        self._known[name] = (self._clock.monotonic() + (verdict.expires_at - now), verdict)
        self._known.move_to_end(name)
        if len(self._known) > MAX_NAMES:
            self._known.popitem(last=False)
        return verdict


def _plain(host: str) -> str:
    """One spelling per name: lower case, no brackets, no dot at the end."""
    return host.strip("[]").rstrip(".").lower()
