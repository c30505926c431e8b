"""Doing what a site's next step says: requests, and what follows from their answers for the site and its address.

The lanes call this one at a time per address. Everything learnt goes into the slot's group in the same moment, so that
what is committed together is what was decided together.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Final

import msgspec

from nephila.crawl.asking import Asking
from nephila.crawl.comparing import Comparing
from nephila.crawl.control import BLOCKED_BY_HAND
from nephila.crawl.darkness import decide_held
from nephila.crawl.fetcher import Fetched, FetchRequest
from nephila.crawl.group import FoundLink, Judged, Role, SiteRow, SourceRow, Swept, Visited
from nephila.crawl.harvest import CHECKSUM_BYTES
from nephila.crawl.lending import Lending, OnLane
from nephila.crawl.messages import SiteEnded, Starved, ToCoordinator
from nephila.crawl.outcome import Asleep, GivenUp, Health, failed_runs_after, site_after
from nephila.crawl.politeness import retry_after_s
from nephila.crawl.recording import count_request, record_page
from nephila.crawl.revisiting import request_for
from nephila.crawl.robots_state import (
    Permission,
    RobotsAnswer,
    RobotsRow,
    RobotsState,
    Standing,
    after_robots_fetch,
    from_row,
    may_follow_robots_redirect,
    permission,
    to_row,
)
from nephila.crawl.rounds import ROUND_IS_OVER, RoundCredit
from nephila.crawl.setup import Setup
from nephila.crawl.site import (
    HOME,
    Asked,
    AskHome,
    AskPage,
    AskProbe,
    AskRobots,
    AskSample,
    AskSource,
    BecomeAlias,
    Close,
    Ended,
    GiveUp,
    Load,
    Refuse,
    SiteContext,
    Step,
    Wait,
    Window,
)
from nephila.crawl.slot import Slot
from nephila.crawl.sourcing import keep, learn_from_robots, read_sitemap, record_sitemap, wants_sitemaps
from nephila.crawl.trapping import Trapping
from nephila.records import Outcome
from nephila.urls import Refusal, host_of, join, registrable_domain, split, url_hash

ROBOTS: Final = "/robots.txt"
ROBOTS_WIRE_BYTES: Final = 512 * 1024
SITEMAP_INLINE_BYTES: Final = 64 * 1024
"""Fifty thousand URLs take a second to read: a larger sitemap is read beside the loop."""

ROBOTS_INLINE_BYTES: Final = 64 * 1024
"""A larger file may hold tens of thousands of rules, which take 300 ms: others act in between (E16, I4)."""

PAGES_PURSE: Final = "pages"


class Collecting:
    """Everything an agent does to sites."""

    def __init__(
        self, setup: Setup, slots: dict[int, Slot], tell: Callable[[ToCoordinator], None],
        fail: Callable[[BaseException | None], None], max_open: int,
    ) -> None:  # fmt: skip
        self.setup = setup
        self.slots = slots
        self.fail = fail
        self.contexts: dict[int, SiteContext] = {}
        self.window = Window()
        self.comparing = {
            number: Comparing(setup.config.aliases.rule, slot, self.contexts) for number, slot in slots.items()
        }
        self.address_pages: Counter[str] = Counter()
        if setup.config.crawl.max_pages_per_address is not None:
            for slot in slots.values():
                self.address_pages.update(slot.state.address_pages())
        self.trapping = Trapping(setup, slots)
        self.exhausted: set[str] = set()
        self.lending = Lending(setup, tell)
        self.asking = Asking(
            setup, self.contexts, self.lending, {number: slot.in_hand for number, slot in slots.items()}, max_open
        )
        self.rounds: RoundCredit | None = None  # set where only so many new pages may be asked for
        self.paused = False
        self.blocked: frozenset[str] = frozenset()  # sites that a person wants left alone
        self._tell = tell
        self._starving: set[tuple[int, str]] = set()

    def slot_of(self, context: SiteContext) -> Slot:
        return self.slots[context.slot]

    # Before a page is asked for

    def before_page(self, context: SiteContext, step: AskPage | Refuse | Ended | Load) -> Step:
        """The step, unless the site must first be compared with another, or a limit stands against it."""
        compared = self.comparing[context.slot].next_step(context)
        if compared is not None:
            return compared
        if context.held_home is not None and not context.has_task(HOME):
            self._record_home(context)
        if not isinstance(step, AskPage):
            return step
        deadly = self.slot_of(context).state.refusal(context.number, step.task.hash)
        if deadly is not None:
            return Refuse(step.task, Outcome.TRAP_REJECTED, deadly)
        if not step.task.is_new:
            return step
        if self.rounds is not None and not self.rounds.may_ask(context.slot):
            return GiveUp(Outcome.DEFERRED_HOST, ROUND_IS_OVER)
        crawl = self.setup.config.crawl
        if crawl.max_depth is not None and step.task.depth > crawl.max_depth:
            return Refuse(step.task, Outcome.LIMIT, "crawl.max_depth")
        if crawl.max_pages_per_site is not None and context.requested >= crawl.max_pages_per_site:
            return Close(Outcome.LIMIT, "crawl.max_pages_per_site")
        per_address = crawl.max_pages_per_address
        if per_address is not None and self.address_pages[context.address] >= per_address:
            return Close(Outcome.LIMIT, "crawl.max_pages_per_address")
        trapped = self.trapping.before_page(context, step.task)
        if trapped is not None:
            return trapped
        slot = self.slot_of(context)
        for purse in self._purses(context):
            if slot.credit[purse] <= 0:
                if purse in self.exhausted and purse != PAGES_PURSE:
                    return Close(Outcome.LIMIT, "crawl.max_pages_per_domain")
                self._ask_for_credit(slot.number, purse)
                return Wait(float("inf"))
        return step

    def credit_came(self, slot: int) -> None:
        self._starving = {starving for starving in self._starving if starving[0] != slot}

    def _ask_for_credit(self, slot: int, purse: str) -> None:
        if (slot, purse) not in self._starving:
            self._starving.add((slot, purse))
            self._tell(Starved(slot, purse))

    def _purses(self, context: SiteContext) -> tuple[str, ...]:
        crawl = self.setup.config.crawl
        purses: tuple[str, ...] = () if crawl.max_pages is None else (PAGES_PURSE,)
        if crawl.max_pages_per_domain is not None:
            purses += (f"domain:{registrable_domain(host_of(context.url))}",)
        return purses

    # Steps without a request

    async def load(self, context: SiteContext) -> None:
        """Take waiting URLs from disk; first everything found so far must be there."""
        slot = self.slot_of(context)
        found = context.seen.unsaved()
        context.more_on_disk = False  # a seed that comes meanwhile goes into a later group: it is kept in memory
        await slot.flush()
        context.seen.saved(found)
        came_more = context.more_on_disk  # too many for memory, or limits have changed
        count = context.loadable
        context.load(slot.state.todo(context.number, count), count)
        context.more_on_disk = context.more_on_disk or came_more

    def refuse(self, context: SiteContext, step: Refuse) -> None:
        context.take(step.task)
        judged = Judged(context.number, step.task.hash, step.outcome, step.reason)
        self.slot_of(context).judge(judged, step.task.outcome)

    def close(self, context: SiteContext, step: Close) -> None:
        """A limit: all that was never requested gets its outcome, in memory and on disk; further tries go on."""
        context.keep_tried()
        self.slot_of(context).sweep(Swept(context.number, step.outcome, step.reason, todo=False, untried=True))

    async def end(self, context: SiteContext, *, alone: bool) -> bool:
        """Nothing is left to request; False when something came in the meantime."""
        slot = self.slot_of(context)
        if not alone:
            await slot.flush()  # another site is compared with this one and must find its pages on disk
            if context.waiting or context.more_on_disk:
                return False
        if self._decide_held(context, was_dark=context.health.sleeps > 0):
            return False
        if context.seed_outcome is not None:
            context.failed_runs = failed_runs_after(context.failed_runs, context.seed_outcome)
        self._leave(context, "done")
        return True

    def become_alias(self, context: SiteContext, step: BecomeAlias) -> None:
        """Recorded, with its reason; what links to it is handed to the canonical site by the coordinator."""
        slot = self.slot_of(context)
        if context.held_home is not None:
            self._record_home(context)
        slot.sweep(Swept(context.number, Outcome.ALIAS, step.reason, todo=False))
        self._leave(context, "alias", Outcome.ALIAS.value, step.reason, step.canonical)

    def give_up(self, context: SiteContext, outcome: Outcome, reason: str) -> None:
        """The run ends without this site; its URLs wait for the next one (never deleted)."""
        slot = self.slot_of(context)
        for page in context.held.values():
            slot.ask_again(context.number, page.task.hash)  # what its darkness has cost waits like all the rest
        slot.sweep(Swept(context.number, outcome, reason, todo=True))
        context.failed_runs += reason not in (BLOCKED_BY_HAND, ROUND_IS_OVER)
        self._leave(context, "asleep", outcome.value, reason)

    def put_back(self, context: SiteContext) -> None:
        """The site leaves memory unfinished; all it brought is on disk."""
        slot = self.slot_of(context)
        slot.keep(self.row(context, "waiting"))
        slot.group.opened.append(context.number)  # it stands in line again once this is on disk
        self.comparing[context.slot].forget(context)
        self.asking.let_rest(context)
        self._forget(context)

    def _forget(self, context: SiteContext) -> None:
        """The site is not in memory any more."""
        del self.contexts[context.number]
        self.window.fit(len(self.contexts))
        self.asking.close_idle(context)

    def _leave(
        self, context: SiteContext, state: str, outcome: str = "", reason: str = "", alias_of: int | None = None
    ) -> None:
        slot = self.slot_of(context)
        slot.keep(self.row(context, state, outcome, reason, alias_of))
        if context.first_at is not None:
            slot.group.parties.append((context.number, self.setup.clock.now() - context.first_at))
        slot.group.ended.append(SiteEnded(context.number, state, slot.applied, alias_of or 0))
        slot.touch()
        self.comparing[context.slot].forget(context, is_alias=state == "alias")
        self.asking.let_rest(context)
        self._forget(context)

    def row(
        self, context: SiteContext, state: str, outcome: str = "", reason: str = "", alias_of: int | None = None
    ) -> SiteRow:
        """The context as it goes to disk; the moment at which it may be asked again becomes one of UTC."""
        wait_s = max(0.0, max(context.pace.ready_at, context.asleep_until) - self.setup.clock.monotonic())
        next_at = self.setup.clock.now() + wait_s
        return context.row(state, outcome, reason, alias_of, robots=self.robots_bytes(context.robots), next_at=next_at)

    # Requests

    async def ask(self, lane: OnLane, context: SiteContext, step: Asked) -> bool:
        """One request, and what follows for site and address; False when the site has left the lane."""
        try:
            return await self._ask(lane, context, step)
        except Exception:
            slot = self.slot_of(context)
            slot.in_hand.failed_with(context.number, url_hash(_path_of(step)))
            slot.freeze()
            raise

    async def _ask(self, lane: OnLane, context: SiteContext, step: Asked) -> bool:
        match step:
            case AskPage(task=task):
                slot = self.slot_of(context)
                purses = self._purses(context) if task.is_new else ()
                if slot.spend(purses) is not None:
                    return True
                context.take(task)
                fetched = context.held_home if task.path == HOME else None
                context.held_home = None if task.path == HOME else context.held_home
                fetched = fetched or await self.asking.fetch(lane, context, request_for(task.path, task.kept))
                if task.is_new:
                    if self.rounds is not None:
                        self.rounds.asked(context.slot)
                    # Pages are counted also while there is no limit: one that is set later counts them too.
                    slot.spent(purses if PAGES_PURSE in purses else (PAGES_PURSE, *purses))
                    if self.setup.config.crawl.max_pages_per_address is not None:
                        self.address_pages[context.address] += 1
                if task.is_new:
                    self.trapping.asked(context)
                slot.in_hand.mark(context.number, task.hash).take()
                record_page(self.setup, slot, context, task, fetched)
                slot.in_hand.lay_down()
                slot.note(context)
                return self._judge_site(context, fetched)
            case AskRobots():
                return await self._ask_robots(lane, context)
            case AskHome():
                if self._is_deadly(context, HOME):
                    context.home_tried = True
                    return True
                fetched = await self.asking.fetch(lane, context, FetchRequest(HOME))
                context.home_tried = True
                context.home = _checksum(fetched)
                context.held_home = fetched
            case AskProbe(path=path):
                if self._is_deadly(context, path):
                    context.traps.probed(path, None)
                    return True
                fetched = await self.asking.fetch(lane, context, FetchRequest(path))
                self._record(context, context.url, path, "probe", fetched, None)
                said = fetched.outcome is Outcome.OK and fetched.status == 200
                context.traps.probed(path, fetched.payload if said else None)
            case AskSource(source=source):
                await self._ask_source(lane, context, source)
            case AskSample(site=site, path=path):
                checksum = await self._sample(lane, context, site, path)
                self.comparing[context.slot].answered(context, step, checksum)
        self.slot_of(context).in_hand.lay_down()
        return True

    def _is_deadly(self, context: SiteContext, path: str) -> bool:
        """Whether agents died of what is asked for besides pages (`blamed`)."""
        return self.slot_of(context).state.refusal(context.number, url_hash(path)) is not None

    def _judge_site(self, context: SiteContext, fetched: Fetched) -> bool:
        if context.number not in self.contexts:
            return True  # another request of this site has ended it meanwhile
        had_slept = context.health.sleeps > 0
        context.health, verdict = site_after(context.health, fetched.outcome, fetched.status, self.setup.config.crawl)
        if context.health == Health():
            self._decide_held(context, was_dark=had_slept)
        match verdict:
            case Asleep(seconds=seconds):
                context.asleep_until = self.setup.clock.monotonic() + seconds
            case GivenUp():
                self.give_up(context, Outcome.DEFERRED_HOST, f"{fetched.outcome.value}: {fetched.reason}".rstrip(": "))
                return False
            case None:
                pass
        return True

    def _decide_held(self, context: SiteContext, *, was_dark: bool) -> bool:
        """Whose fault it was is known now: pages wait again, or have failed for good; True where some wait (H13)."""
        if not context.held:
            return False
        slot = self.slot_of(context)
        decided = decide_held(context.held.values(), context.asked_again, was_dark=was_dark)
        context.held.clear()
        for page in decided.again:
            context.asked_again[page.task.hash] = page.answered
            context.try_later(page.again, self.setup.clock.monotonic())
            if page.answered:
                slot.ask_again(context.number, page.task.hash)
        for page in decided.final:
            if not page.answered:
                outcome = page.task.outcome
                slot.judge(Judged(context.number, page.task.hash, outcome, page.reason), outcome)
        return bool(decided.again)

    async def _ask_robots(self, lane: OnLane, context: SiteContext) -> bool:
        """robots.txt with its redirects; the rules bind this site wherever they were found (RFC 9309 2.3.1.2)."""
        site, path, hops = context.url, ROBOTS, 0
        while True:
            request = FetchRequest(path, max_wire_bytes=ROBOTS_WIRE_BYTES)
            if site == context.url:
                fetched = await self.asking.fetch(lane, context, request)
            else:
                fetched = await self.asking.fetch_elsewhere(lane, context, site, request)
            self._record(context, site, path, "robots", fetched, None)
            target = join(site + path, (fetched.header("location") or "").strip(), self.setup.strip)
            if fetched.outcome is not Outcome.REDIRECT or isinstance(target, Refusal):
                break
            if not may_follow_robots_redirect(hops):
                break
            site, path = split(target)
            hops += 1
            if site == context.url:
                await self.asking.rest(lane, context)
        wait = fetched.header("retry-after")
        utc_now = self.setup.clock.now()
        answer = RobotsAnswer(
            fetched.outcome, fetched.status, fetched.payload, hops, retry_after_s(wait, utc_now) if wait else None
        )
        name = self.setup.config.net.user_agent
        arguments = (answer, context.robots, name, self.setup.config.crawl, utc_now)
        mark = self.slot_of(context).in_hand.mark(context.number, url_hash(ROBOTS))
        if len(answer.body) > ROBOTS_INLINE_BYTES:
            with mark.aside():
                context.robots = await asyncio.to_thread(after_robots_fetch, *arguments)
        else:
            mark.take()
            context.robots = after_robots_fetch(*arguments)
        self.slot_of(context).in_hand.lay_down()
        self.asking.heed_crawl_delay(context)
        self.slot_of(context).keep(self.row(context, "waiting"))
        if wants_sitemaps(self.setup.config.sources):
            learn_from_robots(self.setup, self.slot_of(context), context)
        if context.robots.standing is not Standing.UNREACHABLE:
            return True
        if context.robots.failures > self.setup.config.crawl.give_up:  # in a row, earlier runs included (S1-11)
            self.give_up(context, Outcome.DEFERRED_ROBOTS, f"robots.txt: {context.robots.reason}")
            return False
        return True

    async def _ask_source(self, lane: OnLane, context: SiteContext, row: SourceRow) -> None:
        """One sitemap; it is no page, and robots.txt holds for it as for pages."""
        slot, path = self.slot_of(context), row.url[len(context.url) :]
        now = self.setup.clock.now()
        if self.setup.obeys_robots and permission(context.robots, path, now) is Permission.FORBIDDEN:
            context.sources.remove(row)
            keep(slot, context, replace(row, state="refused", reason="robots.txt", asked_at=now))
            return
        deadly = slot.state.refusal(context.number, url_hash(path))
        if deadly is not None:
            context.sources.remove(row)
            keep(slot, context, replace(row, state="refused", reason=deadly, asked_at=now))
            return
        sources = self.setup.config.sources
        request = FetchRequest(path, max_wire_bytes=max(1, sources.max_sitemap_size))
        fetched = await self.asking.fetch(lane, context, request)
        mark = slot.in_hand.mark(context.number, url_hash(path))
        if len(fetched.payload) > SITEMAP_INLINE_BYTES:
            with mark.aside():
                source = await asyncio.to_thread(read_sitemap, fetched, sources)
        else:
            mark.take()
            source = read_sitemap(fetched, sources)
        links = record_sitemap(self.setup, slot, context, row, fetched, source)
        self._record(context, context.url, path, "sitemap", fetched, None, links)

    async def _sample(self, lane: OnLane, context: SiteContext, site: str, path: str) -> bytes | None:
        """The checksum of one page for comparison; None where it may not be asked or did not answer 200."""
        if self._is_deadly(context, path):
            return None
        robots = context.robots if site == context.url else self._robots_of(site, context)
        if self.setup.obeys_robots and permission(robots, path, self.setup.clock.now()) is not Permission.ALLOWED:
            return None
        fetched = await self.asking.fetch(lane, context, FetchRequest(path), site)
        checksum = _checksum(fetched)
        self._record(context, site, path, "sample", fetched, checksum)
        return checksum

    def _record_home(self, context: SiteContext) -> None:
        """The home page was fetched for comparison alone."""
        assert context.held_home is not None
        self._record(context, context.url, HOME, "sample", context.held_home, context.home)
        context.held_home = None

    def _record(
        self, context: SiteContext, site: str, path: str, role: Role, fetched: Fetched, checksum: bytes | None,
        links: tuple[FoundLink, ...] = (),
    ) -> None:  # fmt: skip
        """robots.txt, sitemaps and samples are archived and in the visits; they are no pages."""
        count_request(self.setup, context, fetched)
        visited = Visited(
            context.number, site, url_hash(path), path, role, fetched, fetched.outcome, fetched.reason,
            archived=bool(fetched.raw_header), checksum=checksum, links=links,
        )  # fmt: skip
        slot = self.slot_of(context)
        slot.visit(visited, None)
        slot.note(context)

    def _robots_of(self, site: str, context: SiteContext) -> RobotsState | None:
        """The rules of another site on the same address."""
        for other in self.contexts.values():
            if other.url == site:
                return other.robots
        return self.robots_from(self.slot_of(context).state.robots_of(context.address, site))

    def robots_bytes(self, robots: RobotsState | None) -> bytes | None:
        return None if robots is None else msgspec.msgpack.encode(to_row(robots, self.setup.config.net.user_agent))

    def robots_from(self, kept: bytes | None) -> RobotsState | None:
        if kept is None:
            return None
        row = msgspec.msgpack.decode(kept, type=RobotsRow)
        return from_row(row, self.setup.config.net.user_agent, self.setup.clock.now())


def _path_of(step: Asked) -> str:
    match step:
        case AskPage(task=task):
            return task.path
        case AskProbe(path=path) | AskSample(path=path):
            return path
        case AskSource(source=source):
            return split(source.url)[1]
        case AskHome():
            return HOME
        case AskRobots():
            return ROBOTS


def _checksum(fetched: Fetched) -> bytes | None:
    """Of a whole page; None for everything else."""
    if fetched.outcome is not Outcome.OK or fetched.status != 200:
        return None
    return hashlib.sha1(fetched.payload, usedforsecurity=False).digest()[:CHECKSUM_BYTES]
