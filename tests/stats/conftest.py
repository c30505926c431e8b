"""A small web of the lab, collected once over HTTP and converted, for all tests of this room."""

from __future__ import annotations

from pathlib import Path

import pytest

from nephila.config.sections import Stats
from nephila.engine import open_engine
from nephila.stats.run import StatsReport, run
from nephila.store.folder import CrawlFolder


def described(folder: CrawlFolder, config: Stats | None = None) -> StatsReport:
    with open_engine("inline", 2) as engine:
        return run(config or Stats(), folder, engine)


@pytest.fixture
def empty(tmp_path: Path) -> CrawlFolder:
    from .made import made

    return made(tmp_path / "empty")
