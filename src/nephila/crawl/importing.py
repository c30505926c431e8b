"""Captures of somebody's archive become pages of this crawl: an agent without a network.

The life of a capture: its URL is put into normal form and judged by scope and by what was forgotten; its site is
entered in the coordinator's list and gets a slot; what came is recorded by the code that records what a server says,
written into our own archive and committed with its rows, in one group. So an imported folder is a crawl folder, and a
kill leaves each capture in archive and state or in neither. A capture is known by its URL and its moment: the same
archive, read again, brings nothing twice.

How a page was linked to is not in an archive. Pages that an imported page of their site links to are one link deeper
than that; a page that is met before anybody who links to it is a seed of its site, at depth 0.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

import msgspec

from nephila.config.sections import Config
from nephila.crawl.captured import NOT_TOLD, Reached, fetched_of, reached, role_of
from nephila.crawl.collecting import PAGES_PURSE
from nephila.crawl.coordinator import admission
from nephila.crawl.fetcher import Fetched, user_agent
from nephila.crawl.group import IMPORTED, Role, Visited
from nephila.crawl.import_bodies import Bodies
from nephila.crawl.messages import Findings
from nephila.crawl.places import contents_of, seen_of
from nephila.crawl.politeness import Pace
from nephila.crawl.recording import SEED_KIND, offer, record_older, record_page
from nephila.crawl.replaying import kept_after
from nephila.crawl.robots_state import RobotsAnswer, RobotsRow, after_robots_fetch, to_row
from nephila.crawl.scope import CompiledScope, decide, url_candidate
from nephila.crawl.setup import make_clock, make_setup, software
from nephila.crawl.site import SiteContext
from nephila.crawl.site_list import SiteList
from nephila.crawl.slot import GROUP_BYTES, Slot
from nephila.crawl.slot_state import PageTask, SlotState
from nephila.crawl.trapped import SiteTraps
from nephila.records import Outcome
from nephila.store.archive.captures import Capture, Digests
from nephila.store.folder import CrawlFolder
from nephila.urls import Refusal, normalise, split, url_hash

SITES_IN_MEMORY: Final = 2_000
URLS_IN_MEMORY: Final = 4_000_000
GROUP_CAPTURES: Final = 500


class LeftOut(StrEnum):
    """Why a capture is no page of the crawl."""

    HERE_ALREADY = "here already"
    NOT_HTTP = "no http or https URL"
    NO_URL = "no URL that can be asked for"
    NOT_GET = "not asked with GET"
    NO_ANSWER = "no answer of a server"
    NO_DATE = "no date"
    NO_BODY = "a revisit whose body is not in the archive"
    WRONG_DIGEST = "wrong digest"
    OUT_OF_SCOPE = "out of scope"
    FORGOTTEN = "forgotten"


@dataclass(slots=True)
class _Context(SiteContext):
    """A site in memory; pages found in the group that is being filled are at hand."""

    found: dict[int, PageTask] = field(default_factory=dict)

    def push(self, task: PageTask) -> None:
        self.found[task.hash] = task


@dataclass(frozen=True, slots=True)
class _Answered:
    """A page that was recorded in the group that is being filled."""

    at: float
    task: PageTask


@dataclass(slots=True)
class Taken:
    """Counts of what was done."""

    captures: int = 0
    pages: int = 0  # URLs that were not here before
    visits: int = 0
    older: int = 0  # of these: from before what was here
    robots: int = 0
    payload_digests: int = 0  # that are wrong although the block's is right: told, and taken
    left_out: Counter[str] = field(default_factory=Counter)


class Importer:
    """Takes captures, many at a time; everything that `take` was given is on disk after `commit`."""

    def __init__(self, folder: CrawlFolder, config: Config, sites: SiteList, scope: CompiledScope) -> None:
        self._folder, self._config, self._sites, self._scope = folder, config, sites, scope
        self._setup = replace(make_setup(config, make_clock(config)), scope=scope)
        self._slots: dict[int, Slot] = {}
        self._bodies = Bodies(folder, sites, self._setup.strip, lambda slot: self._slot(slot).state)
        self._numbers: dict[str, tuple[int, int]] = {}  # of sites: number and slot
        self._contexts: OrderedDict[int, _Context] = OrderedDict()
        self._answered: dict[tuple[int, int], _Answered] = {}
        self._moments: set[tuple[int, int, int]] = set()
        self._seeds: list[tuple[int, str]] = []
        self.taken = Taken()

    def close(self) -> None:
        for slot in self._slots.values():
            slot.close()

    def take(self, captures: Sequence[Capture], depth_of: dict[str, Reached] | None = None) -> list[Capture]:
        """Record captures in their order; gives back revisits whose body has not been met yet."""
        wanted = []
        for capture in captures:
            self.taken.captures += 1
            url = self._judged(capture)
            if isinstance(url, LeftOut):
                self.taken.left_out[url.value] += 1
            else:
                wanted.append((capture, url))
        self._enter((split(url)[0], capture.address) for capture, url in wanted)
        bodiless = []
        for capture, url in wanted:
            why = self._record(capture, url, (depth_of or {}).get(url) or reached(capture))
            if why is LeftOut.NO_BODY:
                bodiless.append(capture)
            elif why is not None:
                self.taken.left_out[why.value] += 1
            if any(slot.group.body_bytes >= GROUP_BYTES for slot in self._slots.values()):
                self.commit()
        return bodiless

    def fail(self, url: str, fetched: Fetched, depth: Reached) -> bool:
        """A visit without an answer, out of another crawl's state; False where the page is known better."""
        if not decide(url_candidate(url, from_seeds=True), self._scope).inside:
            return False
        site_url, path = split(url)
        self._enter([(site_url, fetched.address)])
        context, slot = self._context(site_url)
        if not self._is_new_moment(slot, context, url_hash(path), fetched.started_at):
            return False
        task, answered_at = self._task(slot, context, path, depth)
        if answered_at is not None or task.tries:
            return False
        self._page(slot, context, task, fetched)
        slot.note(context)
        return True

    # What is wanted

    def _judged(self, capture: Capture) -> str | LeftOut:
        if not capture.url[:8].lower().startswith(("http://", "https://")):
            return LeftOut.NOT_HTTP
        if capture.method not in ("GET", "HEAD"):
            return LeftOut.NOT_GET
        url = normalise(capture.url, self._setup.strip)
        if isinstance(url, Refusal):
            return LeftOut.NO_URL
        if capture.fetched_at <= 0:
            return LeftOut.NO_DATE
        if capture.digests is Digests.WRONG:
            return LeftOut.WRONG_DIGEST
        self.taken.payload_digests += capture.digests is Digests.DIFFER
        verdict = decide(url_candidate(url, from_seeds=True), self._scope)
        if verdict.inside:
            return url
        return LeftOut.FORGOTTEN if verdict.outcome is Outcome.FORGOTTEN else LeftOut.OUT_OF_SCOPE

    def _enter(self, found: Iterable[tuple[str, str]]) -> None:
        new = {site: address for site, address in found if site not in self._numbers}
        if not new:
            return
        if len(self._numbers) > 100 * SITES_IN_MEMORY:
            self._numbers.clear()
        self._numbers |= self._sites.enter(new.items(), self._setup.clock.now())

    # Recording

    def _record(self, capture: Capture, url: str, depth: Reached) -> LeftOut | None:
        site_url, path = split(url)
        context, slot = self._context(site_url)
        key = url_hash(path)
        if not self._is_new_moment(slot, context, key, capture.fetched_at):
            return LeftOut.HERE_ALREADY
        body = None
        if capture.kind == "revisit" and capture.status != 304:
            body = self._body(capture, url)
            if body is None:
                self._moments.discard(_moment(context, key, capture.fetched_at))
                return LeftOut.NO_BODY
        fetched = fetched_of(capture, self._config.crawl, body)
        if fetched is None:
            return LeftOut.NO_ANSWER
        role = role_of(capture, path)
        if role != "page":
            self._beside(slot, context, path, role, fetched)
            return None
        task, answered_at = self._task(slot, context, path, depth)
        if answered_at is not None and fetched.started_at < answered_at:
            record_older(self._setup, slot, context, task, fetched)
            self.taken.older += 1
            self.taken.visits += 1
        elif fetched.outcome is Outcome.NOT_MODIFIED and task.kept is None:
            self._moments.discard(_moment(context, key, capture.fetched_at))
            return LeftOut.NO_BODY
        else:
            self._page(slot, context, task, fetched)
        slot.note(context)
        return None

    def _page(self, slot: Slot, context: _Context, task: PageTask, fetched: Fetched) -> None:
        if task.is_new:
            slot.group.used[PAGES_PURSE] += 1
            self.taken.pages += 1
        record_page(self._setup, slot, context, task, fetched)
        visited = slot.group.visited[-1]
        if fetched.status:
            known = replace(task, tries=0, outcome=visited.outcome, kept=kept_after(visited))
            self._answered[context.number, task.hash] = _Answered(fetched.started_at, known)
        context.found.pop(task.hash, None)
        self.taken.visits += 1

    def _beside(self, slot: Slot, context: _Context, path: str, role: Role, fetched: Fetched) -> None:
        """A robots.txt, or what else our own archives hold beside pages."""
        slot.visit(
            Visited(
                context.number, context.url, url_hash(path), path, role, fetched, fetched.outcome, fetched.reason,
                archived=True,
            ),
            None,
        )  # fmt: skip
        if role == "robots":
            self.taken.robots += 1
            last = context.robots
            if last is None or (last.read_at or 0.0) <= fetched.started_at:
                answer = RobotsAnswer(fetched.outcome, fetched.status, fetched.payload)
                name = self._config.net.user_agent
                context.robots = after_robots_fetch(answer, None, name, self._config.crawl, fetched.started_at)
                self._keep(slot, context)
        slot.note(context)

    def _task(self, slot: Slot, context: _Context, path: str, depth: Reached) -> tuple[PageTask, float | None]:
        """The page as it is known, known from now on at the latest; and when it was last answered."""
        key = url_hash(path)
        fresh = self._answered.get((context.number, key))
        if fresh is not None:
            return fresh.task, fresh.at
        if key in context.found:
            return context.found[key], None
        known = slot.state.answered(context.number, key)
        if known is not None:
            return known
        if depth is NOT_TOLD:
            linked = self._sites.seed(context.number, key)
            if linked is not None:
                depth = Reached(0, linked.referrer, linked.kind or SEED_KIND, linked.hops)
            else:
                self._seeds.append((context.number, path))
        offer(self._setup, slot, context, path, depth.referrer, depth.kind, depth.depth, hops=depth.hops,
              seed=depth.depth == 0)  # fmt: skip
        task = context.found.pop(key, None)
        if task is None:  # a rule speaks against asking for it; it is here all the same
            outcome = next((page.outcome for page in reversed(slot.group.found) if page.hash == key), Outcome.WAITING)
            task = PageTask(depth.depth, 0, key, path, depth.hops, False, 0, outcome)
        return task, None

    def _is_new_moment(self, slot: Slot, context: _Context, key: int, at: float) -> bool:
        moment = _moment(context, key, at)
        if moment in self._moments or slot.state.has_visit(context.number, key, at):
            return False
        self._moments.add(moment)
        return True

    def _body(self, capture: Capture, url: str) -> bytes | None:
        """The body of the record that a revisit repeats."""
        body = self._bodies.find(capture, url)
        if body is None and any(slot.group.visited for slot in self._slots.values()):
            self.commit()  # it may be among those that are not on disk yet
            body = self._bodies.find(capture, url)
        return body

    # Sites in memory

    def _context(self, site_url: str) -> tuple[_Context, Slot]:
        number, slot_number = self._numbers[site_url]
        slot = self._slot(slot_number)
        context = self._contexts.get(number)
        if context is None:
            context = self._contexts[number] = self._load(slot, number, site_url)
            self._keep(slot, context)
        self._contexts.move_to_end(number)
        return context, slot

    def _load(self, slot: Slot, number: int, url: str) -> _Context:
        row = slot.row(number)
        return _Context(
            number=number, slot=slot.number, url=url, address=row.address if row is not None else "",
            given=row is None or row.given, seen=seen_of(slot, number, row.known if row is not None else 0),
            contents=contents_of(slot, number), known=row.known if row is not None else 0, retries=0,
            patience_s=0.0, longest_delay_s=0.0, pace=Pace(delay_s=row.delay_s if row is not None else 0.0),
            home=row.home if row is not None else None, last_ms=row.last_ms if row is not None else 0,
            requested=row.requested if row is not None else 0,
            received_bytes=row.received_bytes if row is not None else 0,
            first_at=row.first_at if row is not None else None, last_at=row.last_at if row is not None else None,
            traps=SiteTraps(slot.state.patterns(number), is_honest=slot.state.said_404(number)), more_on_disk=False,
        )  # fmt: skip

    def _keep(self, slot: Slot, context: _Context) -> None:
        """The row of the site: one that is new here waits for an address, one that had ended is open again."""
        row = slot.row(context.number)
        robots = _packed(context, self._config.net.user_agent)
        if row is None:
            slot.keep(context.row(IMPORTED, robots=robots, next_at=0.0))
            return
        state = "waiting" if row.state == "done" and row.address else row.state
        slot.keep(replace(row, state=state, robots=robots if robots is not None else row.robots))

    def _slot(self, number: int) -> Slot:
        if number not in self._slots:
            about = software(self._config, user_agent(self._config.net))
            state = SlotState(self._folder, number, self._config.archive, about)
            self._slots[number] = Slot(state, self._config.archive, lambda *_: None)
        return self._slots[number]

    # Committing

    def commit(self) -> None:
        """Everything recorded so far is in archive and state; links to other sites are in the coordinator's list."""
        now = self._setup.clock.now()
        if self._seeds:
            self._sites.add_seeds(self._seeds, now)
            self._seeds.clear()
        for slot in self._slots.values():
            if slot.group.is_empty():
                continue
            for context in self._contexts.values():
                if context.slot == slot.number and context.number in slot.group.sites:
                    row = slot.group.sites[context.number]
                    figures = {name: getattr(context, name) for name in _FIGURES}
                    slot.group.sites[context.number] = replace(row, **figures)
            parcels = slot.commit_now()
            for parcel in parcels:
                self._sites.apply(msgspec.msgpack.decode(parcel.payload, type=Findings), admission(self._config), now)
            if parcels:
                slot.acknowledge(parcels[-1].sequence)
        self._answered.clear()
        self._moments.clear()
        for context in self._contexts.values():
            context.found.clear()
            context.seen.saved(context.seen.unsaved())
        self._make_room()

    def _make_room(self) -> None:
        known = sum(context.known for context in self._contexts.values())
        while len(self._contexts) > SITES_IN_MEMORY or (known > URLS_IN_MEMORY and len(self._contexts) > 1):
            _, context = self._contexts.popitem(last=False)
            known -= context.known


_FIGURES: Final = ("last_ms", "requested", "received_bytes", "known", "first_at", "last_at", "home")


def _moment(context: _Context, key: int, at: float) -> tuple[int, int, int]:
    return context.number, key, round(at * 1e5)


def _packed(context: _Context, name: str) -> bytes | None:
    if context.robots is None:
        return None
    row: RobotsRow = to_row(context.robots, name)
    return msgspec.msgpack.encode(row)
