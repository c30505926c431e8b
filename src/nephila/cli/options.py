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


LOGGED = frozenset(
    {"run", "crawl", "import", "convert", "rank", "index", "refresh", "watch", "study", "merge", "forget", "compact",
     "repair"}
)  # fmt: skip
"""Commands that change the folder; the others leave no trace in it."""


def _logged(command: str, level: str, common: Common, run: Callable[[], R]) -> R:
    """Run a command with a log of what it did; values given on the command line may be secret, their names are not."""
    from nephila.errors import NephilaError
    from nephila.store.run_log import run_log

    with run_log(common.directory, command, level) as log:
        names = ", ".join(setting.partition("=")[0] for setting in common.settings)
        log.info("%s begins%s", command, f"; settings given: {names}" if names else "")
        try:
            result = run()
        except (NephilaError, click.ClickException) as error:
            log.error("%s failed: %s", command, error)
            raise
        except KeyboardInterrupt:
            log.warning("%s was interrupted", command)
            raise
        except click.exceptions.Exit:
            raise
        except Exception:
            log.exception("%s failed", command)
            raise
        log.info("%s ended with exit code %s", command, result if isinstance(result, int) else 0)
        return result


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
    @click.option(
        "--log-level",
        type=click.Choice(("debug", "info", "warning", "error")),
        default="info",
        show_default=True,
        help="What goes into DIR/logs/: a file per run of a command that changes the folder.",
    )
    @functools.wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        names = ("directory", "config_file", "settings", "as_json", "quiet", "engine", "agents")
        given = {name: kwargs.pop(name) for name in names}
        level = str(kwargs.pop("log_level"))
        common = Common(**given)  # type: ignore[arg-type]  # click passes by name
        command = click.get_current_context().command_path.split()[1:2]
        if not command or command[0] not in LOGGED:
            return function(common, *args, **kwargs)
        return _logged(command[0], level, common, lambda: function(common, *args, **kwargs))

    return wrapper
