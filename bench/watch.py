"""A watch over thousands of sites on the lab's fast clock: many rounds, killed twice on the way, nothing lost or twice.

    python bench/watch.py                            2,000 sites, 30 rounds, half a day apart
    python bench/watch.py --sites 300 --rounds 6

The lab is collected once; then `nephila watch` keeps it fresh. It is killed (-9, with all its processes) in the middle
of a round and while tables follow, and started again with the same command. On every day some sites are down from
midnight to midnight, and answer by closing the connection. At the end the crawl's own rows and the server's log say
what happened: no page visited twice in a round, no page lost, tables and index as large as the crawl.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

from nephila.clock import Clock
from nephila.config.sections import Lab
from nephila.lab.serve import LabServer
from nephila.lab.web import Web
from nephila.store.database import open_reader
from nephila.store.folder import CrawlFolder
from nephila.store.plan import read_plan, read_watch

DAY_S = 86_400.0
ORIGIN = 1_394_409_600.0  # 2014-03-10, a Monday
OUTAGES = 0.03


@dataclass(slots=True)
class Seen:
    """What was seen of the watch from outside, round by round."""

    made_at: dict[int, float] = field(default_factory=dict)  # plan number -> simulated time
    memory_mib: dict[int, float] = field(default_factory=dict)  # most in that round, of all its processes
    lines: list[str] = field(default_factory=list)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sites", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--rate", type=float, default=1800.0, help="simulated seconds per second")
    parser.add_argument("--per-day", type=float, default=0.2, help="visits per page and day")
    given = parser.parse_args()
    started, load = time.monotonic(), os.getloadavg()[0]
    lab = Lab(sites=given.sites, max_depth=1, profile="study", faults=False, growth=0.1, outages=OUTAGES)
    first = Clock(given.rate, ORIGIN, time.time())
    with (
        tempfile.TemporaryDirectory(prefix="nephila-watch-") as place,
        LabServer(lab, processes=1, clock=first, origin=ORIGIN) as server,
    ):
        assert server.lab is not None
        folder, web = Path(place) / "crawl", Web(server.lab, ORIGIN)
        seeds = server.write_seeds(Path(place) / "seeds.txt")
        clock = server.set_clock(now=ORIGIN)
        nephila("crawl", "-C", folder, "-i", seeds, *settings(server, clock, given.per_day))
        before = contents(folder)
        print(f"{given.sites:,} sites, {len(before):,} pages, a day in {DAY_S / given.rate:.0f} s; load {load:.1f}")
        seen = Seen()
        watched(folder, given.rounds, seen)
        problems = judge(folder, server, web, before, seen, given.rounds)
        wall = time.monotonic() - started
        print(f"{wall:.0f} s; load {os.getloadavg()[0]:.1f}")
    for problem in problems:
        print(f"PROBLEM: {problem}")
    return 1 if problems else 0


def settings(server: LabServer, clock: Clock, per_day: float) -> list[str]:
    words = [
        "net.allow_private=127.0.0.0/8", f"net.nameservers={server.dns}", "politeness.min_delay=0",
        "politeness.delay_factor=0", "crawl.retries=0", "crawl.mode=sites", "aliases.rule=off",
        f"clock.rate={clock.rate}", f"clock.origin={clock.simulated_at}", f"clock.real_origin={clock.real_at}",
        f"refresh.per_day={per_day}", "traps.probe_after=none",
    ]  # fmt: skip
    return [part for word in words for part in ("--set", word)]


def watched(folder: Path, rounds: int, seen: Seen) -> None:
    """Watch until so many rounds are over; killed after a third of them in a round, after two thirds behind one."""
    kills = [(rounds // 3, "visits what is due"), (2 * rounds // 3, "brings tables, ranks and index up to date")]
    while True:
        log = folder.with_suffix(".log")
        with log.open("w") as told:
            process = subprocess.Popen(
                [sys.executable, "-m", "nephila", "watch", "-C", str(folder), "--every", "12h"],
                stdout=subprocess.DEVNULL, stderr=told, start_new_session=True,
            )  # fmt: skip
        how = follow(process, folder, rounds, kills, seen)
        seen.lines += log.read_text().splitlines()
        if how == "done":
            process.send_signal(signal.SIGINT)
            process.wait(120)
            return
        if how == "ended":
            raise SystemExit("the watch ended by itself:\n" + "\n".join(seen.lines[-20:]))
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        seen.lines.append(f"--- killed -9 in round {len(seen.made_at)} while it {kills[0][1]}; the same command again")
        kills.pop(0)


def follow(
    process: subprocess.Popen[bytes], folder: Path, rounds: int, kills: list[tuple[int, str]], seen: Seen
) -> str:
    """Look on until there is something to do: `done`, `kill` or `ended`."""
    opened = CrawlFolder.open(folder)
    reached = 0.0
    while process.poll() is None:
        time.sleep(0.1)
        head, note = read_plan(opened), read_watch(opened)
        if head is None or note is None:
            continue
        seen.made_at.setdefault(head.number, head.made_at)
        memory = memory_mib(process.pid)
        seen.memory_mib[head.number] = max(seen.memory_mib.get(head.number, 0.0), memory)
        if kills and head.number >= kills[0][0] and note.doing == kills[0][1]:
            reached = reached or time.monotonic()
            if time.monotonic() - reached > 0.7:  # well inside
                return "kill"
        elif not kills and head.number > rounds and note.doing.startswith("waits"):
            return "done"
    return "ended"


def memory_mib(leader: int) -> float:
    """Of all processes of the watch's session; pages that they share count for each."""
    total = 0
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(fields[3]) == leader:  # session
                    total += int(fields[21]) * os.sysconf("SC_PAGE_SIZE")
            except (OSError, IndexError, ValueError):
                continue
    return total / 2**20


