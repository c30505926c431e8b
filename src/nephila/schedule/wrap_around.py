"""McNaughton's wrap-around (1959): times of one hour laid out on places, so that no site is on two places at once.

Places are filled one after the other; what does not fit on a place continues at the beginning of the next. Since no
site has more than the hour, its two parts never overlap; at most `places - 1` sites are split. So every solution of the
hour-by-hour program (`optimum`) is a schedule, and its value is reached.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from nephila.schedule.policy import Floats

_NOTHING: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Stretch:
    """A site on a place, from and to, in hours since the hour began."""

    site: int
    place: int
    begin_h: float
    end_h: float


def wrap_around(times_h: Floats | Sequence[float], places: int, length_h: float = 1.0) -> list[Stretch]:
    """Lay out the sites' times in one hour of `length_h`; they must fit (each ≤ the hour, all ≤ places × hour)."""
    laid: list[Stretch] = []
    place, at = 0, 0.0
    for site, wanted in enumerate(times_h):
        rest = min(float(wanted), length_h)
        while rest > _NOTHING and place < places:
            taken = min(rest, length_h - at)
            if taken > _NOTHING:
                laid.append(Stretch(site, place, at, at + taken))
            rest -= taken
            at += taken
            if at >= length_h - _NOTHING:
                place, at = place + 1, 0.0
    return laid
