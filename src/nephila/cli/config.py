"""`nephila config`: the effective configuration with the origin of each value."""

from __future__ import annotations

from dataclasses import dataclass

import click

from nephila.cli.options import Common, common_options
from nephila.cli.output import emit, emit_json


@dataclass(frozen=True, slots=True)
class Row:
    """One key as scripts read it."""

    key: str
    value: str | int | float | bool | tuple[str, ...] | None
    origin: str
    changeable: bool
    meaning: str


@dataclass(frozen=True, slots=True)
class ConfigReport:
    keys: tuple[Row, ...]


@click.command()
@common_options
def command(common: Common) -> None:
    """Print every key in force, with its meaning and where its value came from.

    The order of strength: defaults, the crawl folder's own nephila.toml, --config FILE, --set. The text is TOML
    and can be saved and given to --config:

    \b
        nephila config > my.toml
        nephila crawl --config my.toml https://www.example.org/
    """
    from nephila.config.check import keys
    from nephila.config.rendering import as_toml

    effective = common.configuration()
    if common.as_json:
        rows = (
            Row(name, effective.value(name), effective.origins[name], key.changeable, key.meaning)
            for name, key in keys().items()
        )
        emit_json(ConfigReport(tuple(rows)))
    else:
        emit(as_toml(effective).strip())
