"""Logins, cookies and headers for sites of the user's own: a TOML file goes in, header lines per site come out.

    ["https://intranet.example.org"]
    basic = { user = "robot", password = "env:INTRANET_PASSWORD" }
    cookies = { session = "file:/run/secrets/session" }

    ["https://api.example.org:8443"]
    bearer = "env:API_TOKEN"
    headers = { X-Team = "archive" }

    [proxy]
    basic = { user = "robot", password = "env:PROXY_PASSWORD" }

A value is written as it is, or as `env:NAME` or `file:PATH`, so that no secret needs to stand in any file of the crawl.
A site is scheme, host and port, and its lines are sent to exactly that: another port, http instead of https, or the
target of a redirect gets nothing. Whatever is kept, shown or raised has `***` in place of the value.
"""

from __future__ import annotations

import base64
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from nephila.errors import ConfigError
from nephila.urls import NO_RULES, Refusal, normalise, split

MASK: Final = "***"
PROXY: Final = "proxy"
_KEYS: Final = ("basic", "bearer", "cookies", "headers")
_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE: Final = re.compile(r"[\t -~\x80-\xff]*")
# The framing of a request is ours alone, and who we are is said by net.user_agent.
_OURS: Final = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "accept-encoding", "user-agent", "expect", "upgrade"}
)


@dataclass(frozen=True, slots=True)
class Login:
    """Header lines for one site; the values are in no representation of it."""

    names: tuple[str, ...]
    _values: tuple[str, ...] = field(repr=False)

    @property
    def lines(self) -> str:
        """As they go over the wire."""
        return "".join(f"{name}: {value}\r\n" for name, value in zip(self.names, self._values, strict=True))

    @property
    def masked(self) -> str:
        """As they are kept and shown."""
        return "".join(f"{name}: {MASK}\r\n" for name in self.names)


Logins = Mapping[str, Login]
NO_LOGINS: Final[Logins] = MappingProxyType({})


def read_credentials(path: str) -> Logins:
    """The file of `net.credentials`, by site; none if the key is empty. No message ever holds a value."""
    if not path:
        return NO_LOGINS
    try:
        tables = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or type(error).__name__
        raise ConfigError(f"net.credentials: {path} cannot be read ({why}); give a TOML file.") from None
    except tomllib.TOMLDecodeError:
        # Its message may quote the line, and with it a secret.
        raise ConfigError(f"net.credentials: {path} is not valid TOML; see docs/scopes.md for its form.") from None
    return MappingProxyType({_site(name, path): _login(name, table, path) for name, table in tables.items()})


def _site(name: str, path: str) -> str:
    if name == PROXY:
        return PROXY
    url = normalise(name if name.count("/") > 2 else f"{name}/", NO_RULES)
    if isinstance(url, Refusal) or split(url)[1] != "/" or "@" in name:
        told = name.rpartition("@")[2]  # what stands before it may be a login
        raise ConfigError(
            f'net.credentials: {path}: [{told!r}] is no site; write scheme, host and port, as ["https://example.org"].'
        )
    return split(url)[0]


def _login(site: str, table: Any, path: str) -> Login:
    """The lines of one site."""
    place = f"net.credentials: {path}: {site}"
    if not isinstance(table, dict) or not table or not table.keys() <= set(_KEYS):
        raise ConfigError(f"{place} must hold some of {', '.join(_KEYS)} and nothing else.")
    lines: list[tuple[str, str]] = []
    authorization = "Proxy-Authorization" if site == PROXY else "Authorization"
    if "basic" in table:
        user, password = (_field(table["basic"], name, place) for name in ("user", "password"))
        if ":" in user:
            raise ConfigError(f"{place}: basic.user must not hold a colon.")
        pair = base64.b64encode(f"{user}:{password}".encode()).decode("ascii")
        lines.append((authorization, f"Basic {pair}"))
    if "bearer" in table:
        if "basic" in table:
            raise ConfigError(f"{place} has basic and bearer; a site takes one of them.")
        lines.append((authorization, f"Bearer {_secret(table['bearer'], f'{place}: bearer')}"))
    cookies = _table(table, "cookies", place)
    if cookies:
        pairs = (f"{name}={_secret(value, f'{place}: cookies.{name}')}" for name, value in cookies.items())
        lines.append(("Cookie", "; ".join(pairs)))
    for name, value in _table(table, "headers", place).items():
        if not _NAME.fullmatch(name) or name.lower() in _OURS:
            raise ConfigError(f"{place}: headers.{name} cannot be given; leave it out.")
        lines.append((name, _secret(value, f"{place}: headers.{name}")))
    for name, value in lines:
        if not _VALUE.fullmatch(value):
            raise ConfigError(f"{place}: the value for {name} holds line ends or characters that no header may hold.")
    return Login(tuple(name for name, _ in lines), tuple(value for _, value in lines))


def _table(table: dict[str, Any], key: str, place: str) -> dict[str, Any]:
    found = table.get(key, {})
    if not isinstance(found, dict) or not all(_NAME.fullmatch(name) for name in found):
        raise ConfigError(f'{place}: {key} must be a table of names and values, such as {{ name = "env:NAME" }}.')
    return found


def _field(basic: Any, name: str, place: str) -> str:
    if not isinstance(basic, dict) or name not in basic:
        raise ConfigError(f'{place}: basic must be {{ user = "…", password = "env:NAME" }}.')
    return _secret(basic[name], f"{place}: basic.{name}")


def _secret(written: Any, place: str) -> str:
    """A value as written, or from the environment, or the first line of a file."""
    if not isinstance(written, str) or not written:
        raise ConfigError(f'{place} must be a text, "env:NAME" or "file:PATH".')
    how, _, where = written.partition(":")
    if how == "env":
        if where not in os.environ:
            raise ConfigError(f"{place}: the environment has no variable {where}; set it before the crawl.")
        return os.environ[where]
    if how == "file":
        try:
            lines = Path(where).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            raise ConfigError(
                f"{place}: {where} cannot be read; it should hold the secret in its first line."
            ) from None
        if not lines:
            raise ConfigError(f"{place}: {where} is empty; it should hold the secret in its first line.")
        return lines[0]
    return written
