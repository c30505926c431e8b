"""A ranking as one picture, `rank/rank.svg`: how unequal the ranks are, and how the rounds came to rest.

Two panels. Left, how many pages have which multiple of the mean rank, by powers of two; a straight falling edge is the
power law that webs have. Right, the residual of each round; a straight line is the constant factor by which a round
shrinks the error, and a line that bends up says that something is wrong. The picture stands alone: no script, no font,
no reference to anything outside, so that a report or a browser can take it as it is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from nephila.rank.report import RankReport

_WIDTH: Final = 960
_HEIGHT: Final = 340
_TOP, _BOTTOM = 56, 284
_LEFTS: Final = (88, 560)
_ACROSS: Final = 376
_MOST_LABELS: Final = 8
_STYLE: Final = (
    "svg{font:13px sans-serif}text{fill:#333}.t{font-weight:bold;font-size:15px}.a{stroke:#888}.g{stroke:#ddd}"
    ".b{fill:#4c78a8}.l{stroke:#e45756;stroke-width:2;fill:none}.d{stroke:#888;stroke-dasharray:5 4}"
)


@dataclass(frozen=True, slots=True)
class _Scale:
    """From a value to a place in the picture, linear; callers take logarithms themselves."""

    low: float
    high: float
    begin: float
    end: float

    def at(self, value: float) -> float:
        return self.begin + (value - self.low) / (self.high - self.low) * (self.end - self.begin)


def draw(report: RankReport) -> str:
    """The picture of a ranking, as SVG."""
    begun = " from the last ranks" if report.restarted else ""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">',
        f"<title>Ranks of {report.pages:,} pages, {report.links:,} links</title><style>{_STYLE}</style>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#fff"/>',
        *_distribution(report),
        *_residuals(report, f"Residual of each round: {report.method}{begun}"),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _distribution(report: RankReport) -> list[str]:
    left = _LEFTS[0]
    parts = _frame(left, f"Ranks of {report.pages:,} pages", "rank, as a multiple of the mean", "pages")
    if not report.distribution:
        return [*parts, _note(left, "no pages")]
    powers = [one.power for one in report.distribution]
    first, last = min(powers), max(powers) + 1
    most = math.log10(max(one.pages for one in report.distribution))
    x = _Scale(first, last, left, left + _ACROSS)
    y = _Scale(-0.4, max(1.0, most * 1.05), _BOTTOM, _TOP)  # from 0.4 pages on, so that one page has a height
    parts += [_line_across(left, y.at(decade), f"{10**decade:,}") for decade in range(int(y.high) + 1)]
    parts += [_tick(x.at(power), _multiple(power)) for power in _spaced(first, last)]
    parts += [
        _bar(x.at(one.power), y.at(math.log10(one.pages)), x.at(one.power + 1), one.pages)
        for one in report.distribution
    ]
    return parts


def _residuals(report: RankReport, title: str) -> list[str]:
    left = _LEFTS[1]
    parts = _frame(left, title, "round", "L1")
    found = [(number, value) for number, value in enumerate(report.residuals, 1) if value > 0]
    if not found:
        return [*parts, _note(left, "this method has no residuals")]
    goal = [report.tolerance] if report.tolerance > 0 else []
    low, high = min([value for _, value in found] + goal), max(value for _, value in found)
    x = _Scale(0, max(len(report.residuals), 2), left, left + _ACROSS)
    y = _Scale(math.floor(math.log10(low)), max(math.ceil(math.log10(high)), math.floor(math.log10(low)) + 1),
               _BOTTOM, _TOP)  # fmt: skip
    parts += [_line_across(left, y.at(decade), _power(decade)) for decade in _spaced(int(y.low), int(y.high))]
    parts += [_tick(x.at(number), f"{number:,}") for number in _spaced(0, int(x.high))]
    if goal:
        place = y.at(math.log10(goal[0]))
        parts.append(f'<line class="d" x1="{left}" y1="{place:.1f}" x2="{left + _ACROSS}" y2="{place:.1f}"/>')
        parts.append(f'<text x="{left + 6}" y="{place - 5:.1f}">tolerance</text>')
    points = " ".join(f"{x.at(number):.1f},{y.at(math.log10(value)):.1f}" for number, value in found)
    parts.append(f'<polyline class="l" points="{points}"/>')
    parts += [
        f'<circle cx="{x.at(number):.1f}" cy="{y.at(math.log10(value)):.1f}" r="2.5" fill="#e45756"/>'
        for number, value in (found if len(found) < _ACROSS // 6 else [])
    ]
    return parts


def _frame(left: int, title: str, x_name: str, y_name: str) -> list[str]:
    middle = left + _ACROSS / 2
    return [
        f'<text class="t" x="{middle}" y="24" text-anchor="middle">{title}</text>',
        f'<text x="{middle}" y="{_BOTTOM + 44}" text-anchor="middle">{x_name}</text>',
        f'<text x="{left - 8}" y="{_TOP - 14}" text-anchor="end">{y_name}</text>',
        f'<line class="a" x1="{left}" y1="{_BOTTOM}" x2="{left + _ACROSS}" y2="{_BOTTOM}"/>',
    ]


def _line_across(left: int, y: float, text: str) -> str:
    return (
        f'<line class="g" x1="{left}" y1="{y:.1f}" x2="{left + _ACROSS}" y2="{y:.1f}"/>'
        f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{text}</text>'
    )


def _tick(x: float, text: str) -> str:
    return (
        f'<line class="a" x1="{x:.1f}" y1="{_BOTTOM}" x2="{x:.1f}" y2="{_BOTTOM + 5}"/>'
        f'<text x="{x:.1f}" y="{_BOTTOM + 20}" text-anchor="middle">{text}</text>'
    )


def _bar(begin: float, top: float, end: float, pages: int) -> str:
    return (
        f'<rect class="b" x="{begin + 0.5:.1f}" y="{top:.1f}" width="{end - begin - 1:.1f}" '
        f'height="{_BOTTOM - top:.1f}"><title>{pages:,} pages</title></rect>'
    )


def _note(left: int, text: str) -> str:
    return f'<text x="{left + _ACROSS / 2}" y="{(_TOP + _BOTTOM) / 2}" text-anchor="middle">{text}</text>'


def _spaced(first: int, last: int) -> Sequence[int]:
    """Whole numbers from `first` to `last` at a round distance, few enough to be labels."""
    steps = (1, 2, 5)
    distance = next(
        step * 10**zeros for zeros in range(19) for step in steps
        if (last - first) // (step * 10**zeros) < _MOST_LABELS
    )  # fmt: skip
    return range(-(-first // distance) * distance, last + 1, distance)


def _multiple(power: int) -> str:
    return f"1/{2**-power:,}" if power < 0 else f"{2**power:,}"


def _power(decade: int) -> str:
    return "1" if decade == 0 else f"1e{decade}"
