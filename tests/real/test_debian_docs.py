"""Real documentation of Debian packages, collected completely: the lists in ../shared/data/sites are the judge."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from nephila.lab.serve import LabServer
from nephila.lab.static import StaticSite
from nephila.urls import NO_RULES, normalise

from ..circle.archives import assert_archive_whole
from ..circle.webs import QUICK, crawl_inline, in_lab, settings_of, slot_rows

SITES = {
    "httrack-doc": ("usr/share/httrack/html", "/index.html"),
    "anarchism": ("usr/share/doc/anarchism/html", "/index.html"),
    "mplayer-doc": ("usr/share/doc/mplayer/HTML", "/en/index.html"),
}


@pytest.fixture(scope="session")
def packages() -> Path:
    """Where the packages lie: NEPHILA_DEBS, filled by `apt-get download httrack-doc anarchism mplayer-doc`."""
    place = os.environ.get("NEPHILA_DEBS", "")
    if not place or shutil.which("dpkg-deb") is None:
        pytest.skip("needs dpkg-deb, and NEPHILA_DEBS=DIR with the packages: apt-get download " + " ".join(SITES))
    return Path(place)


@pytest.mark.parametrize("name", SITES)
def test_a_packaged_manual_is_collected_completely(name: str, packages: Path, data: Path, tmp_path: Path) -> None:
    # given a package's pages as a site
    below, start = SITES[name]
    [package] = packages.glob(f"{name}_*.deb")
    subprocess.run(["dpkg-deb", "-x", str(package), str(tmp_path / "unpacked")], check=True)
    manual = StaticSite("manual.test", "127.8.0.1", str(tmp_path / "unpacked" / below))
    with LabServer(None, static=[manual], processes=1) as lab:
        site = f"http://manual.test:{lab.port}"
        # when it is crawled from its first page
        only = {"crawl.mode": "sites", "links.strip_parameters": ""}
        ran = crawl_inline(tmp_path / "crawl", site + start, *settings_of(QUICK, only, in_lab(lab)))
        assert ran.code == 0, ran.err
    # then exactly the URLs of the list were asked for, each with the status in the list
    sql = "SELECT path, CASE outcome WHEN 'ok' THEN mime ELSE outcome END FROM pages"
    found = {_single_slashes(path): what for path, what in slot_rows(tmp_path / "crawl", sql)}
    with gzip.open(data / "sites" / f"{name}_urls.tsv.gz", "rt", newline="\n") as file:
        rows = [line.split("\t") for line in file if line.startswith("/")]
    listed: dict[str, set[str]] = {}
    for path, status, *_ in rows:  # as written on the pages: in our list they have their normal form
        normal = str(normalise(site + path, NO_RULES)).removeprefix(site)
        listed.setdefault(status, set()).add(_single_slashes(normal))
    assert {path for path, what in found.items() if what == "text/html"} == listed["200"]
    assert {path for path, what in found.items() if what == "http_error"} == listed.get("404", set())
    assert found.keys() == set().union(*listed.values())
    assert_archive_whole(tmp_path / "crawl")


def _single_slashes(path: str) -> str:
    """The lists were made with paths of a file system, which have no empty parts."""
    return re.sub("/+", "/", path)
