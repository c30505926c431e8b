"""A study that is killed with -9 at every one of its steps, and started again by the same command."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import duckdb
import pytest

from nephila.config.sections import Lab
from nephila.lab.change import BATCH_S
from nephila.lab.serve import LabServer
from nephila.lab.study_tables import study_tally
from nephila.lab.web import Web
from nephila.stats.section import read_sections

from .study import served
from .webs import LONG, QUICK, environment, in_lab, pages_on_disk, run, settings_of, wait_until

LAB = Lab(profile="study", sites=10, growth=0.02, seed=11)
BATCHES = 2
SETTINGS: Mapping[str, object] = {**QUICK, "crawl.give_up": 0, "net.header_timeout": 4.0, "net.idle_timeout": 3.0}


@pytest.fixture
def server() -> Iterator[LabServer]:
    with served(LAB) as lab:
        yield lab


def killed_at(step: str, words: list[str], crawl: Path | None = None) -> None:
    """Start the study and kill it with all its processes when it says that it begins this step.

    In a crawl, it is killed when the first pages are on disk.
    """
    command = [sys.executable, "-m", "nephila", *words]
    with subprocess.Popen(
        command, env=environment(), stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, start_new_session=True
    ) as process:
        assert process.stderr is not None
        try:
            said = []
            for line in process.stderr:
                said.append(line)
                if line.strip() == step:
                    break
            else:
                pytest.fail(f"it never came to {step!r}: {''.join(said)}")
            if crawl is not None:
                wait_until(lambda: pages_on_disk(crawl) > 0, 30.0, "a page")
        finally:
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL


def test_a_study_killed_at_each_step_has_every_batch_once(server: LabServer, tmp_path: Path) -> None:
    # given a study, with two agents
    folder = tmp_path / "s"
    seeds = tmp_path / "seeds.txt"
    seeds.write_text("\n".join(server.sites().seeds(server.port)))
    words = [
        "study", "-C", str(folder), "-i", str(seeds), "--batches", str(BATCHES), "--every", f"{BATCH_S}s",
        "--agents", "2", "--clock", server.control_url + "clock", *settings_of(SETTINGS, in_lab(server)),
    ]  # fmt: skip
    # when it is killed at the steps of its way
    killed_at("batch 1 of 2: crawl", words, folder / "batches" / "0001")
    if LONG:
        killed_at("batch 1 of 2: convert", words)
    killed_at("batch 1 of 2: observe", words)
    if LONG:
        killed_at("batch 2 of 2: crawl", words, folder / "batches" / "0002")
    killed_at("batch 2 of 2: counting", words)
    last = run(*words)
    # then it comes to its end, with every batch once, and every page of a batch once
    assert last.code == 0, last.err
    with duckdb.connect() as duck:
        rows = f"read_parquet('{folder}/study/observations/*.parquet')"
        assert duck.sql(f"SELECT DISTINCT batch FROM {rows} ORDER BY batch").fetchall() == [(1,), (2,)]
        assert duck.sql(f"SELECT batch, url FROM {rows} GROUP BY ALL HAVING count(*) > 1").fetchall() == []
        (downloaded,) = duck.sql(f"SELECT count(*) FILTER (ok) FROM {rows}").fetchall()[0]
        assert downloaded > 50
    # and with as many seeds up in each as the generator has
    assert server.lab is not None
    tally = study_tally(Web(server.lab, server.origin), whole_sites=False)
    table = next(table for table in read_sections(folder / "study" / "sections.json") if table.name == "table-7")
    assert table.column("seeds_downloaded") == tally.seeds_up[:, :BATCHES].sum(axis=0).astype(int).tolist()
