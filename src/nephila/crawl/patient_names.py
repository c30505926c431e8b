"""The second client for names: one question, one socket, waited for as long as the configuration says."""

from __future__ import annotations

from collections.abc import Sequence

import dns.asyncresolver
import dns.exception
import dns.nameserver
import dns.resolver

from nephila.crawl.name_servers import Found, found_of
from nephila.records import Outcome


class PatientNames:
    """Asks the name servers of the configuration, or the machine's own."""

    def __init__(self, servers: Sequence[tuple[str, int]], timeout_s: float) -> None:
        self._servers = servers
        self._timeout_s = timeout_s
        self._resolver: dns.asyncresolver.Resolver | None = None

    async def ask(self, name: str, kind: str) -> Found:
        if self._resolver is None:
            try:
                self._resolver = dns.asyncresolver.Resolver(configure=not self._servers)
            except dns.resolver.NoResolverConfiguration:
                return Found(outcome=Outcome.DNS_FAIL, reason="this machine names no name server")
            if self._servers:
                self._resolver.nameservers = [dns.nameserver.Do53Nameserver(*server) for server in self._servers]
            self._resolver.timeout = self._resolver.lifetime = self._timeout_s
        try:
            answer = await self._resolver.resolve(name, kind, search=False, raise_on_no_answer=False)
        except dns.resolver.NXDOMAIN:
            return Found(outcome=Outcome.DNS_NXDOMAIN, reason="there is no such name")
        except dns.exception.Timeout:
            return Found(outcome=Outcome.DNS_TIMEOUT, reason="the name server did not answer in time")
        except dns.exception.DNSException as error:
            return Found(outcome=Outcome.DNS_FAIL, reason=str(error) or type(error).__name__)
        records = answer.rrset or ()
        return found_of([record.address for record in records], [answer.rrset.ttl] if answer.rrset else [])
