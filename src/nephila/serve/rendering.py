"""Rows poured into templates. Every value is escaped, and every text is made harmless on its way out, without asking.

Autoescaping keeps markup from being markup; `inert` keeps characters from acting: controls, and the signs that turn the
direction of text and so make one address look like another (RELIABILITY C7, C9). It is the environment's `finalize`, so
that no template can forget it.
"""

from __future__ import annotations

from datetime import UTC, datetime
from importlib.resources import files
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from nephila.inert import finalize

_ASSETS: Final = {
    "style.css": "text/css; charset=utf-8",
    "nephila.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}


def number(value: float) -> str:
    return f"{value:,.1f}" if value < 100 and value != int(value) else f"{value:,.0f}"


def size(count: float) -> str:
    """Bytes as people say them."""
    for unit in ("bytes", "KB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "bytes" or count >= 100 else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days} d {hours} h"
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s"


def moment(at: float | None) -> str:
    """A time, in UTC."""
    if at is None or at <= 0:
        return "–"
    try:
        return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S")
    except (OverflowError, ValueError, OSError):
        return "–"


def day(at: float | None) -> str:
    return moment(at)[:10]


def words(name: str) -> str:
    """An outcome's name as words."""
    return name.replace("_", " ")


def make_environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("nephila.serve", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": number, "size": size, "duration": duration, "moment": moment, "day": day, "words": words,
    }  # fmt: skip
    return environment


def read_assets() -> dict[str, tuple[bytes, str]]:
    """The files that pages load, by name, with their types; read once, so that no request names a file."""
    room = files("nephila.serve") / "assets"
    return {name: ((room / name).read_bytes(), kind) for name, kind in _ASSETS.items()}
