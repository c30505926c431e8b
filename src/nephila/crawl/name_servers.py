"""Questions to name servers, and their answers as they came (the one door to DNS).

Two clients, because neither does alone. c-ares is the cheap one (0.3 ms a name against 0.7), but it waits only five
times what the server usually needs, and hears no answer to a question it has repeated: where most names are answered
at once, one that takes two seconds would never be heard. And one malformed answer makes it give up every question that
is under way (H2): a single bad name would take a hundred good ones with it. So where its single try says nothing about
the name itself, a patient one follows, on a socket of its own.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Final

import aiodns

from nephila.crawl.addresses import parse_address
from nephila.errors import ConfigError
from nephila.records import Outcome

if TYPE_CHECKING:
    from nephila.crawl.patient_names import PatientNames

NEGATIVE_TTL_S: Final = 60.0
# Errors of a whole connection, which may come of an answer to another question.
_SOMEBODY_ELSES: Final = frozenset(
    {aiodns.error.ARES_EBADRESP, aiodns.error.ARES_ECONNREFUSED, aiodns.error.ARES_EFORMERR}
)


@dataclass(frozen=True, slots=True)
class Found:
    """What a name server said: addresses as they came, or the outcome that stands for their absence."""

    addresses: tuple[str, ...] = ()
    ttl_s: float = NEGATIVE_TTL_S
    outcome: Outcome | None = None
    reason: str = ""
    is_worth_asking_again: bool = False


def parse_nameservers(written: Iterable[str]) -> tuple[tuple[str, int], ...]:
    """Address and port of each, written ADDRESS, ADDRESS:PORT or [IPV6]:PORT."""
    servers: list[tuple[str, int]] = []
    for server in written:
        match = re.fullmatch(
            r"\[(?P<v6>[^\]]+)\](:(?P<p6>\d{1,5}))?|(?P<v4>[0-9.]+)(:(?P<p4>\d{1,5}))?|(?P<bare>[^\[\]]+)",
            server.strip(),
        )
        address = (match["v6"] or match["v4"] or match["bare"]) if match else ""
        port = int((match["p6"] or match["p4"] or "53") if match else "53")
        parsed = parse_address(address)
        if parsed is None or not 0 < port < 65536:
            raise ConfigError(
                f"net.nameservers: {server!r} is no name server; write ADDRESS, ADDRESS:PORT or [IPV6]:PORT."
            )
        servers.append((str(parsed), port))
    return tuple(servers)


class NameServers:
    """Those of the configuration, or the machine's own; `queries` counts the questions."""

    def __init__(self, written: Iterable[str], timeout_s: float) -> None:
        self.queries = 0
        self._servers = parse_nameservers(written)
        self._timeout_s = timeout_s
        self._quick: aiodns.DNSResolver | None = None
        self._patient: PatientNames | None = None

    async def ask(self, name: str, kind: str) -> Found:
        """The records of a name; a question that was not answered, or badly, is put again, and then waited for."""
        self.queries += 1
        found = await self._ask_quickly(name, kind)
        if found.is_worth_asking_again:
            self.queries += 1
            found = await self._ask_patiently(name, kind)
        return found

    async def aclose(self) -> None:
        if self._quick is not None:
            await self._quick.close()
            self._quick = None

    async def _ask_quickly(self, name: str, kind: str) -> Found:
        if self._quick is None:  # opened late: a crawl that lives on its hosts file needs no DNS client
            servers = [
                f"[{address}]:{port}" if ":" in address else f"{address}:{port}" for address, port in self._servers
            ]
            self._quick = aiodns.DNSResolver(
                nameservers=servers or None, timeout=max(0.05, self._timeout_s / 3), tries=1
            )
        try:
            answer = (await self._quick.query_dns(name, kind)).answer
        except aiodns.error.DNSError as error:
            return _failure(error)
        addresses = [record.data.addr for record in answer if hasattr(record.data, "addr")]
        return found_of(addresses, [record.ttl for record in answer])

    async def _ask_patiently(self, name: str, kind: str) -> Found:
        if self._patient is None:
            # Most crawls never come here, and importing the second client takes as long as a hundred pages.
            module = await asyncio.to_thread(import_module, "nephila.crawl.patient_names")
            self._patient = module.PatientNames(self._servers, self._timeout_s)
        return await self._patient.ask(name, kind)


def found_of(addresses: Iterable[str], ttls_s: Iterable[float]) -> Found:
    return Found(tuple(dict.fromkeys(addresses)), min(map(float, ttls_s), default=NEGATIVE_TTL_S))


def _failure(error: aiodns.error.DNSError) -> Found:
    code = error.args[0] if error.args else None
    reason = str(error.args[1]) if len(error.args) > 1 else "the look-up failed"
    if code == aiodns.error.ARES_ENODATA:
        return Found()
    if code == aiodns.error.ARES_ENOTFOUND:
        return Found(outcome=Outcome.DNS_NXDOMAIN, reason=reason)
    if code == aiodns.error.ARES_ETIMEOUT:
        return Found(outcome=Outcome.DNS_TIMEOUT, reason=reason, is_worth_asking_again=True)
    if code in _SOMEBODY_ELSES:
        return Found(outcome=Outcome.DNS_FAIL, reason=reason, is_worth_asking_again=True)
    return Found(outcome=Outcome.DNS_FAIL, reason=reason)
