"""How a ranking reads in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nephila.rank.report import RankReport, TopPage

_SHOWN = 10


def as_text(report: RankReport) -> str:
    """Counts, cost and the best pages."""
    steps = ", ".join(f"{step.name} {step.seconds:.2f}" for step in report.steps)
    start = " from the last ranks" if report.restarted else ""
    lines = [
        f"{report.pages:,} pages, {report.links:,} links ({report.dangling:,} pages without links); dropped: "
        f"{report.self_links_dropped:,} self-links, {report.repeated_links_dropped:,} repeated, "
        f"{report.links_left_out:,} to or from pages that are not ranked",
        f"{report.method}, damping {report.damping:g}: {report.rounds} rounds{start}, residual {report.residual:.2g}, "
        f"{report.seconds:.2f} s ({steps})",
    ]
    for title, best in (("pages", report.top), ("sites", report.top_sites), ("domains", report.top_domains)):
        if best:
            lines += ["", f"best {title}", *(_line(page) for page in best[:_SHOWN])]
    return "\n".join([*lines, "", f"ranks in {report.file}"])


def _line(page: TopPage) -> str:
    return f"{page.place:>4}  {page.rank:.6f}  {page.in_links:>9,} in  {page.name}"
