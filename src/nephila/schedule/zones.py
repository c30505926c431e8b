"""The hour of the day where a site is: by the country of its name, or by what its own figures say.

Servers are quiet when their readers sleep, so the shape of the day is much the same everywhere in local time. A site
with little history of its own is believed to follow that shape; for that its time zone must be known. The country code
of its name gives one (the system's own table of zones); a generic name such as .com gives none and counts as UTC, until
the site's own hours say better (`fitted_zone`).
"""

from __future__ import annotations

import re
import zoneinfo
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np

from nephila.schedule.policy import Floats
from nephila.urls import host_of

_TABLES: Final = ("zone1970.tab", "zone.tab")
_OTHER_CODES: Final = {"uk": "gb", "su": "ru", "eu": "be"}
_COUNTRY: Final = re.compile(r"[a-z]{2}")
ENOUGH_HOURS: Final = 8
"""Hours of the day that a site must have been watched in before its own figures choose its zone."""


def country_of(url: str) -> str:
    """The country code of a site's name; empty where it has none."""
    last = host_of(url).rpartition(".")[2].lower()
    return _OTHER_CODES.get(last, last) if _COUNTRY.fullmatch(last) else ""


@cache
def zones_by_country() -> dict[str, str]:
    """Country code → the first zone that the system's table names for it; empty where there is no table."""
    found: dict[str, str] = {}
    for folder in zoneinfo.TZPATH:
        for name in _TABLES:
            path = Path(folder) / name
            if not path.is_file():
                continue
            for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
                fields = line.split("\t")
                if line.startswith("#") or len(fields) < 3:
                    continue
                for code in fields[0].lower().split(","):
                    found.setdefault(code, fields[2])
        if found:
            break
    return found


@cache
def _offset_hours(zone: str, day: int) -> int:
    try:
        moment = datetime.fromtimestamp(day * 86_400, tz=UTC).astimezone(zoneinfo.ZoneInfo(zone))
    except (zoneinfo.ZoneInfoNotFoundError, OSError, OverflowError, ValueError):
        return 0
    offset = moment.utcoffset()
    return round(offset.total_seconds() / 3600) if offset is not None else 0


def zone_hours(url: str, now: float) -> int:
    """How many hours a site's clock is ahead of UTC, by its country; 0 where that is not known."""
    zone = zones_by_country().get(country_of(url), "")
    return _offset_hours(zone, int(now // 86_400)) if zone else 0


def fitted_zone(deviations: Floats, weights: Floats, shape: Floats, by_country: int) -> int:
    """The offset at which the day's common shape (local hours) fits best to a site's own deviations (UTC hours).

    With fewer than ENOUGH_HOURS hours watched the country decides; so it does between offsets that fit equally.
    """
    if np.count_nonzero(weights) < ENOUGH_HOURS:
        return by_country
    errors = []
    for offset in range(-11, 13):
        rest = deviations - np.roll(shape, -offset)
        rest = rest - np.average(rest, weights=weights)  # its level is its own
        errors.append((float((weights * rest**2).sum()), abs(offset - by_country), offset))
    best = min(error for error, _, _ in errors)
    return min((distance, offset) for error, distance, offset in errors if error <= best * 1.05 + 1e-9)[1]
