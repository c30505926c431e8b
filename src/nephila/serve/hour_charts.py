"""Tonight's plan as places of rectangles: a row per site, a cell per hour; the template draws them as SVG."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from nephila.shown import ScheduleShown, SiteDay

HOURS: Final = 24
STEPS: Final = 6
"""Shades of load that an eye tells apart."""

SUDDENLY: Final = 2.0
_LEAST_SHARE: Final = 0.005
_MEASURED: Final = 0.3


@dataclass(frozen=True, slots=True)
class Cell:
    x: float  # per cent across
    width: float
    shade: int  # 0 quiet … STEPS - 1 busy
    faint: bool  # guessed rather than measured
    dot: float  # radius of the mark for pages that are to come then; 0 = none
    title: str


@dataclass(frozen=True, slots=True)
class Day:
    url: str
    zone: str
    pages: str
    sudden: str  # what is unusual now; mostly empty
    cells: tuple[Cell, ...]


def days(shown: ScheduleShown) -> tuple[Day, ...]:
    """The rows of the picture, from the current hour on."""
    return tuple(
        Day(row.url, f"{row.zone:+d}" if row.zone else "0", f"{row.pages_left:,.0f}" if row.pages_left else "–",
            f"{row.slower:.0f} × slower than usual" if row.slower >= SUDDENLY else "",
            tuple(_cell(row, place, shown.first_hour) for place in range(HOURS)))
        for row in shown.rows
    )  # fmt: skip


def hours(shown: ScheduleShown) -> tuple[tuple[float, str], ...]:
    """Every third hour, and its place across."""
    first = shown.first_hour
    return tuple(((place + 0.5) * 100 / HOURS, f"{(first + place) % HOURS:02}") for place in range(0, HOURS, 3))


def _cell(row: SiteDay, place: int, first_hour: int) -> Cell:
    load, sure, share = row.loads[place], row.sure[place], row.planned[place]
    title = f"{(first_hour + place) % HOURS:02}:00 UTC: load {load:.2f}"
    title += ", measured" if sure >= _MEASURED else ", little measured"
    if share > _LEAST_SHARE:
        title += f"; {share:.0%} of what is left"
    wide = 100 / HOURS
    dot = 2.2 + 3.3 * min(1.0, share) ** 0.5 if share > _LEAST_SHARE else 0.0
    return Cell(round(place * wide, 3), round(wide * 0.94, 3), min(STEPS - 1, int(load * STEPS)), sure < _MEASURED,
                round(dot, 1), title)  # fmt: skip
