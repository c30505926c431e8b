"""What a key of the configuration may be: its default with its meaning, and the types that carry units and limits."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from nephila.config.units import DURATION_FORM, SIZE_FORM, parse_duration, parse_size


def key(default: Any, meaning: str, *, changeable: bool = False) -> Any:
    metadata = {"meaning": meaning, "changeable": changeable}
    if isinstance(default, list):
        return field(default_factory=lambda: tuple(default), metadata=metadata)
    return field(default=default, metadata=metadata)


@dataclass(frozen=True, slots=True)
class Unit:
    """Marks a number that may be written with its unit; `form` is what a refusal says was expected."""

    parse: Any
    form: str


@dataclass(frozen=True, slots=True)
class Unlimited:
    """Marks a limit that may be `"none"`; 0 is a limit like any other."""


Seconds = Annotated[float, Unit(parse_duration, DURATION_FORM), Field(ge=0, allow_inf_nan=False)]
Bytes = Annotated[int, Unit(parse_size, SIZE_FORM), Field(ge=0)]
Count = Annotated[int, Field(ge=0)]
Limit = Annotated[Annotated[int, Field(ge=0)] | None, Unlimited()]
SecondsLimit = Annotated[
    Annotated[float, Field(ge=0, allow_inf_nan=False)] | None, Unit(parse_duration, DURATION_FORM), Unlimited()
]
BytesLimit = Annotated[Annotated[int, Field(ge=0)] | None, Unit(parse_size, SIZE_FORM), Unlimited()]
Positive = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(ge=0, le=1)]
Weight = Annotated[float, Field(ge=0, le=1000, allow_inf_nan=False)]


def _no_control_characters(text: str) -> str:
    if any(ord(character) < 32 or ord(character) == 127 for character in text):
        raise ValueError("a text without line ends or control characters")
    return text


HeaderText = Annotated[str, AfterValidator(_no_control_characters)]
