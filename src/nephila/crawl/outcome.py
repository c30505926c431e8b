"""What follows from an outcome: is the URL tried again, does its site sleep, is anything archived.

One table, after BUbiNG's: every `Outcome` has a line. A page is tried again a few times with doubling waits; a site
that fails several times in a row sleeps, longer each time, and after some sleeps the run ends without it. None of
this deletes anything: what was not fetched stays known with its outcome, and the next run starts from it (S1-11).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from nephila.config.sections import Crawl
from nephila.crawl.politeness import BUSY
from nephila.records import NetworkState, Outcome, network_state

MAX_REFRESH_DELAY_S: Final = 60.0
_PASSING: Final = frozenset({408, 425, 500, 502, 504})


class Then(StrEnum):
    """What becomes of the URL."""

    FINAL = "final"  # nothing more in this run
    RETRY = "retry"  # tried again, a limited number of times
    LATER = "later"  # not decided yet: it waits for its turn, its robots.txt or its site


class OnSite(StrEnum):
    """What the outcome says about the site as a whole."""

    HEALTHY = "healthy"  # the site answers: its failures are forgotten
    NOTHING = "nothing"
    FAILURE = "failure"  # one more in a row
    SLEEP = "sleep"  # no URL of this site can do better now


@dataclass(frozen=True, slots=True)
class Consequence:
    """A line of the table. `most_retries` bounds `crawl.retries` from above; 0 where nothing is tried again."""

    then: Then
    on_site: OnSite = OnSite.NOTHING
    archived: bool = False  # there are bytes worth keeping
    most_retries: int = 0
    first_wait_s: float = 0.0  # doubles with each further try


def _retry(on_site: OnSite, most: int, first_wait_s: float, *, archived: bool = False) -> Consequence:
    return Consequence(Then.RETRY, on_site, archived, most, first_wait_s)


_KEPT: Final = Consequence(Then.FINAL, OnSite.HEALTHY, archived=True)
_NEVER_ASKED: Final = Consequence(Then.FINAL)
_LATER: Final = Consequence(Then.LATER)

TABLE: Final[dict[Outcome, Consequence]] = {
    Outcome.OK: _KEPT,
    Outcome.NOT_MODIFIED: _KEPT,
    Outcome.HTTP_ERROR: _KEPT,  # but see `consequence`: some codes pass
    Outcome.REDIRECT: _KEPT,
    Outcome.REDIRECT_LOOP: _KEPT,
    Outcome.REDIRECT_LIMIT: _KEPT,
    Outcome.TRUNCATED_LENGTH: _KEPT,
    Outcome.DECODE_LIMIT: _KEPT,
    Outcome.DECODE_ERROR: _KEPT,
    # Half a body: worth one more try, and worth keeping if that fails too.
    Outcome.TRUNCATED_TIME: _retry(OnSite.FAILURE, 1, 60.0, archived=True),
    Outcome.TRUNCATED_DISCONNECT: _retry(OnSite.FAILURE, 1, 10.0, archived=True),
    Outcome.TOO_SLOW: _retry(OnSite.FAILURE, 1, 300.0, archived=True),
    Outcome.TIMEOUT_TOTAL: _retry(OnSite.FAILURE, 1, 300.0),
    Outcome.TIMEOUT_CONNECT: _retry(OnSite.FAILURE, 3, 60.0),
    Outcome.TIMEOUT_HEADERS: _retry(OnSite.FAILURE, 3, 60.0),
    Outcome.REFUSED: _retry(OnSite.FAILURE, 3, 60.0),
    Outcome.RESET: _retry(OnSite.FAILURE, 3, 10.0),
    Outcome.BAD_HTTP: _retry(OnSite.FAILURE, 2, 60.0),
    Outcome.HEADERS_TOO_LARGE: Consequence(Then.FINAL, OnSite.FAILURE),
    Outcome.TLS_ERROR: _retry(OnSite.FAILURE, 1, 300.0),  # certificates seldom heal within a run
    # A name without an address: no URL of the site can do better.
    Outcome.DNS_NXDOMAIN: _retry(OnSite.SLEEP, 1, 300.0),
    Outcome.DNS_FAIL: _retry(OnSite.SLEEP, 3, 60.0),
    Outcome.DNS_TIMEOUT: _retry(OnSite.SLEEP, 3, 60.0),
    Outcome.BLOCKED_SCHEME: _NEVER_ASKED,
    Outcome.BLOCKED_ADDRESS: _NEVER_ASKED,
    Outcome.BLOCKED_ROBOTS: _NEVER_ASKED,
    Outcome.URL_INVALID: _NEVER_ASKED,
    Outcome.URL_TOO_LONG: _NEVER_ASKED,
    Outcome.SCOPE_REJECTED: _NEVER_ASKED,
    Outcome.TRAP_REJECTED: _NEVER_ASKED,
    Outcome.HOST_BUDGET: _NEVER_ASKED,
    Outcome.LIMIT: _NEVER_ASKED,
    Outcome.ALIAS: _NEVER_ASKED,
    Outcome.FORGOTTEN: _NEVER_ASKED,
    Outcome.WAITING: _LATER,
    Outcome.DEFERRED_ROBOTS: _LATER,
    Outcome.DEFERRED_HOST: _LATER,
}

# The server asks for patience, so the page is not given up as soon as after an error of its own (N18, H11): at 50 %
# of 503 three tries would lose every eighth page, eleven lose one of two thousand and need two requests per page.
BUSY_ANSWER: Final = _retry(OnSite.FAILURE, 10, 0.0, archived=True)
PASSING_ERROR: Final = _retry(OnSite.FAILURE, 2, 60.0, archived=True)


def consequence(outcome: Outcome, status: int = 0) -> Consequence:
    """The line of the table for an outcome; an HTTP error also depends on its code."""
    if outcome is Outcome.HTTP_ERROR:
        if status in BUSY:
            return BUSY_ANSWER
        if status in _PASSING:
            return PASSING_ERROR
    return TABLE[outcome]


def is_requested(outcome: Outcome) -> bool:
    """Whether the outcome belongs to a visit; all others are "not requested", for that reason (S1-10)."""
    return network_state(outcome) is not NetworkState.NOT_REQUESTED


@dataclass(frozen=True, slots=True)
class NextTry:
    """What becomes of a URL after a visit; `wait_s` is None when the run is done with it."""

    wait_s: float | None
    archived: bool


def after_visit(outcome: Outcome, status: int, tries: int, retries: int, longest_wait_s: float) -> NextTry:
    """Whether a URL is tried again after so many tries, this one included, and when.

    `retries` is `crawl.retries`, or what `start_next_time` left of it. Only the last answer of a run is archived, so
    that a page stands in the archive once. A site's politeness and sleep come on top of the wait.
    """
    line = consequence(outcome, status)
    most = line.most_retries if line is BUSY_ANSWER and retries else min(retries, line.most_retries)
    if line.then is Then.RETRY and tries <= most:
        return NextTry(min(longest_wait_s, line.first_wait_s * 2.0 ** min(tries - 1, 60)), archived=False)
    return NextTry(0.0 if line.then is Then.LATER else None, line.archived)


@dataclass(frozen=True, slots=True)
class Health:
    """How a site fares in this run."""

    failures: int = 0  # in a row
    sleeps: int = 0  # since it last answered


@dataclass(frozen=True, slots=True)
class Asleep:
    """Its URLs wait as `deferred_host`."""

    seconds: float


@dataclass(frozen=True, slots=True)
class GivenUp:
    """The run ends without the rest of this site; its URLs keep `deferred_host` for the next run."""


def site_after(health: Health, outcome: Outcome, status: int, crawl: Crawl) -> tuple[Health, Asleep | GivenUp | None]:
    """The site's health after a visit, and whether it sleeps now or is given up for this run (H12)."""
    match consequence(outcome, status).on_site:
        case OnSite.HEALTHY:
            return Health(), None
        case OnSite.NOTHING:
            return health, None
        case OnSite.FAILURE:
            failures = health.failures + 1
            if failures < crawl.failures_before_sleep:
                return Health(failures, health.sleeps), None
        case OnSite.SLEEP:
            pass
    if health.sleeps >= crawl.give_up:
        return health, GivenUp()
    # It wakes one failure short of the next sleep: a site that is still dark is asked once, not five times.
    awake = Health(crawl.failures_before_sleep - 1, health.sleeps + 1)
    return awake, Asleep(_doubled(crawl, health.sleeps))


