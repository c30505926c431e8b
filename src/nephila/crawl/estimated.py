"""An estimate for a folder, or for one that is not made yet: what was seen is read, nothing is touched."""

from __future__ import annotations

from pathlib import Path

from nephila.config.sections import Config
from nephila.crawl.estimating import Estimate, SeenSoFar, estimate
from nephila.crawl.mending import rows
from nephila.crawl.seeds import SeedList
from nephila.crawl.totals import read_totals
from nephila.records import Outcome
from nephila.store.folder import CrawlFolder
from nephila.store.space import free_bytes
from nephila.urls import split


def estimate_crawl(path: Path, config: Config, seeds: SeedList, agents: int) -> Estimate:
    """What the next run in `path` will come to."""
    seen = _seen(CrawlFolder(path)) if CrawlFolder.is_crawl(path) else SeenSoFar()
    sites = len({split(url)[0] for url in seeds.urls})
    return estimate(config.crawl, config.politeness, sites, seen, agents, free_bytes(_existing(path)))


def _seen(folder: CrawlFolder) -> SeenSoFar:
    totals = read_totals(folder)
    sites = milliseconds = answered = 0
    for slot in folder.slots():
        path = folder.agent_database(slot)
        if path.exists():
            [(count, total, some)] = rows(
                path, "SELECT count(*), coalesce(sum(last_ms), 0), coalesce(sum(last_ms > 0), 0) FROM sites"
            )
            sites, milliseconds, answered = sites + count, milliseconds + total, answered + some
    disk = sum(map(_size_bytes, folder.path.rglob("*")))
    waiting = totals.outcomes.get(Outcome.WAITING.value, 0)
    last_s = milliseconds / answered / 1000 if answered else 0.0
    return SeenSoFar(totals.pages, sites, waiting, disk, last_s)


def _size_bytes(path: Path) -> int:
    """Nothing where it has just gone: others may look at the folder, and journals come and go."""
    try:
        return path.stat().st_size if path.is_file() else 0
    except OSError:
        return 0


def _existing(path: Path) -> Path:
    """The disk that a folder will lie on."""
    path = path.absolute()
    while not path.exists():
        path = path.parent
    return path
