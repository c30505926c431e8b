"""The options that every command takes, as one frozen row."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

import click

if TYPE_CHECKING:
    from nephila.config.layers import Effective, Layer

P = ParamSpec("P")
R = TypeVar("R")

ENGINES = ("local", "inline", "ray")


@dataclass(frozen=True, slots=True)
class Common:
    """What was given before any room is asked."""

    directory: Path
    config_file: Path | None
    settings: tuple[str, ...]
    as_json: bool
    quiet: bool
    engine: str
    agents: int | None

    def layers(self) -> list[Layer]:
        """--config, then --set: what the user gave on the command line, the later the stronger."""
        from nephila.config.layers import read_file, read_settings

        files = [read_file(self.config_file)] if self.config_file else []
        return [*files, read_settings(self.settings)]

    def configuration(self) -> Effective:
        """The configuration in force for a command that does not resume a crawl: folder, file, --set."""
        from nephila.config.layers import lay, read_file

        kept = self.directory / "nephila.toml"
        return lay([*([read_file(kept)] if kept.exists() else []), *self.layers()])


def common_options(function: Callable[Concatenate[Common, P], R]) -> Callable[P, R]:
    """Adds the common options to a command and hands them over as its first argument."""

    @click.option(
        "-C",
        "--dir",
        "directory",
        type=click.Path(path_type=Path),
        default=Path("crawl"),
        show_default="./crawl",
        help="The crawl folder.",
    )
    @click.option("--config", "config_file", type=click.Path(path_type=Path), help="A TOML file with settings.")
    @click.option(
        "--set",
        "settings",
        multiple=True,
        metavar="SECTION.KEY=VALUE",
        help="One setting, such as crawl.max_pages=100; may be repeated. `nephila config` lists them.",
    )
    @click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
    @click.option("-q", "--quiet", is_flag=True, help="No progress, only the result.")
    @click.option(
        "--engine",
        type=click.Choice(ENGINES),
        default="local",
        show_default=True,
        help="Where the work runs: processes here, this process alone, or a Ray cluster.",
    )
    @click.option(
        "--agents",
        type=click.IntRange(min=1, max=99),
        default=None,
        show_default="one per core",
        help="How many agents work side by side.",
    )
    @functools.wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        names = ("directory", "config_file", "settings", "as_json", "quiet", "engine", "agents")
        given = {name: kwargs.pop(name) for name in names}
        return function(Common(**given), *args, **kwargs)  # type: ignore[arg-type]  # click passes by name

    return wrapper
