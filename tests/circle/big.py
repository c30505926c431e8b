"""The lab's web of 10^5 pages against its truth, with figures: `make truth`, or `big.py SITES AGENTS`.

Too long for `make test`: the crawl and the truth take minutes each.
"""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from nephila.config.sections import Lab
from nephila.lab.serve import LabServer
from nephila.lab.witness import overlaps

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.circle.archives import assert_archive_whole
from tests.circle.webs import QUICK, crawl, differences, expected, in_lab, settings_of

SITES = 700
AGENTS = 2
WITHIN_S = 3600.0
PATIENT = {
    "net.header_timeout": 15.0,
    "net.idle_timeout": 15.0,
}  # a crawl this large leaves the lab little of the machine


def main(sites: int, agents: int) -> int:
    with (
        tempfile.TemporaryDirectory(prefix="nephila-truth-") as place,
        LabServer(replace(Lab(), sites=sites, max_depth=3)) as lab,
    ):
        folder = Path(place) / "crawl"
        seeds = lab.write_seeds(Path(place) / "seeds.txt")
        ran = crawl(
            folder, "-i", seeds, "--agents", agents, *settings_of(QUICK, PATIENT, in_lab(lab)), within_s=WITHIN_S
        )
        if ran.code:
            print(ran.err)
            return 1
        report, requests = ran.report, lab.witnessed()
        print(
            f"sites {sites}, agents {agents}: {report['pages']:,} pages in {report['seconds']:.1f} s, "
            f"{report['pages_per_s']:,.0f} per second, {report['received_bytes'] / 1e6:,.0f} MB received"
        )
        print(
            f"messages per page {report['messages_per_page']}, bytes of them {report['message_bytes_per_page']}, "
            f"links exchanged per page {report['links_per_page']}, name look-ups {report['dns_queries']}"
        )
        # What we gave up ourselves ends at the server when it notices, perhaps after our next request.
        kept_up = requests.where(~np.isin(requests.manner, ["hang", "stall_body"]))
        most = max(overlaps(kept_up, "address").values())
        print(f"requests seen by the server {len(requests):,}, at once to one address at most {most}")
        started = time.monotonic()
        true = expected(lab)
        told = differences(true, folder)
        print(f"truth {len(true):,} URLs ({time.monotonic() - started:.0f} s to tell), differences {len(told)}")
        print("\n".join([line for line in told if line.startswith("otherwise")][:20] + told[:10]))
        assert_archive_whole(folder)
        print("the archive is whole by gzip, warcio, FastWARC and our own walk")
        return 1 if told or most > 1 else 0


if __name__ == "__main__":
    sys.exit(main(*(int(word) for word in sys.argv[1:3] or [SITES, AGENTS])))
