"""Nine batches of the lab's web through the real crawler, beside S1's Tables 7-13: `make study`, or `study.py DIR`.

Tables 7-10 come from the home pages of 1,424 sites, Tables 11-13 from 142 whole sites with a twentieth of the paper's
pages; what is compared are shares and intervals, which do not depend on the size. Exit code 1 when a line is outside
its tolerance. Too long for `make test`: it takes minutes. A folder that is named is kept.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from nephila.clock import Clock
from nephila.config.layers import Layer
from nephila.config.sections import Lab
from nephila.jobs.lab_clock import LabClock
from nephila.jobs.study import StudyOrder, Watching, study
from nephila.lab import figures
from nephila.lab.change import BATCH_S
from nephila.lab.check import CheckReport, render
from nephila.lab.serve import LabServer
from nephila.lab.study_check import Key, Seen, compare
from nephila.stats.change.bootstrap import Grouped
from nephila.stats.change.visits import open_study
from nephila.stats.section import Section

HOMES = Lab(profile="study", sites=figures.STUDY_SEEDS)
SITES = Lab(profile="study", sites=figures.SAMPLED_SEEDS, growth=0.05)
PATIENT: Mapping[str, object] = {"net.header_timeout": 15.0, "net.idle_timeout": 10.0}
_BATCHES = figures.BATCHES


def order_for(
    server: LabServer, folder: Path, batches: int, settings: Mapping[str, object], engine: str = "local",
    agents: int = 2,
) -> StudyOrder:  # fmt: skip
    """A study of a lab that is served, with its clock and without delays."""
    quick: dict[str, object] = {
        "net.allow_private": ["127.0.0.0/8"], "net.nameservers": [server.dns],
        "politeness.min_delay": 0.0, "politeness.delay_factor": 0.0,
        "crawl.sleep_min": 1.0, "crawl.give_up": 0, "archive.sync": False,
    }  # fmt: skip
    return StudyOrder(
        directory=folder,
        lines=tuple((url, "the lab") for url in server.sites().seeds(server.port)),
        layers=(Layer("study.py", {**quick, **PATIENT, **settings}),),
        batches=batches,
        every_s=BATCH_S,
        measure="bytes",
        clock=LabClock(server.control_url + "clock"),
        engine=engine,
        agents=agents,
    )


def served(lab: Lab) -> LabServer:
    """Twenty times as fast as the world, so that a study has not to wait for sites that sleep."""
    now = time.time()
    return LabServer(lab, clock=Clock(20.0, now, now), origin=float(int(now)))


def home_seen(tables: Sequence[Section]) -> dict[Key, Seen]:
    """What Tables 7-10 of a study say, line by line."""
    by_name = {table.name: table for table in tables}
    rows7, rows8 = by_name["table-7"].rows, by_name["table-8"].rows
    seeds = sum(_number(row[1]) for row in rows8)
    up = sum(_number(row[3]) for row in rows7)
    asked = sum(_number(row[2]) for row in rows7)
    seen = {("Table 7: requests and downloads", "seeds downloaded"): Seen(up / asked, 0.0, seeds)}
    for times, _, share in rows8:
        seen["Table 8: seeds by downloads", f"{times} times"] = Seen(_number(share), 0.0, seeds)
    for chance, how, value, error in by_name["up-and-down"].rows:
        for words, name in (("as printed", f"{chance}"), ("averaged over", f"{chance} by events")):
            if str(how).startswith(words) and not (words == "averaged over" and "seeds" in str(how)):
                seen["Table 8: seeds by downloads", name] = Seen(_number(value), _number(error), seeds)
    for name, table in (
        ("table-9", "Table 9: seeds by domain"),
        ("table-10", "Table 10: seeds by second-level domain"),
    ):
        rows = by_name[name].rows
        korean = next((_number(row[1]) for row in by_name["table-9"].rows if row[0] == "kr"), 0.0)
        whole = seeds if name == "table-9" else korean
        for domain, count, always, share, error, changed, changed_share, changed_error, days, days_error in rows:
            seen[table, f"{domain}, of all"] = Seen(_number(count) / whole, 0.0, whole)
            seen[table, f"{domain}, in all batches"] = Seen(_number(share), _number(error), _number(count))
            seen[table, f"{domain}, changed"] = Seen(_number(changed_share), _number(changed_error), _number(always))
            if days is not None:
                seen[table, f"{domain}, days"] = Seen(_number(days), _number(days_error), _number(changed))
    return seen


def site_seen(tables: Sequence[Section], folder: Path) -> dict[Key, Seen]:
    """What Tables 7 and 11-13 of a study say, line by line."""
    by_name = {table.name: table for table in tables}
    sums = (("requested", "count(*) FILTER (requested)"), ("downloaded", "count(*) FILTER (ok)"))
    with open_study(folder / "study", "bytes", 2**30, 2) as duck:
        (success,) = Grouped("observations", "", sums, "NOT seed").ask(duck).ratio("downloaded", "requested")
    seen = {
        ("Table 7: requests and downloads", "documents downloaded"): Seen(
            success.value or 0.0, success.error or 0.0, success.under / _BATCHES
        )
    }
    rows11 = by_name["table-11"].rows
    documents = sum(_number(row[1]) for row in rows11)
    for times, _, share, error in rows11:
        seen["Table 11: documents by downloads", f"{times} times"] = Seen(_number(share), _number(error), documents)
    rows12 = by_name["table-12"].rows
    below = sum(_number(row[1]) for row in rows12 if row[0] != 0)
    twice = sum(_number(row[4]) for row in rows12)
    twice_share = twice / sum(_number(row[1]) for row in rows12)
    mean_days = sum(_number(row[4]) * _number(row[10]) for row in rows12) / twice
    table = "Table 12: documents by depth"
    for row in rows12:
        depth, count = row[0], _number(row[1])
        if depth != 0:
            seen[table, f"depth {depth}, of all"] = Seen(count / below, _number(row[3]), below)
        seen[table, f"depth {depth}, twice, relative"] = _relative(row[5], row[6], twice_share, count)
        seen[table, f"depth {depth}, days, relative"] = _relative(row[10], row[11], mean_days, _number(row[7]))
    rows13 = by_name["table-13"].rows
    every = sum(_number(row[4]) for row in rows13)
    table = "Table 13: documents by link kinds"
    for row in rows13:
        seen[table, f"{row[0]}, of all"] = Seen(_number(row[4]) / every, _number(row[3]), every)
        seen[table, f"{row[0]}, changed"] = Seen(_number(row[8]), _number(row[9]), _number(row[4]))
        if row[10] is not None:
            seen[table, f"{row[0]}, days"] = Seen(_number(row[10]), _number(row[11]), _number(row[7]))
    return seen


def _relative(value: object, error: object, to: float, trials: float) -> Seen:
    return Seen(_number(value) / to, _number(error) / to, trials)


def _number(cell: object) -> float:
    return float(cell) if isinstance(cell, int | float) else 0.0


def _say(batch: int, of: int, step: str) -> None:
    print(f"  batch {batch} of {of}: {step}", flush=True)


def main(place: Path) -> int:
    started, cpu = time.monotonic(), os.times()
    seen: dict[Key, Seen] = {}
    sites = requests = 0
    for name, lab, settings in (("homes", HOMES, {"crawl.max_depth": 0}), ("sites", SITES, {})):
        folder = place / name
        print(name)
        with served(lab) as server:
            report = study(order_for(server, folder, _BATCHES, settings), Watching(begins=_say))
        if report.how != "done":
            return 130
        seen |= home_seen(report.tables) if name == "homes" else site_seen(report.tables, folder)
        sites += lab.sites
        requests += sum(batch.requests for batch in report.batches)
    rows = compare(seen)
    checked = CheckReport(sites, requests, rows)
    print(render(checked))
    spent = os.times()
    used = sum(after - before for after, before in zip(spent[:4], cpu[:4], strict=True))
    print(
        f"{len(rows)} lines; {time.monotonic() - started:,.0f} s, {used:,.0f} s of CPU, load {os.getloadavg()[0]:.1f}"
    )
    return 0 if checked.ok else 1


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(main(Path(sys.argv[1])))
    with tempfile.TemporaryDirectory(prefix="nephila-study-") as temporary:
        sys.exit(main(Path(temporary)))
