"""Charts as places of rectangles, dots and labels; the templates draw them as SVG.

Across, places are in per cent, so that a chart is as wide as its page while its letters keep their size; down, they are
in pixels. Nothing here knows colours: a mark has a kind, and the style sheet gives each kind its colour, by day and by
night.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from nephila.records import Outcome
from nephila.shown import RankBin, Timeline

HEIGHT: Final = 180
TOP: Final = 12
"""Room above the highest mark, for the topmost label."""

_FEWEST_SPANS: Final = 16
"""A run that has just begun is drawn from the left, in bars that are no walls."""

_ROUND: Final = (1.0, 1.2, 1.6, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)

FETCHED, REDIRECTED, ANSWERED, FAILED = "fetched", "redirected", "answered", "failed"
KINDS: Final = (FETCHED, REDIRECTED, ANSWERED, FAILED)
KIND_NAMES: Final = {
    FETCHED: "fetched",
    REDIRECTED: "redirected",
    ANSWERED: "answered with an error",
    FAILED: "failed on the way",
}

_KIND_OF: Final = {
    Outcome.OK.value: FETCHED,
    Outcome.NOT_MODIFIED.value: FETCHED,
    Outcome.TRUNCATED_LENGTH.value: FETCHED,
    Outcome.REDIRECT.value: REDIRECTED,
    Outcome.REDIRECT_LIMIT.value: REDIRECTED,
    Outcome.REDIRECT_LOOP.value: REDIRECTED,
    Outcome.HTTP_ERROR.value: ANSWERED,
}


@dataclass(frozen=True, slots=True)
class Tick:
    place: float  # per cent across, or pixels down
    label: str


@dataclass(frozen=True, slots=True)
class Bar:
    x: float
    width: float
    y: float
    height: float
    kind: str
    title: str


@dataclass(frozen=True, slots=True)
class Dot:
    x: float
    y: float
    title: str


@dataclass(frozen=True, slots=True)
class Chart:
    """Bars or joined dots, with the lines and labels that make them readable."""

    height: int
    across: tuple[Tick, ...]
    down: tuple[Tick, ...]
    bars: tuple[Bar, ...] = ()
    dots: tuple[Dot, ...] = ()


def kind_of(outcome: str) -> str:
    """The four kinds that a person tells apart at a glance."""
    return _KIND_OF.get(outcome, FAILED)


def over_time(timeline: Timeline, *, running: bool) -> Chart | None:
    """Requests per second, by what became of them; the span that is still filling is left out."""
    spans = timeline.spans[:-1] if running and len(timeline.spans) > 1 else timeline.spans
    if not spans:
        return None
    rows: list[dict[str, float]] = []
    for span in spans:
        rates = dict.fromkeys(KINDS, 0.0)
        for outcome, count in span.outcomes.items():
            rates[kind_of(outcome)] += count / timeline.width_s
        rows.append(rates)
    top = nice_top(max(sum(row.values()) for row in rows))
    wide = 100 / max(len(rows), _FEWEST_SPANS)
    bars: list[Bar] = []
    for place, (span, rates) in enumerate(zip(spans, rows, strict=True)):
        floor = float(HEIGHT)
        for kind in KINDS:
            height = rates[kind] / top * (HEIGHT - TOP)
            if height:
                floor -= height
                title = f"{_clock(span.at)}: {rates[kind]:,.1f} per second {KIND_NAMES[kind]}"
                bars.append(Bar(_r(place * wide), _r(wide * 0.86), _r(floor), _r(height), kind, title))
    return Chart(HEIGHT, _time_ticks([span.at for span in spans], wide), _ticks(top), tuple(bars))


def log_log(bins: Sequence[RankBin]) -> Chart | None:
    """How many pages have which multiple of the mean rank; a straight fall is a power law."""
    if not bins:
        return None
    first, last = bins[0].power, bins[-1].power
    wide = max(1, last - first)
    top = max(1.0, math.ceil(math.log10(max(each.pages for each in bins))))
    down = _decades(0, int(top))
    dots = tuple(
        Dot(
            _inset((each.power - first) / wide), _r(_down(math.log10(each.pages), 0, top)),
            f"{each.pages:,} pages with {multiple(each.power)} to {multiple(each.power + 1)} the mean rank",
        )
        for each in bins
    )  # fmt: skip
    step = max(1, round(wide / 6))
    across = tuple(Tick(_inset((p - first) / wide), multiple(p)) for p in range(first, last + 1) if p % step == 0)
    return Chart(HEIGHT, across, down, dots=dots)


def falling(residuals: Sequence[float]) -> Chart | None:
    """The change of each round, by powers of ten."""
    shown = [(place + 1, value) for place, value in enumerate(residuals) if value > 0]
    if len(shown) < 2:
        return None
    low = math.floor(math.log10(min(value for _, value in shown)))
    high = math.ceil(math.log10(max(value for _, value in shown)))
    last = shown[-1][0]
    dots = tuple(
        Dot(_inset((n - 1) / max(1, last - 1)), _r(_down(math.log10(value), low, high)), f"round {n}: {value:.2e}")
        for n, value in shown
    )
    step = max(1, round(last / 6))
    rounds = [1, *range(step, last + 1, step)] if step > 1 else list(range(1, last + 1))
    across = tuple(Tick(_inset((n - 1) / max(1, last - 1)), str(n)) for n in rounds)
    return Chart(HEIGHT, across, _decades(low, high), dots=dots)


def share(part: float, whole: float) -> float:
    """Per cent, never so little that a bar of something looks like nothing."""
    return 0.0 if part <= 0 or whole <= 0 else round(max(0.6, 100 * part / whole), 2)


def multiple(power: int) -> str:
    """2 to a power, as people write it."""
    return f"{2**power:,}×" if power >= 0 else f"1/{2**-power:,}×"


def nice_top(value: float) -> float:
    """The next round number whose half is round too, so that little of the height is wasted."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next((step * power for step in _ROUND if step * power >= value * 0.999999), 10 * power)


def _ticks(top: float) -> tuple[Tick, ...]:
    return tuple(Tick(_r(_down(value, 0, top)), _plain(value)) for value in (0.0, top / 2, top))


def _plain(value: float) -> str:
    return f"{value:,.0f}" if value == round(value) else f"{value:g}"


def _decades(low: int, high: int) -> tuple[Tick, ...]:
    step = max(1, math.ceil((high - low) / 5))
    return tuple(Tick(_r(_down(power, low, high)), _power_of_ten(power)) for power in range(low, high + 1, step))


def _power_of_ten(power: int) -> str:
    if 0 <= power <= 4:
        return f"{10**power:,}"
    return "10" + "".join("⁻" if sign == "-" else "⁰¹²³⁴⁵⁶⁷⁸⁹"[int(sign)] for sign in str(power))


def _down(value: float, low: float, high: float) -> float:
    return HEIGHT - (value - low) / max(1e-12, high - low) * (HEIGHT - TOP)


def _inset(part: float) -> float:
    """Dots keep off the edges, so that none is cut in half."""
    return _r(2 + 96 * part)


def _time_ticks(times: Sequence[float], wide: float) -> tuple[Tick, ...]:
    step = max(1, math.ceil(24 / wide))  # a label for every quarter of the width
    long = times[-1] - times[0] > 86_400
    return tuple(
        Tick(_r(place * wide), _date(times[place]) if long else _clock(times[place]))
        for place in range(0, len(times), step)
    )


def _clock(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%H:%M:%S")


def _date(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%b %d, %H:%M")


def _r(value: float) -> float:
    return round(value, 2)
