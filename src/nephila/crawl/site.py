"""The site context: what an agent keeps in memory for a site it is collecting (S1-16), and what it does next.

`next_step` decides and does nothing; the lane acts. A context can be dropped at any moment and loaded again, by
another process too, because everything it decided was committed with the results that made it decide (S2-13).
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from nephila.crawl.darkness import HeldPage, is_held
from nephila.crawl.fetcher import Connection, Fetched
from nephila.crawl.group import SiteFigures, SiteRow, SourceRow
from nephila.crawl.known_contents import SiteContents
from nephila.crawl.outcome import Health
from nephila.crawl.politeness import Pace
from nephila.crawl.request import DEFAULT_PORTS, Site
from nephila.crawl.robots_state import Permission, RobotsState, permission
from nephila.crawl.seen import SeenUrls
from nephila.crawl.slot_state import PageTask
from nephila.crawl.trapped import SiteTraps
from nephila.records import Outcome
from nephila.urls import host_of

MAX_TASKS: Final = 2_000
"""Waiting URLs of one site in memory at most; the others wait on disk."""

ALL_TASKS: Final = 100_000
"""Waiting URLs of all sites of an agent in memory: 30 MB. The more sites, the fewer of each; but so many at least:"""

LEAST_TASKS: Final = 20

HOME: Final = "/"


@dataclass(frozen=True, slots=True)
class AskRobots:
    """Fetch robots.txt before anything else."""


@dataclass(frozen=True, slots=True)
class AskPage:
    task: PageTask


@dataclass(frozen=True, slots=True)
class AskHome:
    """Fetch the home page as a sample, because another site is on the same address."""


@dataclass(frozen=True, slots=True)
class AskSample:
    """Ask a path of this site, or of the one it is compared with, to learn whether the two are one (S0-9)."""

    site: str
    path: str
    other: int  # number of the site it is compared with
    expected: bytes | None = None  # what the other one of the two answered, if it was asked already


@dataclass(frozen=True, slots=True)
class AskProbe:
    """Ask for what cannot be there: a site that has it all the same says 200 to everything (U3)."""

    path: str


@dataclass(frozen=True, slots=True)
class AskSource:
    """Ask for a sitemap, before the pages that it may list."""

    source: SourceRow


@dataclass(frozen=True, slots=True)
class BecomeAlias:
    """The site is another name of the canonical one."""

    canonical: int
    reason: str


@dataclass(frozen=True, slots=True)
class Close:
    """A limit is reached: what waits is not requested."""

    outcome: Outcome
    reason: str


@dataclass(frozen=True, slots=True)
class Refuse:
    """A page that is not requested, and why."""

    task: PageTask
    outcome: Outcome
    reason: str


@dataclass(frozen=True, slots=True)
class Load:
    """More waiting URLs are on disk."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing to do before this moment (simulated monotonic seconds)."""

    until: float


@dataclass(frozen=True, slots=True)
class GiveUp:
    """The run ends without this site; its URLs wait for the next one."""

    outcome: Outcome
    reason: str


@dataclass(frozen=True, slots=True)
class Suspend:
    """Give the place to another site, and go on later from here (S2-13)."""


@dataclass(frozen=True, slots=True)
class Ended:
    """Nothing is left to request."""


Step = (
    AskRobots
    | AskPage
    | AskHome
    | AskSample
    | AskProbe
    | AskSource
    | BecomeAlias
    | Close
    | Refuse
    | Load
    | Wait
    | GiveUp
    | Suspend
    | Ended
)
Asked = AskRobots | AskPage | AskHome | AskSample | AskProbe | AskSource


