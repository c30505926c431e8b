"""An experiment as pictures: for each scenario and weighing, what every policy makes of every budget.

One SVG that stands alone: no script, no font, nothing from outside; `as_page` puts it into a page with its table.
"""

from __future__ import annotations

import html
from typing import Final

from nephila.refresh.experiment import Line, SimulationReport

_PANEL_WIDTH: Final = 470
_PANEL_HEIGHT: Final = 330
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 108, 44, 40
_COLOURS: Final = (
    "#9d755d", "#e45756", "#ff9da6", "#7f7f7f", "#f58518", "#54a24b", "#b279a2", "#1f5fb4", "#72b7e5", "#111111",
)  # fmt: skip
_STYLE: Final = (
    "svg{font:12px sans-serif;background:#fff}text{fill:#333}.t{font-weight:bold;font-size:14px}.g{stroke:#ddd}"
    "path{fill:none;stroke-width:2}"
)
_TITLES: Final = {"equal": "freshness, all pages alike", "popularity": "freshness of what users look at"}


def draw(report: SimulationReport) -> str:
    """All panels, two beside each other."""
    panels = list(dict.fromkeys((line.scenario, line.weighing) for line in report.lines))
    rows = (len(panels) + 1) // 2
    width, height = 2 * _PANEL_WIDTH, rows * _PANEL_HEIGHT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
        f"<title>Policies at equal budgets, {report.webs} webs of {report.pages:,} pages</title>",
        f"<style>{_STYLE}</style>",
    ]
    for number, (scenario, weighing) in enumerate(panels):
        some = [line for line in report.lines if (line.scenario, line.weighing) == (scenario, weighing)]
        place = f"translate({number % 2 * _PANEL_WIDTH},{number // 2 * _PANEL_HEIGHT})"
        parts += [f'<g transform="{place}">', *_panel(some, f"{scenario}: {_TITLES[weighing]}"), "</g>"]
    return "\n".join([*parts, "</svg>\n"])


def _panel(lines: list[Line], title: str) -> list[str]:
    budgets = sorted({line.budget for line in lines})
    values = [line.objective for line in lines]
    low, high = min(values), max(values)
    low, high = low - 0.05 * (high - low) - 1e-9, high + 0.05 * (high - low) + 1e-9
    across, down = _PANEL_WIDTH - _LEFT - _RIGHT, _PANEL_HEIGHT - _TOP - _BOTTOM

    def x(budget: float) -> float:
        return _LEFT + (budgets.index(budget) / max(1, len(budgets) - 1)) * across

    def y(value: float) -> float:
        return _TOP + (high - value) / (high - low) * down

    parts = [f'<text class="t" x="{_LEFT}" y="22">{html.escape(title)}</text>']
    for tick in range(5):
        value = low + (high - low) * tick / 4
        parts.append(f'<line class="g" x1="{_LEFT}" x2="{_LEFT + across}" y1="{y(value):.1f}" y2="{y(value):.1f}"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{y(value) + 4:.1f}" text-anchor="end">{value:.2f}</text>')
    parts += [
        f'<text x="{x(budget):.1f}" y="{_TOP + down + 18}" text-anchor="middle">{budget:g}</text>' for budget in budgets
    ]
    below = _PANEL_HEIGHT - 6
    parts.append(f'<text x="{_LEFT + across / 2}" y="{below}" text-anchor="middle">visits per page and day</text>')
    policies = list(dict.fromkeys(line.policy for line in lines))
    ends = []
    for number, policy in enumerate(policies):
        points = sorted((line.budget, line.objective) for line in lines if line.policy == policy)
        colour = _COLOURS[number % len(_COLOURS)]
        path = "M" + "L".join(f"{x(budget):.1f},{y(value):.1f}" for budget, value in points)
        parts.append(f'<path d="{path}" stroke="{colour}"/>')
        ends.append((y(points[-1][1]), policy, colour))
    last = -100.0
    for wanted, policy, colour in sorted(ends):  # names beside the ends of their lines, one below the other
        last = max(wanted, last + 13)
        parts.append(f'<text x="{_LEFT + across + 6}" y="{last + 4:.1f}" style="fill:{colour}">{policy}</text>')
    return parts


def as_page(report: SimulationReport) -> str:
    """The picture with its figures below, as one HTML file."""
    head = ("scenario", "weighing", "budget", "policy", "freshness", "embarrassment", "age, days", "useful",
            "of the oracle")  # fmt: skip
    cells = "".join(
        f"<tr><td>{line.scenario}</td><td>{line.weighing}</td><td>{line.budget:g}</td><td>{line.policy}</td>"
        f"<td>{line.freshness:.4f}</td><td>{line.embarrassment:.4f}</td><td>{line.age_days:.2f}</td>"
        f"<td>{line.useful:.3f}</td><td>{line.of_oracle:.3f}</td></tr>\n"
        for line in report.lines
    )
    titles = "".join(f"<th>{name}</th>" for name in head)
    about = (
        f"{report.webs} webs of {report.pages:,} pages over {report.days:g} days, the first {report.warm_up_days:g} "
        f"learnt from and not measured; {html.escape(report.source)}"
    )
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        "<title>Policies at equal budgets</title><style>body{font:15px sans-serif;margin:2em auto;max-width:70em;"
        "padding:0 1em}table{border-collapse:collapse;font-size:13px}td,th{padding:2px 10px;text-align:right;"
        "border-bottom:1px solid #ddd}td:nth-child(-n+2),td:nth-child(4),th{text-align:left}</style>"
        f"<h1>Policies at equal budgets</h1><p>{about}.</p>{draw(report)}"
        f"<table><tr>{titles}</tr>\n{cells}</table></html>\n"
    )
