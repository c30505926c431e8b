"""One row of the table of hostile sites."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from nephila.lab.hostile.scripts import Act

Listener = Literal["http", "tls", "both", "silent", "garbage", "backlog", "closed", "none"]

SECURE_PORT: Final = 2
"""So far behind the lab's port a site with both schemes has its TLS; the port between is closed for ever."""


@dataclass(frozen=True, slots=True)
class Row:
    """What a hostile site does, and what a crawl must make of it.

    `expected` is the outcome of its home page, `paths` those of further URLs of the site (`label/path` for one of a
    further host); several words separated by blanks will all do. `requests` is the most that its hosts may be asked,
    robots.txt included. `labels` are further hosts with addresses of their own. A row that listens for `both` has
    its home page, its seeds and `paths` with TLS, and `plain` without.
    """

    row: str
    name: str
    does: str
    act: Act
    expected: str
    paths: dict[str, str] = field(default_factory=dict)
    robots: Act | None = None
    requests: int | None = None
    labels: tuple[str, ...] = ()
    seeds: tuple[str, ...] = ("",)  # labels of the hosts whose home pages are seeds
    listener: Listener = "http"
    plain: dict[str, str] = field(default_factory=dict)
    reason: str = ""  # what the reason of the home page's outcome holds

    @property
    def site_name(self) -> str:
        return f"{self.row.lower()}-{self.name}"

    @property
    def scheme(self) -> str:
        return "https" if self.listener in ("tls", "both", "silent", "garbage") or self.row == "H7" else "http"

    def host(self, label: str = "") -> str:
        return f"{label}.{self.site_name}.test" if label else f"{self.site_name}.test"

    def url(self, port: int, label: str = "", path: str = "/") -> str:
        port += {"closed": 1, "both": SECURE_PORT}.get(self.listener, 0)
        return f"{self.scheme}://{self.host(label)}:{port}{path}"

    def plain_url(self, port: int, path: str) -> str:
        return f"http://{self.host()}:{port}{path}"
