"""The whole story of a URL: who linked to it, what was decided, when and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import apsw
import msgspec

from nephila.config.sections import Config
from nephila.crawl.robots_state import RobotsRow
from nephila.crawl.scope import decide, scope_of, url_candidate
from nephila.crawl.setup import strip_rules
from nephila.records import Outcome, network_state
from nephila.store.database import database_errors, open_reader
from nephila.store.folder import CrawlFolder
from nephila.urls import Refusal, hash128, normalise, split, url_hash


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened to a URL or to its site, at a time where one is known (UTC)."""

    at: float | None
    what: str


@dataclass(frozen=True, slots=True)
class Story:
    url: str  # in normal form, which is how it is kept
    outcome: str  # unknown where the crawl has never heard of it
    network_state: str  # S1-10
    reason: str
    events: tuple[Event, ...]


UNKNOWN = "unknown"


def why(folder: CrawlFolder, config: Config, url: str) -> Story:
    """What this crawl knows about a URL, as given or in its normal form."""
    normal = normalise(url, strip_rules(config))
    if isinstance(normal, Refusal):
        outcome = Outcome(normal.value)
        return Story(url, outcome.value, network_state(outcome).value, "it has no normal form", ())
    site, path = split(normal)
    with database_errors(folder.coordinator_database):
        coordinator = open_reader(folder.coordinator_database)
        try:
            row = coordinator.execute(
                """SELECT site, state, slot, address, outcome, reason, given, found_at, referrer
                   FROM sites WHERE url = ?""",
                (site,),
            ).fetchone()
            outside = _outside(coordinator, normal)
        finally:
            coordinator.close()
    if row is not None and row[2] is None and row[4]:
        found = "given as a seed" if row[6] else f"found on {row[8]}"
        rejected = row[4] == Outcome.SCOPE_REJECTED.value
        now = "its site is left out as a whole" if rejected else "its site has no address that may be asked"
        events = (Event(row[7], f"its site was {found}"), Event(None, now))
        return Story(normal, row[4], network_state(Outcome(row[4])).value, row[5], events)
    if row is None or row[2] is None:
        return outside or _found_outside(folder, normal) or _never_heard(config, normal, row)
    with database_errors(folder.agent_database(row[2])):
        slot = open_reader(folder.agent_database(row[2]))
        try:
            story = _page_story(slot, normal, path, row)
        finally:
            slot.close()
    # A link to a page of a known site may have been left out where it stood (crawl.mode=parties, crawl.max_depth).
    return (_found_outside(folder, normal) or story) if story.outcome == UNKNOWN else story


def _page_story(slot: apsw.Connection, url: str, path: str, site: tuple) -> Story:  # type: ignore[type-arg]
    number, state, _, address, _, _, given, site_found_at, site_referrer = site
    key = url_hash(path)
    events = [Event(site_found_at, "its site was " + ("given as a seed" if given else f"found on {site_referrer}"))]
    if address:
        events.append(Event(None, f"its site has the address {address} and belongs to slot {site[2]}"))
    events += _site_events(slot, number)
    row = slot.execute(
        """SELECT outcome, reason, depth, found_at, referrer, kind, hops, todo, duplicate_of, redirect_to, tries
           FROM pages WHERE site = ? AND hash = ?""",
        (number, key),
    ).fetchone()
    if row is None:
        events.append(Event(None, f"the site is {state}; no page that was collected links to this URL"))
        return Story(url, UNKNOWN, network_state(Outcome.WAITING).value, "never found", _in_order(events))
    outcome, reason, depth, found_at, referrer, kind, hops, todo, duplicate_of, redirect_to, tries = row
    events.append(Event(found_at, _how_found(kind, referrer, depth, hops)))
    events += _visits(slot, number, key)
    if duplicate_of is not None:
        first = slot.execute("SELECT path FROM pages WHERE site = ? AND hash = ?", (number, duplicate_of)).fetchone()
        events.append(
            Event(None, f"its content is the same as that of {first[0] if first else 'another page'} (S0-14)")
        )
    if redirect_to:
        events.append(Event(None, f"it leads to {redirect_to}"))
    if todo:
        events.append(Event(None, "it waits to be requested" + (f" again, after {tries} tries" if tries else "")))
    return Story(url, outcome, network_state(Outcome(outcome), reason).value, reason, _in_order(events))


