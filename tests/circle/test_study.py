"""A small change study of the lab over HTTP: batches apart, cut off and gone on with, tables as the generator has them.

The whole one, nine batches beside S1's Tables 7-13, is `make study`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from nephila.config.sections import Lab
from nephila.errors import UsageError
from nephila.jobs.study import StudyReport, Watching, study
from nephila.jobs.study_log import read_log
from nephila.lab.change import BATCH_S
from nephila.lab.serve import LabServer
from nephila.lab.study_tables import study_tally
from nephila.lab.web import Web
from nephila.stats.section import read_sections
from nephila.store.change_model import PageFeatures, read_change_model
from nephila.store.folder import CrawlFolder

from .study import order_for, served

LAB = Lab(profile="study", sites=14, growth=0.03, seed=5)
BATCHES = 3
SHORT = {"net.header_timeout": 4.0, "net.idle_timeout": 3.0}


class _CutOffError(Exception):
    pass


@pytest.fixture(scope="module")
def server() -> Iterator[LabServer]:
    with served(LAB) as lab:
        yield lab


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("study") / "s"


@pytest.fixture(scope="module")
def report(server: LabServer, folder: Path) -> StudyReport:
    """The second batch is cut off between its crawl and its tables; the same order goes on with it."""

    def cut_off(batch: int, of: int, step: str) -> None:
        if (batch, step) == (2, "convert"):
            raise _CutOffError

    order = order_for(server, folder, BATCHES, SHORT, engine="inline", agents=1)
    with pytest.raises(_CutOffError):
        study(order, Watching(begins=cut_off))
    cut = read_log(CrawlFolder.open(folder))
    assert cut is not None and [batch.ended_at is None for batch in cut.batches] == [False, True]
    again = study(replace(order, lines=()), Watching())
    assert again.batches[1].began_at == cut.batches[1].began_at
    return again


def test_batches_are_whole_crawls_of_their_own_at_their_dates(report: StudyReport, folder: Path) -> None:
    assert report.how == "done" and [batch.number for batch in report.batches] == [1, 2, 3]
    for before, after in zip(report.batches, report.batches[1:], strict=False):
        assert 0 <= after.began_at - before.began_at - BATCH_S < 3600
    for number in (1, 2, 3):
        crawl = CrawlFolder.open(CrawlFolder(folder).batch(number))
        assert crawl.config_file.exists() and any(crawl.archive.rglob("*.warc.gz"))


def test_the_crawl_finds_the_seeds_up_that_the_generator_has_up(
    report: StudyReport, server: LabServer, folder: Path
) -> None:
    # given the generator's own counts for the same moments
    assert server.lab is not None
    tally = study_tally(Web(server.lab, server.origin), whole_sites=False)
    # then Table 7 has as many seeds in each batch
    table = next(table for table in report.tables if table.name == "table-7")
    assert table.column("seeds_requested") == [LAB.sites] * BATCHES
    assert table.column("seeds_downloaded") == tally.seeds_up[:, :BATCHES].sum(axis=0).astype(int).tolist()
    # and the tables lie in the folder for the report
    assert read_sections(folder / "study" / "sections.json") == report.tables


def test_every_table_of_the_paper_is_there_with_its_question(report: StudyReport) -> None:
    names = {table.name for table in report.tables}
    assert {f"table-{number}" for number in range(7, 14)} <= names
    assert {"up-and-down", "change-rates", "rates-of-documents", "measures-of-change", "survival"} <= names
    assert all(table.sql and table.definition for table in report.tables)


def test_documents_come_and_go_and_change(report: StudyReport) -> None:
    downloads = next(table for table in report.tables if table.name == "table-11")
    assert downloads.column("downloads") == [1, 2, 3]
    kinds = next(table for table in report.tables if table.name == "table-13")
    assert sum(int(cell or 0) for cell in kinds.column("changed")) > 20


def test_the_change_model_waits_for_refresh(report: StudyReport, folder: Path) -> None:
    model = read_change_model(CrawlFolder.open(folder))
    assert model is not None and model.measure == "bytes"
    shape, rate_days = model.prior_for(PageFeatures("co.kr", 3, "ha0"))
    assert 0 < shape / rate_days < 24


def test_another_measure_is_counted_without_another_crawl(report: StudyReport, server: LabServer, folder: Path) -> None:
    order = order_for(server, folder, BATCHES, SHORT, engine="inline", agents=1)
    text = study(replace(order, lines=(), measure="text", clock=None), Watching())
    assert text.measure == "text" and text.batches == report.batches


def test_a_study_keeps_its_sites_and_its_batches(report: StudyReport, server: LabServer, folder: Path) -> None:
    order = order_for(server, folder, BATCHES, SHORT, engine="inline", agents=1)
    with pytest.raises(UsageError, match="keeps its sites"):
        study(replace(order, lines=order.lines[:3]), Watching())
    with pytest.raises(UsageError, match="has 3 batches"):
        study(replace(order, batches=2), Watching())


def test_without_seeds_nothing_is_begun(server: LabServer, tmp_path: Path) -> None:
    order = replace(order_for(server, tmp_path / "new", BATCHES, {}), lines=())
    with pytest.raises(UsageError, match="name its sites"):
        study(order, Watching())
    assert not (tmp_path / "new").exists()
