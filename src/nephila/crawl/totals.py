"""What is on disk, added up over the slots: readable while the crawl runs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from nephila.crawl.scope import tally_of
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
    tallies: dict[str, int]  # `rule:NAME`: URLs refused by it; `page:WHAT`: pages found to be on topic, …
    refused_sites: dict[str, int]  # by rule: sites that were refused once their address was known
    located_sites: int = 0  # sites whose address is known, those included

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


@dataclass(frozen=True, slots=True)
class _Sites:
    """What the coordinator knows of refusals."""

    tallies: Counter[str]
    refused: dict[str, int]
    located: int


def _tallies(reader: Any) -> Counter[str]:
    """A folder of an earlier Nephila has none until its crawl goes on, and whoever only looks changes nothing."""
    if reader.execute("SELECT 1 FROM sqlite_schema WHERE name = 'tallies'").fetchone() is None:
        return Counter()
    return Counter(dict(reader.execute("SELECT what, count FROM tallies")))


def _refused_sites(folder: CrawlFolder) -> _Sites:
    path = folder.coordinator_database
    if not path.exists():
        return _Sites(Counter(), {}, 0)
    rule = "substr(reason, 1, instr(reason || ':', ':') - 1)"
    without = f"""SELECT {rule}, count(DISTINCT site), count(*) FROM sites JOIN seeds USING (site)
                  WHERE state = 'done' AND slot IS NULL AND outcome = 'scope_rejected' GROUP BY 1"""  # noqa: S608
    with database_errors(path):
        reader = open_reader(path)
        try:
            tallies = _tallies(reader)
            refused = {}
            for name, sites, urls in reader.execute(without):
                refused[str(name)] = int(sites)
                tallies[tally_of(str(name))] += int(urls)
            located = next(reader.execute("SELECT count(*) FROM sites WHERE slot IS NOT NULL"))[0]
            return _Sites(tallies, refused, int(located) + sum(refused.values()))
        finally:
            reader.close()


def read_totals(folder: CrawlFolder) -> Totals:
    """Kept as counters in each slot, so that nothing is scanned."""
    requests = pages = received_bytes = outside = 0
    outcomes: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    sites = _refused_sites(folder)
    tallies = sites.tallies
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
                tallies.update(_tallies(reader))
                outside += next(reader.execute("SELECT count(*) FROM outside"))[0]
            finally:
                reader.close()
    outcomes.update(_without_address(folder))
    archive_bytes = sum(file.stat().st_size for file in folder.archive.glob("agent-*/*.warc.gz"))
    return Totals(
        requests, pages, received_bytes, archive_bytes, dict(outcomes), outside, dict(refused), dict(tallies),
        sites.refused, sites.located,
    )  # fmt: skip