def _site_events(slot: apsw.Connection, number: int) -> Iterator[Event]:
    row = slot.execute(
        """SELECT state, outcome, reason, alias_of, robots, last_ms, delay_s, failures, requested, known FROM sites
           WHERE site = ?""",
        (number,),
    ).fetchone()
    if row is None:
        return
    state, outcome, reason, alias_of, robots, last_ms, delay_s, failures, requested, known = row
    if alias_of is not None:
        canonical = slot.execute("SELECT url FROM sites WHERE site = ?", (alias_of,)).fetchone()
        yield Event(None, f"its site is another name of {canonical[0] if canonical else 'another site'}: {reason}")
        return
    said = f" ({outcome}: {reason})".replace(": )", ")") if outcome else ""
    yield Event(
        None, f"its site is {state}{said}: {requested} of {known} known pages requested, {failures} failures in a row"
    )
    if robots is not None:
        rules = msgspec.msgpack.decode(robots, type=RobotsRow)
        yield Event(rules.read_at, f"robots.txt of its site: {rules.standing} ({rules.reason})")
    if last_ms:
        yield Event(None, f"its site's last download took {last_ms} ms; it was left alone for {delay_s:g} s after it")


def _visits(slot: apsw.Connection, number: int, key: int) -> Iterator[Event]:
    sql = """SELECT at, role, outcome, reason, code, elapsed_ms, wire_bytes, address, archive_file, archive_offset
             FROM visits WHERE site = ? AND hash = ? ORDER BY visit"""
    for at, role, outcome, reason, code, elapsed_ms, wire_bytes, address, file, offset in slot.execute(
        sql, (number, key)
    ):
        if outcome == Outcome.FORGOTTEN.value:
            yield Event(at, f"it was forgotten by the rule {reason}; nothing of it is kept")
            continue
        answer = f"{outcome}{f' {code}' if code else ''}{f' ({reason})' if reason else ''}"
        kept = f", kept in {file} at {offset}" if file else ""
        yield Event(at, f"asked {address} for it as a {role}: {answer}, {wire_bytes} bytes in {elapsed_ms} ms{kept}")


def _how_found(kind: str, referrer: str, depth: int, hops: int) -> str:
    if not referrer:
        return "it was given as a seed"
    if hops:
        return f"{referrer} redirected to it (hop {hops})"
    if kind in ("sitemap", "feed"):
        return f"the {kind} {referrer} lists it; depth {depth}"
    elements = {"a": "an <a> link", "f": "a frame", "h": "a link that is neither <a> nor frame", "s": "a link"}
    return f"{referrer} has {elements.get(kind, 'a link')} to it; depth {depth}"


def _outside(reader: apsw.Connection, url: str) -> Story | None:
    sql = "SELECT outcome, reason, referrer, found_at FROM outside WHERE hash = ?"
    row = reader.execute(sql, (hash128(url),)).fetchone()
    if row is None:
        return None
    outcome, reason, referrer, found_at = row
    found = f"{referrer} links to it" if referrer else "it was given as a seed"
    return Story(url, str(outcome), network_state(Outcome(outcome)).value, str(reason), (Event(found_at, found),))


def _found_outside(folder: CrawlFolder, url: str) -> Story | None:
    """A URL of another site that a slot refused by scope."""
    for number in folder.slots():
        path = folder.agent_database(number)
        if not path.exists():
            continue
        reader = open_reader(path)
        try:
            story = _outside(reader, url)
        finally:
            reader.close()
        if story is not None:
            return story
    return None


def _never_heard(config: Config, url: str, site: tuple | None) -> Story:  # type: ignore[type-arg]
    if site is not None:
        events = (Event(site[7], "its site waits to be handed out"),)
        return Story(url, Outcome.WAITING.value, network_state(Outcome.WAITING).value, "", events)
    verdict = decide(url_candidate(url, from_seeds=True), scope_of(config))
    reason = "no page that was collected links to its site"
    if verdict.outcome is not None:
        reason += f"; it would be {verdict.outcome.value} by the rule {verdict.rule}"
    return Story(url, UNKNOWN, network_state(Outcome.WAITING).value, reason, ())


def _in_order(events: list[Event]) -> tuple[Event, ...]:
    """What has a time in its order; what is true now at the end."""
    return (*sorted((event for event in events if event.at is not None), key=lambda event: event.at or 0.0),
            *(event for event in events if event.at is None))  # fmt: skip
