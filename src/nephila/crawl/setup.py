"""What all parts of an agent share: the configuration compiled once, the clock, the resolver, the counts."""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import Final

from nephila.clock import Clock
from nephila.config.sections import Config, Net
from nephila.crawl.addresses import Allowed
from nephila.crawl.credentials import PROXY, read_credentials
from nephila.crawl.fetcher import Fetching, fetching
from nephila.crawl.focusing import Focus, focus_of
from nephila.crawl.forgotten import NOTHING, Forgotten
from nephila.crawl.hour_notes import HourNotes
from nephila.crawl.joined import Joined
from nephila.crawl.name_servers import parse_nameservers
from nephila.crawl.proxy import parse_proxy
from nephila.crawl.resolver import Resolver, read_hosts
from nephila.crawl.scope import CompiledScope, scope_of
from nephila.crawl.traps import CompiledTraps
from nephila.store.archive.exchange import Software
from nephila.urls import StripRules

REMEMBERED_LINKS: Final = 1 << 18


@dataclass(slots=True)
class Counts:
    """Since the agent started; the coordinator adds the agents up."""

    requests: int = 0
    pages: int = 0
    received_bytes: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)


class RecentLinks:
    """Links to other sites that were reported lately; reporting one twice is harmless, only dear.

    Each has one place, where the next one with the same place follows it: so much memory, however many links come.
    """

    def __init__(self, places: int = REMEMBERED_LINKS) -> None:
        self._links = array("q", bytes(8 * places))
        self._mask = places - 1

    def add(self, link: int) -> bool:
        """True where it was not reported lately."""
        place = link & self._mask
        if self._links[place] == link:
            return False
        self._links[place] = link
        return True


@dataclass(frozen=True, slots=True)
class Setup:
    config: Config
    clock: Clock
    fetching: Fetching
    resolver: Resolver
    scope: CompiledScope
    traps: CompiledTraps
    strip: StripRules
    joined: Joined
    reported: RecentLinks
    counts: Counts
    hours: HourNotes
    archives_some: bool = False  # some types are archived and not read
    focus: Focus | None = None  # None: no page is judged

    @property
    def obeys_robots(self) -> bool:
        return self.config.politeness.robots == "obey"


def make_setup(config: Config, clock: Clock, forgotten: Forgotten = NOTHING, state: Path | None = None) -> Setup:
    """`state` is the crawl's own folder of it, where agents find what a topic was learnt from."""
    shared = fetching(config.net, config.crawl, clock, config.politeness.min_delay, config.content)
    return Setup(
        config=config,
        clock=clock,
        fetching=shared,
        resolver=Resolver(config.net, shared.allowed, clock),
        scope=scope_of(config, forgotten=forgotten),
        traps=CompiledTraps.of(config.traps),
        strip=strip_rules(config),
        joined=Joined(strip_rules(config)),
        reported=RecentLinks(),
        counts=Counts(),
        hours=HourNotes(clock),
        archives_some="archive" in astuple(config.content),
        focus=focus_of(config, state) if state is not None else None,
    )


def check_network(net: Net) -> None:
    """Raises ConfigError about ranges, name servers, a hosts file, a proxy or credentials that cannot be used."""
    Allowed.parse(net.allow_private)
    parse_nameservers(net.nameservers)
    read_hosts(net.hosts)
    parse_proxy(net.proxy, read_credentials(net.credentials).get(PROXY))


def strip_rules(config: Config) -> StripRules:
    return StripRules.of(config.links.strip_parameters, max_length=config.links.max_url_length)


def make_clock(config: Config) -> Clock:
    return Clock(config.clock.rate, config.clock.origin, config.clock.real_origin)


def software(config: Config, user_agent: str) -> Software:
    return Software("nephila", user_agent, config.net.contact, config.politeness.robots)
