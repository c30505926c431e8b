"""Real sites, collected and converted: the link graph is the one that another program found (data/sites).

The pages lie in three Debian packages; NEPHILA_DEBS names the folder where they are, filled by
`apt-get download httrack-doc anarchism mplayer-doc` (as for `make real-sites`). Without it the test is skipped.
"""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
from pathlib import Path

import pytest

import nephila
from nephila.lab.serve import LabServer
from nephila.lab.static import StaticSite

from .conftest import convert, crawl

SITES = {
    "httrack-doc": ("usr/share/httrack/html", "/index.html", 62),
    "anarchism": ("usr/share/doc/anarchism/html", "/index.html", 1381),
    "mplayer-doc": ("usr/share/doc/mplayer/HTML", "/en/index.html", 514),
}
PACKAGES = os.environ.get("NEPHILA_DEBS", "")


@pytest.mark.skipif(not PACKAGES or shutil.which("dpkg-deb") is None, reason="needs dpkg-deb and NEPHILA_DEBS=DIR")
@pytest.mark.parametrize("name", SITES)
def test_the_link_graph_of_a_real_site_is_the_known_one(name: str, data: Path, tmp_path: Path) -> None:
    below, start, count = SITES[name]
    lines = gzip.decompress((data / "sites" / f"{name}_links.tsv.gz").read_bytes()).decode().splitlines()
    expected = {tuple(line.split("\t")) for line in lines if line and not line.startswith("#")}
    assert len(expected) == count
    # given the site on an address of its own
    (package,) = Path(PACKAGES).glob(f"{name}_*.deb")
    subprocess.run(["dpkg-deb", "-x", str(package), str(tmp_path / "unpacked")], check=True)
    site = StaticSite("real.test", "127.9.9.9", str(tmp_path / "unpacked" / below))
    with LabServer(None, static=[site], folder=tmp_path / "lab") as server:
        home = f"http://real.test:{server.port}"
        # when it is collected and converted
        crawl(tmp_path / "crawl", server.dns, [home + start], "none", {"links.case": "exact"})
        convert(tmp_path / "crawl")
    # then its HTML pages with code 200 link to each other exactly as known
    opened = nephila.open(tmp_path / "crawl")
    pages = {
        row["page_id"]: row["url"].removeprefix(home)
        for row in opened.pages(["page_id", "url", "code", "mime"]).to_pylist()
        if row["code"] == 200 and row["mime"] == "text/html"
    }
    found = {
        (pages[row["source"]], pages[row["target"]])
        for row in opened.links().to_pylist()
        if row["source"] in pages and row["target"] in pages and row["source"] != row["target"]
    }
    assert found == expected
