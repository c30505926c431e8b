"""How a crawl looks in a terminal: a live table where there is one, plain lines where there is none."""

from __future__ import annotations

import time
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self, TextIO

from nephila.cli.output import inert

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live

    from nephila.crawl.report import CrawlReport
    from nephila.crawl.seeds import SeedList

LINE_EVERY_S: Final = 5.0
_OFF: Final = {"topic": "off topic", "language": "in another language"}
_NO_ROOM: Final = "Paused: the disk is nearly full; make room and it goes on by itself.  "
_PAUSED: Final = "Paused, until the web pages resume it or control/paused is removed.  "


class LiveView:
    """Shows reports as they come; leaves the terminal as it was."""

    def __init__(self, *, quiet: bool, to: TextIO) -> None:
        self._quiet = quiet
        self._to = to
        self._live: Live | None = None
        self._next_line = 0.0

    def __enter__(self) -> Self:
        if not self._quiet and self._to.isatty():
            from rich.console import Console
            from rich.live import Live

            self._live = Live(console=Console(file=self._to), auto_refresh=False, transient=True)
            self._live.start()
        return self

    def __exit__(self, *exc: type[BaseException] | BaseException | TracebackType | None) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, report: CrawlReport) -> None:
        if self._quiet:
            return
        if self._live is not None:
            self._live.update(_table(report), refresh=True)
        elif time.monotonic() >= self._next_line:
            self._next_line = time.monotonic() + LINE_EVERY_S
            self._to.write(one_line(report) + "\n")
            self._to.flush()


def one_line(report: CrawlReport) -> str:
    """Progress where there is no terminal."""
    sites = report.sites
    return (
        f"{_paused(report)}"
        f"{report.seconds:7.1f} s  {report.pages:>9,} pages  {report.pages_per_s:>8,.1f}/s  "
        f"{size(report.run_bytes):>9}  sites {report.active_sites} active, {sites.new} waiting, {sites.done} done  "
        f"{report.waiting_urls:,} URLs waiting{_eta(report)}"
    )


def _paused(report: CrawlReport) -> str:
    return _NO_ROOM if report.no_room else _PAUSED if report.paused else ""


def _eta(report: CrawlReport) -> str:
    """When what is known now would be collected; more may be found."""
    if report.pages_per_s <= 0 or report.waiting_urls == 0:
        return ""
    return f", about {duration(report.waiting_urls / report.pages_per_s)} to go"


def _table(report: CrawlReport) -> RenderableType:
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    figures = Table.grid(padding=(0, 2))
    sites = report.sites
    figures.add_row("pages", f"{report.pages:,}", f"{report.pages_per_s:,.1f}/s", size(report.run_bytes))
    figures.add_row("sites", f"{report.active_sites:,} active", f"{sites.new:,} waiting", f"{sites.done:,} done")
    figures.add_row("URLs", f"{report.known:,} known", f"{report.waiting_urls:,} waiting", duration(report.seconds))
    outcomes = Table.grid(padding=(0, 2))
    top = sorted(report.outcomes.items(), key=lambda item: -item[1])[:6]
    outcomes.add_row(*(Text(f"{name} {count:,}", style=_style(name)) for name, count in top))
    slow = [
        Text(inert(f"  {site.last_ms:>6} ms  {site.url}  ({site.waiting:,} waiting)")[:100], style="dim")
        for site in report.slowest[:3]
    ]
    known = max(1, report.known)
    bar = Table.grid()
    bar.add_row(ProgressBar(total=known, completed=known - report.waiting_urls, width=60))
    doing = _paused(report).strip() or f"Collecting{_eta(report)}."
    head = Text(f"{doing} Ctrl-C stops; the same command goes on.", style="bold")
    return Group(head, bar, figures, outcomes, *([Text("slowest", style="dim"), *slow] if slow else []))


def _style(outcome: str) -> str:
    return {"ok": "green", "waiting": "cyan", "redirect": "blue"}.get(outcome, "yellow")


