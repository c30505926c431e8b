"""What is in force for a site after its robots.txt was asked for: rules, everything, or nothing for now.

The life of a state: unknown (None) → asked → rules (2xx), all allowed (4xx, too many redirects) or unreachable (5xx,
429, any error of the network). A state answers for 24 hours (RFC 9309 2.4), an unreachable one until its next try,
which comes later each time. Rules that were read less than 30 days ago stay in force while the file cannot be
reached (2.3.1.4, E10); without them unreachable means no, and the pages wait as `deferred_robots` (N11).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from nephila.config.sections import Crawl
from nephila.crawl.robots import NO_RULES, Rules, parse, product_token, rules_for
from nephila.records import Outcome

FRESH_S: Final = 86_400.0
KEPT_S: Final = 30 * 86_400.0
MAX_REDIRECTS: Final = 5
_LONGEST_WAIT_S: Final = 86_400.0


class Standing(StrEnum):
    """What a site's robots.txt has come to."""

    RULES = "rules"
    ALL_ALLOWED = "all_allowed"
    UNREACHABLE = "unreachable"


class Permission(StrEnum):
    """What may be done about one path now."""

    ALLOWED = "allowed"
    FORBIDDEN = "forbidden"  # outcome blocked_robots
    DEFERRED = "deferred"  # outcome deferred_robots: wait until `next_ask_at`
    ASK_FIRST = "ask_first"  # fetch robots.txt before anything else


@dataclass(frozen=True, slots=True)
class RobotsAnswer:
    """What came of fetching robots.txt, at the end of its redirects."""

    outcome: Outcome
    status: int = 0
    body: bytes = b""
    hops: int = 0  # redirects followed before this answer
    retry_after_s: float | None = None


@dataclass(frozen=True, slots=True)
class RobotsState:
    """The rules in force for a site, and when its robots.txt is asked for again (both times in UTC seconds)."""

    standing: Standing
    rules: Rules
    next_ask_at: float
    read_at: float | None  # when `rules` were last confirmed by a 2xx; None when there never were any
    failures: int  # in a row
    reason: str
    wait_s: float = _LONGEST_WAIT_S  # how long before `next_ask_at` it was asked for


@dataclass(frozen=True, slots=True)
class RobotsRow:
    """A `RobotsState` in plain columns. `text` is a robots.txt that holds our own group alone."""

    standing: str
    token: str
    text: bytes
    next_ask_at: float
    read_at: float | None
    failures: int
    reason: str
    wait_s: float = _LONGEST_WAIT_S


def may_follow_robots_redirect(hops: int) -> bool:
    """Whether a redirect is followed after so many others; the rules then bind the first site (2.3.1.2, E8)."""
    return hops < MAX_REDIRECTS


def after_robots_fetch(
    answer: RobotsAnswer, cached: RobotsState | None, name: str, crawl: Crawl, now: float
) -> RobotsState:
    """The state that follows from an answer; `name` is the robot's, `cached` the state before."""
    reason = f"{answer.outcome.value} {answer.status}" if answer.status else answer.outcome.value
    match _standing(answer):
        case Standing.RULES if answer.outcome is Outcome.NOT_MODIFIED and cached is not None:
            return replace(
                cached,
                standing=Standing.RULES,
                next_ask_at=now + FRESH_S,
                read_at=now,
                failures=0,
                reason=reason,
                wait_s=FRESH_S,
            )
        case Standing.RULES:
            cut = answer.outcome is Outcome.TRUNCATED_LENGTH
            rules = rules_for(parse(answer.body, cut=cut), name)
            return RobotsState(Standing.RULES, rules, now + FRESH_S, now, 0, reason)
        case Standing.ALL_ALLOWED:
            return RobotsState(Standing.ALL_ALLOWED, NO_RULES, now + FRESH_S, None, 0, reason)
        case Standing.UNREACHABLE:
            failures = 1 if cached is None else cached.failures + 1
            wait_s = _wait_s(failures, answer.retry_after_s, crawl)
            if cached is not None and cached.read_at is not None and now - cached.read_at < KEPT_S:
                return replace(cached, next_ask_at=now + wait_s, failures=failures, reason=reason, wait_s=wait_s)
            return RobotsState(Standing.UNREACHABLE, NO_RULES, now + wait_s, None, failures, reason, wait_s)


def _standing(answer: RobotsAnswer) -> Standing:
    match answer.outcome:
        case Outcome.OK | Outcome.TRUNCATED_LENGTH | Outcome.NOT_MODIFIED:
            return Standing.RULES
        case Outcome.REDIRECT | Outcome.REDIRECT_LIMIT | Outcome.REDIRECT_LOOP:
            return Standing.ALL_ALLOWED  # more than five hops: unavailable (2.3.1.2, E9)
        case Outcome.HTTP_ERROR if 300 <= answer.status < 500 and answer.status != 429:
            return Standing.ALL_ALLOWED  # 4xx: unavailable (2.3.1.3, E6); so is a 3xx that leads nowhere
        case _:
            # 5xx, 429, and whatever broke on the way: half a file, a decode bomb, a refused address (2.3.1.4)
            return Standing.UNREACHABLE


def _wait_s(failures: int, retry_after_s: float | None, crawl: Crawl) -> float:
    """Doubling from `sleep_min`. What the server itself asks for comes first, but only the first time alone."""
    doubled_s = min(crawl.sleep_max, crawl.sleep_min * 2.0 ** min(failures - 1, 60))
    if retry_after_s is None:
        return doubled_s
    asked_s = min(max(retry_after_s, 0.0), _LONGEST_WAIT_S)
    return asked_s if failures == 1 else max(asked_s, doubled_s)


def permission(state: RobotsState | None, path: str, now: float) -> Permission:
    """Whether this path of the site may be asked now."""
    if path == "/robots.txt":
        return Permission.ALLOWED
    if state is None or now >= state.next_ask_at:
        return Permission.ASK_FIRST
    if state.standing is Standing.UNREACHABLE:
        return Permission.DEFERRED
    if state.read_at is not None and now - state.read_at >= KEPT_S:
        return Permission.DEFERRED  # the copy grew too old while the file could not be reached
    return Permission.ALLOWED if state.rules.allows(path) else Permission.FORBIDDEN


def to_row(state: RobotsState, name: str) -> RobotsRow:
    """Plain columns for the site's row on disk."""
    token = product_token(name)
    lines = [f"User-agent: {token or '*'}"]
    if state.rules.crawl_delay_s is not None:
        lines.append(f"Crawl-delay: {state.rules.crawl_delay_s!r}")
    lines += [f"{'Allow' if rule.allow else 'Disallow'}: {rule.pattern}" for rule in state.rules.rules]
    lines += [f"Sitemap: {sitemap}" for sitemap in state.rules.sitemaps]
    text = "\n".join(lines).encode()
    return RobotsRow(
        state.standing.value, token, text, state.next_ask_at, state.read_at, state.failures, state.reason, state.wait_s
    )


def from_row(row: RobotsRow, name: str, now: float) -> RobotsState | None:
    """The state as it was, or None if it was read for a robot of another name: then the file is asked for again.

    Times from disk are bounded, so that a clock that was wrong yesterday silences no site for years (F5).
    """
    if row.token != product_token(name):
        return None
    rules = rules_for(parse(row.text, max_bytes=len(row.text)), name)
    read_at = None if row.read_at is None else min(row.read_at, now)
    next_ask_at = min(row.next_ask_at, now + min(row.wait_s, _LONGEST_WAIT_S))
    return RobotsState(Standing(row.standing), rules, next_ask_at, read_at, row.failures, row.reason, row.wait_s)
