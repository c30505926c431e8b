"""Planning at scale: a slot's database of N pages, a third of them visited again, planned for one round.

    python bench/refresh.py FOLDER [PAGES]     ten million by default; prints CPU and wall seconds and the peak memory

The first plan reads the whole database, the second only what was visited since.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from pathlib import Path

import numpy as np

from nephila.config.sections import Refresh
from nephila.crawl.site_tables import SITE_SCHEMA
from nephila.crawl.slot_tables import SLOT_SCHEMA
from nephila.engine import open_engine
from nephila.refresh.run import run
from nephila.store.database import close, open_writer, transaction
from nephila.store.folder import CrawlFolder

PAGES_PER_SITE = 1_000
NOW = 1.8e9
DAY_S = 86_400.0


def make(folder: CrawlFolder, pages: int) -> None:
    """A database as a crawl of many weeks would have left it, without what planning does not read."""
    chance = np.random.default_rng(1)
    sites = (pages + PAGES_PER_SITE - 1) // PAGES_PER_SITE
    coordinator = open_writer(folder.coordinator_database, SITE_SCHEMA, sync=False)
    with transaction(coordinator):
        coordinator.executemany(
            "INSERT INTO sites (site, url, state, slot, given, found_at, referrer) VALUES (?, ?, 'done', 0, 1, 0, '')",
            ((site, f"http://s{site}.co.kr") for site in range(sites)),
        )
    close(coordinator)
    slot = open_writer(folder.agent_database(0), SLOT_SCHEMA, sync=False)
    kinds = ("000", "0a0", "h00", "ha0")
    for first in range(0, sites, 500):
        with transaction(slot):
            for site in range(first, min(first + 500, sites)):
                hashes = np.sort(chance.integers(-(2**62), 2**62, PAGES_PER_SITE)).tolist()
                days = (NOW - chance.random(PAGES_PER_SITE) * 30 * DAY_S).tolist()
                slot.executemany(
                    """INSERT OR IGNORE INTO pages (site, hash, path, depth, place, todo, outcome, found_at, referrer,
                       kind, tries, code, fetched_at, link_kinds)
                       VALUES (?, ?, ?, ?, ?, 0, 'ok', 0, '', 'a', 1, 200, ?, ?)""",
                    (
                        (site, key, f"/{place}", place % 8, place, days[place], kinds[place % 4])
                        for place, key in enumerate(hashes)
                    ),
                )
                slot.executemany(
                    "INSERT OR IGNORE INTO changes VALUES (?, ?, 0, ?, NULL, 5, ?, ?, ?, ?, 0, 0, x'', 0)",
                    (
                        (site, hashes[place], days[place], place % 5, place % 5, 3.0 * (place % 5), 21.0)
                        for place in range(0, PAGES_PER_SITE, 3)
                    ),
                )
    close(slot)


def main() -> None:
    place = Path(sys.argv[1])
    pages = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000_000
    folder = CrawlFolder.create(place)
    if not folder.agent_database(0).exists():
        make(folder, pages)
        print(f"made {pages:,} pages: run the same command again to measure, in a process of its own")
        return
    with open_engine("inline", 1) as engine:
        for number in (1, 2):
            wall, cpu = time.monotonic(), time.process_time()
            head = run(Refresh(), folder, engine, NOW, pages // 10, 0)
            print(
                f"plan {number}: {head.rows:,} of {head.candidates:,} pages, policy {head.policy}: "
                f"{time.process_time() - cpu:.1f} s of CPU, {time.monotonic() - wall:.1f} s, peak "
                f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB; load {os.getloadavg()[0]:.1f}"
            )


if __name__ == "__main__":
    main()
