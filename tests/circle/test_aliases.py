"""Aliases are found without losing a virtual host (S0-9, I0-10): by content, by address alone, and not at all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from .odd_web import OddWeb, Site, UrlOf, page, serving
from .webs import QUICK, crawl_inline, outcomes, settings_of, slot_rows

PAGES = {f"/{name}": page(text=f"page {name} of the twins") for name in "abcd"}


def twins_and_others(url: UrlOf) -> Mapping[str, Site]:
    """Four names on one address: two are one site, one shares only the home page, one shares nothing."""
    home = page(*PAGES, text="welcome")
    return {
        "www.twin.test": {"/": home, **PAGES},
        "twin.test": {"/": home, **PAGES},
        "guest.test": {"/": home, **{path: page(text=f"the guest's own {path}") for path in PAGES}},
        "other.test": {"/": page("/x", text="another house"), "/x": page(text="x")},
    }


@pytest.fixture(scope="module")
def web() -> Iterator[OddWeb]:
    with serving(twins_and_others, shared=True) as served:
        yield served


def collect(web: OddWeb, folder: Path, rule: str) -> dict[str, str]:
    hosts = web.write_hosts(folder / "hosts")
    own = {"net.allow_private": "127.0.0.0/8", "net.hosts": hosts, "aliases.rule": rule}
    ran = crawl_inline(folder / "crawl", *(web.url(host) for host in web.addresses), *settings_of(QUICK, own))
    assert ran.code == 0, ran.err
    return outcomes(folder / "crawl")


def test_by_content_the_twin_is_an_alias_and_no_virtual_host_is_lost(web: OddWeb, tmp_path: Path) -> None:
    found = collect(web, tmp_path, "content")
    assert found[web.url("twin.test")] == "alias"
    assert {url: outcome for url, outcome in found.items() if outcome == "alias"} == {web.url("twin.test"): "alias"}
    for host, paths in (("www.twin.test", ["/", *PAGES]), ("guest.test", ["/", *PAGES]), ("other.test", ["/", "/x"])):
        assert {found[web.url(host, path)] for path in paths} == {"ok"}
    # recorded, with the reason, and never silently dropped
    [(canonical, reason)] = slot_rows(
        tmp_path / "crawl", "SELECT c.url, a.reason FROM sites a JOIN sites c ON c.site = a.alias_of"
    )
    assert canonical == web.url("www.twin.test").rstrip("/")
    assert "same home page" in reason


def test_by_address_alone_only_the_first_name_is_left(web: OddWeb, tmp_path: Path) -> None:
    found = collect(web, tmp_path, "ip")
    assert {found[web.url(host)] for host in ("twin.test", "guest.test", "other.test")} == {"alias"}
    assert {found[web.url("www.twin.test", path)] for path in ("/", *PAGES)} == {"ok"}


def test_without_a_rule_every_name_is_a_site(web: OddWeb, tmp_path: Path) -> None:
    found = collect(web, tmp_path, "off")
    assert set(found.values()) == {"ok"}
    assert len(found) == 5 + 5 + 5 + 2
