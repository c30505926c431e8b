"""A crawl folder keeps its settings; a resume may change only the keys marked changeable (DESIGN: Resume)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nephila.config.check import keys
from nephila.config.layers import Effective, Layer, lay
from nephila.config.rendering import toml_value
from nephila.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Change:
    """One key that a resume set to another value than the folder had."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Resumed:
    effective: Effective
    changes: tuple[Change, ...]


def resume(kept: Layer, given: Sequence[Layer]) -> Resumed:
    """The folder's settings with what is given laid over; a change of a fixed key is refused by name."""
    before = lay([kept])
    after = lay([kept, *given])
    changes = tuple(
        Change(name, toml_value(key, before.value(name)), toml_value(key, after.value(name)))
        for name, key in keys().items()
        if before.value(name) != after.value(name)
    )
    fixed = [change for change in changes if not keys()[change.name].changeable]
    if fixed:
        raise ConfigError(
            "\n".join(
                f"{after.origins[change.name]}: {change.name}: this crawl was started with {change.before} and cannot "
                f"go on with {change.after}; leave it out, or start another crawl with -C DIR"
                for change in fixed
            )
        )
    origins = {
        name: origin if origin != kept.origin else before.origins[name] for name, origin in after.origins.items()
    }
    return Resumed(Effective(after.config, origins), changes)
