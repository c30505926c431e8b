"""The experiment as one picture: volume per hour (S2's Fig. 5), volume in all, and how long each policy took.

The picture stands alone: no script, no font, no reference to anything outside.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from nephila.schedule.report import PolicyRow, SimulateReport

_WIDTH: Final = 1240
_HEIGHT: Final = 430
_TOP, _BOTTOM = 56, 320
_ACROSS: Final = 330
_LEFTS: Final = (70, 490, 900)
_COLOURS: Final = {
    "random": "#888888", "sorting": "#e45756", "hybrid": "#4c78a8", "hybrid-later": "#9ecae9", "index": "#f2a33a",
    "lp-quota": "#54a24b", "lp": "#1b1b1b", "bound": "#bbbbbb",
}  # fmt: skip
_STYLE: Final = (
    "svg{font:13px sans-serif}text{fill:#333}.t{font-weight:bold;font-size:15px}.a{stroke:#888}.g{stroke:#ddd}"
    ".l{stroke-width:2;fill:none}.w{stroke:#333;stroke-width:1.5}"
)


@dataclass(frozen=True, slots=True)
class _Panel:
    """A rectangle of the picture with its own scales, linear from 0."""

    left: int
    most_x: float
    most_y: float

    def x(self, value: float) -> float:
        return self.left + value / self.most_x * _ACROSS

    def y(self, value: float) -> float:
        return _BOTTOM - value / self.most_y * (_BOTTOM - _TOP)


def draw(report: SimulateReport) -> str:
    """The picture of an experiment, as SVG."""
    rows = report.policies
    title = f"{len(report.instances)} instances of {report.servers} servers, {report.robots} robots"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">',
        f"<title>When to visit a server: {title}</title><style>{_STYLE}</style>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#fff"/>',
        *_curves(_LEFTS[0], "Volume collected in each hour", [row.volume for row in rows], rows),
        *_curves(_LEFTS[1], "Volume collected in all", [tuple(accumulate(row.volume)) for row in rows], rows),
        *_times(_LEFTS[2], report),
        *_legend(rows),
        f'<text x="{_WIDTH - 10}" y="{_HEIGHT - 12}" text-anchor="end">{title}; means</text>',
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _curves(left: int, title: str, curves: Sequence[Sequence[float]], rows: Sequence[PolicyRow]) -> list[str]:
    hours = max(len(curve) for curve in curves)
    panel = _Panel(left, max(hours, 2), _round_up(max(max(curve) for curve in curves)))
    parts = _frame(panel, title, "hours since the start")
    parts += [_tick(panel.x(hour), f"{hour}") for hour in range(0, hours + 1, max(1, hours // 8))]
    for row, curve in zip(rows, curves, strict=True):
        points = " ".join(f"{panel.x(hour + 0.5):.1f},{panel.y(value):.1f}" for hour, value in enumerate(curve))
        parts.append(f'<polyline class="l" stroke="{_COLOURS[row.policy]}" points="{points}"/>')
    return parts


def _times(left: int, report: SimulateReport) -> list[str]:
    bars = [(row.policy, row.hours) for row in report.policies] + [("bound", report.bound)]
    panel = _Panel(left, len(bars), _round_up(max(spread.mean + spread.sd for _, spread in bars)))
    parts = _frame(panel, "Hours until everything is collected", "")
    for place, (name, spread) in enumerate(bars):
        begin, middle, end = panel.x(place + 0.15), panel.x(place + 0.5), panel.x(place + 0.85)
        top, low, high = panel.y(spread.mean), panel.y(spread.mean - spread.sd), panel.y(spread.mean + spread.sd)
        parts += [
            f'<rect x="{begin:.1f}" y="{top:.1f}" width="{end - begin:.1f}" height="{_BOTTOM - top:.1f}" '
            f'fill="{_COLOURS[name]}"><title>{name}: {spread.mean:.2f} ± {spread.sd:.2f} h</title></rect>',
            f'<line class="w" x1="{middle:.1f}" y1="{low:.1f}" x2="{middle:.1f}" y2="{high:.1f}"/>',
            f'<text x="{middle:.1f}" y="{high - 6:.1f}" text-anchor="middle">{spread.mean:.1f}</text>',
            f'<text x="{middle:.1f}" y="{_BOTTOM + 16}" text-anchor="end" '
            f'transform="rotate(-35 {middle:.1f} {_BOTTOM + 16})">{name}</text>',
        ]
    return parts


def _frame(panel: _Panel, title: str, below: str) -> list[str]:
    middle = panel.left + _ACROSS / 2
    parts = [
        f'<text class="t" x="{middle}" y="24" text-anchor="middle">{title}</text>',
        f'<text x="{middle}" y="{_BOTTOM + 44}" text-anchor="middle">{below}</text>',
    ]
    for step in range(5):
        value = panel.most_y * step / 4
        parts.append(f'<line class="g" x1="{panel.left}" y1="{panel.y(value):.1f}" x2="{panel.left + _ACROSS}" '
                     f'y2="{panel.y(value):.1f}"/><text x="{panel.left - 8}" y="{panel.y(value) + 4:.1f}" '
                     f'text-anchor="end">{value:g}</text>')  # fmt: skip
    return parts


def _tick(x: float, text: str) -> str:
    return (
        f'<line class="a" x1="{x:.1f}" y1="{_BOTTOM}" x2="{x:.1f}" y2="{_BOTTOM + 5}"/>'
        f'<text x="{x:.1f}" y="{_BOTTOM + 20}" text-anchor="middle">{text}</text>'
    )


def _legend(rows: Sequence[PolicyRow]) -> list[str]:
    parts = []
    for place, row in enumerate(rows):
        x = _LEFTS[0] + place * 112
        parts.append(
            f'<line x1="{x}" y1="{_HEIGHT - 36}" x2="{x + 22}" y2="{_HEIGHT - 36}" '
            f'stroke="{_COLOURS[row.policy]}" stroke-width="3"/>'
            f'<text x="{x + 28}" y="{_HEIGHT - 32}">{row.policy}</text>'
        )
    return parts


def _round_up(value: float) -> float:
    """The next number that four lines divide well."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 1.2, 1.6, 2, 2.4, 2.8, 3.2, 4, 6, 8, 10) if step * power >= value)
