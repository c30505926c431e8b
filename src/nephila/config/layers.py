"""Lay files and `--set` over the defaults: what comes in is TOML text, what goes out is a `Config` with origins.

All mistakes are reported at once, each with its file, its key, what was expected and the nearest right name.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final, get_type_hints

from nephila.config.check import Key, Value, checked, keys, nearest
from nephila.config.sections import Config
from nephila.errors import ConfigError

DEFAULT_ORIGIN = "default"


@dataclass(frozen=True, slots=True)
class Layer:
    """One source of values: a file, or the command line."""

    origin: str
    values: Mapping[str, Any]  # full name of the key → value as written
    loose: bool = False  # values of --set are bare words: a list may be `a,b`, a text needs no quotes


@dataclass(frozen=True, slots=True)
class Effective:
    """The configuration in force, and where each value came from."""

    config: Config
    origins: Mapping[str, str]

    def value(self, full_name: str) -> Value:
        section, name = full_name.split(".")
        value: Value = getattr(getattr(self.config, section), name)
        return value


def read_file(path: Path) -> Layer:
    """A TOML file as a layer; a file that cannot be read or parsed is refused with its name."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ConfigError(f"{path}: there is no such configuration file.") from error
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read as a configuration file: {error}.") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: is not valid TOML: {error}.") from error
    values: dict[str, Any] = {}
    for section, content in tables.items():
        if isinstance(content, dict):
            values.update({f"{section}.{name}": value for name, value in content.items()})
        else:
            values[section] = content
    return Layer(str(path), values)


def read_settings(settings: Sequence[str]) -> Layer:
    """`section.key=value` arguments of `--set` as a layer; the last of two for one key wins."""
    values: dict[str, Any] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals:
            raise ConfigError(f"--set {setting}: write it as section.key=value, such as crawl.max_pages=100.")
        values[name.strip()] = text.strip()
    return Layer("--set", values, loose=True)


def lay(layers: Sequence[Layer]) -> Effective:
    """Later layers win. Raises ConfigError that names every mistake."""
    found: dict[str, Value] = {}
    origins = dict.fromkeys(keys(), DEFAULT_ORIGIN)
    mistakes: list[str] = []
    for layer in layers:
        for name, raw in layer.values.items():
            key = keys().get(name)
            if key is None:
                mistakes.append(f"{layer.origin}: {name}: there is no such key; {nearest(name)}")
                continue
            try:
                found[name] = checked(key, _tightened(key, raw) if layer.loose else raw)
                origins[name] = layer.origin
            except ValueError as error:
                mistakes.append(f"{layer.origin}: {name}: expected {error}, got {raw!r}")
    if mistakes:
        raise ConfigError("\n".join(mistakes))
    _apply_profiles(found, origins)
    return Effective(_built(found), origins)


_PROFILES: Final[Mapping[tuple[str, str], Mapping[str, Value]]] = {
    # S1-18's figures.
    ("politeness.profile", "paper"): {"politeness.min_delay": 30.0, "politeness.delay_factor": 10.0},
    # S4-1's kinds of crawler.
    ("crawl.profile", "focusing"): {"crawl.mode": "sites", "sources.sitemaps": "robots", "sources.feeds": "all"},
    ("crawl.profile", "topical"): {"content.images": "skip", "content.media": "skip", "content.other": "skip"},
    ("crawl.profile", "wrapper"): {
        "crawl.mode": "sites", "content.images": "skip", "content.media": "skip", "content.other": "skip",
    },
}  # fmt: skip
"""What a profile sets where the keys themselves were not given."""


def _apply_profiles(found: dict[str, Value], origins: dict[str, str]) -> None:
    for (key, profile), settings in _PROFILES.items():
        if found.get(key) != profile:
            continue
        for name, value in settings.items():
            if origins[name] == DEFAULT_ORIGIN:
                found[name], origins[name] = value, key


def _tightened(key: Key, text: str) -> Any:
    """A bare word of the command line as the TOML value that its key wants."""
    if isinstance(key.default, tuple):
        if text.startswith("["):
            return _toml_value(text)
        return [part.strip() for part in text.split(",") if part.strip()]
    if isinstance(key.default, str):
        return _toml_value(text) if text[:1] in ('"', "'") else text
    return _toml_value(text)


def _toml_value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _built(found: Mapping[str, Value]) -> Config:
    rooms = get_type_hints(Config)
    sections = {}
    for section in fields(Config):
        mine = {name.split(".")[1]: value for name, value in found.items() if name.startswith(f"{section.name}.")}
        sections[section.name] = rooms[section.name](**mine)
    return Config(**sections)
