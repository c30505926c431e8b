"""One bad site must not slow the good one: the control site alone, then beside every hostile site of the lab.

    python bench/hostile.py [--rounds 3]

Prints, per round, how long the control site's fifty pages took by the lab's own log, alone and in bad company, and for
the crawl among the hostile sites the longest that a loop was held up and the most that an agent grew (RELIABILITY
I2-I4: 1.5 ×, 200 ms, 64 MiB).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from nephila.lab.hostile.places import CANARY_ADDRESS, CONTROL_HOST, OUT_OF_SCOPE_HOST, RANGE
from nephila.lab.hostile.table import TABLE
from nephila.lab.serve import LabServer

# RELIABILITY's test profile, with its delay of 20 ms.
PROFILE = {
    "politeness.min_delay": "20ms", "politeness.delay_factor": 0, "politeness.max_delay": "1.2s",
    "net.connect_timeout": "1s", "net.header_timeout": "2s", "net.idle_timeout": "1.5s", "net.total_timeout": "5s",
    "net.min_rate": 1024, "net.min_rate_after": "2s", "net.dns_timeout": "3s", "net.max_header_size": 32 * 1024,
    "crawl.max_page_size": 256 * 1024, "crawl.max_decoded_size": 2**20, "crawl.max_redirects": 5, "crawl.retries": 1,
    "crawl.retry_wait": "100ms", "crawl.sleep_min": "300ms", "crawl.give_up": 2, "traps.site_pages": 3,
    "traps.domain_sites": 20, "scope.exclude_hosts": OUT_OF_SCOPE_HOST, "net.allow_private": RANGE,
}  # fmt: skip


MAZE = "F8"  # a second a page up to its budget: it would only make the run longer


def crawl(server: LabServer, folder: Path, seeds: list[str]) -> dict[str, Any]:
    listed = folder.with_suffix(".seeds")
    listed.write_text("".join(f"{seed}\n" for seed in seeds))
    words = [word for key, value in PROFILE.items() for word in ("--set", f"{key}={value}")]
    command = [sys.executable, "-m", "nephila", "crawl", "-C", str(folder), "-i", str(listed), "--json", "-q", *words]
    command += ["--set", f"net.nameservers={server.dns}"]
    done = subprocess.run(command, env=os.environ, capture_output=True, text=True, check=True, timeout=600)
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def control_seconds(server: LabServer) -> float:
    """From the first request of the control site's pages to the end of the last."""
    requests = server.witnessed()
    own = requests.where(requests.host == CONTROL_HOST)
    return float((own.ended_ns.max() - own.started_ns.min()) / 1e9)


def one_round(place: Path) -> tuple[float, float, dict[str, Any], int]:
    with LabServer(None, hostile=True, processes=1) as server:
        crawl(server, place / "alone", [f"http://{CONTROL_HOST}:{server.port}/"])
        alone_s = control_seconds(server)
    with LabServer(None, hostile=True, processes=1) as server:
        hostile = [row.url(server.port, label) for row in TABLE if row.row != MAZE for label in row.seeds]
        report = crawl(server, place / "among", [*hostile, f"http://{CONTROL_HOST}:{server.port}/"])
        requests = server.witnessed()
        return alone_s, control_seconds(server), report, int((requests.address == CANARY_ADDRESS).sum())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    print(f"{len(TABLE)} hostile sites; load average {os.getloadavg()[0]:.1f}")
    print("control alone   among hostile   ratio   loop held up (our work)   agent grew   canary   requests   seconds")
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as place:
            alone_s, among_s, report, visits = one_round(Path(place))
        print(
            f"{alone_s:>11.2f} s {among_s:>13.2f} s {among_s / alone_s:>7.2f} {report['loop_lag_ms']:>9.0f} ms "
            f"({report['loop_work_ms']:>6.0f} ms)  "
            f"{report['memory_growth_bytes'] / 2**20:>8.1f} MiB {visits:>8} "
            f"{report['run_requests']:>10} {report['seconds']:>9.1f}"
        )


if __name__ == "__main__":
    main()
