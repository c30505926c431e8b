"""The front door of import: files of anyone's archive go in, a crawl folder comes out; run again, it goes on.

How far each file was read is noted beside the state after each commit. The note only saves reading: a capture that is
here already is known by its URL and its moment.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from nephila.config.layers import Layer
from nephila.config.sections import Config
from nephila.crawl.forgotten import read_forgotten
from nephila.crawl.importing import GROUP_CAPTURES, Importer, LeftOut
from nephila.crawl.mending import import_notes, reopen_sites
from nephila.crawl.opening import Opened, open_folder
from nephila.crawl.report import RUNNING, pack
from nephila.crawl.scope import CompiledScope, scope_of
from nephila.crawl.showing import shown_report
from nephila.crawl.site_list import SiteList
from nephila.crawl.totals import read_totals
from nephila.errors import UsageError
from nephila.store.archive.captures import Capture, captures
from nephila.store.archive.foreign import Lost, foreign_records
from nephila.store.durable import crash_point, replace_file
from nephila.store.folder import CrawlFolder
from nephila.store.wacz import inner_archives, is_wacz, unpacked

HEADERS_BYTES: Final = 2**20
BATCH_BYTES: Final = 8 * 2**20
MOST_TOLD: Final = 1_000
MOST_HELD_BACK: Final = 100_000
_LOG: Final = logging.getLogger("nephila.import")


@dataclass(frozen=True, slots=True)
class ReadFile:
    """What came of one file, or of one archive file within a WACZ."""

    name: str
    captures: int
    lost: int  # stretches that could not be read
    read_bytes: int
    was_done: bool = False  # an earlier import had read all of it


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What was brought in; `lost` has the first thousand stretches that could not be read."""

    files: tuple[ReadFile, ...]
    captures: int
    pages: int  # URLs that were not here before
    visits: int
    older: int  # of these: from before what was here
    robots: int
    sites: int  # in the folder now
    left_out: dict[str, int]
    differing_digests: int
    lost: tuple[Lost, ...]
    lost_count: int
    read_bytes: int
    archive_bytes: int
    seconds: float
    how: str = "done"


class _Note(msgspec.Struct, omit_defaults=True):
    """How far a file was read: by its offset, and revisits whose body had not been met by then."""

    offset: int = 0
    done: bool = False
    held_back: list[int] = []


class _Notes(msgspec.Struct):
    files: dict[str, _Note] = {}


@dataclass(frozen=True, slots=True)
class _Source:
    """Bytes to read: a file, or a part of one."""

    name: str
    path: Path
    of: Path  # the file as it was given
    start: int = 0
    stop: int | None = None

    @property
    def identity(self) -> str:
        """The same file under the same name, unchanged."""
        found = self.of.stat()
        return f"{self.name}:{found.st_size}:{found.st_mtime_ns}"


Tell = Callable[[str, int, int, int], None]
"""file, bytes read of it, its bytes, captures so far"""


@dataclass(slots=True)
class _Counted:
    files: list[ReadFile] = field(default_factory=list)
    lost: list[Lost] = field(default_factory=list)
    lost_count: int = 0
    read_bytes: int = 0


def open_for_import(path: Path, given: Sequence[Layer], slots: int = 1) -> Opened:
    """Make or open the folder; one that is new has one slot, because addresses are not known yet."""
    return open_folder(path, given, slots, "import")


def check_files(files: Sequence[Path]) -> None:
    """What can be wrong with the input is found before anything is touched."""
    for path in files:
        if not path.is_file():
            what = "is a folder" if path.is_dir() else "does not exist"
            raise UsageError(f"{path} {what}; give files that end in .warc, .warc.gz, .arc, .arc.gz or .wacz.")
        if not is_wacz(path):
            _check_start(path)


def _check_start(path: Path) -> None:
    first = next(foreign_records(path, 0), None)
    if first is None:
        raise UsageError(f"{path} is empty; give files that end in .warc, .warc.gz, .arc, .arc.gz or .wacz.")
    if isinstance(first, Lost) and first.end >= path.stat().st_size:
        raise UsageError(f"{path} is neither WARC nor ARC nor WACZ ({first.reason}); nothing was imported.")


def run(opened: Opened, files: Sequence[Path], tell: Tell | None = None) -> ImportReport:
    """Read files in their order; blocking. A kill loses nothing: the same command goes on."""
    started = time.monotonic()
    folder, config = opened.folder, opened.effective.config
    sites = SiteList(folder.coordinator_database, config.crawl.slots or 1, sync=config.archive.sync)
    importer = Importer(folder, config, sites, _scope(folder, config))
    counted = _Counted()
    notes = _read_notes(folder)
    try:
        now = time.time()
        run_number = sites.begin_run(now, 0, "")
        begin_notes(folder)
        reopen_sites(folder)
        for source in _sources(files, folder):
            # Whoever asks for the status meanwhile, or after a kill, learns that something was begun.
            begun = shown_report(folder, sites, RUNNING, time.monotonic() - started, importer.taken)
            sites.show(pack(begun), time.time())
            _Reading(folder, config, importer, notes, counted, source, tell).run()
        met = {file.name for file in counted.files if not file.was_done}
        _take_held_back(folder, config, importer, notes, _sources(files, folder), met)
        reopen_sites(folder)
        sites.end_run(run_number, time.time(), "imported")
        replace_file(folder.seeds_out, "".join(f"{url}\n" for url in sites.seeds()).encode())
        report = _report(folder, importer, counted, sites, time.monotonic() - started)
        sites.show(pack(shown_report(folder, sites, "imported", report.seconds, importer.taken)), time.time())
    finally:
        importer.close()
        sites.close()
    return report


def _scope(folder: CrawlFolder, config: Config) -> CompiledScope:
    return scope_of(config, forgotten=read_forgotten(folder))


