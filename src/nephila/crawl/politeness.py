"""How long a site and its address are left alone after each answer (S1-18), and when they may be asked again.

    delay = max(min_delay, factor × l-time)   our own rule, at most max_delay
            Crawl-delay                       theirs; obeyed up to max_delay, beyond it clamped and flagged
            back-off on 429 and 503           our own; doubles with each in a row, at most max_delay
            Retry-After                       theirs; obeyed up to 24 hours

The longest of the four holds. Delays count from the end of the last answer, in simulated monotonic seconds; the site
and its address each keep a `Pace`, and the later of the two decides. No function here reads a clock.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Final

from nephila.config.sections import Politeness

MAX_RETRY_AFTER_S: Final = 86_400.0
BACKOFF_MIN_S: Final = 1.0
BUSY: Final = frozenset({429, 503})
"""Answers by which a server asks to be left alone for a while."""

PAPER_MIN_DELAY_S: Final = 30.0  # S1-18
PAPER_DELAY_FACTOR: Final = 10.0
_SECONDS: Final = re.compile(r"[0-9]+")


class DelayRule(StrEnum):
    """The rule that made a delay as long as it is, for `nephila why` and the live view."""

    MIN_DELAY = "min_delay"
    L_TIME = "l_time"
    CRAWL_DELAY = "crawl_delay"
    BACK_OFF = "back_off"
    RETRY_AFTER = "retry_after"


@dataclass(frozen=True, slots=True)
class Answered:
    """What politeness needs to know of one answer, or of one attempt that got none."""

    l_time_s: float  # the duration of the download, in simulated seconds
    status: int = 0
    retry_after_s: float | None = None
    busy_in_a_row: int = 0  # answers 429 or 503 of this site up to and including this one


@dataclass(frozen=True, slots=True)
class Delay:
    """How long to wait, and why; `clamped` when a Crawl-delay longer than `max_delay` was cut."""

    seconds: float
    rule: DelayRule
    clamped: bool = False


@dataclass(frozen=True, slots=True)
class Pace:
    """When a site, or an address, may be asked again."""

    ready_at: float = 0.0  # simulated monotonic seconds
    in_flight: int = 0
    delay_s: float = 0.0  # the last delay, kept on disk for a restart


def delay_after(
    answer: Answered, crawl_delay_s: float | None, politeness: Politeness, backoff_min_s: float = BACKOFF_MIN_S
) -> Delay:
    """How long the site is left alone after this answer; never below `min_delay`."""
    longest_s = max(politeness.max_delay, politeness.min_delay)
    own_s = max(politeness.min_delay, min(longest_s, politeness.delay_factor * max(0.0, answer.l_time_s)))
    delays = [Delay(own_s, DelayRule.L_TIME if own_s > politeness.min_delay else DelayRule.MIN_DELAY)]
    if crawl_delay_s is not None:
        clamped = crawl_delay_s > longest_s
        delays.append(Delay(min(crawl_delay_s, longest_s), DelayRule.CRAWL_DELAY, clamped))
    if answer.status in BUSY:
        doublings = min(max(answer.busy_in_a_row, 1), 60) - 1
        backed_off_s = min(longest_s, max(backoff_min_s, 2 * own_s) * 2.0**doublings)
        delays.append(Delay(backed_off_s, DelayRule.BACK_OFF))
        if answer.retry_after_s is not None:
            # The server's own word takes the place of our guess, until it has been wrong once.
            delays = delays if doublings else delays[:-1]
            delays.append(Delay(min(answer.retry_after_s, MAX_RETRY_AFTER_S), DelayRule.RETRY_AFTER))
    longest = max(delays, key=lambda delay: delay.seconds)
    return replace(longest, clamped=any(delay.clamped for delay in delays))


def address_delay_after(answer: Answered, politeness: Politeness, backoff_min_s: float = BACKOFF_MIN_S) -> Delay:
    """How long the address is left alone: our own rules and the back-off, which protect the machine behind it.

    Crawl-delay and Retry-After are one site's word about itself; a thousand sites on one address need not heed it.
    """
    return delay_after(replace(answer, retry_after_s=None), None, politeness, backoff_min_s)


def retry_after_s(value: str, now: float) -> float | None:
    """A Retry-After header in seconds from `now` (UTC), at most a day; what is past or no time at all is None (B9)."""
    value = value.strip()
    if len(value) <= 64 and _SECONDS.fullmatch(value):
        return min(float(value), MAX_RETRY_AFTER_S)
    try:
        then = parsedate_to_datetime(value)
        wait_s = (then if then.tzinfo else then.replace(tzinfo=UTC)).timestamp() - now
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    return min(wait_s, MAX_RETRY_AFTER_S) if wait_s > 0 else None


def may_ask_at(site: Pace, address: Pace, politeness: Politeness) -> float | None:
    """From when the site may be asked: the later of its own and its address's time; None while either is busy."""
    limit = politeness.connections_per_site
    if site.in_flight >= limit or address.in_flight >= limit:
        return None
    return max(site.ready_at, address.ready_at)


def after_asking(pace: Pace) -> Pace:
    """A request was sent."""
    return replace(pace, in_flight=pace.in_flight + 1)


def after_answer(pace: Pace, delay: Delay, answered_at: float) -> Pace:
    """An answer came, or the attempt ended; a later time once promised is never taken back."""
    ready_at = max(pace.ready_at, answered_at + delay.seconds)
    return Pace(ready_at, max(0, pace.in_flight - 1), delay.seconds)


def after_restart(delay_s: float, politeness: Politeness, now: float) -> Pace:
    """The pace of whatever was active when a process ended: it counts as answered just now.

    `delay_s` is the last delay on disk. Monotonic time does not survive a restart and a wall clock may have jumped,
    so the whole delay is waited for again, a day at the most (DESIGN: A killed coordinator; F5).
    """
    waited_s = min(max(delay_s, politeness.min_delay), max(MAX_RETRY_AFTER_S, politeness.min_delay))
    return Pace(now + waited_s, 0, waited_s)
