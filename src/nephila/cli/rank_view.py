"""How a ranking reads in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nephila.rank.comparing import CompareReport
    from nephila.rank.report import Footing, RankReport, TopPage
    from nephila.rank.why import WhyReport

_SHOWN = 10


def as_text(report: RankReport) -> str:
    """Counts, cost and the best pages."""
    steps = ", ".join(f"{step.name} {step.seconds:.2f}" for step in report.steps)
    rounds = f"{report.rounds:,} round{'' if report.rounds == 1 else 's'}"
    start = " from the last ranks" if report.restarted else ""
    lines = [
        f"{report.pages:,} pages, {report.links:,} links ({report.dangling:,} without links of their own); dropped: "
        f"{report.self_links_dropped:,} self-links, {report.repeated_links_dropped:,} repeated, "
        f"{report.links_left_out:,} to or from pages that are not ranked",
        f"{report.method}, damping {report.damping:g}: {rounds}{start}, residual {report.residual:.2g}, "
        f"{report.seconds:.2f} s ({steps})",
    ]
    if report.footing is not None:
        lines.append(_footing(report.footing))
    for title, best in (("pages", report.top), ("sites", report.top_sites), ("domains", report.top_domains)):
        if best:
            lines += ["", f"best {title}", *(_line(page) for page in best[:_SHOWN])]
    return "\n".join([*lines, "", f"ranks in {report.file}, the picture of them beside it"])


def _footing(found: Footing) -> str:
    """How far the input can be trusted (S3-25)."""
    return (
        f"input: {found.complete:.1%} of {found.urls_known:,} known URLs requested, {found.duplicates_left_out:,} "
        f"copies left out, {found.near_duplicates:,} near copies ranked, half within {found.median_lag_s:,.0f} s"
    )


def _line(page: TopPage) -> str:
    return f"{page.place:>4}  {page.rank:.6f}  {page.in_links:>9,} in  {page.name}"


def comparison_as_text(report: CompareReport) -> str:
    """One line per method, against exact PageRank."""
    blocks = f"; {report.blocks:,} blocks ({report.block}), {report.inner_share:.0%} of the links within one"
    lines = [
        f"{report.pages:,} pages, {report.links:,} links{blocks if report.block else ''}; damping {report.damping:g}, "
        f"tolerance {report.tolerance:g}, {report.agents} agents",
        "",
        f"{'method':<18}{'rounds':>7}{'exchanged':>15}{'seconds':>9}{'L1':>10}{'tau':>8}{'top 10':>8}{'top 100':>9}",
    ]
    lines += [
        f"{row.method:<18}{row.rounds:>7}{row.exchanged_bytes:>15,}{row.seconds:>9.3f}{row.l1:>10.2g}{row.tau:>8.3f}"
        f"{row.top_10:>8.0%}{row.top_100:>9.0%}"
        for row in report.methods
    ]
    lines += ["", "rounds pass over all links (blocks: exchange with the coordinator)",
              "L1, tau and top-k are against PageRank to 1e-13"]  # fmt: skip
    return "\n".join(lines)


def why_as_text(report: WhyReport) -> str:
    """The parts of a rank, the strongest first."""
    lines = [
        report.name,
        f"rank {report.rank:.3g}, place {report.place:,} of {report.pages:,}, {report.times_mean:.1f} times the mean; "
        f"{report.in_links:,} pages link to it",
        "",
        f"{'gives':>10}{'share':>8}{'its rank':>11}{'links':>7}",
    ]
    lines += [
        f"{one.gives:>10.3g}{one.share:>8.1%}{one.rank:>11.3g}{one.out_links:>7,}  {one.name}"
        for one in report.contributions
    ]
    if len(report.contributions) < report.in_links:
        lines.append(f"{report.others:>10.3g}{_share(report.others, report):>8.1%}{'':>18}  all other pages")
    lines.append(
        f"{report.from_elsewhere:>10.3g}{_share(report.from_elsewhere, report):>8.1%}{'':>18}  "
        "teleport and pages without links"
    )
    return "\n".join(lines)


def _share(part: float, report: WhyReport) -> float:
    return part / report.rank if report.rank else 0.0
