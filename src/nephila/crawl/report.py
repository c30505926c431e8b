"""What a crawl has come to: one frozen row for the command line, for `--json` and for the live view."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from nephila.crawl.site_list import SiteCounts
from nephila.crawl.totals import Totals

RUNNING: Final = "running"
"""How a run is ending that has not ended."""


@dataclass(frozen=True, slots=True)
class SlowestSite:
    url: str
    last_ms: int
    waiting: int


@dataclass(frozen=True, slots=True)
class CrawlReport:
    """Counts of one run (`run_…`) and of the whole folder."""

    how: str  # running, done, interrupted, or the limit that was reached
    seconds: float  # of this run
    run_pages: int  # URLs requested for the first time in this run
    run_requests: int  # robots.txt, samples and further tries included
    run_bytes: int
    pages_per_s: float
    pages: int  # URLs requested at least once
    known: int  # URLs ever known
    outcomes: dict[str, int]  # of every URL known, each once
    received_bytes: int
    archive_bytes: int
    sites: SiteCounts
    agents: int
    active_sites: int = 0
    sleeping_sites: int = 0
    waiting_urls: int = 0
    agent_deaths: int = 0
    loop_lag_ms: float = 0.0  # the longest that an agent's loop was held up
    loop_work_ms: float = 0.0  # how much of such a time was its own computing
    memory_bytes: int = 0  # of all agents now
    memory_growth_bytes: int = 0  # the most that an agent has grown since it began
    paused: bool = False  # by control/paused
    no_room: bool = False  # paused, because the disk is nearly full
    dns_queries: int = 0
    messages_per_page: float = 0.0
    message_bytes_per_page: float = 0.0
    links_per_page: float = 0.0  # links exchanged between agents, per page (CHECKLIST 2.3)
    refused_seeds: int = 0
    refused_links: dict[str, int] = field(default_factory=dict)  # too long, no URL, another scheme …; found so far
    outside: int = 0  # URLs of other sites that scope or a limit left out
    slowest: tuple[SlowestSite, ...] = ()
    plans: int = 0  # made in this run by a policy (S2-12)
    suspensions: int = 0  # sites that stopped in this run to go on at a better hour (S2-13)
    surprises: int = 0  # sites that failed or slowed down suddenly, and were planned anew (S2-17)
    changes: tuple[str, ...] = field(default=())
    refused_by_rule: dict[str, int] = field(default_factory=dict)  # URLs that a rule of the scope left out
    refused_sites: dict[str, int] = field(default_factory=dict)  # sites that one left out by their address
    located_sites: int = 0  # sites whose address is known, those included
    judged: dict[str, int] = field(default_factory=dict)  # pages on, off topic, in another language, archived only …
    harvest_ratio: float | None = None  # pages in topic and language, of all that were judged (S4-1)


_RULE: Final = "rule:"
_PAGE: Final = "page:"


def told_of(totals: Totals) -> dict[str, Any]:
    """The fields of a report that tell of scope: what rules refused, and what pages were found to be."""
    judged = {name.removeprefix(_PAGE): count for name, count in totals.tallies.items() if name.startswith(_PAGE)}
    looked_at = judged.get("on", 0) + judged.get("topic", 0) + judged.get("language", 0)
    return {
        "refused_by_rule": {
            name.removeprefix(_RULE): count
            for name, count in sorted(totals.tallies.items())
            if name.startswith(_RULE) and count
        },
        "refused_sites": dict(sorted(totals.refused_sites.items())),
        "located_sites": totals.located_sites,
        "judged": dict(sorted(judged.items())),
        "harvest_ratio": round(judged.get("on", 0) / looked_at, 4) if looked_at else None,
    }


def pack(report: CrawlReport) -> bytes:
    return msgspec.msgpack.encode(report)


def unpack(kept: bytes) -> CrawlReport:
    return msgspec.msgpack.decode(kept, type=CrawlReport)
