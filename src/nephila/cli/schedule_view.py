"""How a simulation and a plan read in a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nephila.crawl.probing import ProbeReport
    from nephila.schedule.report import HourByHour, PolicyRow, SimulateReport, Spread
    from nephila.shown import ScheduleShown, SiteDay

_SHADES = "·░▒▓█"
_NAME = 36
_SUDDENLY = 2.0


@contextmanager
def counting(total: int, *, quiet: bool, what: str = "instances") -> Iterator[Callable[[int], None]]:
    """A line that counts up while the work is done."""
    if quiet:
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=total)
        yield lambda done: progress.update(task, completed=done)


def as_text(report: SimulateReport) -> str:
    """Both tables, the order of the policies, and what happened hour by hour."""
    lines = [
        f"{len(report.instances)} instances from seed {report.seed}: {report.servers} servers, {report.robots} robots; "
        f"{report.seconds:.1f} s, {report.cpu_seconds:.1f} s of CPU",
        "",
        "policies that know the loads of the day (the paper's way)",
        *_table(report.policies, report.bound),
        "",
        "policies that know three other days",
        *_table(report.honest, report.bound),
        "",
        "random > sorting > hybrid > lp-quota ≥ lp ≥ bound in "
        f"{report.in_order:.0%} of the instances ({report.in_order_honest:.0%} with three other days known)",
        *_hours(report.hour_by_hour),
    ]
    return "\n".join([*lines, "", f"picture in {report.picture}"] if report.picture else lines)


def _table(rows: tuple[PolicyRow, ...], bound: Spread) -> list[str]:
    head = (
        f"{'policy':<14}{'hours':>14}{'up':>6}{'faster':>8}{'robots':>8}{'load':>7}{'best 4 h':>10}"
        f"{'stops':>7}{'late':>7}{'× bound':>9}"
    )
    lines = [head]
    lines += [
        f"{row.policy:<14}{_spread(row.hours):>14}{row.hours_rounded_up.mean:>6.1f}{row.faster_than_random:>8.1%}"
        f"{row.utilisation.mean:>8.1%}{row.load_at_fetch.mean:>7.3f}{row.best_hours_share.mean:>10.1%}"
        f"{row.suspensions.mean:>7.1f}{row.worst_delay_h.mean:>7.1f}{row.ratio_to_bound.mean:>9.3f}"
        for row in rows
    ]
    return [*lines, f"{'bound':<14}{_spread(bound):>14}"]


def _spread(spread: Spread) -> str:
    return f"{spread.mean:.2f} ± {spread.sd:.2f}"


def _hours(found: HourByHour) -> list[str]:
    lines = [f"hour 0: most by sorting, then hybrid, then random in {found.sorting_first:.0%} of the instances"]
    if found.hybrid_overtakes is not None:
        overall = found.hybrid_overtakes_cumulative
        in_all = f", in all after hour {overall}" if overall is not None else ""
        lines.append(f"hybrid overtakes sorting in hour {found.hybrid_overtakes}{in_all}")
    if found.hybrid_leads_from is not None and found.hybrid_leads_hours:
        last = found.hybrid_leads_from + found.hybrid_leads_hours - 1
        lines.append(f"hybrid leads in a row from hour {found.hybrid_leads_from} to {last}")
    if found.sorting_below_random is not None:
        lines.append(f"sorting falls below random in hour {found.sorting_below_random}")
    return [*lines, "(hours counted from 0, medians over the instances)"]


def probe_as_text(report: ProbeReport) -> str:
    """What a probe asked and got."""
    lines = [
        f"{report.sites:,} sites, {report.rounds:,} rounds: {report.answered:,} home pages answered, {report.failed:,} "
        f"did not; {report.requests:,} requests in {report.seconds:,.1f} s"
    ]
    if report.forbidden:
        lines.append(f"{report.forbidden:,} sites were left alone: their robots.txt does not want it, or did not come")
    if report.unknown:
        lines.append(f"{report.unknown:,} names have no address that may be asked")
    return "\n".join(lines)


def plan_as_text(shown: ScheduleShown) -> str:
    """A line per site, two signs per hour: how busy it is, or that it is collected then."""
    if not shown.rows:
        return "Nothing is known of any site's hours yet; a crawl learns them, or `nephila schedule probe`."
    if not shown.sites_open:
        lines = ["Nothing is left to collect; the hours of the sites as they were measured:"]
    elif shown.policy == "off":
        lines = [f"{shown.sites_open:,} sites are open and no policy is set; --policy hybrid shows what one would do."]
    else:
        done = f"; what is known is done in about {shown.hours:.1f} h" if shown.hours is not None else ""
        lines = [f"{shown.sites_open:,} sites are open; {shown.policy}, {shown.places:,} at a time{done}"]
    hours = "".join(f"{(shown.first_hour + place) % 24:02}    " for place in range(0, 24, 3))
    lines += ["", f"{'site':<{_NAME}}{'zone':>5}{'left':>7}  {hours.rstrip()} UTC"]
    lines += [_day(row) for row in shown.rows]
    if len(shown.rows) < shown.sites_open:
        lines.append(f"… and {shown.sites_open - len(shown.rows):,} more; --sites shows them")
    return "\n".join([*lines, "", "load: · quiet ░ ▒ ▓ █ busy    ◆ collected then"])


def _day(row: SiteDay) -> str:
    name = row.url.removeprefix("http://")
    name = name if len(name) < _NAME else name[: _NAME - 2] + "…"
    cells = "".join(
        "◆◆" if share > 0.005 else 2 * _SHADES[min(len(_SHADES) - 1, int(load * len(_SHADES)))]
        for load, share in zip(row.loads, row.planned, strict=True)
    )
    left = f"{row.pages_left:,.0f}" if row.pages_left else "–"
    sudden = f"  {row.slower:.0f} × slower than usual" if row.slower >= _SUDDENLY else ""
    return f"{name:<{_NAME}}{row.zone:>+5}{left:>7}  {cells}{sudden}"
