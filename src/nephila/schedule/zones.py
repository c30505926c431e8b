"""The hour of the day where a site is: by the country of its name, or by what its own figures say.

Servers are quiet when their readers sleep, so the shape of the day is much the same everywhere in local time. A site
with little history of its own is believed to follow that shape; for that its time zone must be known. The country code
of its name gives one (the system's own table of zones); a generic name such as .com gives none and counts as UTC, until
the site's own hours say better (`fitted_zones`).
"""

from __future__ import annotations

import re
import zoneinfo
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np

from nephila.schedule.policy import HOURS, Floats, Ints
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


def fitted_zones(deviations: Floats, weights: Floats, shape: Floats, by_country: Ints) -> Ints:
    """Per site, the offset at which the day's common shape (local hours) fits best to its own deviations (UTC hours).

    With fewer than ENOUGH_HOURS hours watched the country decides; so it does between offsets that fit about equally.
    """
    total = np.maximum(weights.sum(axis=1), 1e-12)
    offsets = np.arange(-11, 13)
    errors = np.empty((len(deviations), len(offsets)))
    for place, offset in enumerate(offsets):
        rest = deviations - np.roll(shape, -offset)
        mean = (weights * rest).sum(axis=1) / total  # its level is its own
        errors[:, place] = (weights * (rest - mean[:, None]) ** 2).sum(axis=1)
    near = errors <= errors.min(axis=1, keepdims=True) * 1.05 + 1e-9
    distance = np.where(near, np.abs(offsets - by_country[:, None]), HOURS * 2)
    fitted = offsets[distance.argmin(axis=1)]
    enough = np.count_nonzero(weights, axis=1) >= ENOUGH_HOURS
    zones: Ints = np.where(enough, fitted, by_country).astype(np.int64)
    return zones
