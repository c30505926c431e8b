"""One small web of the lab, collected in two goes, for all tests of this room."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from nephila.config.layers import Layer
from nephila.config.sections import Convert, Lab, Links
from nephila.convert.report import ConvertReport
from nephila.convert.run import run
from nephila.crawl.run import open_crawl
from nephila.crawl.run import run as run_crawl
from nephila.engine import open_engine
from nephila.lab.serve import LabServer
from nephila.lab.truth import TruthRow, truth
from nephila.lab.web import Web
from nephila.store.folder import CrawlFolder

SITES, DEPTH, SEED, FIRST_PAGES = 24, 2, 6, 250


@dataclass(frozen=True, slots=True)
class Collected:
    """The crawl folder after FIRST_PAGES pages and at the end, and what is true of the web."""

    halfway: Path
    whole: Path
    truth: dict[str, TruthRow]


@pytest.fixture(scope="session")
def collected(tmp_path_factory: pytest.TempPathFactory) -> Collected:
    place = tmp_path_factory.mktemp("collected")
    with LabServer(Lab(sites=SITES, max_depth=DEPTH, seed=SEED), folder=place / "lab") as server:
        assert server.lab is not None
        web = Web(server.lab)
        crawl(place / "whole", server.dns, list(web.seeds()), FIRST_PAGES)
        shutil.copytree(place / "whole", place / "halfway")
        crawl(place / "whole", server.dns, list(web.seeds()), "none")
        rows = {row.url: row for row in truth(web, 0.0, web.seeds()) if row.reachable}
    return Collected(place / "halfway", place / "whole", rows)


def crawl(
    path: Path, dns: str, seeds: list[str], max_pages: int | str, further: dict[str, object] | None = None
) -> None:
    """Collect a web on this machine, without delays."""
    settings = {
        "net.allow_private": ["127.0.0.0/8"], "net.nameservers": [dns], "net.header_timeout": 4.0,
        "net.idle_timeout": 4.0, "politeness.min_delay": 0.0, "politeness.delay_factor": 0.0, "crawl.retries": 0,
        "crawl.sleep_min": 0.1, "crawl.max_pages": max_pages,
        **(further or {}),
    }  # fmt: skip
    opened, seed_list = open_crawl(path, [Layer("the test", settings)], [(url, "the lab") for url in seeds], 2)
    try:
        with open_engine("local", 2) as engine:
            run_crawl(opened, seed_list, engine, 2)
    finally:
        opened.lock.release()


def convert(
    path: Path, config: Convert | None = None, links: Links | None = None, engine: str = "inline"
) -> ConvertReport:
    """Convert a crawl folder in this process, or with worker processes."""
    with open_engine(engine, 2) as opened:
        return run(config or Convert(), links or Links(), CrawlFolder.open(path), opened)


def bytes_of(path: Path) -> dict[str, bytes]:
    """Every file of the tables, by name."""
    tables = path / "tables"
    return {str(file.relative_to(tables)): file.read_bytes() for file in sorted(tables.rglob("*")) if file.is_file()}


def crawl_on(converted: Path, whole: Path) -> None:
    """Give a folder that was converted halfway the rest of the crawl, as if it had gone on there."""
    for file in [*(converted / "archive").rglob("*.warc.gz"), *(converted / "state").glob("*.db*")]:
        if not file.name.startswith("convert"):
            file.unlink()
    for name in ("archive", "state"):
        shutil.copytree(whole / name, converted / name, dirs_exist_ok=True)


@pytest.fixture(scope="session")
def converted(collected: Collected, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole crawl, converted once; for tests that only read."""
    path = tmp_path_factory.mktemp("converted") / "crawl"
    shutil.copytree(collected.whole, path)
    convert(path)
    return path


@pytest.fixture
def fresh(collected: Collected, tmp_path: Path) -> Iterator[Path]:
    """A copy of the whole crawl that was never converted."""
    path = tmp_path / "crawl"
    shutil.copytree(collected.whole, path)
    yield path
