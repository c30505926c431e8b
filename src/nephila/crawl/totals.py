"""What is on disk, added up over the slots: readable while the crawl runs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from nephila.store.database import database_errors, open_reader
from nephila.store.folder import CrawlFolder


@dataclass(frozen=True, slots=True)
class Totals:
    requests: int
    pages: int
    received_bytes: int
    archive_bytes: int
    outcomes: dict[str, int]
    outside: int
    refused_links: dict[str, int]

    @property
    def known(self) -> int:
        return sum(self.outcomes.values())


def _without_address(folder: CrawlFolder) -> dict[str, int]:
    """Seeds of sites that no slot has: each has the outcome of its site."""
    path = folder.coordinator_database
    if not path.exists():
        return {}
    sql = """SELECT outcome, count(*) FROM sites JOIN seeds USING (site) WHERE state = 'done' AND slot IS NULL
             GROUP BY outcome"""
    with database_errors(path):
        reader = open_reader(path)
        try:
            return dict(reader.execute(sql))
        finally:
            reader.close()


def read_totals(folder: CrawlFolder) -> Totals:
    """Kept as counters in each slot, so that nothing is scanned."""
    requests = pages = received_bytes = outside = 0
    outcomes: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    for slot in folder.slots():
        path = folder.agent_database(slot)
        if not path.exists():
            continue
        with database_errors(path):
            reader = open_reader(path)
            try:
                for row in reader.execute("SELECT requests, pages, received_bytes FROM slot"):
                    requests, pages, received_bytes = requests + row[0], pages + row[1], received_bytes + row[2]
                outcomes.update(dict(reader.execute("SELECT outcome, count FROM outcomes WHERE count")))
                refused.update(dict(reader.execute("SELECT why, count FROM refused")))
                outside += next(reader.execute("SELECT count(*) FROM outside"))[0]
            finally:
                reader.close()
    outcomes.update(_without_address(folder))
    archive_bytes = sum(file.stat().st_size for file in folder.archive.glob("agent-*/*.warc.gz"))
    return Totals(requests, pages, received_bytes, archive_bytes, dict(outcomes), outside, dict(refused))
