"""What a request may say in its query, written down once: checked here, documented from here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal
from urllib.parse import parse_qsl

MAX_TEXT: Final = 2048


class WrongParameter(Exception):  # noqa: N818  # what the asker did wrong, not we
    """One sentence about a parameter."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter; `choices` of a choice, the first being the default unless it is required."""

    name: str
    meaning: str
    kind: Literal["text", "number", "choice", "switch"] = "text"
    required: bool = False
    choices: tuple[str, ...] = ()

    @property
    def schema(self) -> dict[str, Any]:
        """Its JSON Schema."""
        match self.kind:
            case "text":
                return {"type": "string", "minLength": 1 if self.required else 0, "maxLength": MAX_TEXT}
            case "number":
                return {"type": "integer", "minimum": 1, "maximum": 10_000, "default": 1}
            case "choice":
                return {"type": "string", "enum": list(self.choices), "default": self.choices[0]}
            case "switch":
                return {"type": "boolean", "default": False}


@dataclass(frozen=True, slots=True)
class Given:
    """The parameters of one request, each of its declared kind."""

    values: Mapping[str, str | int | bool]

    def text(self, name: str) -> str:
        value = self.values[name]
        assert isinstance(value, str), name
        return value

    def number(self, name: str) -> int:
        value = self.values[name]
        assert isinstance(value, int), name
        return value

    def switch(self, name: str) -> bool:
        return bool(self.values[name])


def read_query(query: bytes, parameters: Sequence[Parameter]) -> Given:
    """The query of a request, or WrongParameter: unknown, doubled, missing and wrong ones are told by name."""
    known = {parameter.name: parameter for parameter in parameters}
    try:
        pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True, max_num_fields=50, errors="replace")
    except ValueError:
        raise WrongParameter("The query has too many parts.") from None
    given: dict[str, str] = {}
    for name, value in pairs:
        if name not in known:
            raise WrongParameter(f"There is no parameter {name[:50]!r} here.")
        if name in given:
            raise WrongParameter(f"{name} is given twice.")
        given[name] = value
    return Given({name: _value(parameter, given.get(name)) for name, parameter in known.items()})


def _value(parameter: Parameter, given: str | None) -> str | int | bool:
    name = parameter.name
    if given is None or (given == "" and parameter.required):
        if parameter.required:
            raise WrongParameter(f"{name} is missing: {parameter.meaning}.")
        default: str | int | bool = parameter.schema.get("default", "")
        return default
    match parameter.kind:
        case "text":
            if len(given) > MAX_TEXT:
                raise WrongParameter(f"{name} is longer than {MAX_TEXT} characters.")
            return given
        case "number":
            if not (given.isascii() and given.isdecimal() and 1 <= int(given[:9]) <= 10_000 and len(given) < 9):
                raise WrongParameter(f"{name} is not a number from 1 to 10000.")
            return int(given)
        case "choice":
            if given not in parameter.choices:
                raise WrongParameter(f"{name} is none of: {', '.join(filter(None, parameter.choices))}.")
            return given
        case "switch":
            if given not in ("true", "false"):
                raise WrongParameter(f"{name} is neither true nor false.")
            return given == "true"
