"""Freshness by the lab's own truth, over real HTTP: every policy at equal budgets on the same changing web.

    python bench/freshness.py [SITES] [ROUNDS] [VISITS-PER-PAGE-AND-DAY]        `make freshness`

Each policy has a crawl of its own of one lab whose clock is set forward by half a day between rounds, so that all see
the same web at the same moments. After the warm-up (a third of the rounds) the lab's truth says how long each copy
stays current until the next round: those fetched since the page's last change are, up to its next. On any day some
sites are down from midnight to midnight; no page of theirs may be lost.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from dataclasses import replace
from math import inf
from pathlib import Path

from nephila.clock import Clock
from nephila.config.layers import Layer
from nephila.config.sections import ClockSettings, Lab
from nephila.convert.run import run as convert
from nephila.crawl.run import Opened, open_crawl
from nephila.crawl.run import run as collect
from nephila.engine import open_engine
from nephila.jobs.refresh import Budget, refresh
from nephila.lab.serve import LabServer
from nephila.lab.truth import TruthRow, truth
from nephila.lab.web import Web
from nephila.store.database import open_reader
from nephila.store.folder import CrawlFolder

POLICIES = ("uniform", "groups", "nutch", "index")
DAY_S = 86_400.0
STEP_S = DAY_S / 2
OUTAGES = 0.03  # share of the sites that are down on any one day, and close every connection
ORIGIN = 1_394_409_600.0  # 2014-03-10, a Monday
SETTINGS = {
    "net.allow_private": ["127.0.0.0/8"], "politeness.min_delay": 0.0, "politeness.delay_factor": 0.0,
    "crawl.retries": 0, "crawl.sleep_min": 0.1, "net.header_timeout": 5.0, "net.idle_timeout": 5.0,
    "crawl.mode": "sites", "archive.sync": False, "refresh.rank_weight": 0.0, "refresh.new_share": 0.0,
}  # fmt: skip


def at(opened: Opened, clock: Clock) -> Opened:
    """The crawl with the lab's clock as it is now."""
    settings = ClockSettings(clock.rate, clock.simulated_at, clock.real_at)
    return replace(opened, effective=replace(opened.effective, config=replace(opened.effective.config, clock=settings)))


def copies(folder: CrawlFolder) -> dict[str, float]:
    """URL -> when its copy was fetched, of pages with a content."""
    found: dict[str, float] = {}
    for slot in folder.slots():
        reader = open_reader(folder.agent_database(slot))
        sql = """SELECT url || path, fetched_at FROM pages JOIN sites USING (site)
                 WHERE code = 200 AND fetched_at IS NOT NULL"""
        found.update(reader.execute(sql))
        reader.close()
    return found


def fresh_share(held: dict[str, float], true: dict[str, TruthRow], now: float) -> float:
    """Share of pages that are current, over the time until the next round: each is so until its next change."""
    known = [url for url in held if url in true]
    current = [min(true[url].valid_to or inf, now + STEP_S) - now for url in known if held[url] >= true[url].valid_from]
    return sum(current) / STEP_S / len(known)


def main(sites: int, rounds: int, per_day: float) -> int:
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="nephila-fresh-") as place, open_engine("inline", 1) as engine:
        first = Clock(1.0, ORIGIN, time.time())
        lab = Lab(sites=sites, max_depth=1, profile="study", faults=False, outages=OUTAGES)
        with LabServer(lab, processes=1, clock=first, origin=ORIGIN) as server:
            assert server.lab is not None
            web = Web(server.lab, ORIGIN)
            seeds = [(url, "the lab") for url in web.seeds()]
            crawls: dict[str, Opened] = {}
            for policy in POLICIES:
                given = {
                    **SETTINGS,
                    "net.nameservers": [server.dns],
                    "refresh.policy": policy,
                    "refresh.per_day": per_day,
                }
                opened, seed_list = open_crawl(Path(place) / policy, [Layer("the bench", given)], seeds, 1)
                collect(at(opened, server.clock()), seed_list, engine, 1)
                config = opened.effective.config
                convert(config.convert, config.links, opened.folder, engine)
                crawls[policy] = opened
            pages = {policy: copies(opened.folder) for policy, opened in crawls.items()}
            budget = max(1, round(per_day * len(pages["index"]) * STEP_S / DAY_S))
            print(f"{sites} sites, {len(pages['index'])} pages; {rounds} rounds of {budget} visits, half a day apart")
            fresh: dict[str, list[float]] = {policy: [] for policy in POLICIES}
            useful: dict[str, list[int]] = {policy: [0, 0] for policy in POLICIES}
            for number in range(1, rounds + 1):
                server.set_clock(now=ORIGIN + number * STEP_S)
                now = server.clock().now()
                for policy, opened in crawls.items():
                    report = refresh(at(opened, server.clock()), engine, 1, Budget(budget))
                    useful[policy][0] += report.changed
                    useful[policy][1] += report.visited
                if number > rounds // 3:
                    true = {row.url: row for row in truth(web, now) if row.outcome.value == "ok"}
                    for policy, opened in crawls.items():
                        fresh[policy].append(fresh_share(copies(opened.folder), true, now))
            print(f"{'policy':<10}{'freshness':>11}{'useful visits':>15}{'visits':>8}{'lost pages':>12}")
            for policy, opened in crawls.items():
                lost = len(pages[policy].keys() - copies(opened.folder).keys())
                mean = sum(fresh[policy]) / len(fresh[policy])
                share = useful[policy][0] / max(1, useful[policy][1])
                print(f"{policy:<10}{mean:>11.4f}{share:>15.3f}{useful[policy][1]:>8}{lost:>12}")
            for opened in crawls.values():
                opened.lock.release()
        wall = time.monotonic() - started
        print(f"{wall:.0f} s, {time.process_time():.0f} s of CPU here; load {os.getloadavg()[0]:.1f}")
        best = {policy: sum(values) for policy, values in fresh.items()}
        return 0 if best["index"] == max(best.values()) else 1


if __name__ == "__main__":
    words = sys.argv[1:]
    sys.exit(
        main(
            int(words[0]) if words else 12,
            int(words[1]) if len(words) > 1 else 42,
            float(words[2]) if len(words) > 2 else 0.25,
        )
    )
