"""How refresh reads in a terminal."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from nephila.jobs.refresh import RefreshReport
    from nephila.refresh.experiment import Line, SimulationReport
    from nephila.store.plan import WatchNote

_WEIGHINGS = {"equal": "all pages weigh the same", "popularity": "pages weigh by what users look at"}


def round_as_text(report: RefreshReport, directory: Path) -> str:
    """What a round did, and what to look at next."""
    done = report.round
    begun = " (begun before, and gone on with)" if done.resumed else ""
    lines = [
        f"Round {done.round}, policy {done.policy}{begun}: {done.planned:,} of {done.candidates:,} pages planned, "
        f"{done.visited:,} visited again in {done.seconds:,.1f} s.",
        f"  {done.changed:,} had changed, {done.unchanged:,} had not ({done.not_modified:,} of them without a body), "
        f"{done.missing:,} missing, {done.gone:,} gone, {done.failed:,} not told",
        f"  {done.new_pages:,} new pages; before it about {done.freshness_before:.0%} were expected to be current",
        f"  {done.requests:,} requests, {done.received_bytes / 1e6:,.1f} MB: "
        f"{done.requests - done.robots_requests - done.further_tries - done.samples:,} within the budget, and on top "
        f"of it {done.robots_requests:,} for robots.txt, {done.further_tries:,} further tries, "
        f"{done.samples:,} to compare sites",
    ]
    if done.how not in ("done", "interrupted"):
        lines.append(f"  it ended by {done.how}; what was planned and not visited waits for the next round")
    if done.how == "interrupted":
        lines.append(f"Interrupted; `nephila refresh -C {directory}` goes on with this round.")
    if report.refined is not None:
        converted, ranked, index = report.refined.convert, report.refined.rank, report.refined.index
        lines.append(
            f"Tables: {converted.pages:,} pages, {converted.extracted_pages:,} looked at, {converted.new_pages:,} new; "
            f"{ranked.pages:,} ranked in {ranked.rounds} rounds; {index.pages:,} in the index."
        )
    return "\n".join(lines)


def watch_as_text(note: WatchNote, in_use: bool) -> str:
    """What a watch will do next."""
    at = datetime.fromtimestamp(note.next_at, UTC).strftime("%Y-%m-%d %H:%M")
    if note.ended or not in_use:
        how = "stopped" if note.ended else "killed"
        return f"A watch was {how} after {note.rounds:,} rounds; `nephila watch` goes on, the next was due {at} UTC."
    every = f"every {note.every_s / 3600:g} h"
    asks = f" and makes up to {note.requests:,} visits" if note.requests else ""
    return f"A watch ({every}, {note.rounds:,} rounds so far) {note.doing}; the next round is due {at} UTC{asks}."


def simulation_as_text(report: SimulationReport) -> str:
    """One table per scenario and weighing: policies down, budgets across."""
    lines = [
        f"{report.webs} web{'' if report.webs == 1 else 's'} of {report.pages:,} pages over {report.days:g} days, the "
        f"first {report.warm_up_days:g} learnt from and not measured; {report.source}",
    ]
    lengths = {line.history_days for line in report.lines}
    if len(lengths) > 1:
        lines = [
            f"{report.webs} webs of {report.pages:,} pages, each measured after days that are only learnt from; "
            f"{report.source}"
        ]
    keys = [(line.scenario, line.weighing, line.history_days) for line in report.lines]
    for key in dict.fromkeys(keys):
        some = [line for line, of in zip(report.lines, keys, strict=True) if of == key]
        after = f", after {key[2]:g} days" if len(lengths) > 1 else ""
        lines += ["", f"{key[0]}, {_WEIGHINGS[key[1]]}{after}", *_table(some, key[1])]
    lines += _growth(report)
    for saving in report.savings:
        lines.append(
            f"\n{saving.scenario}, {saving.weighing}: asking every page once a day keeps {saving.daily_freshness:.3f} "
            f"fresh; the index policy needs {saving.budget_needed:g} visits per page and day for that, "
            f"{saving.saved_share:.0%} fewer requests."
        )
    lines.append(
        f"\n{report.seconds:g} s, {report.cpu_seconds:g} s of CPU"
        + (f", drawn in {report.picture}" if report.picture else "")
    )
    return "\n".join(lines)


def _growth(report: SimulationReport) -> list[str]:
    """How near the index policy comes to the oracle at every budget, as its history grows."""
    lines: list[str] = []
    index = [line for line in report.lines if line.policy == "index" and line.of_oracle]
    for scenario, weighing in dict.fromkeys((line.scenario, line.weighing) for line in index):
        some = [line for line in index if (line.scenario, line.weighing) == (scenario, weighing)]
        budgets = sorted({line.budget for line in some})
        lines += ["", f"{scenario}, {_WEIGHINGS[weighing]}: the index policy's share of the oracle"]
        lines.append(f"  {'days of history':<20}" + "".join(f"{budget:>9g}" for budget in budgets))
        for days in sorted({line.history_days for line in some}):
            row = {line.budget: line.of_oracle for line in some if line.history_days == days}
            lines.append(f"  {days:<20g}" + "".join(f"{row[budget]:>9.1%}" for budget in budgets))
    return lines


def _table(lines: list[Line], weighing: str) -> list[str]:
    budgets = sorted({line.budget for line in lines})
    shown = "freshness" if weighing == "equal" else "embarrassment"
    title = f"  {shown + ' at visits/page/day':<34}"
    head = title + "".join(f"{budget:>9g}" for budget in budgets) + "   of oracle  ± s.e.   age, days  useful"
    rows = []
    for policy in dict.fromkeys(line.policy for line in lines):
        of_policy = sorted((line for line in lines if line.policy == policy), key=lambda line: line.budget)
        middle = of_policy[len(of_policy) // 2]
        rows.append(
            f"  {policy:<34}" + "".join(f"{line.objective:>9.3f}" for line in of_policy)
            + f"{middle.of_oracle:>12.1%}{middle.standard_error:>8.3f}{middle.age_days:>12.2f}{middle.useful:>8.2f}"
        )  # fmt: skip
    return [head, *rows, f"  (the last four columns at {budgets[len(budgets) // 2]:g})"]
