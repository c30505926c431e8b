"""Durations and sizes as people write them: `"30s"`, `"1h 30m"`, `"2MiB"`; plain numbers are seconds and bytes."""

from __future__ import annotations

import re
from math import isclose
from typing import Final

_SECONDS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_BYTES: Final = {
    "": 1, "b": 1,
    "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12,
    "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40,
}  # fmt: skip
_PART: Final = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*")

DURATION_FORM: Final = 'a duration such as "30s", "1h 30m" or "2d" (units: ms, s, m, h, d, w), or a number of seconds'
SIZE_FORM: Final = (
    'a size such as "2MiB" or "500KB" (units: B, KB, MB, GB, TB, KiB, MiB, GiB, TiB), or a number of bytes'
)


def _parts(text: str, units: dict[str, float] | dict[str, int], form: str) -> list[tuple[float, str]]:
    parts: list[tuple[float, str]] = []
    at = 0
    while at < len(text):
        found = _PART.match(text, at)
        if found is None or found[2].lower() not in units:
            raise ValueError(form)
        parts.append((float(found[1]), found[2].lower()))
        at = found.end()
    if not parts:
        raise ValueError(form)
    return parts


def parse_duration(text: str) -> float:
    """Seconds of a duration with its unit; raises ValueError that names the form."""
    return sum(number * _SECONDS[unit] for number, unit in _parts(text, _SECONDS, DURATION_FORM))


def parse_size(text: str) -> int:
    """Bytes of a size with its unit; raises ValueError that names the form."""
    parts = _parts(text, _BYTES, SIZE_FORM)
    if len(parts) != 1:
        raise ValueError(SIZE_FORM)
    number, unit = parts[0]
    return int(number * _BYTES[unit])


def show_duration(seconds: float) -> str:
    """The shortest exact form: 5400 → "1h 30m"; what is no whole number of milliseconds stays a decimal."""
    if seconds == 0:
        return "0s"
    rest_ms = round(seconds * 1000)
    if not isclose(rest_ms, seconds * 1000, rel_tol=1e-12):
        return f"{seconds:.15f}".rstrip("0") + "s"
    words = []
    for unit, size_ms in (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)):
        count, rest_ms = divmod(rest_ms, size_ms)
        if count:
            words.append(f"{count}{unit}")
    return " ".join(words)


def show_size(count_bytes: int) -> str:
    """The largest binary unit that divides exactly: 2097152 → "2MiB"."""
    for unit, size in (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count_bytes and count_bytes % size == 0:
            return f"{count_bytes // size}{unit}"
    return f"{count_bytes}B"
