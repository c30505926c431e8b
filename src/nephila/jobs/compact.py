"""`nephila compact`: what a long-running folder does not need leaves it, and what was torn is put together.

First the archives, slot by slot; then, where there are tables, these are made to lead to the new files. Killed at any
point, the same command does what is left; readers find what they look for before, and after.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from nephila.config.sections import Config
from nephila.convert.repointing import repoint
from nephila.convert.run import run as convert
from nephila.crawl.compacting import Compacted, compact_slot, forget_retired, has_retired
from nephila.crawl.replay import write_cdxj
from nephila.engine import Engine
from nephila.store.durable import crash_point
from nephila.store.folder import CrawlFolder
from nephila.store.tables.manifest import read_manifest


@dataclass(frozen=True, slots=True)
class CompactReport:
    """What left, and how large the archive is now."""

    versions: int
    files_before: int
    files_after: int
    bytes_before: int
    bytes_after: int
    slots: tuple[Compacted, ...]  # those that were written anew
    tables: bool  # whether they were made to lead to the new files
    seconds: float


def compact(path: Path, config: Config, engine: Engine) -> CompactReport:
    """Drop versions beyond `keep`, close holes, put small files together."""
    started = time.monotonic()
    folder = CrawlFolder.open(path)
    with folder.lock("compact"):
        slots = [slot for slot in folder.slots() if folder.agent_database(slot).exists()]
        done = []
        for slot in slots:
            found = compact_slot(folder, slot, config, time.time())
            done += [found] if found is not None else []
        moved = [slot for slot in slots if has_retired(folder, slot)]
        leads = bool(moved) and read_manifest(folder) is not None
        if leads:
            repoint(folder)
            crash_point("compact.repointed")
            convert(config.convert, config.links, folder, engine)
        if moved and folder.cdxj.exists():
            write_cdxj(folder)
        for slot in moved:
            forget_retired(folder, slot)
    return CompactReport(
        sum(each.versions for each in done), sum(each.files_before for each in done),
        sum(each.files_after for each in done), sum(each.bytes_before for each in done),
        sum(each.bytes_after for each in done), tuple(done), leads, round(time.monotonic() - started, 3),
    )  # fmt: skip
