"""The long crash test: `make crash`, or `make crash KILLS=200`. Prints what it did and a table of what it found.

A web of about 5,000 pages, one fifth of the kills at named points, the others at random times. Exit code 1 when
there is a finding. A folder with a finding is kept for whoever wants to look.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from nephila.config.sections import Lab
from nephila.lab.serve import LabServer

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.crash.killing import POINTS, Campaign

KILLS = 1000
SITES = 120
AT_POINTS = 0.2
AT_ONCE = 100
"""Random kills, after which the crawl under way is led to its end and it is looked at the time."""

KINDS = (
    "lost", "invented", "otherwise", "wrong digest", "wrong body", "twice in the catalogue", "twice in the archive",
    "misplaced", "claimed", "unreadable", "damaged state", "wrong count", "unfinished", "overlap", "breach",
    "refetched", "stopped",
)  # fmt: skip


def main(kills: int, sites: int, depth: int, seed: int, minutes: float) -> int:
    place = Path(tempfile.mkdtemp(prefix="nephila-crash-"))
    started = time.monotonic()
    until = started + 60 * minutes
    with LabServer(Lab(sites=sites, max_depth=depth, delay=0.005), processes=1) as lab:
        campaign = Campaign(lab, place, seed, tell=lambda line: print(line, flush=True))
        at_points = 0
        for number in range(round(AT_POINTS * kills)):
            if time.monotonic() > started + AT_POINTS * (until - started):
                break
            at_points += campaign.kill_at(POINTS[number % len(POINTS)], 1 + number // len(POINTS) % 5)
        while campaign.spent < kills and time.monotonic() < until:
            campaign.random_kills(min(AT_ONCE, kills - campaign.spent))
            print(f"{campaign.spent} kills after {time.monotonic() - started:,.0f} s", flush=True)
    found = Counter(finding.kind for finding in campaign.findings)
    print(f"\n{campaign.spent} kills, {campaign.crawls} crawls, {campaign.pages:,} pages, "
          f"{time.monotonic() - started:,.0f} s, seed {seed}")  # fmt: skip
    print("  kills: " + ", ".join(f"{whom} {count}" for whom, count in campaign.kills.most_common()))
    for kind in KINDS:
        print(f"  {kind:<24} {found[kind]:>6}")
    print(f"  requests made again      {campaign.again:>6}   {campaign.again / max(1, campaign.spent):.2f} per kill")
    if campaign.cost:
        print(
            f"  of one kill              {statistics.median(campaign.cost):>6.0f} median, {max(campaign.cost)} at most"
        )
    if campaign.resumes_s:
        print(f"  start to first request   {statistics.median(campaign.resumes_s):>6.2f} s median, "
              f"{max(campaign.resumes_s):.2f} s at most")  # fmt: skip
    print(f"kept for a look: {place}" if campaign.findings else "nothing lost, nothing twice, nobody asked too soon")
    return 1 if campaign.findings else 0


if __name__ == "__main__":
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--kills", type=int, default=KILLS)
    words.add_argument("--sites", type=int, default=SITES)
    words.add_argument("--depth", type=int, default=2)
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--minutes", type=float, default=float("inf"), help="and no further kill after so many")
    given = words.parse_args()
    sys.exit(main(given.kills, given.sites, given.depth, given.seed, given.minutes))
