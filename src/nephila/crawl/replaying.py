"""A slot's database made anew from what the archive proves (RELIABILITY F10).

Every answer in the archive is recorded once more, by the code that recorded it when it came, and so brings the same
rows, the same links of its own site and the same parcels for the coordinator. What the archive holds no answer for is
known from those links alone: it waits, and is asked for again.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, cast

from nephila.config.sections import Config
from nephila.crawl.collecting import PAGES_PURSE
from nephila.crawl.fetcher import Fetched, Truncated, user_agent
from nephila.crawl.forgotten import read_forgotten
from nephila.crawl.group import IMPORTED, Group, Kept, Role, Seen, Swept, Visited
from nephila.crawl.harvest import CHECKSUM_BYTES
from nephila.crawl.messages import Seed
from nephila.crawl.politeness import Pace
from nephila.crawl.recording import SEED_KIND, offer, record_older, record_page
from nephila.crawl.seen import PackedHashes
from nephila.crawl.setup import Setup, make_clock, make_setup, software
from nephila.crawl.site import SiteContext
from nephila.crawl.slot import Slot
from nephila.crawl.slot_state import PageTask, SlotState
from nephila.crawl.sourcing import LISTED_DEPTH
from nephila.decode import decode
from nephila.errors import DamagedError
from nephila.records import LinkKind, Outcome
from nephila.store.archive.exchange import Placed, Position
from nephila.store.archive.reader import StoredExchange, StoredResponse, read_with_body
from nephila.store.durable import publish
from nephila.store.folder import CrawlFolder
from nephila.urls import split, url_hash

_VISITS: Final = 500
_REDIRECTS: Final = frozenset({"redirect", "redirect_loop", "redirect_limit"})


@dataclass(frozen=True, slots=True)
class KnownSite:
    """A site of the slot as the coordinator knows it."""

    number: int
    url: str
    address: str
    given: bool
    alias_of: int | None = None
    reason: str = ""
    seeds: tuple[Seed, ...] = ()
    imported: bool = False  # its address today is not known

    @property
    def open_state(self) -> str:
        return IMPORTED if self.imported else "waiting"


@dataclass(frozen=True, slots=True)
class Replayed:
    """What became of a slot."""

    slot: int
    answers: int
    pages: int  # with an answer
    waiting: int  # known, and to be asked again


@dataclass(slots=True)
class _Context(SiteContext):
    """A site whose waiting pages are found again by their hash."""

    found: dict[int, PageTask] = field(default_factory=dict)
    recorded: dict[int, Outcome] = field(default_factory=dict)
    kept: dict[int, Kept] = field(default_factory=dict)  # what a later visit is compared with
    answered_at: dict[int, float] = field(default_factory=dict)

    def push(self, task: PageTask) -> None:
        self.found[task.hash] = task


def replay_slot(
    folder: CrawlFolder, slot: int, config: Config, sites: Sequence[KnownSite], exchanges: Iterable[StoredExchange],
    end: Position | None, *, applied: int, sent: int,
) -> Replayed:  # fmt: skip
    """Make `state/agent-NN.db` from the archive; it appears under its name when it is complete.

    `applied` and `sent` are the parcels that both sides have; `end` is where the archive of the slot ends.
    """
    scratch = CrawlFolder(folder.state / f"rebuilding-{slot:02}")
    shutil.rmtree(scratch.path, ignore_errors=True)
    scratch.state.mkdir(parents=True)
    setup = make_setup(config, make_clock(config), read_forgotten(folder), folder.state)
    state = SlotState(scratch, slot, config.archive, software(config, user_agent(config.net)))
    try:
        state.begin_at(applied, sent)
        replayed = _Replay(setup, state, folder, sites, end, sent).run(exchanges)
    finally:
        state.close()
    publish(scratch.agent_database(slot), folder.agent_database(slot))
    shutil.rmtree(scratch.path)
    return replayed


class _Replay:
    def __init__(
        self, setup: Setup, state: SlotState, folder: CrawlFolder, sites: Sequence[KnownSite], end: Position | None,
        sent: int,
    ) -> None:  # fmt: skip
        self._setup = setup
        self._state = state
        self._folder = folder
        self._end = end
        self._sent = sent
        self._slot = Slot(state, setup.config.archive, lambda *_: None)
        self._sites = {site.url: site for site in sites}
        self._contexts = {site.url: self._context(site) for site in sites}
        self._placed: dict[int, Placed] = {}
        self._answers = 0

    def run(self, exchanges: Iterable[StoredExchange]) -> Replayed:
        for url, site in self._sites.items():
            self._slot.keep(self._contexts[url].row(site.open_state, robots=None, next_at=0.0))
            for seed in site.seeds:
                kind = seed.kind or SEED_KIND
                offer(self._setup, self._slot, self._contexts[url], seed.path, seed.referrer, kind, 0,
                      hops=seed.hops, seed=True)  # fmt: skip
        for exchange in exchanges:
            self._record(exchange)
            if len(self._slot.group.visited) >= _VISITS:
                self._adopt()
        for url, site in self._sites.items():
            context = self._contexts[url]
            if site.alias_of is None:
                self._slot.keep(context.row(site.open_state, robots=None, next_at=0.0))
                continue
            self._slot.sweep(Swept(site.number, Outcome.ALIAS, site.reason, todo=False))
            self._slot.keep(
                context.row("alias", Outcome.ALIAS.value, site.reason, site.alias_of, robots=None, next_at=0.0)
            )
        self._adopt()
        pages = sum(len(context.recorded) for context in self._contexts.values())
        waiting = sum(len(context.found) for context in self._contexts.values())
        return Replayed(self._slot.number, self._answers, pages, waiting)

    def _adopt(self) -> None:
        group, self._slot.group = self._slot.group, Group()
        self._sent += self._state.adopt(group, self._placed, self._end, self._sent + 1)
        self._placed.clear()

    def _record(self, exchange: StoredExchange) -> None:
        site_url, path = split(exchange.response.url)
        context = self._contexts.get(site_url)
        if context is None:
            return  # the robots.txt of a site elsewhere, or a site that the coordinator does not know
        fetched = self._fetched(exchange)
        if fetched is None:
            return
        if exchange.role == LinkKind.SITEMAP.value:
            for link in exchange.outlinks:  # pages that a sitemap listed are known from it alone
                offer(
                    self._setup, self._slot, context, split(link.url)[1], exchange.response.url, link.kind, LISTED_DEPTH
                )
        if exchange.role != "page":
            self._slot.visit(self._visited(context, path, exchange.role, fetched), None)
        else:
            self._record_page(context, path, fetched)
        self._slot.note(context)
        response = exchange.response
        self._placed[id(self._slot.group.visited[-1])] = Placed(response.file, response.offset, response.length)
        self._answers += 1

    def _record_page(self, context: _Context, path: str, fetched: Fetched) -> None:
        key, task = url_hash(path), self._task(context, path)
        if fetched.started_at < context.answered_at.get(key, 0.0):  # archives were imported in another order
            record_older(self._setup, self._slot, context, task, fetched)
            return
        record_page(self._setup, self._slot, context, task, fetched)
        context.recorded[key] = fetched.outcome
        context.kept[key] = kept_after(self._slot.group.visited[-1])
        context.answered_at[key] = fetched.started_at

    def _task(self, context: _Context, path: str) -> PageTask:
        key = url_hash(path)
        if key in context.recorded:  # a later visit of the same page
            return PageTask(0, 0, key, path, 0, False, 0, context.recorded[key], kept=context.kept[key])
        self._slot.group.used[PAGES_PURSE] += 1
        # Where it is new here, nobody in the archive links to it.
        offer(self._setup, self._slot, context, path, "", SEED_KIND, 0)
        return context.found.pop(key, None) or PageTask(0, 0, key, path, 0, False, 0, Outcome.WAITING)

    def _visited(self, context: _Context, path: str, role: str, fetched: Fetched) -> Visited:
        checksum = None
        if role == "sample" and fetched.outcome is Outcome.OK and fetched.status == 200:
            checksum = hashlib.sha1(fetched.payload, usedforsecurity=False).digest()[:CHECKSUM_BYTES]
            if path == "/":
                context.home = checksum
        return Visited(
            context.number, context.url, url_hash(path), path, cast(Role, role), fetched, fetched.outcome,
            fetched.reason, archived=True, checksum=checksum,
        )  # fmt: skip

    def _fetched(self, exchange: StoredExchange) -> Fetched | None:
        """The answer as it came; None where its body lies in a record that is lost."""
        response = exchange.response
        said = dict(exchange.fields)
        outcome = Outcome.REDIRECT if said.get("outcome") in _REDIRECTS else Outcome(said.get("outcome", "ok"))
        body = b"" if outcome is Outcome.NOT_MODIFIED else self._body(response)
        if body is None:
            return None
        cap = self._setup.config.crawl.max_decoded_size
        return Fetched(
            outcome, "", response.fetched_at, response.address, exchange.request, response.status, "1.1",
            response.headers, response.header, body, body, decode(body, response.codings, cap).payload,
            cast(Truncated | None, response.truncated or None), total_ms=float(said.get("fetchTimeMs", "0")),
            received_bytes=len(response.header) + len(body), skipped=outcome is Outcome.TRUNCATED_LENGTH and not body,
        )  # fmt: skip

    def _body(self, response: StoredResponse) -> bytes | None:
        if response.revisit is None:
            return response.body
        slot_archive = self._folder.archive_of(self._slot.number)
        try:
            first = read_with_body(self._folder.archive, slot_archive / response.file, response.offset)
        except (DamagedError, ValueError):
            return None
        return first.body if first.revisit is None and first.url == response.revisit.url else None

    def _context(self, site: KnownSite) -> _Context:
        return _Context(
            number=site.number, slot=self._slot.number, url=site.url, address=site.address, given=site.given,
            seen=PackedHashes(), known=0, retries=0, patience_s=0.0, longest_delay_s=0.0, pace=Pace(),
            more_on_disk=False,
        )  # fmt: skip


def kept_after(visited: Visited) -> Kept:
    """What is known of a page after a visit, as its row would say it."""
    if visited.kept is not None and visited.seen is not Seen.CHANGED:
        missing = visited.kept.missing + 1 if visited.seen in (Seen.MISSING, Seen.GONE) else 0
        code = visited.fetched.status if visited.seen is Seen.GONE else visited.kept.code
        return replace(visited.kept, missing=missing, code=code)
    fetched = visited.fetched
    validators = (fetched.header("etag") or "", fetched.header("last-modified") or "")
    return Kept(fetched.status, visited.checksum, len(fetched.payload), *validators)


def sites_in(exchanges: Iterable[StoredExchange]) -> Iterator[tuple[str, str]]:
    """Site and address of every answer of a page: what is left of a slot when the coordinator's list is lost too."""
    seen: set[str] = set()
    for exchange in exchanges:
        site = split(exchange.response.url)[0]
        if exchange.role == "page" and site not in seen:
            seen.add(site)
            yield site, exchange.response.address
