"""One value against one key: the value as the program uses it, or what was expected instead."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter, ValidationError

from nephila.config.sections import Config, Unit, Unlimited

NONE: Final = "none"
MOST: Final = 2**63 - 1
"""Numbers travel between processes and into databases as 64 bits."""

Value = str | int | float | bool | tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Key:
    """One key of the configuration, with all that is said about it in `sections`."""

    section: str
    name: str
    type: Any
    default: Value
    meaning: str
    changeable: bool

    @property
    def full_name(self) -> str:
        return f"{self.section}.{self.name}"

    @property
    def may_be_none(self) -> bool:
        return any(isinstance(mark, Unlimited) for mark in _marks(self.type))

    @property
    def unit(self) -> Unit | None:
        return next((mark for mark in _marks(self.type) if isinstance(mark, Unit)), None)


@cache
def keys() -> Mapping[str, Key]:
    """Every key by its full name, in the order of the sections."""
    found: dict[str, Key] = {}
    for section in dataclasses.fields(Config):
        room = get_type_hints(Config)[section.name]
        types = get_type_hints(room, include_extras=True)
        defaults = room()
        for item in dataclasses.fields(room):
            meaning, changeable = item.metadata["meaning"], item.metadata["changeable"]
            key = Key(section.name, item.name, types[item.name], getattr(defaults, item.name), meaning, changeable)
            found[key.full_name] = key
    return MappingProxyType(found)


def nearest(name: str) -> str:
    """A sentence that leads from a wrong key to the right one."""
    full = get_close_matches(name, keys(), n=1, cutoff=0.6)
    if not full:  # the right name in the wrong section, or without a section
        last = name.rpartition(".")[2]
        full = [key.full_name for key in keys().values() if key.name == last][:1]
        names = get_close_matches(last, [key.name for key in keys().values()], n=1, cutoff=0.75)
        full = full or [key.full_name for key in keys().values() if key.name in names][:1]
    return f"did you mean {full[0]}?" if full else "`nephila config` lists the keys"


def checked(key: Key, raw: Any) -> Value:
    """The value as the program uses it; raises ValueError with what was expected."""
    value = tuple(raw) if isinstance(raw, list) else raw
    if value == NONE and key.may_be_none:
        return None
    unit = key.unit
    if unit is not None and isinstance(value, str):
        value = unit.parse(value)
    try:
        result: Value = _adapter(key.full_name).validate_python(value, strict=True)
    except ValidationError as error:
        raise ValueError(expected(key)) from error
    if isinstance(result, int) and result > MOST:
        raise ValueError(f"{expected(key)} (≤ {MOST})")
    return result


def expected(key: Key) -> str:
    """What a value of this key must look like."""
    or_none = f', or "{NONE}"' if key.may_be_none else ""
    if key.unit is not None:
        return key.unit.form + or_none
    kind = get_args(key.type)[0] if get_origin(key.type) is Annotated else key.type
    if key.may_be_none:
        return "a whole number (≥ 0)" + or_none
    if get_origin(kind) is Literal:
        return "one of " + ", ".join(f'"{choice}"' for choice in get_args(kind))
    words = {
        bool: "true or false",
        int: "a whole number",
        float: "a number",
        str: "a text without control characters",
    }
    return words.get(kind, "a list of texts") + _limits(key.type)


def _limits(kind: Any) -> str:
    limits = []
    for mark in _marks(kind):
        for limit in getattr(mark, "metadata", ()):
            for word, sign in (("ge", "≥"), ("gt", ">"), ("le", "≤"), ("lt", "<")):
                if hasattr(limit, word):
                    limits.append(f"{sign} {getattr(limit, word):g}")
    return f" ({', '.join(limits)})" if limits else ""


def _marks(kind: Any) -> tuple[Any, ...]:
    return get_args(kind)[1:] if get_origin(kind) is Annotated else ()


@cache
def _adapter(full_name: str) -> TypeAdapter[Any]:
    return TypeAdapter(keys()[full_name].type)
