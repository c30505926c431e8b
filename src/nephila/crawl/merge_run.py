"""The front door of merge: crawl folders go in, one comes out that has every page once and every visit of all of them.

The archives of all folders are read side by side in the order of time and imported, as anyone's archive is; so the
newest visit is the page, and each visit is told apart by URL and moment. What an archive does not hold comes from the
states: how a page was reached, visits without an answer, the seeds that were given, and what was forgotten.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from nephila.config.layers import Layer, read_file
from nephila.crawl.captured import Reached
from nephila.crawl.coordinator import admission
from nephila.crawl.fetcher import Fetched
from nephila.crawl.forgotten import read_forgotten
from nephila.crawl.import_run import begin_notes
from nephila.crawl.importing import GROUP_CAPTURES, Importer
from nephila.crawl.mending import reopen_sites, rows
from nephila.crawl.opening import Opened, read_settings, take_folder
from nephila.crawl.replay import committed_positions
from nephila.crawl.report import RUNNING, pack
from nephila.crawl.scope import scope_of
from nephila.crawl.showing import shown_report
from nephila.crawl.site_list import SiteList
from nephila.errors import DamagedError, FolderInUseError, UsageError
from nephila.records import Outcome
from nephila.store.archive.captures import Capture, Digests
from nephila.store.archive.exchange import Position, RevisitProfile
from nephila.store.archive.reader import StoredExchange, read_with_body, walk_exchanges
from nephila.store.database import open_reader
from nephila.store.durable import crash_point, replace_file
from nephila.store.folder import CrawlFolder
from nephila.store.forgotten import ForgottenLine, rules_in_force, stamp, write_line
from nephila.urls import split, url_hash

BATCH_BYTES: Final = 8 * 2**20
Tell = Callable[[int], None]
"""answers read so far"""


@dataclass(frozen=True, slots=True)
class MergeReport:
    """What became of the folders."""

    folders: tuple[str, ...]
    answers: int  # read from their archives
    pages: int  # URLs that were not here before
    visits: int
    older: int
    failures: int  # visits without an answer
    here_already: int
    sites: int
    left_out: dict[str, int]
    seconds: float


def check_sources(sources: Sequence[Path], target: Path) -> list[CrawlFolder]:
    """The folders to merge; what is wrong with them is said before anything is touched."""
    folders = []
    for path in sources:
        if path.resolve() == target.resolve():
            raise UsageError(f"{path} cannot be merged into itself; name another folder with -C DIR.")
        folder = CrawlFolder.open(path)
        if folder.in_use():
            raise FolderInUseError(f"The crawl folder {path} is in use; wait until its crawl ends, or stop it.")
        folders.append(folder)
    if len({folder.path.resolve() for folder in folders}) < len(folders):
        raise UsageError("a folder is named twice; name each once.")
    return folders


def open_for_merge(path: Path, given: Sequence[Layer], sources: Sequence[CrawlFolder]) -> Opened:
    """A new folder has the settings of the first one, and one slot: pages of all slots of all folders meet in it."""
    layers = list(given)
    if not CrawlFolder.is_crawl(path) and sources[0].config_file.exists():
        layers = [read_file(sources[0].config_file), Layer("merge", {"crawl.slots": 1}), *given]
    return take_folder(path, read_settings(path, layers, 1), "merge")


def run(opened: Opened, sources: Sequence[CrawlFolder], tell: Tell | None = None) -> MergeReport:
    """Bring everything of the folders into one; blocking. Killed, the same command goes on."""
    started, now = time.monotonic(), time.time()
    folder, config = opened.folder, opened.effective.config
    _join_rules(folder, sources, now)
    sites = SiteList(folder.coordinator_database, config.crawl.slots or 1, sync=config.archive.sync)
    scope = scope_of(config, forgotten=read_forgotten(folder))
    importer = Importer(folder, config, sites, scope)
    try:
        run_number = sites.begin_run(now, 0, "")
        begin_notes(folder)
        sites.show(pack(shown_report(folder, sites, RUNNING, 0.0, importer.taken)), now)
        sites.add_given(_given(sources), admission(config), now)
        states = [_States(source) for source in sources]
        _take_answers(importer, states, tell or (lambda answers: None))
        failures = _take_failures(importer, states)
        importer.commit()
        reopen_sites(folder)
        sites.end_run(run_number, time.time(), "merged")
        replace_file(folder.seeds_out, "".join(f"{url}\n" for url in sites.seeds()).encode())
        taken = importer.taken
        left_out = dict(sorted(taken.left_out.items()))
        seconds = round(time.monotonic() - started, 3)
        sites.show(pack(shown_report(folder, sites, "merged", seconds, taken)), time.time())
        counts = sites.counts()
    finally:
        importer.close()
        sites.close()
    return MergeReport(
        tuple(str(source.path) for source in sources), taken.captures, taken.pages, taken.visits, taken.older, failures,
        left_out.pop("here already", 0), counts.new + counts.leased + counts.done + counts.asleep + counts.alias,
        left_out, seconds,
    )  # fmt: skip


def _join_rules(folder: CrawlFolder, sources: Sequence[CrawlFolder], now: float) -> None:
    """What one of them has forgotten does not come back with another."""
    known = set(rules_in_force(folder))
    for source in sources:
        for rule in rules_in_force(source):
            if rule not in known:
                known.add(rule)
                write_line(folder, ForgottenLine(stamp(now), "forget", rule))


def _given(sources: Sequence[CrawlFolder]) -> Iterator[str]:
    sql = "SELECT url || path FROM seeds JOIN sites USING (site) WHERE seeds.given = 1 ORDER BY site, path"
    for source in sources:
        if source.coordinator_database.exists():
            yield from (str(url) for (url,) in rows(source.coordinator_database, sql))


class _States:
    """The slots of one folder, read while its archive is walked."""

    def __init__(self, folder: CrawlFolder) -> None:
        self.folder = folder
        self.ends = dict(committed_positions(folder))

    def answers(self, slot: int, end: Position) -> Iterator[tuple[float, Capture, Reached | None]]:
        directory = self.folder.archive_of(slot)
        with closing(open_reader(self.folder.agent_database(slot))) as reader:
            numbers = dict(reader.execute("SELECT url, site FROM sites"))
            for exchange in walk_exchanges(directory, end):
                capture = self._capture(directory, exchange)
                if capture is not None:
                    yield capture.fetched_at, capture, _reached(reader, numbers, capture.url)

    def _capture(self, directory: Path, exchange: StoredExchange) -> Capture | None:
        response = exchange.response
        body, kind = response.body, response.kind
        if response.revisit is not None and response.revisit.profile is RevisitProfile.IDENTICAL_PAYLOAD:
            try:
                body = read_with_body(self.folder.archive, directory / response.file, response.offset).body
            except (DamagedError, ValueError):
                return None
            kind = "response"
        return Capture(
            file=response.file, offset=response.offset, kind=kind, url=response.url, fetched_at=response.fetched_at,
            address=response.address, status=response.status, headers=response.headers, header=response.header,
            body=body, mime="", truncated=response.truncated, digests=Digests.NONE, payload_digest="", record_id="",
            request=exchange.request, fields=(("role", exchange.role), *exchange.fields),
        )  # fmt: skip

    def failures(self) -> Iterator[tuple[str, Fetched, Reached]]:
        """The last visit of each page that never answered."""
        sql = """SELECT url || p.path, v.outcome, v.reason, v.at, v.address, v.elapsed_ms, depth, referrer, kind, hops,
                 max(v.visit) FROM pages p JOIN sites USING (site) JOIN visits v ON v.site = p.site AND v.hash = p.hash
                 WHERE p.code IS NULL AND v.code IS NULL AND v.role = 'page' AND v.outcome = p.outcome
                 GROUP BY p.site, p.hash ORDER BY v.at"""
        for slot in self.ends:
            for url, outcome, reason, at, address, elapsed_ms, *way, _ in rows(self.folder.agent_database(slot), sql):
                if outcome == Outcome.FORGOTTEN.value:
                    continue
                yield url, Fetched(Outcome(outcome), reason, at, address, total_ms=float(elapsed_ms)), Reached(*way)


def _reached(reader: Any, numbers: dict[str, int], url: str) -> Reached | None:
    site, path = split(url)
    sql = "SELECT depth, referrer, kind, hops FROM pages WHERE site = ? AND hash = ?"
    row = reader.execute(sql, (numbers.get(site, -1), url_hash(path))).fetchone()
    return None if row is None else Reached(*row)


def _take_answers(importer: Importer, states: Sequence[_States], tell: Tell) -> None:
    streams = [state.answers(slot, end) for state in states for slot, end in state.ends.items()]
    batch: list[Capture] = []
    ways: dict[str, Reached] = {}
    size_bytes = 0

    def take() -> None:
        nonlocal batch, ways, size_bytes
        importer.take(batch, ways)
        importer.commit()
        crash_point("merge.committed")
        batch, ways, size_bytes = [], {}, 0
        tell(importer.taken.captures)

    for _, capture, way in heapq.merge(*streams, key=lambda each: each[0]):
        batch.append(capture)
        if way is not None:
            ways.setdefault(capture.url, way)
        size_bytes += len(capture.body)
        if len(batch) >= GROUP_CAPTURES or size_bytes >= BATCH_BYTES:
            take()
    take()


def _take_failures(importer: Importer, states: Sequence[_States]) -> int:
    count = 0
    for state in states:
        for url, fetched, way in state.failures():
            count += importer.fail(url, fetched, way)
            if count % GROUP_CAPTURES == GROUP_CAPTURES - 1:
                importer.commit()
    return count
