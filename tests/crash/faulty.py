"""Crawls on disks that fail; how the faults are planted is told in `faults/disk_faults.py`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nephila.config.sections import Lab
from nephila.lab.serve import LabServer

from ..circle.webs import QUICK, Expected, Ran, crawl, expected, in_lab, settings_of
from .checking import Evidence, Finding, check
from .killing import MIN_DELAY_S, SMALL

FAULTS = Path(__file__).parent / "faults"


@contextmanager
def fault(text: str) -> Iterator[None]:
    """Processes that are started now have this fault."""
    before = {name: os.environ.get(name) for name in ("PYTHONPATH", "NEPHILA_FAULT")}
    os.environ["NEPHILA_FAULT"] = text
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(FAULTS), before["PYTHONPATH"]]))
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


class SmallWeb:
    """A web of a hundred pages or so that answers everything, and crawls of it."""

    def __init__(self, lab: LabServer, place: Path) -> None:
        self.lab = lab
        self.true: Expected = expected(lab)
        self.seeds = lab.write_seeds(place / "seeds.txt")

    def words(self, *more: object) -> list[object]:
        settings = settings_of(QUICK, SMALL, {"archive.sync": "true"}, in_lab(self.lab))
        return ["-i", self.seeds, *settings, *more]

    def inline(self, folder: Path, *more: object) -> Ran:
        """In one process, so that a fault of the n-th write is the n-th write of all."""
        return crawl(folder, *self.words("--engine", "inline", "--agents", 1, *more))

    def findings(
        self, folder: Path, since_ns: int, allowed_again: int = 0, min_delay_s: float = MIN_DELAY_S
    ) -> list[Finding]:
        witnessed = self.lab.witnessed()
        requests = witnessed.where(witnessed.started_ns >= since_ns)
        found = check(Evidence(folder, self.true, requests, min_delay_s=min_delay_s))
        return found if not allowed_again else [finding for finding in found if finding.kind != "refetched"]


@contextmanager
def small_web(place: Path, *, faults: bool = False) -> Iterator[SmallWeb]:
    with LabServer(Lab(sites=6, max_depth=1, faults=faults), processes=1) as lab:
        yield SmallWeb(lab, place)
