"""Probing the sites of a crawl, or of a list: the hours that a plan needs, without a crawl."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from nephila.config.sections import Config
from nephila.crawl.probing import ProbeReport, probe
from nephila.crawl.scope import scope_of
from nephila.crawl.seeds import parse_seeds
from nephila.crawl.setup import check_network, strip_rules
from nephila.errors import UsageError
from nephila.schedule.open_sites import read_open_sites
from nephila.store.folder import CrawlFolder
from nephila.store.hour_figures import hours_path
from nephila.urls import split

PROBE: Final = "probe"


def probe_sites(
    config: Config, directory: Path, lines: Sequence[tuple[str, str]], rounds: int, every_s: float,
    show: Callable[[int], None] = lambda done: None,
) -> ProbeReport:  # fmt: skip
    """Probe the sites of these seeds, or those that the crawl has yet to collect; nobody else asks them meanwhile."""
    check_network(config.net)
    seeds = parse_seeds(lines, strip_rules(config), scope_of(config, "sites"))
    sites = list(dict.fromkeys(split(url)[0] for url in seeds.urls))
    if lines and not sites:
        raise UsageError("none of the seeds can be asked; give URLs such as http://www.example.org/.")
    if not lines:
        sites = [site.url for site in read_open_sites(CrawlFolder.open(directory))]
        if not sites:
            raise UsageError(f"the crawl in {directory} has nothing left to collect; name sites to probe: URLs, or -i.")
    folder = CrawlFolder.create(directory)
    lock = folder.lock(PROBE, wait_s=0.5)
    try:
        return probe(config, sites, hours_path(folder, PROBE), rounds, every_s, show)
    finally:
        lock.release()
