"""`nephila repair`: what the archive proves is in the state again, and the rest is asked again (RELIABILITY F10).

First the archive: damaged stretches are taken out of its files. Then the databases: what is damaged is set aside and
made anew, the coordinator's before the slots'. Last the rows: a page whose answer is gone waits again. Nothing is
deleted; whatever was damaged stays beside its successor under another name. Killed on the way, it is simply run again.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from nephila.config.layers import lay, read_file
from nephila.config.sections import Config
from nephila.crawl.mending import (
    SlotArchive,
    ask_again,
    begun_without_database,
    committed_end,
    out_of_step,
    relist_links,
    remake_site_list,
    remake_slot,
    reopen_sites,
)
from nephila.errors import ConfigError
from nephila.store.archive.exchange import Position
from nephila.store.archive.names import archive_files, file_number
from nephila.store.archive.reader import StoredExchange, exchange_of
from nephila.store.database import problems
from nephila.store.folder import CrawlFolder
from nephila.store.repair import Exchanged, Gap, damaged_databases, heal, set_aside, stretches, widened


@dataclass(frozen=True, slots=True)
class RepairReport:
    """What was found and done; names are relative to the folder."""

    whole: bool  # nothing was wrong
    found: tuple[str, ...]  # one sentence per damage
    rebuilt: tuple[str, ...]  # databases
    healed: tuple[str, ...]  # archive files
    kept: tuple[str, ...]  # what was damaged, under its new name
    answers: int  # that the archive proves for rebuilt databases
    asked_again: int  # pages
    seconds: float


@dataclass(slots=True)
class _Found:
    folder: CrawlFolder
    found: list[str] = field(default_factory=list)
    rebuilt: list[str] = field(default_factory=list)
    healed: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    answers: int = 0
    asked_again: int = 0

    def name(self, path: Path) -> str:
        return str(path.relative_to(self.folder.path))

    def put_aside(self, path: Path, why: str) -> None:
        self.found.append(f"{self.name(path)}: {why}")
        kept = set_aside(path)
        if kept is not None:
            self.kept.append(self.name(kept))


@dataclass(slots=True)
class _Walked:
    """A slot's archive after its files were read and healed."""

    slot: int
    files: list[Path]
    held: dict[tuple[str, int], str]
    end: Position | None

    def exchanges(self) -> Iterator[StoredExchange]:
        for path in self.files:
            stop = self.end.offset if self.end is not None and path.name == self.end.file else None
            for part in stretches(path, stop):
                if isinstance(part, Exchanged):
                    yield exchange_of(part.records)


class _Again:
    """An archive that can be read more than once."""

    def __init__(self, walked: _Walked) -> None:
        self._walked = walked

    def __iter__(self) -> Iterator[StoredExchange]:
        return self._walked.exchanges()


def repair(path: Path) -> RepairReport:
    """Check the whole folder and mend what is damaged."""
    started = time.monotonic()
    folder = CrawlFolder.damaged(path)
    with folder.lock("repair"):
        found = _Found(folder)
        if folder.renew_version():
            found.found.append("state/version: lost, written anew")
        config = _config(found)
        _mend(found, config)
    return RepairReport(
        whole=not found.found,
        found=tuple(found.found),
        rebuilt=tuple(found.rebuilt),
        healed=tuple(found.healed),
        kept=tuple(found.kept),
        answers=found.answers,
        asked_again=found.asked_again,
        seconds=round(time.monotonic() - started, 3),
    )


def _config(found: _Found) -> Config:
    kept = found.folder.config_file
    try:
        return lay([read_file(kept)]).config if kept.exists() else Config()
    except ConfigError as problem:
        found.put_aside(kept, f"{problem} Give the settings again with the next `nephila crawl`, and the seeds.")
        return Config()


def _mend(found: _Found, config: Config) -> None:
    folder = found.folder
    damaged = damaged_databases(folder)
    lists = folder.coordinator_database
    whole = [slot for slot in folder.slots() if folder.agent_database(slot) not in damaged]
    if lists not in damaged:
        behind, old = out_of_step(folder, whole)
        damaged |= {lists: "it is older than the slots"} if behind else {}
        damaged |= {folder.agent_database(slot): "it is older than the coordinator's list" for slot in old}
        damaged |= {folder.agent_database(slot): "it is missing" for slot in begun_without_database(folder)}
    elif not folder.slots():
        found.put_aside(lists, damaged[lists])
        return  # nothing was ever collected: the same command begins anew
    slots = sorted({*folder.slots(), *(int(path.stem.removeprefix("agent-")) for path in damaged if path != lists)})
    walked = {slot: _walk(found, slot, folder.agent_database(slot) not in damaged) for slot in slots}
    lost = [slot for slot in slots if folder.agent_database(slot) in damaged]
    archives = {slot: SlotArchive(slot, walked[slot].end, _Again(walked[slot])) for slot in slots}
    if lists in damaged:
        found.put_aside(lists, damaged[lists])
        remake_site_list(
            folder, config, [slot for slot in slots if slot not in lost], [archives[s] for s in lost], time.time()
        )
        found.rebuilt.append(found.name(lists))
    for slot in lost:
        database = folder.agent_database(slot)
        found.put_aside(database, damaged[database])
        replayed = remake_slot(folder, config, archives[slot])
        found.rebuilt.append(found.name(database))
        found.answers += replayed.answers
        found.asked_again += replayed.waiting
    if lists in damaged:
        relist_links(folder, config, list(archives.values()), time.time())
    for slot in slots:
        if slot not in lost:
            found.asked_again += ask_again(folder, slot, walked[slot].held, walked[slot].end)
    reopen_sites(folder)
    ids = folder.state / "convert.db"
    if ids.exists() and (wrong := problems(ids)):
        found.put_aside(ids, f"{wrong[0]}; the next `nephila convert` gives new ids.")


def _walk(found: _Found, slot: int, has_database: bool) -> _Walked:
    """Read a slot's archive up to where it was committed, and make each file readable."""
    folder = found.folder
    committed = committed_end(folder, slot) if has_database else None
    files = list(archive_files(folder.archive_of(slot)))
    if has_database:
        last = file_number(committed.file) if committed is not None else 0
        files = [path for path in files if file_number(path.name) <= last]
    walked = _Walked(slot, files, {}, None)
    for path in files:
        stop = committed.offset if committed is not None and path.name == committed.file else None
        walked.end = Position(path.name, _read(found, walked, path, stop))
    if committed is not None and walked.end != committed:
        found.found.append(f"{committed.file}: it does not reach the {committed.offset} bytes that were committed")
    return walked


def _read(found: _Found, walked: _Walked, path: Path, stop: int | None) -> int:
    """Note what a file holds, heal it where it is damaged, and give where it ends now."""
    size_bytes = path.stat().st_size
    end = size_bytes if stop is None else min(stop, size_bytes)
    gaps: list[Gap] = []
    for part in widened(stretches(path, stop)):
        if isinstance(part, Gap):
            gaps.append(part)
        else:
            walked.held[path.name, part.start] = part.records[0].url
    for gap in gaps:
        found.found.append(f"{path.name}, bytes {gap.start} to {gap.end}: {gap.reason}")
    if gaps and gaps[-1].end >= end:
        end = min(end, gaps.pop().start)
    if gaps or end < (size_bytes if stop is None else min(stop, size_bytes)):
        found.kept.append(found.name(heal(path, gaps, end)))
        found.healed.append(found.name(path))
    return end