def as_text(report: CrawlReport, directory: Path) -> str:
    """The result, for a person."""
    endings = {
        "done": "Nothing is left to collect.",
        "interrupted": "Stopped; the same command goes on from here.",
        "imported": "Imported from archives; `nephila crawl` goes on from there.",
        "merged": "Merged from other folders; `nephila crawl` goes on from there.",
    }
    sites = report.sites
    lines = [
        endings.get(report.how, f"Stopped at {report.how}; raise it and run the same command to go on."),
        f"  pages     {report.pages:>10,}   {report.run_pages:,} in this run, {report.pages_per_s:,.1f} per second, "
        f"{duration(report.seconds)}",
        f"  received  {size(report.received_bytes):>10}   kept in {size(report.archive_bytes)} of WARC",
        f"  sites     {sites.done:>10,}   {_named(sites.alias, 'alias', 'aliases')}, {sites.asleep:,} asleep, "
        f"{sites.new + sites.leased:,} waiting",
        "  URLs known, by outcome:",
    ]
    width = max(map(len, report.outcomes), default=0)
    lines += [
        f"    {name:<{width}} {count:>10,}" for name, count in sorted(report.outcomes.items(), key=lambda row: -row[1])
    ]
    lines += _scope_lines(report)
    lines += [f"  changed for this crawl: {change}" for change in report.changes]
    hint = _hint(report)
    if hint:
        lines.append(hint)
    lines.append(
        f"In {directory}: archive/ (WARC), state/ (SQLite), seeds.out. "
        f"`nephila why URL -C {directory}` tells a URL's story."
    )
    return "\n".join(lines)


def _scope_lines(report: CrawlReport) -> list[str]:
    """What rules of the scope left out, and how much of what came was wanted."""
    lines = []
    if report.refused_by_rule:
        width = max(map(len, report.refused_by_rule))
        lines.append("  URLs left out, by rule:")
        in_order = sorted(report.refused_by_rule.items(), key=lambda row: -row[1])
        lines += [f"    {name:<{width}} {count:>10,}{_of_sites(report, name)}" for name, count in in_order]
    judged = report.judged
    if report.harvest_ratio is not None:
        off = [f"{judged[name]:,} {what}" for name, what in _OFF.items() if judged.get(name)]
        of = sum(judged.get(name, 0) for name in ("on", *_OFF))
        lines.append(
            f"  harvest   {report.harvest_ratio:>10.1%}   {judged.get('on', 0):,} of {of:,} pages that were judged"
            + "".join(f", {each}" for each in off)
        )
    if judged.get("skipped") or judged.get("archived"):
        counts = f"{judged.get('skipped', 0):,} bodies skipped, {judged.get('archived', 0):,} archived and not read"
        lines.append(f"  types     {counts}")
    return lines


def _of_sites(report: CrawlReport, rule: str) -> str:
    sites = report.refused_sites.get(rule, 0)
    if not sites or not report.located_sites:
        return ""
    share = sites / report.located_sites
    return f"   {_named(sites, 'site', 'sites')} of {report.located_sites:,} with an address ({share:.1%})"


def _hint(report: CrawlReport) -> str:
    """What a user with an empty hand should do."""
    if report.outcomes.get("blocked_address") and not report.outcomes.get("ok"):
        return (
            "Every address was refused because it is private; for sites of your own say "
            "--set net.allow_private=127.0.0.0/8 (the range that they are in)."
        )
    trapped = report.outcomes.get("trap_rejected", 0) + report.outcomes.get("host_budget", 0)
    if trapped > report.pages:
        return (
            f"{_named(trapped, 'URL was', 'URLs were')} left out because they have no end or are over a budget; "
            "`nephila why URL` tells which, and a key of the section `traps` lets them in."
        )
    if report.sites.asleep:
        asleep = _named(report.sites.asleep, "site that did not answer waits", "sites that did not answer wait")
        return f"{asleep} for the next run of this command."
    return ""


def refused_sentence(seeds: SeedList) -> str:
    """One sentence about all lines that were left out."""
    first = seeds.refused[0]
    count = len(seeds.refused)
    lines = "1 seed was" if count == 1 else f"{count:,} seeds were"
    return inert(
        f"{lines} left out, the first in {first.place}: {first.text!r} {first.reason}; the others are collected."
    )


def size(count_bytes: float) -> str:
    for unit in ("B", "KB", "MB", "GB"):
        if count_bytes < 1000:
            return f"{count_bytes:.0f} {unit}" if unit == "B" else f"{count_bytes:.1f} {unit}"
        count_bytes /= 1000
    return f"{count_bytes:.1f} TB"


def duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def _named(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"