def contents(folder: Path) -> dict[str, str]:
    """URL -> flags of the pages of which a content is kept."""
    found: dict[str, str] = {}
    opened = CrawlFolder.open(folder)
    for slot in opened.slots():
        reader = open_reader(opened.agent_database(slot))
        sql = "SELECT url || path, flags FROM pages JOIN sites USING (site) WHERE archive_file NOT NULL"
        found.update(reader.execute(sql))
        reader.close()
    return found


def judge(folder: Path, server: LabServer, web: Web, before: dict[str, str], seen: Seen, rounds: int) -> list[str]:
    opened = CrawlFolder.open(folder)
    visits: list[tuple[str, float, str]] = []
    for slot in opened.slots():
        reader = open_reader(opened.agent_database(slot))
        sql = "SELECT url || path, at, v.outcome FROM visits v JOIN sites USING (site) WHERE role = 'page'"
        visits += reader.execute(sql)
        reader.close()
    begins = sorted(seen.made_at.values())
    per_round: Counter[tuple[int, str]] = Counter()
    for url, at, _ in visits:
        number = sum(at >= begin for begin in begins)
        if number:
            per_round[number, url] += 1
    twice = sum(count > 1 for count in per_round.values())
    after = contents(folder)
    lost = before.keys() - after.keys()
    now = max(at for _, at, _ in visits)
    gone = [url for url, flags in after.items() if "gone" in flags.split()]
    wrongly = [url for url in gone if answers(web, url, now)]
    log = server.witnessed()
    refused = log.where(log.manner == "reset")
    down = {(row.host, int((row.simulated_at - ORIGIN) // DAY_S)) for row in refused.rows()}
    wrong = [pair for pair in down if not web.is_down(web.cards.site_of(pair[0]) or 0, ORIGIN + pair[1] * DAY_S)]
    failed = sum(outcome not in ("ok", "not_modified", "http_error") for _, _, outcome in visits)
    tables = nephila("stats", "-C", folder)
    counted = json.loads((folder / "tables" / "manifest.json").read_text())["tables"]
    rows = sum(part["rows"] for part in counted["pages"])
    memory = [seen.memory_mib[number] for number in sorted(seen.memory_mib)]
    third = max(1, len(memory) // 3)
    print("\n".join(seen.lines[:6] + ["  …"] + [line for line in seen.lines if "killed" in line] + seen.lines[-6:]))
    print(
        f"{len(begins)} rounds over {(begins[-1] - begins[0]) / DAY_S:.1f} days of the lab: "
        f"{sum(per_round.values()):,} visits of {len({url for _, url in per_round}):,} pages, "
        f"{twice} twice in a round\n"
        f"{len(down)} times a site was down for a day when asked, {len(refused):,} requests found it so; "
        f"{failed:,} visits told nothing\n"
        f"{len(lost)} of {len(before):,} pages lost, {len(gone)} marked as gone, {len(wrongly)} of them wrongly\n"
        f"tables: {rows:,} pages; memory of all processes, most in a round, MiB: "
        f"first third {max(memory[:third]):.0f}, last third {max(memory[-third:]):.0f}"
    )
    problems = []
    if twice or lost or wrongly or wrong or not down:
        problems.append(
            f"{twice} twice, {len(lost)} lost, {len(wrongly)} not gone, {len(wrong)} outages that were none"
        )
    if len(begins) < rounds or not tables:
        problems.append(f"only {len(begins)} rounds")
    if max(memory[-third:]) > 1.25 * max(memory[:third]) + 20:
        problems.append("memory grows")
    return problems


def answers(web: Web, url: str, now: float) -> bool:
    """Whether the lab has the page, leaving outages aside."""
    parts = urlsplit(url)
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    calm = Web(replace(web.lab, outages=0.0), ORIGIN)
    return calm.answer(parts.hostname or "", web.lab.port, target, "", now).status == 200


def nephila(*words: object) -> object:
    """Run a command to its end and give its report."""
    command = [sys.executable, "-m", "nephila", *map(str, words), "--json", "-q"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


if __name__ == "__main__":
    sys.exit(main())
