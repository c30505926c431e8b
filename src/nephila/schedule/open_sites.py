"""The sites that a crawl still has to collect, and how much of each: read from its state, also while it runs."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import Final

from nephila.store.database import open_reader
from nephila.store.folder import CrawlFolder

USUAL_PAGES: Final = 10.0
"""What is believed of a site's size while none is known."""


@dataclass(frozen=True, slots=True)
class OpenSite:
    """One site that is not complete."""

    number: int
    slot: int
    url: str
    address: str
    left_pages: float  # known to wait, or as many as sites usually have
    begun: bool


@dataclass(frozen=True, slots=True)
class _Progress:
    requested: int
    known: int


def read_open_sites(folder: CrawlFolder) -> list[OpenSite]:
    """All sites that are leased to a slot, in the order in which they were found."""
    if not folder.coordinator_database.exists():
        return []
    reader = open_reader(folder.coordinator_database)
    try:
        sql = "SELECT site, slot, url, address FROM sites WHERE state IN ('leased', 'asleep') ORDER BY site"
        listed = list(reader.execute(sql))
    finally:
        reader.close()
    progress: dict[int, _Progress] = {}
    waiting: dict[int, int] = {}
    sizes: list[int] = []
    for slot in folder.slots():
        if folder.agent_database(slot).exists():
            _read_slot(folder, slot, progress, waiting, sizes)
    usual = median(sizes) if sizes else USUAL_PAGES
    return [
        _open(number, slot, url, address, progress.get(number), waiting.get(number, 1), usual)
        for number, slot, url, address in listed
    ]


def _read_slot(
    folder: CrawlFolder, slot: int, progress: dict[int, _Progress], waiting: dict[int, int], sizes: list[int]
) -> None:
    reader = open_reader(folder.agent_database(slot))
    try:
        for number, requested, known, state in reader.execute("SELECT site, requested, known, state FROM sites"):
            if state == "done":
                sizes.append(requested)
            else:
                progress[number] = _Progress(requested, known)
        waiting.update(reader.execute("SELECT site, count(*) FROM pages WHERE todo = 1 GROUP BY site"))
    finally:
        reader.close()


def _open(
    number: int, slot: int, url: str, address: str, so_far: _Progress | None, waiting: int, usual: float
) -> OpenSite:
    requested = so_far.requested if so_far is not None else 0
    return OpenSite(number, slot, url, address, max(float(waiting), usual - requested, 1.0), requested > 0)
