"""S1's survey in small: the lab's web collected over HTTP, counted by SQL, and beside the paper's figures."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from nephila.cli import run as command
from nephila.config.sections import Lab
from nephila.errors import UsageError
from nephila.jobs.survey import SurveyReport, check_crawl, survey
from nephila.jobs.survey_tally import tally_of
from nephila.lab.check import compare, render
from nephila.store.folder import CrawlFolder

pytestmark = pytest.mark.xdist_group("survey")

SITES = 48


@pytest.fixture(scope="module")
def surveyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, SurveyReport]]:
    """The seeds and the pages of depth 1, of a web that is five deep."""
    path = tmp_path_factory.mktemp("survey") / "crawl"
    yield path, survey(path, Lab(sites=SITES), "local", 2, lambda line: None, max_depth=1)


def test_a_crawl_of_the_lab_gives_the_papers_tables_within_tolerance(surveyed: tuple[Path, SurveyReport]) -> None:
    path, report = surveyed
    assert report.ok, render(report.check, "crawl")
    tables = [row.table for row in report.check.rows]
    assert {name[:7] for name in tables} >= {"Table 1", "Table 3", "Table 4", "Table 5", "Table 6"}
    # S1-32: every seed is a document of depth 0, whether or not its name has an address
    counts = tally_of(CrawlFolder.open(path))
    assert counts.requested[:, 0].sum() == counts.seed_responses.sum() == SITES
    assert counts.requested[:, 1].sum() > 2 * SITES and not counts.requested[:, 2:].any()


def test_a_crawl_that_is_not_the_papers_is_outside(surveyed: tuple[Path, SurveyReport]) -> None:
    # given the sums of the crawl, with every size half as large again and a third of the pages of depth 1 gone
    counts = tally_of(CrawlFolder.open(surveyed[0]))
    wrong = replace(counts, size_bytes=counts.size_bytes * [1.8, 1.0], downloaded=counts.downloaded * 0.6)
    # then just these tables say so
    outside = {row.table for row in compare(wrong, 1) if not row.ok}
    assert {name[:7] for name in outside} == {"Table 5", "Table 6"}


def test_a_crawl_is_counted_again_without_the_lab(surveyed: tuple[Path, SurveyReport]) -> None:
    path, report = surveyed
    assert check_crawl(CrawlFolder.open(path), 1) == report.check
    with pytest.raises(UsageError, match="--again"):
        survey(path, Lab(sites=SITES), "inline", 1, lambda line: None)


def test_statistics_of_a_real_crawl_as_json_text_and_csv(
    surveyed: tuple[Path, SurveyReport], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, report = surveyed
    # when a script asks
    assert command(["stats", "-C", str(path), "--json", "--csv", str(tmp_path / "csv")]) == 0
    told = {table["name"]: table for table in json.loads(capsys.readouterr().out)["tables"]}
    # then pages are those of the crawl, seeds those that were given
    figures = dict(told["summary"]["rows"])
    assert figures["pages asked for"] == report.pages and figures["seeds given"] == SITES
    assert sum(row[1] for row in told["seed_responses"]["rows"]) == SITES
    assert {file.stem for file in (tmp_path / "csv").glob("*.csv")} == told.keys()
    # and a person sees a table with its SQL, or one sentence
    assert command(["stats", "depths", "-C", str(path)]) == 0
    text = capsys.readouterr().out
    assert "Table 6: documents by depth  (S1-32)" in text and "FROM documents" in text and "Table 5" not in text
    assert command(["stats", "nonsense", "-C", str(path)]) == 2
    assert "there is no table 'nonsense'" in capsys.readouterr().err


def test_the_report_of_a_real_crawl_is_written(
    surveyed: tuple[Path, SurveyReport], capsys: pytest.CaptureFixture[str]
) -> None:
    path, _ = surveyed
    assert command(["report", "-C", str(path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    text = (path / "report" / "index.html").read_text(encoding="utf-8")
    assert told["plots"] > 20 and told["size_bytes"] == len(text.encode())
    assert text.count("<svg") >= 5 and 'id="depths"' in text
