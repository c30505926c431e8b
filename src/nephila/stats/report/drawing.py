"""Plots as places: in comes a section, out come rectangles, dots, lines and labels; the template draws them as SVG.

Across, places are in per cent, so that a plot is as wide as its page while its letters keep their size; down, they are
in pixels. A series has a number, and the style sheet gives each number its colour, by day, by night and in print.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from nephila.stats.section import Cell, Column, Plot, Section
from nephila.stats.writing import heading, written

HEIGHT: Final = 240
TOP: Final = 10
_LABEL_LETTERS: Final = 60
"""Letters that have room under a plot on a phone."""
_LOG_RATIO: Final = 2000
"""From this ratio of the largest to the smallest on, heights are logarithmic: else the small ones are not seen."""
_GAP: Final = 0.18
_FEWEST_COLUMNS: Final = 6
"""Two columns are no walls."""


@dataclass(frozen=True, slots=True)
class Tick:
    place: float
    """per cent across, or pixels down"""
    label: str


@dataclass(frozen=True, slots=True)
class Bar:
    x: float
    width: float
    y: float
    height: float
    series: int
    title: str


@dataclass(frozen=True, slots=True)
class Dot:
    x: float
    y: float
    series: int
    title: str


@dataclass(frozen=True, slots=True)
class Line:
    x1: float
    y1: float
    x2: float
    y2: float
    series: int


@dataclass(frozen=True, slots=True)
class Drawing:
    """A plot, ready to be drawn; `legend` names the series where there are several."""

    across: tuple[Tick, ...]
    down: tuple[Tick, ...]
    x_label: str
    y_label: str
    legend: tuple[str, ...] = ()
    bars: tuple[Bar, ...] = ()
    dots: tuple[Dot, ...] = ()
    lines: tuple[Line, ...] = ()
    height: int = HEIGHT


@dataclass(frozen=True, slots=True)
class Scale:
    """From a value to a place, linear or logarithmic."""

    low: float
    high: float
    logarithmic: bool

    def part(self, value: float) -> float:
        """0 at `low`, 1 at `high`; what lies outside is drawn at the edge."""
        low, high = self.low, self.high
        if self.logarithmic:
            value, low, high = math.log10(max(value, low)), math.log10(low), math.log10(high)
        return min(1.0, max(0.0, (value - low) / (high - low))) if high > low else 0.0

    def down(self, value: float) -> float:
        return round(HEIGHT - self.part(value) * (HEIGHT - TOP), 2)


def draw(section: Section) -> Drawing | None:
    """The plot of a section; None where it has none, is drawn as bars within its table, or has one value alone."""
    plot = section.plot
    if plot is None or plot.shape == "bars" or len(section.rows) < 2:
        return None
    series = [[_number(cell) for cell in section.column(name)] for name in plot.y]
    if not any(value is not None for values in series for value in values):
        return None
    kinds = {column.name: column for column in section.columns}
    match plot.shape:
        case "log-log":
            return _log_log(section, plot, series[0], kinds)
        case "line":
            return _line_plot(section, plot, series, kinds)
        case "stacked":
            return _columns(section, plot, series, kinds, stacked=True)
        case _:
            return _columns(section, plot, series, kinds, stacked=False)


Values = Sequence[float | None]


def _columns(
    section: Section, plot: Plot, series: Sequence[Values], kinds: dict[str, Column], *, stacked: bool
) -> Drawing:
    sums = [sum(value or 0.0 for value in values) for values in zip(*series, strict=True)]
    found = sums if stacked else [value for values in series for value in values if value]
    scale = _scale(found, always_linear=stacked)
    wide = 100 / max(len(section.rows), _FEWEST_COLUMNS)
    each = wide * (1 - _GAP) / (1 if stacked else len(series))
    bars = []
    for row, cell in enumerate(section.column(plot.x)):
        floor = 0.0
        for place, values in enumerate(series):
            value = values[row]
            if not value:
                continue
            top, bottom = scale.down(floor + value), scale.down(floor) if stacked else float(HEIGHT)
            x = wide * row + wide * _GAP / 2 + (0 if stacked else each * place)
            title = f"{_name(cell, kinds[plot.x])}: {written(value, kinds[plot.y[place]].kind)} {_words(plot.y[place])}"
            bars.append(Bar(round(x, 3), round(each, 3), top, round(max(bottom - top, 1.0), 2), place, title))
            floor += value if stacked else 0.0
    names = [_name(cell, kinds[plot.x]) for cell in section.column(plot.x)]
    step = _label_step(names, max(len(names), _FEWEST_COLUMNS))
    across = tuple(Tick(round(wide * (row + 0.5), 3), name) for row, name in enumerate(names) if row % step == 0)
    return Drawing(
        across, _ticks(scale, kinds[plot.y[0]]), plot.x_label, _y_label(plot, scale), _legend(plot), tuple(bars)
    )


def _line_plot(section: Section, plot: Plot, series: Sequence[Values], kinds: dict[str, Column]) -> Drawing:
    cells = section.column(plot.x)
    numbers = [_number(cell) for cell in cells]
    numeric = all(number is not None for number in numbers) and len(set(numbers)) > 1
    places = [number or 0.0 for number in numbers] if numeric else [float(row) for row in range(len(cells))]
    x_scale = Scale(min(places), max(places), False)
    lows = [_number(cell) for cell in section.column(plot.low)] if plot.low else []
    highs = [_number(cell) for cell in section.column(plot.high)] if plot.high else []
    found = [value for values in (*series, lows, highs) for value in values if value is not None]
    scale = _scale([*found, *(y for mark in plot.marks for _, y in mark.points)])

    def across(value: float) -> float:
        return round(2 + 96 * x_scale.part(value), 3)

    dots, lines = [], []
    for number, values in enumerate(series):
        shown = [(x, value, cell) for x, value, cell in zip(places, values, cells, strict=True) if value is not None]
        points = [(across(x), scale.down(value)) for x, value, _ in shown]
        for (x, y), (_, value, cell) in zip(points, shown, strict=True):
            title = (
                f"{_name(cell, kinds[plot.x])}: {written(value, kinds[plot.y[number]].kind)} {_words(plot.y[number])}"
            )
            dots.append(Dot(x, y, number, title))
        lines += _joined(points, number)
    for x, low, high in zip(places, lows, highs, strict=False):
        if low is not None and high is not None:
            lines.append(Line(across(x), scale.down(low), across(x), scale.down(high), 0))
    for number, mark in enumerate(plot.marks, len(series)):
        lines += _joined([(across(x), scale.down(y)) for x, y in mark.points], number)
    names = [_name(cell, kinds[plot.x]) for cell in cells]
    step = _label_step(names, len(names))
    labels = tuple(Tick(across(places[row]), name) for row, name in enumerate(names) if row % step == 0)
    down = _ticks(scale, kinds[plot.y[0]])
    return Drawing(
        labels, down, plot.x_label, _y_label(plot, scale), _legend(plot), dots=tuple(dots), lines=tuple(lines)
    )


def _log_log(section: Section, plot: Plot, values: Values, kinds: dict[str, Column]) -> Drawing | None:
    places = [_number(cell) for cell in section.column(plot.x)]
    points = [(x, y) for x, y in zip(places, values, strict=True) if x and y and x > 0 and y > 0]
    if not points:
        return None
    marked = [point for mark in plot.marks for point in mark.points]
    xs = _decades([x for x, _ in [*points, *marked]])
    ys = _decades([y for _, y in [*points, *marked]])

    def at(x: float, y: float) -> tuple[float, float]:
        return round(2 + 96 * xs.part(x), 3), ys.down(y)

    dots = tuple(Dot(*at(x, y), 0, f"{written(x, kinds[plot.x].kind)}: {written(y, 'number')}") for x, y in points)
    lines = [
        line for number, mark in enumerate(plot.marks, 1) for line in _joined([at(*p) for p in mark.points], number)
    ]
    across = tuple(Tick(at(value, ys.low)[0], _power_of_ten(value)) for value in _powers(xs))
    down = tuple(Tick(ys.down(value), _power_of_ten(value)) for value in _powers(ys))
    legend = (plot.y_label or _words(plot.y[0]), *(mark.name for mark in plot.marks)) if plot.marks else ()
    return Drawing(across, down, plot.x_label, plot.y_label, legend, dots=dots, lines=tuple(lines))


def _label_step(names: Sequence[str], slots: int) -> int:
    """Every how many labels one is written, so that none runs into the next on a phone."""
    most = max(2, _LABEL_LETTERS // (max(map(len, names)) + 2))
    return math.ceil(slots / most)


def _joined(points: Sequence[tuple[float, float]], series: int) -> list[Line]:
    return [Line(x1, y1, x2, y2, series) for (x1, y1), (x2, y2) in pairwise(points)]


def _scale(values: Sequence[float], *, always_linear: bool = False) -> Scale:
    """From 0, or by powers of ten where the values differ by much."""
    positive = [value for value in values if value > 0]
    low, high = min([*values, 0.0]), max([*values, 0.0])
    if positive and low >= 0 and not always_linear and max(positive) / min(positive) >= _LOG_RATIO:
        return Scale(10.0 ** math.floor(math.log10(min(positive)) - 1e-9), 10.0 ** math.ceil(math.log10(high)), True)
    return Scale(-_round_up(-low) if low < 0 else 0.0, _round_up(high) if high > 0 else 1.0, False)


def _decades(values: Sequence[float]) -> Scale:
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return Scale(10.0**low, 10.0 ** max(high, low + 1), True)


def _powers(scale: Scale) -> list[float]:
    low, high = round(math.log10(scale.low)), round(math.log10(scale.high))
    return [10.0**power for power in range(low, high + 1, max(1, math.ceil((high - low) / 6)))]


def _ticks(scale: Scale, column: Column) -> tuple[Tick, ...]:
    if scale.logarithmic:
        return tuple(Tick(scale.down(value), _power_of_ten(value)) for value in _powers(scale))
    values = [scale.low + (scale.high - scale.low) * quarter / 4 for quarter in range(5)]
    write: Callable[[float], str] = lambda value: _short(value, column)  # noqa: E731
    return tuple(Tick(scale.down(value), write(value)) for value in values)


def _short(value: float, column: Column) -> str:
    if column.kind == "share":
        return f"{100 * value:g} %"
    if column.kind == "bytes":
        return written(value, "bytes")
    for size, name in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            return f"{value / (size if name != 'k' else 1e3):g} {name}"
    return f"{value:,g}"


def _round_up(value: float) -> float:
    """The next number whose quarters are round."""
    power = 10.0 ** math.floor(math.log10(value))
    return next((step * power for step in (1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8) if step * power >= value), 10 * power)


def _power_of_ten(value: float) -> str:
    power = round(math.log10(value))
    if 0 <= power <= 4:
        return f"{10**power:,}"
    return "10" + "".join("⁻" if sign == "-" else "⁰¹²³⁴⁵⁶⁷⁸⁹"[int(sign)] for sign in str(power))


def _y_label(plot: Plot, scale: Scale) -> str:
    return f"{plot.y_label}, logarithmic" if scale.logarithmic and plot.y_label else plot.y_label


def _legend(plot: Plot) -> tuple[str, ...]:
    names = (*map(_words, plot.y), *(mark.name for mark in plot.marks))
    return names if len(names) > 1 else ()


def _name(cell: Cell, column: Column) -> str:
    text = written(cell, column.kind)
    return text if len(text) <= 14 else text[:13] + "…"


def _words(name: str) -> str:
    return heading(Column(name))


def _number(cell: Cell) -> float | None:
    return float(cell) if isinstance(cell, int | float) and math.isfinite(cell) else None
