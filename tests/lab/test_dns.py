"""The lab's name server, asked by a real resolver library over real sockets."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import dns.asyncquery
import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import pytest

from nephila.clock import Clock
from nephila.lab import witness
from nephila.lab.dns import DNS_ADDRESS, NameServer
from nephila.lab.lists import host_lines, write_list
from nephila.lab.ports import hold_ports
from nephila.lab.shared_clock import SharedClock


@dataclass(frozen=True)
class Place:
    kind: str
    addresses: tuple[str, ...] = ()
    delay_s: float = 0.0


@dataclass
class Names:
    places: dict[str, Place] = field(
        default_factory=lambda: {
            "one.example": Place("address", ("127.1.0.1",)),
            "many.example": Place("address", tuple(f"127.1.1.{last}" for last in range(200))),
            "broken.example": Place("servfail"),
            "slow.example": Place("slow", ("127.1.0.2",), 100.0),
        }
    )

    def resolve(self, name: str) -> Place:
        return self.places.get(name, Place("nxdomain"))

    def hosts(self) -> Iterator[tuple[str, str]]:
        for name, place in self.places.items():
            if place.kind == "address":
                yield place.addresses[0], name


Ask = Callable[[int], Awaitable[None]]


async def asking(folder: Path, ask: Ask, rate: float = 1.0) -> witness.Queries:
    """Run a name server around `ask(port)`; what it has logged."""
    held = hold_ports(0, 0)
    held.close()
    with SharedClock.create(folder / "clock", Clock(rate, 0.0, time.time())) as clock:
        server = NameServer(Names(), clock, folder)
        await server.listen(held.dns_port)
        try:
            await asyncio.wait_for(ask(held.dns_port), 20)
        finally:
            server.stop()
    return witness.read_queries(folder)


async def udp(name: str, kind: str, port: int) -> dns.message.Message:
    return await dns.asyncquery.udp(dns.message.make_query(name, kind), DNS_ADDRESS, 10, port)


async def test_names_resolve_and_fail_as_planted(tmp_path: Path) -> None:
    async def ask(port: int) -> None:
        found = await udp("ONE.example.", "A", port)
        assert found.rcode() == dns.rcode.NOERROR
        assert [record.to_text() for record in found.answer[0]] == ["127.1.0.1"]
        assert found.flags & dns.flags.AA
        empty = await udp("one.example", "AAAA", port)
        assert (empty.rcode(), empty.answer) == (dns.rcode.NOERROR, [])
        assert (await udp("none.example", "A", port)).rcode() == dns.rcode.NXDOMAIN
        assert (await udp("broken.example", "A", port)).rcode() == dns.rcode.SERVFAIL

    queries = await asking(tmp_path, ask)
    seen = list(zip(queries.name, queries.kind, queries.code, queries.transport, strict=True))
    assert seen == [
        ("one.example", "A", "NOERROR", "udp"),
        ("one.example", "AAAA", "NOERROR", "udp"),
        ("none.example", "A", "NXDOMAIN", "udp"),
        ("broken.example", "A", "SERVFAIL", "udp"),
    ]


async def test_an_answer_too_long_for_udp_comes_over_tcp(tmp_path: Path) -> None:
    async def ask(port: int) -> None:
        query = dns.message.make_query("many.example", "A")
        assert (await dns.asyncquery.udp(query, DNS_ADDRESS, 10, port, raise_on_truncation=False)).flags & dns.flags.TC
        whole, over_tcp = await dns.asyncquery.udp_with_fallback(query, DNS_ADDRESS, 10, port)
        assert over_tcp
        assert len(whole.answer[0]) == 200

    queries = await asking(tmp_path, ask)
    assert queries.transport.tolist() == ["udp", "udp", "tcp"]


@pytest.mark.parametrize("rate", [1000.0])
async def test_a_slow_name_answers_late_and_holds_up_nobody(tmp_path: Path, rate: float) -> None:
    order: list[str] = []

    async def ask(port: int) -> None:
        async def one(name: str) -> None:
            assert (await udp(name, "A", port)).answer
            order.append(name)

        slow = asyncio.create_task(one("slow.example"))
        await asyncio.sleep(0)  # the slow one asks first
        began = time.monotonic()
        await one("one.example")
        await slow
        assert time.monotonic() - began >= 0.09  # 100 simulated seconds

    await asking(tmp_path, ask, rate)
    assert order == ["one.example", "slow.example"]


async def test_bytes_that_are_no_query_are_not_answered(tmp_path: Path) -> None:
    async def ask(port: int) -> None:
        loop = asyncio.get_running_loop()
        transport, _ = await loop.create_datagram_endpoint(asyncio.DatagramProtocol, remote_addr=(DNS_ADDRESS, port))
        transport.sendto(b"\x00")
        transport.sendto(b"\xff" * 40)
        transport.close()
        assert (await udp("one.example", "A", port)).answer  # it lives on

    assert len(await asking(tmp_path, ask)) == 1


def test_the_hosts_file_has_the_names_that_resolve(tmp_path: Path) -> None:
    written = write_list(tmp_path / "hosts", host_lines(Names().hosts())).read_text()
    assert written == "127.1.0.1\tone.example\n127.1.1.0\tmany.example\n"
