"""The schedule measured: planning 10^5 sites, and real crawls of the lab by each policy on a fast clock.

    python bench/schedule.py plan                    CPU and wall seconds of one plan by each policy
    python bench/schedule.py crawl                   every policy collects the same sites; the lab's log judges
    python bench/schedule.py crawl --sites 24 --pages 16 --hour-s 5 --policies random,lp

The lab's sites are busy at hours of their own (lab/hours.py), and answer slower then. First they are probed for a day
(`nephila schedule probe`), then each policy crawls them from the same midnight with four places. Delays are the
politeness rule's factor alone, so that a busy server is asked more seldom (S1-18); an hour passes in --hour-s seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from nephila.clock import Clock
from nephila.config.sections import Lab, Politeness, Schedule
from nephila.lab import witness
from nephila.lab.hours import load
from nephila.lab.serve import LabServer
from nephila.lab.truth import truth
from nephila.lab.web import Web
from nephila.store.folder import CrawlFolder
from nephila.store.hour_figures import DAY_S, HOUR_S, hours_path

POLICIES = ("random", "sorting", "hybrid", "index", "lp")
ORIGIN = 20_000 * DAY_S
PLACES = 4
DELAY_S = 30.0
FACTOR = 5
SIGMA = 0.6  # of the lab's answers (lab/hours.py)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["plan", "crawl"])
    parser.add_argument("--sites", type=int, default=0, help="100000 planned, 100 crawled")
    parser.add_argument("--hour-s", type=float, default=18.0, help="real seconds of a simulated hour")
    parser.add_argument("--pages", type=int, default=6, help="most pages of a site")
    parser.add_argument("--probes", type=int, default=288, help="how often a site is asked in the day before")
    parser.add_argument("--policies", default=",".join(POLICIES))
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    if given.what == "plan":
        plan(given.sites or 100_000)
    else:
        crawl(given.sites or 100, given.hour_s, given.pages, given.policies.split(","), given.seed, given.probes)


def plan(sites: int) -> None:
    """One plan for so many sites, from figures in memory to an order: what happens at an hour change."""
    from nephila.schedule.hours import believe
    from nephila.schedule.planning import choose_policy, page_rates
    from nephila.schedule.policy import Situation
    from nephila.schedule.priority_table import priority_table
    from nephila.store.hour_figures import HourFigures

    chance = np.random.default_rng(1)
    urls = [f"http://www.site{number}.example" for number in range(sites)]
    known = {}
    for number, url in enumerate(urls):
        logs = np.log([0.3 / (1 - load(1, number, hour)) for hour in range(24)])
        figures = HourFigures(at=ORIGIN, answers=[5.0] * 24, log_sum=(5 * logs).tolist(), watched=[5.0] * 24)
        known[url] = figures
    print(f"{sites:,} sites × 24 hours; load {os.getloadavg()[0]:.1f}")
    cpu, wall = time.process_time(), time.monotonic()
    belief = believe(urls, known, ORIGIN)
    rates = page_rates(belief, Politeness())
    print(f"  {'belief':<10}{time.process_time() - cpu:>7.2f} s CPU {time.monotonic() - wall:>7.2f} s")
    cpu, wall = time.process_time(), time.monotonic()
    priority_table(belief.loads)
    print(f"  {'S2 table':<10}{time.process_time() - cpu:>7.2f} s CPU {time.monotonic() - wall:>7.2f} s")
    left = chance.integers(1, 2000, sites).astype(np.float64)
    places = max(1, int(sites / 25))
    now = Situation(0, belief.loads, rates, left, places, begun=chance.random(sites) < 0.1)
    for name in POLICIES:
        policy = choose_policy(Schedule(policy=name))  # type: ignore[arg-type]
        cpu, wall = time.process_time(), time.monotonic()
        chosen = policy(now)
        assert len(chosen.order) == sites
        print(f"  {name:<10}{time.process_time() - cpu:>7.2f} s CPU {time.monotonic() - wall:>7.2f} s")


def crawl(count: int, hour_s: float, pages: int, policies: list[str], seed: int, probes: int) -> None:
    rate = HOUR_S / hour_s
    lab = Lab(sites=max(64, 6 * count), max_depth=3, seed=seed, faults=False, delay=DELAY_S)
    first = Clock(rate, ORIGIN, time.time())
    with tempfile.TemporaryDirectory() as name, LabServer(lab, processes=1, clock=first, origin=ORIGIN) as server:
        assert server.lab is not None
        folder = Path(name)
        web = Web(server.lab, ORIGIN)
        chosen = choose_sites(web, count, pages)
        seeds = folder / "seeds.txt"
        seeds.write_text("".join(f"{web.cards.origin(site)}/\n" for site in chosen))
        print(
            f"{len(chosen)} sites, {PLACES} places, an hour in {hour_s:g} s; load {os.getloadavg()[0]:.1f}", flush=True
        )
        words = words_for(server, rate)
        probed = folder / "probed"
        clock = server.set_clock(now=ORIGIN)
        politely = ["politeness.delay_factor=0", "politeness.min_delay=0"]
        every = f"{DAY_S / probes:.0f}s"
        report = nephila("schedule", "probe", "-C", probed, "-i", seeds, "--rounds", probes, "--every", every,
                         *settings([*words, *politely, *clock_settings(clock)]))  # fmt: skip
        print(f"probed for a day: {report['answered']} answers of {report['requests']} requests", flush=True)
        head = f"{'policy':<10}{'hours':>8}{'mean load':>11}{'pages':>7}{'hour 0':>8}{'plans':>7}{'stops':>7}"
        print(f"{head}{'most at once':>14}{'CPU s':>8}", flush=True)
        for policy in policies:
            print(one_policy(server, web, policy, folder, probed, seeds, words, pages), flush=True)
        print(f"{'optimum':<10}{optimum_h(web, chosen, pages):>8.2f}   if every answer took as long as the mean one")
        print(f"load {os.getloadavg()[0]:.1f}")


def one_policy(
    server: LabServer, web: Web, policy: str, folder: Path, probed: Path, seeds: Path, words: list[str], pages: int
) -> str:
    """One crawl from the third day's midnight on, judged by the server's log alone."""
    target = CrawlFolder.create(folder / policy)
    shutil.copy(hours_path(CrawlFolder.open(probed), "probe"), hours_path(target, "probe"))
    clock = server.set_clock(now=ORIGIN + 2 * DAY_S)
    began = time.time()
    cpu = resource.getrusage(resource.RUSAGE_CHILDREN)
    report = nephila("crawl", "-C", target.path, "-i", seeds, "--policy", policy, "--agents", 1,
                     *settings([*words, *clock_settings(clock), f"politeness.delay_factor={FACTOR}",
                                "politeness.min_delay=0", "politeness.max_delay=1000000", "crawl.mode=sites",
                                f"crawl.active_sites={PLACES}", f"crawl.max_pages_per_site={pages}",
                                "traps.probe_after=none"]))  # fmt: skip
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    seen = server.witnessed()
    seen = seen.where((seen.started_at >= began) & (seen.target != "/robots.txt"))
    hours = (seen.simulated_end_at.max() - seen.simulated_at.min()) / HOUR_S
    loads = [
        load(web.lab.seed, web.cards.site_of(row.host) or 0, int(row.simulated_at // HOUR_S) % 24)
        for row in seen.rows()
    ]
    first_hour = int((seen.simulated_at < seen.simulated_at.min() + HOUR_S).sum())
    at_once = max(witness.overlaps(seen, "address").values())
    seconds = used.ru_utime + used.ru_stime - cpu.ru_utime - cpu.ru_stime
    return (
        f"{policy:<10}{hours:>8.2f}{np.mean(loads):>11.3f}{report['pages']:>7}{first_hour:>8}{report['plans']:>7}"
        f"{report['suspensions']:>7}{at_once:>14}{seconds:>8.1f}"
    )


def choose_sites(web: Web, count: int, pages: int) -> list[int]:
    """Sites with some pages and an address of their own."""
    sizes = count_pages(web)
    fit = [site for site, size in sorted(sizes.items()) if size >= max(4, pages // 3)]
    if len(fit) < count:
        raise SystemExit(f"only {len(fit)} sites are large enough; ask for fewer with --sites")
    return fit[:count]


def count_pages(web: Web) -> dict[int, int]:
    """Pages that can be reached, by site."""
    sizes: dict[int, int] = {}
    for row in truth(web, ORIGIN):
        site = web.cards.site_of(row.url.split("/")[2].partition(":")[0])
        if site is not None and row.reachable and row.canonical_site == row.site:
            sizes[site] = sizes.get(site, 0) + 1
    return sizes


def optimum_h(web: Web, chosen: list[int], pages: int) -> float:
    """The quickest schedule there is for mean answers, solved with the lab's own loads (`schedule/optimum.py`)."""
    from nephila.schedule.optimum import quickest
    from nephila.schedule.policy import Situation

    loads = np.array([[load(web.lab.seed, site, hour) for hour in range(24)] for site in chosen])
    mean_s = DELAY_S * np.exp(SIGMA**2 / 2) / (1 - loads)
    counts = count_pages(web)
    # Behind the last page of a site there is no delay.
    left = np.array([min(counts[site], pages) - FACTOR / (1 + FACTOR) for site in chosen])
    return quickest(Situation(0, loads, HOUR_S / ((1 + FACTOR) * mean_s), left, PLACES)).hours


def words_for(server: LabServer, rate: float) -> list[str]:
    return [f"clock.rate={rate}", "net.allow_private=127.0.0.0/8", f"net.nameservers={server.dns}",
            "aliases.rule=off", "net.header_timeout=120", "net.total_timeout=300"]  # fmt: skip


def clock_settings(clock: Clock) -> list[str]:
    return [f"clock.origin={clock.simulated_at}", f"clock.real_origin={clock.real_at}"]


def settings(words: list[str]) -> list[str]:
    return [part for word in words for part in ("--set", word)]


def nephila(*words: object) -> dict[str, object]:
    """Run a command to its end and give its report."""
    command = [sys.executable, "-m", "nephila", *map(str, words), "--json", "-q"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    found: dict[str, object] = json.loads(done.stdout)
    return found


if __name__ == "__main__":
    main()
