"""The lab's hostile sites and crawls of them in RELIABILITY's test profile, for the tests beside this file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from nephila.lab.hostile.places import CANARY_ADDRESS, OUT_OF_SCOPE_HOST, RANGE
from nephila.lab.hostile.row import Row
from nephila.lab.hostile.table import TABLE
from nephila.lab.serve import LabServer

from ..circle.webs import Ran, crawl, settings_of, write_seeds

PROFILE: Mapping[str, object] = {
    "politeness.min_delay": 0.01,
    "politeness.delay_factor": 0,
    "politeness.max_delay": 1.2,
    "net.connect_timeout": 1.0,
    "net.header_timeout": 2.0,
    "net.idle_timeout": 1.5,
    "net.total_timeout": 5.0,
    "net.min_rate": 1024,
    "net.min_rate_after": 2.0,
    "net.dns_timeout": 3.0,
    "net.max_header_size": 32 * 1024,
    "crawl.max_page_size": 256 * 1024,
    "crawl.max_decoded_size": 2**20,
    "crawl.max_redirects": 5,
    "crawl.retries": 1,
    "crawl.retry_wait": 0.1,
    "crawl.sleep_min": 0.3,
    "crawl.give_up": 2,
    "scope.exclude_hosts": OUT_OF_SCOPE_HOST,
    "archive.sync": "false",
}
"""RELIABILITY section 2, test profile."""


@contextmanager
def hostile_lab() -> Iterator[LabServer]:
    """The hostile sites; crawls that are started meanwhile trust the lab's authority."""
    with LabServer(None, hostile=True, processes=1) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(server.write_authority()))
        yield server


def options(server: LabServer, *layers: Mapping[str, object]) -> list[str]:
    places = {"net.allow_private": RANGE, "net.nameservers": server.dns}
    return settings_of(PROFILE, places, *layers)


def rows(*names: str) -> list[Row]:
    """Rows by their ids, all of them without."""
    return [row for row in TABLE if not names or row.row in names]


def crawl_rows(server: LabServer, folder: Path, chosen: list[Row], *words: object, **settings: object) -> Ran:
    """Crawl these rows' seeds and the control site in one go."""
    folder.mkdir(parents=True, exist_ok=True)
    seeds = [row.url(server.port, label) for row in chosen for label in row.seeds]
    seeds.append(f"http://control.test:{server.port}/")
    more = {key.replace("__", "."): value for key, value in settings.items()}
    listed = write_seeds(folder / "seeds.txt", seeds)
    return crawl(folder / "crawl", "-i", listed, *options(server, more), *words, within_s=120.0)


def canary_visits(server: LabServer) -> int:
    requests = server.witnessed()
    return int((requests.address == CANARY_ADDRESS).sum())


def asked_of(server: LabServer, row: Row) -> list[str]:
    """Every target that the hosts of a row were asked for."""
    requests = server.witnessed()
    own = {row.host(label) for label in ("", *row.labels)}
    suffix = f".{row.site_name}.test"
    return [
        target
        for host, target in zip(requests.host.tolist(), requests.target.tolist(), strict=True)
        if host in own or host.endswith(suffix)
    ]