@dataclass(slots=True)
class Window:
    """How much of what waits is in memory, for all sites of an agent: it does not grow with their number."""

    tasks_per_site: int = MAX_TASKS

    def fit(self, sites: int) -> None:
        self.tasks_per_site = max(LEAST_TASKS, min(MAX_TASKS, ALL_TASKS // max(1, sites)))


@dataclass(slots=True)
class SiteContext:
    """One site in collection. Times are simulated; `asleep_until` and `pace` are monotonic, the rest is UTC."""

    number: int
    slot: int
    url: str
    address: str
    given: bool
    seen: SeenUrls
    known: int
    retries: int
    patience_s: float  # the longest that this run waits for a site that asks for it, or for its robots.txt
    longest_delay_s: float  # what a Crawl-delay may come to
    pace: Pace
    contents: SiteContents = field(default_factory=SiteContents)
    window: Window = field(default_factory=Window)
    robots: RobotsState | None = None
    home: bytes | None = None
    home_tried: bool = False
    wants_home: bool = False
    held_home: Fetched | None = None  # fetched for comparison, and not yet recorded: page or sample, as it turns out
    compared: bool = False  # it is known whether it is an alias
    distinct_from: set[int] = field(default_factory=set)
    tasks: list[tuple[int, int, PageTask]] = field(default_factory=list)  # heap: breadth first (S1-4)
    later: list[tuple[float, int, PageTask]] = field(default_factory=list)  # heap: failed, to be tried again
    more_on_disk: bool = True
    in_flight: int = 0
    busy: bool = False  # something is being done that nothing else may be done beside
    health: Health = field(default_factory=Health)
    held: dict[int, HeldPage] = field(default_factory=dict)  # failed since it last answered (`darkness`)
    asked_again: dict[int, bool] = field(default_factory=dict)  # pages that darkness has cost; True: with an answer
    busy_in_a_row: int = 0
    asleep_until: float = 0.0
    last_ms: int = 0
    requested: int = 0
    received_bytes: int = 0
    failed_runs: int = 0
    first_at: float | None = None
    last_at: float | None = None
    seed_outcome: Outcome | None = None
    traps: SiteTraps = field(default_factory=SiteTraps)
    seeds: int = 1  # ways in from outside, for its budget
    idle: list[Connection] = field(default_factory=list)  # open connections that nobody uses
    sources: list[SourceRow] = field(default_factory=list)  # sitemaps to be asked for
    known_sources: dict[str, SourceRow] = field(default_factory=dict)  # every sitemap known, by its URL
    leaving: bool = False  # the hour's plan wants its place for another (`suspending`)
    place_until: float = float("inf")  # when its share of this hour is used up
    slow_in_a_row: int = 0  # answers far slower than usual at this hour

    @property
    def site(self) -> Site:
        return parse_site(self.url)

    @property
    def waiting(self) -> int:
        return len(self.tasks) + len(self.later)

    def has_task(self, path: str) -> bool:
        return any(task.path == path for _, _, task in self.tasks)

    def push(self, task: PageTask) -> None:
        """One more URL to request. When there are too many for memory they wait on disk, where they are already."""
        if self.more_on_disk:
            return
        if len(self.tasks) >= self.window.tasks_per_site:
            self.more_on_disk = True
            return
        heapq.heappush(self.tasks, (task.turn, task.place, task))

    def try_later(self, task: PageTask, at: float) -> None:
        heapq.heappush(self.later, (at, task.place, task))

    def hold(self, task: PageTask, fetched: Fetched) -> bool:
        """Keep a page in mind whose tries have run out; False where that is decided whatever its site does."""
        if not is_held(task, fetched.outcome, fetched.status):
            return False
        failed = replace(task, outcome=fetched.outcome)
        self.held[task.hash] = HeldPage(failed, fetched.reason, answered=bool(fetched.status))
        return True

    @property
    def loadable(self) -> int:
        """How many waiting URLs to take from disk: those that were tried already come back with them."""
        return self.window.tasks_per_site + self.waiting + len(self.held)

    def load(self, tasks: list[PageTask], asked_for: int) -> None:
        """Take the first waiting URLs from disk; those in memory already are among them and are not doubled."""
        there = {task.hash for _, _, task in (*self.tasks, *self.later)} | self.held.keys()
        for task in tasks:
            if task.hash not in there:
                heapq.heappush(self.tasks, (task.turn, task.place, task))
        self.more_on_disk = len(tasks) >= asked_for

    def keep_tried(self) -> None:
        """Forget all tasks but those that were requested before."""
        self.tasks = [entry for entry in self.tasks if not entry[2].is_new]
        heapq.heapify(self.tasks)

    def take(self, task: PageTask) -> None:
        """The task at the head of one of the two was decided about."""
        if self.tasks and self.tasks[0][2] is task:
            heapq.heappop(self.tasks)
        else:
            heapq.heappop(self.later)

    def figures(self) -> SiteFigures:
        """What changes with every visit."""
        return SiteFigures(
            self.last_ms,
            self.pace.delay_s,
            self.requested,
            self.received_bytes,
            self.known,
            self.first_at,
            self.last_at,
            self.home,
        )

    def row(
        self, state: str, outcome: str = "", reason: str = "", alias_of: int | None = None,
        *, robots: bytes | None, next_at: float,
    ) -> SiteRow:  # fmt: skip
        """The context as it is kept on disk."""
        return SiteRow(
            site=self.number, url=self.url, address=self.address, given=self.given, state=state, outcome=outcome,
            reason=reason, alias_of=alias_of, distinct_from=" ".join(map(str, sorted(self.distinct_from))),
            robots=robots, next_at=next_at, home=self.home, last_ms=self.last_ms, failures=self.health.failures,
            sleeps=self.health.sleeps, failed_runs=self.failed_runs, delay_s=self.pace.delay_s,
            requested=self.requested, received_bytes=self.received_bytes, known=self.known,
            first_at=self.first_at, last_at=self.last_at,
        )  # fmt: skip


def next_step(context: SiteContext, now: float, utc_now: float, *, obey_robots: bool) -> Step:
    """What this site wants to do now; politeness is asked before it is done."""
    if context.asleep_until > now:
        return Wait(context.asleep_until)
    if context.wants_home and not context.home_tried:
        step = _about_home(context, utc_now, obey_robots=obey_robots)
        if step is not None:
            return step
    wait_s = context.pace.ready_at - now
    if wait_s > max(context.patience_s, context.longest_delay_s):
        return GiveUp(Outcome.DEFERRED_HOST, f"it asks to be left alone for {wait_s:.0f} s")
    if context.sources and not context.in_flight:
        step = _about_source(context, utc_now, obey_robots=obey_robots)
        if step is not None:
            return step
    is_due = bool(context.later) and context.later[0][0] <= now
    if not context.tasks and context.more_on_disk and not is_due:
        return Wait(float("inf")) if context.in_flight else Load()
    if context.tasks and not (is_due and len(context.later) > MAX_TASKS):
        task = context.tasks[0][2]
    elif context.later:
        at, _, task = context.later[0]
        if at > now:
            return Wait(at)
    elif context.in_flight:
        return Wait(float("inf"))
    else:
        return Ended()
    if not obey_robots:
        return AskPage(task)
    match permission(context.robots, task.path, utc_now):
        case Permission.ASK_FIRST:
            return AskRobots()
        case Permission.ALLOWED:
            return AskPage(task)
        case Permission.FORBIDDEN:
            rule = context.robots.rules.deciding(task.path) if context.robots is not None else None
            return Refuse(task, Outcome.BLOCKED_ROBOTS, f"Disallow: {rule.pattern}" if rule is not None else "")
        case Permission.DEFERRED:
            assert context.robots is not None
            wait_s = max(0.0, context.robots.next_ask_at - utc_now)
            if wait_s > context.patience_s:
                return GiveUp(Outcome.DEFERRED_ROBOTS, f"robots.txt: {context.robots.reason}")
            return Wait(now + wait_s)


def _about_source(context: SiteContext, utc_now: float, *, obey_robots: bool) -> Step | None:
    """Sitemaps come before pages; None: robots.txt must be asked first, or waited for, as for a page."""
    source = context.sources[0]
    if obey_robots and permission(context.robots, source.url[len(context.url) :], utc_now) in (
        Permission.ASK_FIRST,
        Permission.DEFERRED,
    ):
        return None
    return AskSource(source)


def _about_home(context: SiteContext, utc_now: float, *, obey_robots: bool) -> Step | None:
    """The home page comes first where it must be compared; None: it cannot be had, go on without."""
    if obey_robots:
        match permission(context.robots, HOME, utc_now):
            case Permission.ASK_FIRST:
                return AskRobots()
            case Permission.FORBIDDEN:
                context.home_tried = True
                return None
            case Permission.DEFERRED:
                return None
            case Permission.ALLOWED:
                pass
    if context.compared and context.has_task(HOME):
        return None  # it will be asked as a page
    return AskHome()


def parse_site(url: str) -> Site:
    """A site's URL in parts; the port is the scheme's own where the URL has none."""
    scheme: Literal["http", "https"] = "https" if url.startswith("https:") else "http"
    host = host_of(url)
    rest = url.partition("//")[2][len(host) :]
    return Site(scheme, host, int(rest[1:]) if rest.startswith(":") else DEFAULT_PORTS[scheme])
