"""Names and their addresses, from a real name server on loopback (N13, N14, D9, D11, D12, H1-H5, S1-19)."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.rrset
import pytest

from nephila.clock import Clock
from nephila.config.sections import Net
from nephila.crawl.addresses import Allowed
from nephila.crawl.name_servers import Found, parse_nameservers
from nephila.crawl.resolver import (
    MAX_ADDRESSES,
    Resolved,
    Resolver,
    Unresolved,
    judge,
    known_without_query,
    parse_hosts,
)
from nephila.errors import ConfigError
from nephila.records import Outcome

LAB = Allowed.parse(["127.1.0.0/16", "::1/128"])
RECORDS: dict[tuple[str, str], list[str]] = {
    ("one.test.", "A"): ["127.1.0.1"],
    ("late.test.", "A"): ["127.1.0.3"],
    ("two.test.", "A"): ["127.1.0.1", "127.1.0.2"],
    ("six.test.", "AAAA"): ["::1"],
    ("both.test.", "A"): ["127.1.0.9"],
    ("both.test.", "AAAA"): ["::1"],
    ("mixed.test.", "A"): ["127.1.0.1", "127.6.6.6"],
    ("private.test.", "A"): ["10.0.0.1"],
    ("many.test.", "A"): [f"127.1.{number // 250}.{number % 250 + 1}" for number in range(1000)],
    ("mapped.test.", "AAAA"): ["::ffff:127.6.6.6"],
}


@dataclass
class NameServer:
    """Answers from RECORDS, and acts up by name; counts what it is asked."""

    port: int = 0
    asked: Counter[tuple[str, str]] = field(default_factory=Counter)
    ttl_s: int = 300
    late_s: float = 0.0  # what names that begin with "late" are kept waiting
    silent: asyncio.Event = field(default_factory=asyncio.Event)

    def answer(self, packet: bytes, *, over_tcp: bool) -> bytes | None:
        query = dns.message.from_wire(packet)
        question = query.question[0]
        name, kind = question.name.to_text().lower(), dns.rdatatype.to_text(question.rdtype)
        self.asked[name, kind] += 1
        if name.startswith("slow"):
            self.silent.set()
            return None
        if name.startswith("rubbish"):
            return packet[:2] + b"\xff" * 20
        reply = dns.message.make_response(query)
        if name.startswith("servfail"):
            reply.set_rcode(dns.rcode.SERVFAIL)
        elif name.startswith("refused"):
            reply.set_rcode(dns.rcode.REFUSED)
        elif name.startswith("loop"):
            reply.answer.append(dns.rrset.from_text(name, self.ttl_s, "IN", "CNAME", name))
        elif not any(known == name for known, _ in RECORDS) and not name.startswith("empty"):
            reply.set_rcode(dns.rcode.NXDOMAIN)
        else:
            addresses = RECORDS.get((name, kind), [])
            if len(addresses) > 20 and not over_tcp:
                reply.flags |= dns.flags.TC
            elif addresses:
                reply.answer.append(dns.rrset.from_text(name, self.ttl_s, "IN", kind, *addresses))
        return reply.to_wire(max_size=65535)


class _Datagrams(asyncio.DatagramProtocol):
    def __init__(self, server: NameServer) -> None:
        self._server = server

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def datagram_received(self, data: bytes, addr: Any) -> None:
        reply = self._server.answer(data, over_tcp=False)
        if reply is None:
            return
        late_s = self._server.late_s if b"\x04late" in data else 0.0
        asyncio.get_running_loop().call_later(late_s, self._transport.sendto, reply, addr)


@contextlib.asynccontextmanager
async def name_server() -> AsyncIterator[NameServer]:
    server = NameServer()

    async def serve_tcp(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                length = int.from_bytes(await reader.readexactly(2), "big")
                reply = server.answer(await reader.readexactly(length), over_tcp=True) or b""
                writer.write(len(reply).to_bytes(2, "big") + reply)
        writer.close()

    tcp = await asyncio.start_server(serve_tcp, "127.0.0.1", 0)
    server.port = tcp.sockets[0].getsockname()[1]
    loop = asyncio.get_running_loop()
    udp, _ = await loop.create_datagram_endpoint(lambda: _Datagrams(server), ("127.0.0.1", server.port))
    try:
        yield server
    finally:
        udp.close()
        tcp.close()


class StoppedClock(Clock):
    """A clock that a test moves by hand."""

    moved_s = 1000.0

    def now(self) -> float:
        return StoppedClock.moved_s

    def monotonic(self) -> float:
        return StoppedClock.moved_s


@contextlib.asynccontextmanager
async def resolving(allowed: Allowed = LAB, **net: Any) -> AsyncIterator[tuple[Resolver, NameServer]]:
    StoppedClock.moved_s = 1000.0
    async with name_server() as server:
        settings = Net(nameservers=(f"127.0.0.1:{server.port}",), **{"dns_timeout": 2.0, **net})
        resolver = Resolver(settings, allowed, StoppedClock())
        try:
            yield resolver, server
        finally:
            await resolver.aclose()


@pytest.mark.parametrize(
    ("host", "addresses"),
    [
        ("one.test", ("127.1.0.1",)),
        ("ONE.test.", ("127.1.0.1",)),
        ("two.test", ("127.1.0.1", "127.1.0.2")),
        ("six.test", ("::1",)),
        ("both.test", ("127.1.0.9",)),  # IPv4 before IPv6
        ("127.1.5.5", ("127.1.5.5",)),
        ("[::1]", ("::1",)),
    ],
)
async def test_a_host_has_its_addresses(host: str, addresses: tuple[str, ...]) -> None:
    async with resolving() as (resolver, _):
        assert await resolver.resolve(host) == Resolved(addresses, resolver_expiry(host))


def resolver_expiry(host: str) -> float:
    return 1000.0 + (300.0 if host.lower().rstrip(".").endswith("test") else 86_400.0)


@pytest.mark.parametrize(
    ("host", "outcome"),
    [
        ("nowhere.test", Outcome.DNS_NXDOMAIN),  # H1
        ("servfail.test", Outcome.DNS_FAIL),  # H2
        ("refused.test", Outcome.DNS_FAIL),
        ("empty.test", Outcome.DNS_FAIL),
        ("loop.test", Outcome.DNS_FAIL),  # H4
        ("slow.test", Outcome.DNS_TIMEOUT),  # H3
        ("mixed.test", Outcome.BLOCKED_ADDRESS),  # D11
        ("private.test", Outcome.BLOCKED_ADDRESS),
        ("mapped.test", Outcome.BLOCKED_ADDRESS),
        ("127.6.6.6", Outcome.BLOCKED_ADDRESS),
        ("[::ffff:127.6.6.6]", Outcome.BLOCKED_ADDRESS),
        ("2131101190", Outcome.BLOCKED_ADDRESS),  # D9
        ("0x7f.6.6.6", Outcome.BLOCKED_ADDRESS),
        ("0177.6.6.6", Outcome.BLOCKED_ADDRESS),
        ("127.6.1542", Outcome.BLOCKED_ADDRESS),
        ("", Outcome.DNS_NXDOMAIN),
        ("a..test", Outcome.DNS_NXDOMAIN),
        ("a b.test", Outcome.DNS_NXDOMAIN),
        ("x" * 64 + ".test", Outcome.DNS_NXDOMAIN),
        ("x." * 127 + "test", Outcome.DNS_NXDOMAIN),
        ("한글.test", Outcome.DNS_NXDOMAIN),
    ],
)
async def test_a_host_without_usable_address_has_an_outcome_and_a_reason(host: str, outcome: Outcome) -> None:
    async with resolving(dns_timeout=0.4) as (resolver, _):
        found = await resolver.resolve(host)
    assert isinstance(found, Unresolved)
    assert (found.outcome, bool(found.reason)) == (outcome, True)


async def test_a_malformed_answer_is_no_address() -> None:  # H2
    async with resolving(dns_timeout=0.4) as (resolver, _):
        found = await resolver.resolve("rubbish.test")
    assert isinstance(found, Unresolved)
    assert found.outcome in (Outcome.DNS_FAIL, Outcome.DNS_TIMEOUT)


async def test_a_malformed_answer_takes_no_other_name_with_it() -> None:  # H2
    # given a question that is under way, and one whose answer is rubbish
    async with resolving(dns_timeout=5.0) as (resolver, server):
        server.late_s = 0.3
        other = asyncio.create_task(resolver.resolve("late.test"))
        await resolver.resolve("servfail.test")  # by now both have left on the same socket
        bad = asyncio.create_task(resolver.resolve("rubbish.test"))
        # then the first is answered all the same
        assert isinstance(await other, Resolved)
        bad.cancel()
        await asyncio.gather(bad, return_exceptions=True)


async def test_of_a_thousand_addresses_a_few_are_used() -> None:  # H4
    async with resolving() as (resolver, _):
        found = await resolver.resolve("many.test")
    assert isinstance(found, Resolved)
    assert len(found.addresses) == MAX_ADDRESSES


async def test_one_question_however_many_ask() -> None:  # S1-19
    async with resolving() as (resolver, server):
        answers = await asyncio.gather(*(resolver.resolve("one.test") for _ in range(100)))
        again = await resolver.resolve("one.test")
        assert {*answers, again} == {Resolved(("127.1.0.1",), 1300.0)}
        assert resolver.queries == 1
        assert server.asked["one.test.", "A"] == 1


async def test_one_who_stops_waiting_does_not_stop_the_others() -> None:
    async with resolving(dns_timeout=0.4) as (resolver, server):
        leaving = asyncio.create_task(resolver.resolve("slow.test"))
        staying = asyncio.create_task(resolver.resolve("slow.test"))
        await server.silent.wait()
        leaving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await leaving
        assert not staying.done()
        assert isinstance(await staying, Unresolved)


async def test_a_name_that_takes_long_is_heard_from_a_server_that_is_quick_for_others() -> None:
    async with resolving(dns_timeout=3.0) as (resolver, server):
        for number in range(30):  # c-ares learns from these how little it need wait
            await resolver.resolve(f"nowhere{number}.test")
        server.late_s = 1.2
        found = await resolver.resolve("late.test")
        assert isinstance(found, Resolved)
        assert found.addresses == ("127.1.0.3",)


async def test_a_slow_name_does_not_hold_up_another() -> None:  # H3
    async with resolving() as (resolver, server):
        slow = asyncio.create_task(resolver.resolve("slow.test"))
        await server.silent.wait()
        assert isinstance(await resolver.resolve("one.test"), Resolved)
        assert not slow.done()


@pytest.mark.parametrize(("ttl_s", "kept_s"), [(0, 60), (300, 300), (10_000_000, 86_400)])
async def test_an_answer_is_kept_for_its_time_within_bounds(ttl_s: int, kept_s: int) -> None:
    async with resolving() as (resolver, server):
        server.ttl_s = ttl_s
        await resolver.resolve("one.test")
        StoppedClock.moved_s += kept_s - 1
        await resolver.resolve("one.test")
        assert resolver.queries == 1
        StoppedClock.moved_s += 2
        await resolver.resolve("one.test")
        assert resolver.queries == 2


async def test_that_there_is_no_such_name_is_kept_too() -> None:
    async with resolving() as (resolver, _):
        for moved_s, queries in ((0, 1), (59, 1), (2, 2)):
            StoppedClock.moved_s += moved_s
            await resolver.resolve("nowhere.test")
            assert resolver.queries == queries


async def test_without_ipv6_a_name_with_ipv6_only_has_no_address() -> None:
    async with resolving(ipv6=False) as (resolver, server):
        found = await resolver.resolve("six.test")
    assert isinstance(found, Unresolved)
    assert server.asked["six.test.", "AAAA"] == 0


async def test_a_hosts_file_answers_before_any_name_server(tmp_path: Path) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text(
        "# the lab\n127.1.7.7  One.Test www.one.test # two names\n\n::1 six.example\n127.6.6.6 bad.example\n"
    )
    async with resolving(hosts=str(hosts)) as (resolver, _):
        assert await resolver.resolve("one.test") == Resolved(("127.1.7.7",), 87_400.0)
        assert await resolver.resolve("WWW.one.test.") == Resolved(("127.1.7.7",), 87_400.0)
        assert await resolver.resolve("six.example") == Resolved(("::1",), 87_400.0)
        refused = await resolver.resolve("bad.example")
        assert isinstance(refused, Unresolved)
        assert refused.outcome is Outcome.BLOCKED_ADDRESS
        assert resolver.queries == 0


def test_several_lines_for_one_name_add_up() -> None:
    assert parse_hosts("127.0.0.1 a\n::1 a b\n127.0.0.1 a\n", "hosts") == {"a": ("127.0.0.1", "::1"), "b": ("::1",)}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("127.0.0.1 a\nrubbish b\n", "hosts, line 2: 'rubbish' is no IP address"),
        ("# x\n127.0.0.1 # a", "hosts, line 2: no name follows"),
    ],
)
def test_a_bad_line_is_named_with_its_number(text: str, sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        parse_hosts(text, "hosts")


def test_a_hosts_file_that_is_not_there_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"net\.hosts: /no/such/file cannot be read"):
        Resolver(Net(hosts="/no/such/file"), LAB, Clock())


def test_name_servers_are_written_with_or_without_port() -> None:
    assert parse_nameservers(["127.0.0.1", "127.0.0.1:5353", "::1", "[::1]:5353"]) == (
        ("127.0.0.1", 53), ("127.0.0.1", 5353), ("::1", 53), ("::1", 5353),
    )  # fmt: skip
    for rubbish in ("dns.example", "127.0.0.1:0", "127.0.0.1:99999", "", "[::1", "127.0.0.1:x"):
        with pytest.raises(ConfigError, match=r"net\.nameservers"):
            parse_nameservers([rubbish])


def test_all_addresses_are_judged_and_not_only_those_used() -> None:
    many = (*(f"127.1.0.{number}" for number in range(1, 20)), "127.6.6.6")
    verdict = judge(Found(many, 100.0), LAB, now=0.0)
    assert isinstance(verdict, Unresolved)
    assert (verdict.outcome, verdict.expires_at) == (Outcome.BLOCKED_ADDRESS, 100.0)


def test_a_site_stays_at_its_address_when_the_server_rotates_its_answer() -> None:
    first, second = (
        judge(Found(found), LAB, now=0.0) for found in (("127.1.0.9", "127.1.0.10"), ("127.1.0.10", "127.1.0.9"))
    )
    assert first == second == Resolved(("127.1.0.9", "127.1.0.10"), 60.0)


def test_a_usual_name_needs_a_query() -> None:
    assert known_without_query("www.example.org", {}, use_ipv6=True) is None
    assert known_without_query("_dmarc.x-1.example", {}, use_ipv6=True) is None
