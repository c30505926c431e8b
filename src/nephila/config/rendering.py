"""The configuration as people read it: commented TOML, which `layers` reads back to the same values."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from nephila.config.check import NONE, Key, Value, keys
from nephila.config.layers import DEFAULT_ORIGIN, Effective
from nephila.config.units import parse_duration, show_duration, show_size


def toml_value(key: Key, value: Value) -> str:
    """A value in TOML, with its unit where the key has one."""
    if value is None:
        return json.dumps(NONE)
    if key.unit is not None and isinstance(value, int | float):
        return json.dumps(show_duration(value) if key.unit.parse is parse_duration else show_size(int(value)))
    if isinstance(value, tuple):
        return "[" + ", ".join(json.dumps(item, ensure_ascii=False) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False)


def as_toml(effective: Effective, notes: Mapping[str, str] | None = None) -> str:
    """Every key with its meaning, and its origin where it is not the default; `notes` add a line to a key."""
    return "\n".join(_lines(effective, notes or {})) + "\n"


def _lines(effective: Effective, notes: Mapping[str, str]) -> Iterator[str]:
    section = ""
    for name, key in keys().items():
        if key.section != section:
            section = key.section
            yield f"\n[{section}]"
        yield f"# {key.meaning}" + (" (may change on resume)" if key.changeable else "")
        if effective.origins[name] != DEFAULT_ORIGIN:
            yield f"# from {_one_line(effective.origins[name])}"
        if name in notes:
            yield f"# {_one_line(notes[name])}"
        yield f"{key.name} = {toml_value(key, effective.value(name))}"


def _one_line(text: str) -> str:
    return "".join(character if character.isprintable() else "?" for character in text)