def _sources(files: Sequence[Path], folder: CrawlFolder) -> Iterator[_Source]:
    for path in files:
        if not is_wacz(path):
            yield _Source(path.name, path, path)
            continue
        for inner in inner_archives(path):
            name = f"{path.name}/{inner.name}"
            if inner.start is not None:
                yield _Source(name, path, path, inner.start, inner.start + inner.size_bytes)
            else:
                with unpacked(path, inner, folder.state / "import") as file:
                    yield _Source(name, file, path)


class _Reading:
    """One source, from where an earlier import stopped to its end."""

    def __init__(
        self, folder: CrawlFolder, config: Config, importer: Importer, notes: _Notes, counted: _Counted,
        source: _Source, tell: Tell | None,
    ) -> None:  # fmt: skip
        self._folder, self._config, self._importer = folder, config, importer
        self._notes, self._counted, self._source = notes, counted, source
        self._note = notes.files.setdefault(source.identity, _Note(source.start))
        self._tell = tell or (lambda *_: None)
        self._batch: list[Capture] = []
        self._batch_bytes = 0
        self._captures = 0

    def run(self) -> None:
        source, note = self._source, self._note
        end = source.stop if source.stop is not None else source.path.stat().st_size
        begun_at, lost_before = note.offset, self._counted.lost_count
        if note.done:
            self._counted.files.append(ReadFile(source.name, 0, 0, 0, was_done=True))
            return
        most = self._config.crawl.max_page_size + HEADERS_BYTES
        for found in captures(foreign_records(source.path, most, note.offset, source.stop)):
            if isinstance(found, Lost):
                self._lose(found)
                continue
            self._batch.append(found)
            self._batch_bytes += len(found.body)
            self._captures += 1
            if len(self._batch) >= GROUP_CAPTURES or self._batch_bytes >= BATCH_BYTES:
                self._take()
                self._tell(source.name, note.offset - source.start, end - source.start, self._importer.taken.captures)
        self._take()
        note.done = True
        _write_notes(self._folder, self._notes)
        self._counted.read_bytes += end - begun_at
        lost = self._counted.lost_count - lost_before
        _LOG.info("%s: captures=%d lost=%d bytes=%d", source.name, self._captures, lost, end - begun_at)
        self._counted.files.append(ReadFile(source.name, self._captures, lost, end - begun_at))

    def _take(self) -> None:
        if not self._batch:
            return
        held_back = self._importer.take(self._batch)
        self._importer.commit()
        crash_point("import.committed")
        self._note.held_back += [capture.offset for capture in held_back]
        del self._note.held_back[MOST_HELD_BACK:]
        # The last of them may share its place with the next: it is met again and known.
        self._note.offset = self._batch[-1].offset
        _write_notes(self._folder, self._notes)
        self._batch, self._batch_bytes = [], 0

    def _lose(self, lost: Lost) -> None:
        _LOG.warning("%s cannot be read from byte %d to %d: %s", self._source.name, lost.start, lost.end, lost.reason)
        self._counted.lost_count += 1
        if len(self._counted.lost) < MOST_TOLD:
            base = self._source.start
            self._counted.lost.append(Lost(self._source.name, lost.start - base, lost.end - base, lost.reason))


def _take_held_back(
    folder: CrawlFolder, config: Config, importer: Importer, notes: _Notes, sources: Iterator[_Source], met: set[str]
) -> None:
    """Revisits that stood before the record they repeat: now all of it is here."""
    most = config.crawl.max_page_size + HEADERS_BYTES
    if not any(note.held_back for note in notes.files.values()):
        return
    for source in sources:
        note, left = notes.files[source.identity], []
        for offset in note.held_back:
            found = next(captures(foreign_records(source.path, most, offset, source.stop)), None)
            if isinstance(found, Capture):
                importer.taken.captures -= source.name in met  # it was counted when it was met first
                left += [offset for _ in importer.take([found])]
        importer.commit()
        # The same file once more, after the one that it repeats, is not in vain.
        note.held_back = left
        if left:
            importer.taken.left_out[LeftOut.NO_BODY.value] += len(left)
    _write_notes(folder, notes)


def _read_notes(folder: CrawlFolder) -> _Notes:
    try:
        return msgspec.json.decode(import_notes(folder).read_bytes(), type=_Notes)
    except (FileNotFoundError, msgspec.MsgspecError):
        return _Notes()


def _write_notes(folder: CrawlFolder, notes: _Notes) -> None:
    replace_file(import_notes(folder), msgspec.json.encode(notes) + b"\n")


def begin_notes(folder: CrawlFolder) -> None:
    """That pages of this folder did not come from their servers is known, whatever else is lost."""
    if not import_notes(folder).exists():
        _write_notes(folder, _Notes())


def forget_notes(folder: CrawlFolder) -> None:
    """The next import reads its files from their beginning."""
    if import_notes(folder).exists():
        _write_notes(folder, _Notes())


def _report(
    folder: CrawlFolder, importer: Importer, counted: _Counted, sites: SiteList, seconds: float
) -> ImportReport:
    taken = importer.taken
    counts = sites.counts()
    return ImportReport(
        files=tuple(counted.files),
        captures=taken.captures,
        pages=taken.pages,
        visits=taken.visits,
        older=taken.older,
        robots=taken.robots,
        sites=counts.new + counts.leased + counts.done + counts.asleep + counts.alias,
        left_out=dict(sorted(taken.left_out.items())),
        differing_digests=taken.payload_digests,
        lost=tuple(counted.lost),
        lost_count=counted.lost_count,
        read_bytes=counted.read_bytes,
        archive_bytes=read_totals(folder).archive_bytes,
        seconds=round(seconds, 3),
    )
