"""What the server and the name server ask: which site answers, and where a name lives.

`Web` (the generator) satisfies these protocols; `ServedSites` puts folders of real pages beside it.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from nephila.errors import UsageError
from nephila.lab.answer import Answer
from nephila.lab.static import StaticSite
from nephila.lab.wire import Scripted, plain


class Resolved(Protocol):
    """What became of a name: kind is address, nxdomain, servfail or slow; slow ones answer after `delay_s`."""

    @property
    def kind(self) -> str: ...

    @property
    def addresses(self) -> tuple[str, ...]: ...

    @property
    def delay_s(self) -> float: ...


class AnswersRequests(Protocol):
    """A web: computes the answer to one request from the request and the time."""

    def answer(self, host: str, port: int, target: str, address: str, now: float) -> Answer | Scripted: ...


class AnswersNames(Protocol):
    """A web's names."""

    def resolve(self, name: str) -> Resolved: ...

    def hosts(self) -> Iterator[tuple[str, str]]: ...


class GeneratedWeb(AnswersNames, Protocol):
    """What `nephila.lab.web.Web` is to the server."""

    def answer(self, host: str, port: int, target: str, address: str, now: float) -> Answer: ...

    def seeds(self, share: float = 1.0) -> Iterator[str]: ...


class OtherSites(AnswersRequests, Protocol):
    """Sites of another kind, asked first; None for a name that is none of theirs."""

    def resolve(self, name: str) -> Resolved | None: ...

    def hosts(self) -> Iterator[tuple[str, str]]: ...

    def seeds(self, port: int) -> Iterator[str]: ...


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a static site's name lives, or that there is no such name."""

    kind: str
    addresses: tuple[str, ...] = ()
    delay_s: float = 0.0


class ServedSites:
    """The generated web, static and hostile sites, as there are. A static site answers to its name and its address."""

    def __init__(
        self, web: GeneratedWeb | None, static: Sequence[StaticSite] = (), hostile: OtherSites | None = None
    ) -> None:
        self._web = web
        self._hostile = hostile
        self._static_sites = tuple(static)
        self._static: dict[str, StaticSite] = {}
        for site in static:
            if not ipaddress.ip_address(site.address).is_loopback:
                raise UsageError(
                    f"The static site {site.host} must have an address in 127.0.0.0/8, not {site.address}."
                )
            self._static[site.host.lower()] = site
            self._static.setdefault(site.address, site)

    def answer(self, host: str, port: int, target: str, address: str, now: float) -> Answer | Scripted:
        static = self._static.get(host)
        if static is not None and static.address == address:
            return static.answer(target)
        if self._hostile is not None and host.endswith(".test"):
            return self._hostile.answer(host, port, target, address, now)
        if self._web is None:
            return plain(404, "No such site in this lab.")
        return self._web.answer(host, port, target, address, now)

    def resolve(self, name: str) -> Resolved:
        static = self._static.get(name)
        if static is not None:
            return _Place("address", (static.address,))
        hostile = self._hostile.resolve(name) if self._hostile is not None else None
        if hostile is not None:
            return hostile
        return _Place("nxdomain") if self._web is None else self._web.resolve(name)

    def seeds(self, port: int, share: float = 1.0) -> Iterator[str]:
        """One home page per site; static and hostile sites first."""
        for site in self._static_sites:
            yield f"http://{site.host.lower()}:{port}/"
        if self._hostile is not None:
            yield from self._hostile.seeds(port)
        if self._web is not None:
            yield from self._web.seeds(share)

    def hosts(self) -> Iterator[tuple[str, str]]:
        for site in self._static_sites:
            yield site.address, site.host.lower()
        if self._hostile is not None:
            yield from self._hostile.hosts()
        if self._web is not None:
            yield from self._web.hosts()
