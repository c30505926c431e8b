"""How quickly sites answer, without collecting them: their home pages, politely, round after round (S2-15).

Every round asks each site for its home page once, if its robots.txt allows that, and otherwise leaves it alone. One
request at a time to an address, never sooner than politeness allows after the last answer, as in a crawl; nothing of
what comes is kept but how long it took.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nephila.config.sections import Config
from nephila.crawl.fetcher import Connection, Fetched, FetchRequest, lacks_contact, needs_contact
from nephila.crawl.hour_notes import keep_noting
from nephila.crawl.politeness import BUSY, Answered, Pace, after_answer, delay_after, retry_after_s
from nephila.crawl.resolver import Resolved
from nephila.crawl.robots_state import Permission, RobotsAnswer, RobotsState, after_robots_fetch, permission
from nephila.crawl.setup import Setup, make_clock, make_setup
from nephila.crawl.site import HOME, parse_site
from nephila.records import Outcome
from nephila.store.hour_figures import HoursFile
from nephila.urls import host_of

AT_ONCE: Final = 500
"""Addresses that are asked side by side."""

ROBOTS: Final = "/robots.txt"
HOME_BYTES: Final = 64 * 1024
ROBOTS_BYTES: Final = 512 * 1024


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """What a probe has done. `answered` and `failed` count home pages."""

    sites: int
    rounds: int
    requests: int
    answered: int
    failed: int
    forbidden: int  # sites whose robots.txt does not want it, or cannot be had
    unknown: int  # sites whose names have no address that may be asked
    seconds: float


@dataclass(slots=True)
class _Counts:
    requests: int = 0
    answered: int = 0
    failed: int = 0


@dataclass(slots=True)
class _Probed:
    """One site, and what is known of it between rounds."""

    url: str
    address: str
    pace: Pace = Pace()  # noqa: RUF009  # frozen
    robots: RobotsState | None = None
    busy_in_a_row: int = 0
    is_forbidden: bool = False


def probe(
    config: Config, sites: Sequence[str], hours: Path, rounds: int, every_s: float,
    show: Callable[[int], None] = lambda done: None,
) -> ProbeReport:  # fmt: skip
    """Ask all sites in `rounds` rounds, one each `every_s` simulated seconds; blocking."""
    return asyncio.run(_Probing(config, show).run(sites, hours, rounds, every_s))


class _Probing:
    def __init__(self, config: Config, show: Callable[[int], None]) -> None:
        self._config = config
        self._setup: Setup = make_setup(config, make_clock(config))
        self._show = show
        self._counts = _Counts()
        self._room = asyncio.Semaphore(AT_ONCE)
        self._paces: dict[str, Pace] = {}

    async def run(self, sites: Sequence[str], hours: Path, rounds: int, every_s: float) -> ProbeReport:
        started = time.monotonic()
        clock = self._setup.clock
        half_life_s = self._config.schedule.half_life
        noting = asyncio.create_task(keep_noting(self._setup.hours, lambda: HoursFile(hours, half_life_s), clock))
        try:
            found = await asyncio.gather(*(self._locate(site) for site in sites))
            by_address: dict[str, list[_Probed]] = defaultdict(list)
            for probed in found:
                if probed is not None:
                    by_address[probed.address].append(probed)
            begun_at = clock.monotonic()
            for number in range(rounds):
                await clock.sleep(begun_at + number * every_s - clock.monotonic())
                await asyncio.gather(*(self._round(on_address) for on_address in by_address.values()))
                self._show(number + 1)
        finally:
            noting.cancel()
            await asyncio.gather(noting, return_exceptions=True)
            await self._setup.resolver.aclose()
        known = [probed for probed in found if probed is not None]
        return ProbeReport(
            sites=len(sites),
            rounds=rounds,
            requests=self._counts.requests,
            answered=self._counts.answered,
            failed=self._counts.failed,
            forbidden=sum(probed.is_forbidden for probed in known),
            unknown=len(sites) - len(known),
            seconds=round(time.monotonic() - started, 3),
        )

    async def _locate(self, url: str) -> _Probed | None:
        async with self._room:
            resolved = await self._setup.resolver.resolve(host_of(url))
        if not isinstance(resolved, Resolved):
            return None
        needs_contact(resolved.addresses, self._config.net)
        if lacks_contact(resolved.addresses, self._config.net):
            return None
        return _Probed(url, resolved.addresses[0])

    async def _round(self, on_address: list[_Probed]) -> None:
        """All sites of one address, one after the other."""
        async with self._room:
            for probed in on_address:
                await self._ask_home(probed)

    async def _ask_home(self, probed: _Probed) -> None:
        if self._setup.obeys_robots:
            now = self._setup.clock.now()
            if permission(probed.robots, HOME, now) is Permission.ASK_FIRST:
                await self._ask_robots(probed)
            probed.is_forbidden = permission(probed.robots, HOME, now) is not Permission.ALLOWED
            if probed.is_forbidden:
                return
        fetched = await self._fetch(probed, FetchRequest(HOME, max_wire_bytes=HOME_BYTES))
        self._setup.hours.note(probed.url, fetched)
        if fetched.status and fetched.status not in BUSY and fetched.status < 500:
            self._counts.answered += 1
        else:
            self._counts.failed += 1

    async def _ask_robots(self, probed: _Probed) -> None:
        """robots.txt without its redirects: where it has moved, the site is left alone, which is never wrong."""
        fetched = await self._fetch(probed, FetchRequest(ROBOTS, max_wire_bytes=ROBOTS_BYTES))
        outcome = Outcome.HTTP_ERROR if fetched.outcome is Outcome.REDIRECT else fetched.outcome
        status = 503 if fetched.outcome is Outcome.REDIRECT else fetched.status
        wait = fetched.header("retry-after")
        now = self._setup.clock.now()
        answer = RobotsAnswer(outcome, status, fetched.payload, 0, retry_after_s(wait, now) if wait else None)
        name = self._config.net.user_agent
        probed.robots = after_robots_fetch(answer, probed.robots, name, self._config.crawl, now)

    async def _fetch(self, probed: _Probed, request: FetchRequest) -> Fetched:
        """One request, when site and address may be asked; both are left alone afterwards."""
        clock = self._setup.clock
        address = self._paces.get(probed.address, Pace())
        await clock.sleep(max(probed.pace.ready_at, address.ready_at) - clock.monotonic())
        connection = Connection(parse_site(probed.url), probed.address, self._setup.fetching)
        try:
            fetched = await connection.fetch(request)
        finally:
            await connection.aclose()
        self._counts.requests += 1
        probed.busy_in_a_row = probed.busy_in_a_row + 1 if fetched.status in BUSY else 0
        wait = fetched.header("retry-after")
        answer = Answered(
            l_time_s=fetched.total_ms / 1000 * clock.rate,
            status=fetched.status,
            retry_after_s=retry_after_s(wait, clock.now()) if wait else None,
            busy_in_a_row=probed.busy_in_a_row,
        )
        crawl_delay_s = probed.robots.rules.crawl_delay_s if probed.robots is not None else None
        delay = delay_after(answer, crawl_delay_s, self._config.politeness)
        probed.pace = after_answer(probed.pace, delay, clock.monotonic())
        self._paces[probed.address] = after_answer(address, delay, clock.monotonic())
        return fetched