def _doubled(crawl: Crawl, times: int) -> float:
    return min(crawl.sleep_max, crawl.sleep_min * 2.0 ** min(times, 60))


@dataclass(frozen=True, slots=True)
class Start:
    """How a site is begun: after a wait, and with so many further tries per page."""

    wait_s: float
    retries: int


def start_next_time(failed_runs: int, crawl: Crawl) -> Start:
    """A site that failed in the last runs, so many in a row, is tried later and less (S1-11)."""
    if failed_runs <= 0:
        return Start(0.0, crawl.retries)
    return Start(min(patience_s(crawl), _doubled(crawl, failed_runs - 1)), max(0, crawl.retries - failed_runs))


def patience_s(crawl: Crawl) -> float:
    """The longest that a run waits for a site that is down: no dead site keeps a run from its end for days."""
    return _doubled(crawl, crawl.give_up)


def failed_runs_after(failed_runs: int, seed_outcome: Outcome, status: int = 0) -> int:
    """The count for the next run: one more when the site's seed failed, none once it answered (S1-11)."""
    match consequence(seed_outcome, status).on_site:
        case OnSite.HEALTHY:
            return 0
        case OnSite.FAILURE | OnSite.SLEEP:
            return failed_runs + 1
        case OnSite.NOTHING:
            return failed_runs


class Hop(StrEnum):
    """What a redirect leads to; the refusals are outcomes of the URL that redirects."""

    FOLLOW = "follow"
    REDIRECT_LOOP = Outcome.REDIRECT_LOOP.value
    REDIRECT_LIMIT = Outcome.REDIRECT_LIMIT.value


def after_redirect(hops: int, target: str, seen: Collection[str], max_redirects: int) -> Hop:
    """Whether a redirect's target is a URL to ask, after so many hops through `seen`, the chain with its last URL."""
    if target in seen:
        return Hop.REDIRECT_LOOP
    return Hop.FOLLOW if hops < max_redirects else Hop.REDIRECT_LIMIT


def refresh_is_redirect(delay_s: float) -> bool:
    """A meta refresh or `Refresh` header is a redirect, with the same count of hops; a slow one is a link (N17)."""
    return delay_s <= MAX_REFRESH_DELAY_S
