"""The lab's name server: answers A queries for the lab's hosts on loopback, over UDP and TCP, and counts every query.

What a name resolves to is the web's decision (`resolve`); here it becomes a DNS message, by dnspython. Failing and
slow names are planted by the web (S1-26: noIP). Queries are logged, because one query per party is a promise (S1-19).
"""

from __future__ import annotations

import asyncio
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

import dns.exception
import dns.flags
import dns.message
import dns.rcode
import dns.rdataclass
import dns.rdatatype
import dns.rrset

from nephila.lab.hostile.names import OddName
from nephila.lab.request_log import QUERY_COLUMNS, LineLog, one_field, queries_path
from nephila.lab.shared_clock import SharedClock
from nephila.lab.sites import AnswersNames, Resolved

DNS_ADDRESS: Final = "127.0.0.1"
_TTL_S: Final = 3600
_LONGEST_UDP_BYTES: Final = 512  # without EDNS
_MALFORMED_BYTES: Final = 9  # an id, flags, and half of what must follow


@dataclass(frozen=True, slots=True)
class Said:
    """A response on its way: simulated seconds until it leaves, and after how many bytes it is cut, if at all."""

    query: dns.message.Message
    response: dns.message.Message
    late_s: float
    cut_at: int | None


def reply_to(query: dns.message.Message, resolved: Resolved | None) -> dns.message.Message:
    """The response to a query. Only A records exist; any other type of a known name is an empty NOERROR."""
    response = dns.message.make_response(query, recursion_available=True)
    response.flags |= dns.flags.AA
    if isinstance(resolved, OddName):
        return _odd_reply(response, query, resolved)
    if resolved is None:
        response.set_rcode(dns.rcode.REFUSED)
    elif resolved.kind == "nxdomain":
        response.set_rcode(dns.rcode.NXDOMAIN)
    elif resolved.kind == "servfail":
        response.set_rcode(dns.rcode.SERVFAIL)
    elif query.question[0].rdtype == dns.rdatatype.A and resolved.addresses:
        records = dns.rrset.from_text(query.question[0].name, _TTL_S, "IN", "A", *resolved.addresses)
        response.answer.append(records)
    return response


def _odd_reply(response: dns.message.Message, query: dns.message.Message, odd: OddName) -> dns.message.Message:
    """What a hostile name gets (RELIABILITY H1-H5, D11, D12)."""
    codes = {"nxdomain": dns.rcode.NXDOMAIN, "servfail": dns.rcode.SERVFAIL, "refused": dns.rcode.REFUSED}
    response.set_rcode(codes.get(odd.kind, dns.rcode.NOERROR))
    name, kind = query.question[0].name, query.question[0].rdtype
    if odd.kind == "cname_loop":
        response.answer.append(dns.rrset.from_text(name, odd.ttl_s, "IN", "CNAME", name.to_text()))
    elif kind == dns.rdatatype.A and odd.addresses:
        response.answer.append(dns.rrset.from_text(name, odd.ttl_s, "IN", "A", *odd.addresses))
    elif kind == dns.rdatatype.AAAA and odd.ipv6:
        response.answer.append(dns.rrset.from_text(name, odd.ttl_s, "IN", "AAAA", *odd.ipv6))
    return response


class NameServer:
    """Answers queries from a web's names; one per lab."""

    def __init__(self, names: AnswersNames, shared_clock: SharedClock, folder: Path) -> None:
        self._names = names
        self._shared_clock = shared_clock
        self._log = LineLog(queries_path(folder), QUERY_COLUMNS)
        self._transports: list[asyncio.BaseTransport] = []
        self._tcp: asyncio.Server | None = None

    async def listen(self, port: int) -> None:
        loop = asyncio.get_running_loop()
        transport, _ = await loop.create_datagram_endpoint(lambda: _Udp(self), local_addr=(DNS_ADDRESS, port))
        self._transports.append(transport)
        self._tcp = await loop.create_server(lambda: _Tcp(self), DNS_ADDRESS, port)

    def asked(self, wire: bytes, transport: str) -> Said | None:
        """What is to be said, and when; None where the bytes are no query."""
        try:
            query = dns.message.from_wire(wire)
        except (dns.exception.DNSException, ValueError):
            return None
        if query.flags & dns.flags.QR or len(query.question) != 1:
            return None
        question = query.question[0]
        name = question.name.to_text(omit_final_dot=True).lower()
        resolved = self._names.resolve(name) if question.rdclass == dns.rdataclass.IN else None
        response = reply_to(query, resolved)
        simulated_at = self._shared_clock.clock().now()
        kind = dns.rdatatype.to_text(question.rdtype)
        code = dns.rcode.to_text(response.rcode())
        self._log.add(
            f"{time.monotonic_ns()}\t{time.time():.6f}\t{simulated_at:.6f}\t{transport}\t{one_field(name)}\t{kind}\t{code}\n"
        )
        cut = isinstance(resolved, OddName) and resolved.kind == "malformed"
        return Said(query, response, 0.0 if resolved is None else resolved.delay_s, _MALFORMED_BYTES if cut else None)

    def send_after(self, simulated_s: float, send: Callable[[], None]) -> None:
        """Call `send` now, or later for a slow name; what is still to be sent when the server stops is dropped."""
        if simulated_s <= 0.0:
            send()
            return
        real_s = simulated_s / self._shared_clock.clock().rate
        asyncio.get_running_loop().call_later(real_s, send)

    def flush(self) -> None:
        self._log.flush()

    def stop(self) -> None:
        for transport in self._transports:
            transport.close()
        if self._tcp is not None:
            self._tcp.close()
        self._log.close()


class _Udp(asyncio.DatagramProtocol):
    def __init__(self, server: NameServer) -> None:
        self._server = server
        self._transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        asked = self._server.asked(data, "udp")
        if asked is None:
            return
        query, response = asked.query, asked.response
        room_bytes = max(_LONGEST_UDP_BYTES, query.payload) if query.edns >= 0 else _LONGEST_UDP_BYTES
        try:
            wire = response.to_wire(max_size=room_bytes)
        except dns.exception.TooBig:
            response.answer.clear()
            response.flags |= dns.flags.TC  # the client asks again over TCP
            wire = response.to_wire()
        self._server.send_after(asked.late_s, lambda: self._send(wire[: asked.cut_at], addr))

    def _send(self, wire: bytes, addr: tuple[str, int]) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.sendto(wire, addr)


class _Tcp(asyncio.Protocol):
    def __init__(self, server: NameServer) -> None:
        self._server = server
        self._transport: asyncio.Transport | None = None
        self._unread = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._unread += data
        while len(self._unread) >= 2:
            length = struct.unpack_from("!H", self._unread)[0]
            if len(self._unread) < 2 + length:
                return
            message, self._unread = self._unread[2 : 2 + length], self._unread[2 + length :]
            asked = self._server.asked(message, "tcp")
            if asked is not None:
                wire = asked.response.to_wire(max_size=65535)[: asked.cut_at]
                self._server.send_after(asked.late_s, lambda wire=wire: self._send(wire))  # type: ignore[misc]

    def _send(self, wire: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(struct.pack("!H", len(wire)) + wire)
